"""The demonstration of `make run`, laid out in a database of its own."""

from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

import asyncpg
import pytest

from admitone.entitlements import port as entitlements
from admitone.entitlements.api import Entitlement, Place, Renewal, Scan, Verdict, consume, renew, search_holders
from admitone.entrypoints.demo import BUYER, ORGANIZATIONS, Ground, find_club, is_wanted, lay_out, lines_of, signs_of
from admitone.entrypoints.demo.houses import open_house
from admitone.entrypoints.demo.month import GUEST
from admitone.entrypoints.demo.people import CROWD, introduce, name_of
from admitone.entrypoints.demo.programme import EARLY_BIRD, EXHIBITION, FESTIVAL, PROGRAMME, event_at, put_on
from admitone.finance.gateways.port import GATEWAYS, Gateways, Keys
from admitone.finance.proof.api import Prover
from admitone.finance.proof.api import Verdict as Proved
from admitone.finance.reconciliation.api import Beginning, Reconciler, RunId, RunState
from admitone.finance.sources.api import SourceType
from admitone.finance.sources.port import SHOPS
from admitone.foundation.identity.api import find_by_email
from admitone.kernel.batch import Batcher
from admitone.kernel.db import PeopleTx
from admitone.kernel.ids import PLATFORM_ORGANIZATION, IdentityId, OrganizationId
from admitone.kernel.jobs import Desk
from admitone.kernel.scope import Caller, PeopleScope, Scope
from admitone.selling.fulfilment.port import RECIPES
from admitone.verticals.coupons import api as coupons
from admitone.verticals.events import api as events
from tests.conftest import TestCluster
from tests.people import a_person

SECRET = "the sandbox of a demonstration, long enough"
NAMED = "SELECT organization_id FROM organizations.organization WHERE display_name = $1"


class Demonstration:
    """What was laid out."""

    def __init__(self, ground: Ground, superuser: asyncpg.Connection, people: list[str]) -> None:
        self.ground = ground
        self.superuser = superuser
        self.people = people

    async def ask(self, sql: str, *values: Any) -> Any:
        return await self.superuser.fetchval(sql, *values)

    async def houses(self) -> list[OrganizationId]:
        rows = await self.superuser.fetch("SELECT organization_id FROM organizations.organization")
        return [OrganizationId(row["organization_id"]) for row in rows]


@contextmanager
def wired() -> Iterator[None]:
    """Everything that is sold."""
    kinds = {kind.name: kind for kind in (*entitlements.OWN, coupons.COUPON)}
    shops = {SourceType.TICKET_ORDER: events.TicketShop(), SourceType.COUPON_CAMPAIGN: coupons.CampaignShop()}
    books = {SourceType.TICKET_ORDER: events.BOOK, SourceType.COUPON_CAMPAIGN: coupons.BOOK}
    with ExitStack() as stack:
        stack.enter_context(SHOPS.wired(shops))
        stack.enter_context(RECIPES.wired(books))
        stack.enter_context(entitlements.KINDS.wired(kinds))
        yield


@pytest.fixture(scope="module")
async def demo(cluster: TestCluster, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Demonstration]:
    async with a_house_in(cluster, tmp_path_factory.mktemp("demo")) as (ground, superuser):
        yield Demonstration(ground, superuser, await lay_out(ground))


@asynccontextmanager
async def a_house_in(cluster: TestCluster, folder: Path) -> AsyncIterator[tuple[Ground, asyncpg.Connection]]:
    """A database where nobody has ever been."""
    async with cluster.clone() as clone:
        superuser = await asyncpg.connect(clone.superuser_url)
        async with Ground.at(clone.url, (Keys.of(SECRET), folder / "journal.sqlite")) as ground:
            with wired():
                yield ground, superuser
        await superuser.close()


async def test_what_was_cut_off_is_gone_on_with_and_real_people_are_given_none(
    cluster: TestCluster, tmp_path: Path, demo: Demonstration
):
    async with a_house_in(cluster, tmp_path) as (ground, _):
        assert await is_wanted(ground), "nobody has ever been here"
        people = await introduce(ground.database, {email: name_of(email) for email in demo.people})
        assert await is_wanted(ground), "cut off after its people had come"
        houses = [await open_house(ground, name, people) for name in ORGANIZATIONS]
        shows = [each for each in PROGRAMME if each.published]
        await ground.database.run(houses[0].scope, lambda tx: put_on(tx, houses[0], shows))
        assert await is_wanted(ground), "cut off before the month was over"
        await lay_out(ground)
        assert not await is_wanted(ground)
    assert not await is_wanted(demo.ground), "all of it is there"
    (tmp_path / "real").mkdir()
    async with a_house_in(cluster, tmp_path / "real") as (ground, _):
        await a_person(ground.database)
        assert not await is_wanted(ground)


async def test_laid_out_twice_it_changes_nothing(demo: Demonstration):
    counted = "SELECT count(*) FROM kernel.event_log"
    before = await demo.ask(counted)
    assert await lay_out(demo.ground) == demo.people
    assert await demo.ask(counted) == before, "the second time tells nothing"


async def test_both_houses_may_take_payments(demo: Demonstration):
    complete = await demo.superuser.fetch(
        "SELECT o.display_name FROM payments.account AS a JOIN organizations.organization AS o USING (organization_id)"
        " WHERE a.onboarding_status = 'COMPLETE' AND o.official_email_verified_at IS NOT NULL"
    )
    assert {row["display_name"] for row in complete} == {
        settings.display_name for settings, _ in ORGANIZATIONS.values()
    }


async def test_both_houses_say_who_they_are_once(demo: Demonstration):
    said = "SELECT version, tagline, about, cardinality(questions) AS asked, phone FROM organizations.profile_layout"
    rows = await demo.superuser.fetch(said)
    assert [row["version"] for row in rows] == [1, 1]
    assert all(row["tagline"] and row["about"] and row["asked"] > 1 and row["phone"] for row in rows)


async def test_the_books_prove_and_the_sandbox_has_the_same(demo: Demonstration):
    desk = Desk(demo.ground.database, Batcher(demo.ground.database))
    with GATEWAYS.wired(Gateways([demo.ground.gateway])):
        for house in await demo.houses():
            findings = await Prover.at(desk).prove(house, Caller(), lambda _check, _more: None)
            assert {each.verdict for each in findings} == {Proved.GREEN}, findings
        for house in (PLATFORM_ORGANIZATION, *await demo.houses()):
            run = await Reconciler(desk).reconcile(house, Beginning(Caller(), RunId.new(), None), lambda _more: None)
            assert not run.open_issues, run
            assert run.state is not RunState.UNTOLD, run


async def test_the_early_birds_are_sold_out_and_the_rest_is_not(demo: Demonstration):
    rows = await demo.superuser.fetch(
        "SELECT t.name, p.capacity, p.sold, p.held FROM events.ticket_type AS t"
        " JOIN stock.pool AS p ON p.organization_id = t.organization_id AND p.id = t.pool_id"
    )
    sold_out = {row["name"] for row in rows if row["sold"] == row["capacity"]}
    assert sold_out == {EARLY_BIRD}
    assert not any(row["held"] for row in rows)


async def test_charts_have_something_true_to_show(demo: Demonstration):
    days = "SELECT count(DISTINCT created_at::date) FROM events.ticket WHERE event_id = $1"
    festival = uuid5(await demo.ask(NAMED, "Clube Aurora"), FESTIVAL)
    assert await demo.ask(days, festival) >= 28
    assert await demo.ask("SELECT count(*) FROM payments.payment WHERE status = 'SUCCEEDED'") > 200
    assert await demo.ask("SELECT count(*) FROM payments.payment WHERE refunded_minor > 0") >= 6
    quarters = "SELECT count(DISTINCT date_bin('15 minutes', at, '2026-01-01')) FROM entitlements.checkin"
    assert await demo.ask(quarters) >= 8
    assert await demo.ask("SELECT count(*) FROM coupons.campaign WHERE state = 'ACTIVE'") == 1


async def test_the_buyer_has_tickets_to_come_used_ones_and_one_that_went_back(demo: Demonstration):
    async def who(tx: PeopleTx) -> IdentityId:
        return (await find_by_email(tx, [BUYER]))[BUYER]

    buyer = await demo.ground.database.read(PeopleScope("test"), who)
    rights = await demo.superuser.fetch(
        "SELECT entered, valid_from > now() AS coming, valid_until < now() AS over FROM entitlements.entitlement"
        " WHERE identity_id = $1",
        buyer.uuid,
    )
    assert sum(row["over"] and row["entered"] > 0 for row in rights) == 2
    assert sum(row["coming"] for row in rights) == 5, "of which one went back, once a worker has heard of it"
    assert sum(not row["coming"] and not row["over"] for row in rights) == 3
    back = "SELECT count(*) FROM payments.payment WHERE identity_id = $1 AND refunded_minor = amount_minor"
    assert await demo.ask(back, buyer.uuid) == 1


class OpenDoor:
    """The door of the exhibition, and a steward."""

    def __init__(self, demo: Demonstration, club: OrganizationId) -> None:
        self.scope = Scope(club, "test")
        self.event = event_at(club, EXHIBITION)
        self._database = demo.ground.database

    async def read(self, look: Any, *about: Any, scope: Scope | PeopleScope | None = None) -> Any:
        return await self._database.read(scope or self.scope, look, *about)

    async def find(self, words: str) -> list[Entitlement]:
        found = await search_holders(self.read, str(self.event), words, UUID(int=0), 20)
        return [each.right for each in found.holders]

    async def show_code_of(self, right: Entitlement) -> Verdict:
        """The one that its owner's wallet shows now."""
        renewal = Renewal(right.id, timedelta(minutes=30), right.owner)
        [token] = await self._database.run(self.scope, lambda tx: renew(tx, [renewal]))
        return await self._ask(digest=token.digest)

    async def let_in(self, right: Entitlement) -> Verdict:
        return await self._ask(entitlement=right.id)

    async def _ask(self, **shown: Any) -> Verdict:
        scan = Scan(Caller(), Place(str(self.event), None, "Porta principal", "test"), **shown)
        [verdict] = await self._database.run(self.scope, lambda tx: consume(tx, [scan]))
        return verdict


@pytest.fixture
async def door(demo: Demonstration) -> OpenDoor:
    return OpenDoor(demo, OrganizationId(await demo.ask(NAMED, "Clube Aurora")))


async def test_a_code_of_the_buyers_wallet_is_admitted_now_and_once(door: OpenDoor):
    right = next(each for each in await door.find(BUYER) if not each.entered)
    verdict = await door.show_code_of(right)
    assert verdict.allow, verdict
    assert not (await door.show_code_of(right)).allow


async def test_a_guest_is_found_by_the_address_they_say_and_has_not_come_yet(door: OpenDoor):
    assert [each.entered for each in await door.find(GUEST)] == [0]


async def test_somebody_of_the_crowd_is_found_by_name_and_let_in_by_hand(door: OpenDoor):
    found = {name: await door.find(name) for name in CROWD.values()}
    outside = {name: [each for each in rights if not each.entered] for name, rights in found.items()}
    waiting = [rights for rights in outside.values() if rights]
    assert len(waiting) >= 5
    verdict = await door.let_in(waiting[0][0])
    assert verdict.allow, verdict


async def test_the_door_of_the_exhibition_stays_open_for_weeks(demo: Demonstration, door: OpenDoor):
    in_weeks = datetime.now(UTC) + timedelta(weeks=7)
    open_then = (
        "SELECT bool_and(valid_from < now() AND valid_until > $2) FROM entitlements.entitlement WHERE event_id = $1"
    )
    assert await demo.ask(open_then, str(door.event), in_weeks)


async def test_people_came_to_the_exhibition_over_the_last_hours(demo: Demonstration, door: OpenDoor):
    lately = (
        "SELECT count(DISTINCT date_bin('15 minutes', at, '2026-01-01')) FROM entitlements.checkin"
        " WHERE event_id = $1 AND at BETWEEN now() - interval '5 hours' AND now() - interval '5 minutes'"
    )
    assert await demo.ask(lately, str(door.event)) >= 12


async def test_the_steward_is_sent_to_that_door_for_as_long_as_it_is_open(demo: Demonstration, door: OpenDoor):
    async def signs() -> str:
        club = await find_club(demo.ground.database)
        assert club is not None
        return "\n".join(lines_of(signs_of("http://here", club)))

    home = f"http://here/org/{door.scope.organization}"
    assert f"frontdesk@aurora.example  {home}/checkin/{door.event}/door\n" in await signs()
    demo.ground.calendar.turn_to(datetime.now(UTC) + timedelta(weeks=9))
    over = await signs()
    demo.ground.calendar.return_to_now()
    assert f"frontdesk@aurora.example  {home}/checkin\n" in over

"""The proof as people and operators meet it: over HTTP, as pages, at night, from the command line."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import httpx
import pytest
from click.testing import Result
from typer.testing import CliRunner

from admitone.entrypoints.cli import app
from admitone.entrypoints.duties import duties_of
from admitone.entrypoints.modules import MODULES
from admitone.finance.gateways.port import GATEWAYS, Gateways
from admitone.finance.gateways.sandbox.faults import Faults
from admitone.finance.gateways.sandbox.gateway import SandboxGateway
from admitone.finance.gateways.sandbox.simulator import Simulator
from admitone.finance.ledger.api import Event
from admitone.finance.proof import routes
from admitone.finance.proof.model import Check, Verdict
from admitone.finance.proof.module import MODULE
from admitone.finance.proof.proving import prove_everybody, watch
from admitone.finance.reconciliation.comparing import streams
from admitone.finance.sales.module import MODULE as SALES
from admitone.foundation.authority.api import MemberRole, RolePack
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from admitone.kernel.ids import PLATFORM_ORGANIZATION, OrganizationId, uuid7
from admitone.kernel.jobs import Delivered, Desk
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.manifest import Module
from admitone.kernel.scope import Caller
from tests.conftest import INTERNAL_SECRET
from tests.finance.ledger.books import a_posting, an_organization, booked
from tests.finance.lives import FEES, PAY, live
from tests.finance.proof.books import AN_HOUR, Vandal, an_old_world, proved, red, rolled, unheard_of
from tests.finance.world import World
from tests.jobs import a_worker
from tests.people import Person, a_member

SPOILS_A_BALANCE = """
    UPDATE ledger.balance SET credits_minor = credits_minor + 1
     WHERE organization_id = $1 AND account = 'org_payable' RETURNING payee_id AS id
"""
ALERTS = "SELECT rule, subject, detail, resolved_at FROM kernel.alert WHERE concerns = $1 ORDER BY subject"


@pytest.fixture
async def sold(world: World) -> World:
    await live(world, (PAY, FEES))
    await rolled(world)
    return world


async def recomputed(site: httpx.AsyncClient, world: World, who: Person | None = None) -> dict[str, Any]:
    answer = await site.post(f"/api/org/{world.organization}/finance/proof", headers=(who or world.owner).headers)
    assert answer.status_code == 200, answer.text
    return {each["check"]: each for each in answer.json()["verdicts"]}


async def test_a_member_recomputes_and_reads_the_latest(
    site: httpx.AsyncClient, sold: World, superuser: asyncpg.Connection
):
    path = f"/api/org/{sold.organization}/finance/proof"
    before = await site.get(path, headers=sold.owner.headers)
    assert before.json() == {"verdicts": [], "queued": False}
    verdicts = await recomputed(site, sold)
    assert {check: each["verdict"] for check, each in verdicts.items()} == dict.fromkeys(Check, "GREEN")
    await Vandal(superuser, sold).spoil("ledger.balance", SPOILS_A_BALANCE)
    after = await recomputed(site, sold)
    assert [check for check, each in after.items() if each["verdict"] == "RED"] == ["TRIAL_BALANCE", "BALANCES"]
    [difference] = after["BALANCES"]["differences"]
    assert (difference["word"], difference["expected"]) == ("BALANCE", difference["found"] - 1)
    latest = await site.get(path, headers=sold.owner.headers)
    assert {each["check"]: each for each in latest.json()["verdicts"]} == after


async def test_recomputing_is_limited_and_only_for_who_sees_money(site: httpx.AsyncClient, world: World):
    path = f"/api/org/{world.organization}/finance/proof"
    desk = await a_member(world.database, world.organization, MemberRole.STAFF, RolePack.FRONT_DESK)
    assert (await site.post(path, headers=desk.headers)).status_code == 403
    assert (await site.get(path, headers=desk.headers)).status_code == 403
    said = [(await site.post(path, headers=world.owner.headers)).status_code for _ in range(7)]
    assert said == [200] * 6 + [429]


async def test_long_books_are_left_to_a_worker(
    site: httpx.AsyncClient, sold: World, batcher: Batcher, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(routes, "AT_ONCE", 1)
    answer = await site.post(f"/api/org/{sold.organization}/finance/proof", headers=sold.owner.headers)
    assert answer.json() == {"verdicts": [], "queued": True}
    facts = Module("all", facts=tuple(fact for module in MODULES if module is not MODULE for fact in module.facts))
    async with a_worker(sold.database, duties_of([facts, MODULE])), asyncio.timeout(60):
        while not (await latest(site, sold)):  # noqa: ASYNC110  A worker tells nobody.
            await asyncio.sleep(0.05)
    assert {each["verdict"] for each in await latest(site, sold)} == {"GREEN"}


async def latest(site: httpx.AsyncClient, world: World) -> list[Any]:
    answer = await site.get(f"/api/org/{world.organization}/finance/proof", headers=world.owner.headers)
    found: list[Any] = answer.json()["verdicts"]
    return found


async def test_somebody_is_woken_while_it_is_red_and_no_longer(
    sold: World, batcher: Batcher, superuser: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
):
    own = sold.organization.uuid
    vandal = Vandal(superuser, sold)
    await vandal.spoil("ledger.balance", SPOILS_A_BALANCE)
    for _ in range(2):
        await proved(sold.database, batcher, sold.organization)
    alerts = await superuser.fetch(ALERTS, own)
    assert [(row["rule"], row["subject"].partition(":")[2], row["resolved_at"]) for row in alerts] == [
        ("proof.red", "BALANCES", None),
        ("proof.red", "TRIAL_BALANCE", None),
    ]
    assert "BALANCE org_payable EUR" in alerts[0]["detail"]
    unheard_of(sold, after=-AN_HOUR)
    assert Check.PROVIDER in red(await proved(sold.database, batcher, sold.organization))
    monkeypatch.setattr(streams, "PAUSE", timedelta(0))
    away = Simulator(sold.simulator.keys, sold.simulator.journal, faults=Faults(unreachable=10_000))
    with GATEWAYS.wired(Gateways([SandboxGateway.in_process(away)])):
        await proved(sold.database, batcher, sold.organization)
    alerts = await superuser.fetch(ALERTS, own)
    assert [row["resolved_at"] for row in alerts] == [None, None, None], "what is unknown is not over"
    await vandal.mend()
    assert red(await proved(sold.database, batcher, sold.organization)) == {Check.PROVIDER}
    after = {row["subject"].partition(":")[2]: row["resolved_at"] for row in await superuser.fetch(ALERTS, own)}
    assert {check for check, at in after.items() if at is None} == {"PROVIDER"}


async def test_somebody_is_woken_when_two_nights_were_not_green(
    sold: World, batcher: Batcher, superuser: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(streams, "PAUSE", timedelta(0))
    own, desk = sold.organization.uuid, Desk(sold.database, batcher)

    async def woken(after: timedelta) -> list[tuple[str, str]]:
        at = datetime.now(UTC) + after
        firing = Delivered(uuid7(), sold.organization, Firing("proof.watch", at), Caller(), "k", None, 1, at)
        await watch.work(desk, firing)
        rows = await superuser.fetch(ALERTS, own)
        return [(row["rule"], row["subject"].partition(":")[2]) for row in rows if row["resolved_at"] is None]

    await proved(sold.database, batcher, sold.organization)
    await superuser.execute(
        "UPDATE proof.verdict SET green_at = green_at - interval '30 hours' WHERE organization_id = $1", own
    )
    away = Simulator(sold.simulator.keys, sold.simulator.journal, faults=Faults(unreachable=10_000))
    with GATEWAYS.wired(Gateways([SandboxGateway.in_process(away)])):
        await proved(sold.database, batcher, sold.organization)
    assert await woken(timedelta(hours=3)) == [], "one night"
    assert await woken(timedelta(hours=27)) == [("proof.stale", "PROVIDER")], "the others were green since"
    assert len(await woken(timedelta(days=3))) == 4, "nobody looked"
    await proved(sold.database, batcher, sold.organization)
    assert await woken(timedelta(0)) == []


async def test_operators_see_all_organisations_the_red_ones_first(
    http: httpx.AsyncClient, sold: World, batcher: Batcher, superuser: asyncpg.Connection
):
    vandal = Vandal(superuser, sold)
    await vandal.spoil("ledger.balance", SPOILS_A_BALANCE)
    await proved(sold.database, batcher, sold.organization)
    other = (await an_organization(sold.database)).organization
    await proved(sold.database, batcher, other)
    seen: list[Any] = []
    query: dict[str, Any] = {"limit": 3}
    while True:
        answer = await http.get(
            "/api/internal/proof", params=query, headers={"x-orya-internal-secret": INTERNAL_SECRET}
        )
        assert answer.status_code == 200, answer.text
        overall = answer.json()
        seen += overall["items"]
        if not overall["nextCursor"]:
            break
        query["cursor"] = overall["nextCursor"]
    order = [each["verdict"] for each in seen]
    assert order == sorted(order, key=["RED", "UNKNOWN", "GREEN"].index)
    mine = {each["check"]: each["verdict"] for each in seen if each["organizationId"] == str(sold.organization)}
    assert mine == {"TRIAL_BALANCE": "RED", "BALANCES": "RED", "PROVIDER": "GREEN", "CHAIN": "GREEN"}
    [total] = [each for each in overall["totals"] if each["check"] == "BALANCES"]
    assert total["red"] + total["green"] + total["unknown"] == sum(each["check"] == "BALANCES" for each in seen)
    assert overall["sides"]["EUR"]["leftMinor"] != overall["sides"]["EUR"]["rightMinor"]
    assert (await http.get("/api/internal/proof")).status_code == 403
    await vandal.mend()
    await proved(sold.database, batcher, sold.organization)


async def test_at_night_every_organisation_is_proved_once(sold: World, batcher: Batcher, superuser: asyncpg.Connection):
    at = datetime(2026, 11, 16, 3, 20, tzinfo=UTC)
    firing = Delivered(uuid7(), sold.organization, Firing("proof.nightly", at), Caller(), "k", None, 1, at)
    for _ in range(2):
        await prove_everybody.work(Desk(sold.database, batcher), firing)
    jobs = "SELECT count(*) FROM kernel.job WHERE organization_id = $1 AND kind = 'proof.prove'"
    assert await superuser.fetchval(jobs, sold.organization.uuid) == 1
    await superuser.execute("DELETE FROM kernel.job WHERE kind = 'proof.prove'")


async def admitone(database_url: str, *words: str) -> Result:
    env = {"DATABASE_URL": database_url, "ADMITONE_GATEWAYS": "none"}
    return await asyncio.to_thread(CliRunner().invoke, app, [*words], env=env)


async def test_an_operator_proves_from_the_command_line(
    database: Database, database_url: str, superuser: asyncpg.Connection
):
    scope = await an_organization(database)
    await booked(database, scope, a_posting(Event.CAPTURED, gross=500, fee=30, transfer=470, reference="ch_1"))
    words = ("proof", "--organization", str(scope.organization))
    green = await admitone(database_url, *words)
    assert green.exit_code == 0, green.output
    assert green.output.count("GREEN") == 4
    assert "inFlight 2" in green.output
    await superuser.execute(
        "UPDATE ledger.delta SET credits[1] = credits[1] + 1 WHERE organization_id = $1", scope.organization.uuid
    )
    spoilt = await admitone(database_url, *words)
    assert spoilt.exit_code == 1
    assert "DELTA: delta" in spoilt.output


async def test_an_operator_makes_the_sales_anew_from_the_command_line(
    sold: World, database_url: str, superuser: asyncpg.Connection
):
    count = "SELECT count(*) FROM sales.sale_summary WHERE organization_id = $1"
    assert await superuser.fetchval(count, sold.organization.uuid) == 0
    async with a_worker(sold.database, duties_of([Module("bulk", jobs=SALES.jobs)])):
        done = await admitone(database_url, "sales", "rebuild", "--organization", str(sold.organization))
    assert done.exit_code == 0, done.output
    assert "1/1" in done.output
    assert await superuser.fetchval(count, sold.organization.uuid) == 1


WAITING = """
    INSERT INTO webhooks.receipt (id, organization_id, source, external_id, provider, type, provider_created_at,
                                  livemode, correlation_id, state, received_at)
    VALUES ($1::uuid, $2, 'sandbox', $1::uuid::text, 'sandbox', 'payment_intent.succeeded', now() - interval '1 hour', false, $1::uuid,
            'RECEIVED', now() - interval '1 hour')
"""


@pytest.fixture
async def old(database_url: str) -> AsyncIterator[World]:
    async with an_old_world(database_url) as world:
        yield world


async def test_what_waits_in_our_queue_of_webhooks_is_in_flight(
    old: World, database: Database, batcher: Batcher, superuser: asyncpg.Connection
):
    unheard_of(old)
    assert red(await proved(database, batcher, old.organization)) == {Check.PROVIDER}
    own = uuid7()
    await superuser.execute(WAITING, own, OrganizationId.new().uuid)
    assert red(await proved(database, batcher, old.organization)) == {Check.PROVIDER}, "somebody else's event"
    await superuser.execute(
        "UPDATE webhooks.receipt SET organization_id = $2 WHERE id = $1", own, old.organization.uuid
    )
    findings = await proved(database, batcher, old.organization)
    await superuser.execute("DELETE FROM webhooks.receipt WHERE id = $1", own)
    assert (findings[Check.PROVIDER].verdict, findings[Check.PROVIDER].figures.counts["inFlight"]) == (Verdict.GREEN, 1)


async def test_an_event_that_is_nobodys_yet_excuses_nobody_for_long(
    old: World, database: Database, batcher: Batcher, superuser: asyncpg.Connection
):
    """Before, one of them put a day of every organisation in flight."""
    unheard_of(old, after=-3 * AN_HOUR)
    own = uuid7()
    await superuser.execute(WAITING, own, PLATFORM_ORGANIZATION.uuid)
    await superuser.execute("UPDATE webhooks.receipt SET received_at = now() - interval '20 hours' WHERE id = $1", own)
    findings = await proved(database, batcher, old.organization)
    await superuser.execute("DELETE FROM webhooks.receipt WHERE id = $1", own)
    assert red(findings) == {Check.PROVIDER}

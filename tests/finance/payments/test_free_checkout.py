"""What costs nothing: given at once, to each person so many times, and not to whoever only tries (FIN-080 to FIN-084)."""

from collections.abc import Sequence
from typing import Any

import asyncpg
import httpx
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from admitone.entrypoints.http import Application
from admitone.finance.gateways.sandbox.objects import Intent
from admitone.finance.payments.commands.checkouts import Begun, begin
from admitone.finance.payments.errors import FreeLimitReached, FreeNotAllowed, FreeUncounted
from admitone.finance.payments.model import PaymentMethod, Scenario, Status
from admitone.finance.pricing.port import PROMOTIONS, Discount
from admitone.finance.sources.api import Source, SourceType
from admitone.finance.sources.port import Guard, Offer, Wanted
from admitone.kernel.db import Database, Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import PLATFORM_ORGANIZATION
from tests.builders import at_the_same_time
from tests.finance.world import World
from tests.foundation.organizations.clubs import facts_of, mailed, trail_of
from tests.people import Person, a_person

GUARD = "show-1 standing"


class HalfOrAll:
    """Takes off as much as the code says, in cents."""

    async def discounts(self, tx: Tx, wanted: Sequence[tuple[Wanted, Offer]]) -> list[tuple[Discount, ...]]:
        return [
            (Discount(int(each.promo_code), "promo-1", each.promo_code, "Off", "FIXED", int(each.promo_code)),)
            if each.promo_code
            else ()
            for each, _ in wanted
        ]


async def begun(world: World, source: Source, **more: Any) -> Begun | Refusal:
    checkout = world.checkout(source, **{"counted": True} | more)
    [outcome] = await world.database.run(world.scope, lambda tx: begin(tx, [checkout]))
    return outcome


class Buyer:
    """Somebody at a screen."""

    def __init__(self, site: httpx.AsyncClient, world: World, person: Person) -> None:
        self.site, self.world, self.person = site, world, person
        self.number = 0

    async def takes(self, source: Source | None = None, device: str | None = None, **offer: Any) -> httpx.Response:
        """What is free, or something new that is."""
        self.number += 1
        source = source or self.world.shop.sells(self.person.identity, 0, **offer)
        wanted = {
            "organizationId": str(self.world.organization),
            "sourceType": source.type,
            "sourceId": source.id,
            "idempotencyKey": f"free-{self.number}",
        }
        headers = self.person.headers | ({"x-device-id": device} if device else {})
        return await self.site.post("/api/payments/intent", json=wanted, headers=headers)


def from_elsewhere(application: Application, number: int) -> httpx.AsyncClient:
    """A client at an address of its own."""
    transport = httpx.ASGITransport(application.edge, client=(f"198.51.100.{number}", 4711))
    return httpx.AsyncClient(transport=transport, base_url="http://admitone.test")


@pytest.fixture
def buyer(site: httpx.AsyncClient, world: World) -> Buyer:
    return Buyer(site, world, world.buyer)


# -- Given at once


@pytest.mark.covers("FIN-081")
async def test_what_costs_nothing_is_paid_at_once_and_asks_no_provider(
    world: World, buyer: Buyer, superuser: asyncpg.Connection
):
    source = world.shop.sells(world.buyer.identity, 0)
    answer = await buyer.takes(source)
    assert answer.status_code == 200, answer.text
    assert (answer.json()["state"], answer.json()["freeCheckout"], answer.json()["amountMinor"]) == (
        "SUCCEEDED",
        True,
        0,
    )
    assert world.simulator.list_newest(Intent) == []
    assert len(await trail_of(superuser, world.organization, "payments.free_checkout")) == 1
    assert len(await facts_of(superuser, world.organization, "payment.succeeded")) == 1
    buyer.number -= 1  # The same key again.
    again = await buyer.takes(source)
    assert again.json()["paymentId"] == answer.json()["paymentId"]
    assert len(await facts_of(superuser, world.organization, "payment.succeeded")) == 1


@pytest.mark.covers("FIN-080")
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(price=st.integers(0, 5), off=st.integers(0, 7))
async def test_free_is_what_costs_nothing_after_everything_and_nothing_else(world: World, price: int, off: int):
    source = world.shop.sells(world.buyer.identity, price)
    with PROMOTIONS.wired(HalfOrAll()):
        outcome = await begun(world, source, promo_code=str(off) if off else None)
    assert isinstance(outcome, Begun), outcome
    payment = outcome.payment
    is_free = payment.scenario is Scenario.FREE_CHECKOUT
    assert is_free == (payment.amount_minor == 0) == (price <= off)
    assert (payment.method is PaymentMethod.FREE, outcome.intent is None, payment.status is Status.SUCCEEDED) == (
        (is_free,) * 3
    )


async def test_a_campaign_is_never_given_away(world: World):
    source = world.shop.sells(world.buyer.identity, 0, type=SourceType.COUPON_CAMPAIGN)
    assert await begun(world, source) == FreeNotAllowed()


# -- To each person so many times


@pytest.mark.covers("FIN-082")
@pytest.mark.parametrize(("price", "code"), [(0, None), (1000, "1000")])
async def test_a_person_has_one_of_a_kind_for_nothing_whatever_made_it_free(world: World, price: int, code: str | None):
    with PROMOTIONS.wired(HalfOrAll()):
        one, two = [world.shop.sells(world.buyer.identity, price, guards=(Guard(GUARD),)) for _ in range(2)]
        assert isinstance(await begun(world, one, promo_code=code), Begun)
        assert await begun(world, two, promo_code=code) == FreeLimitReached()
        other = world.shop.sells(world.buyer.identity, price, guards=(Guard("show-1 seated"),))
        assert isinstance(await begun(world, other, promo_code=code), Begun)
        friend = await a_person(world.database)
        theirs = world.shop.sells(friend.identity, price, guards=(Guard(GUARD),))
        assert isinstance(await begun(world, theirs, promo_code=code, buyer=friend), Begun)


@pytest.mark.covers("FIN-082")
async def test_the_vertical_may_allow_more_than_one(world: World):
    offers = [world.shop.sells(world.buyer.identity, 0, guards=(Guard(GUARD, most=2),)) for _ in range(3)]
    outcomes = [await begun(world, each) for each in offers]
    assert [isinstance(each, Begun) for each in outcomes] == [True, True, False]


@pytest.mark.covers("FIN-082")
async def test_of_many_who_take_at_once_in_one_name_one_is_given(world: World):
    sources = iter([world.shop.sells(world.buyer.identity, 0, guards=(Guard(GUARD),)) for _ in range(6)])

    async def take(tx: Tx) -> Sequence[Begun | Refusal]:
        return await begin(tx, [world.checkout(next(sources), counted=True)])

    outcomes = await at_the_same_time(6, take, world.database, world.scope)
    taken = sum(isinstance(each, list) and isinstance(each[0], Begun) for each in outcomes)
    assert taken == 1, outcomes


@pytest.mark.covers("FIN-082")
async def test_nobody_is_given_anything_uncounted(world: World):
    source = world.shop.sells(world.buyer.identity, 0)
    assert await begun(world, source, counted=False) == FreeUncounted(buyer=world.buyer.identity)


@pytest.mark.covers("FIN-082", "FIN-084")
async def test_five_in_ten_minutes_are_enough_for_one_person(world: World, buyer: Buyer, superuser: asyncpg.Connection):
    answers = [await buyer.takes() for _ in range(6)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429]
    # The door is closed for longer than the ten minutes.
    assert 600 < int(answers[-1].headers["retry-after"]) <= 900
    [entry] = await trail_of(superuser, world.organization, "payments.free_checkout_denied")
    assert entry["reason_code"] == "RATE_LIMITED"
    [fact] = await facts_of(superuser, world.organization, "free_checkout.denied")
    assert set(msgspec.json.decode(fact["payload"])) == {"sourceType", "sourceId", "reasonCode"}


@pytest.mark.covers("FIN-082")
async def test_ten_in_ten_minutes_are_enough_for_one_address(world: World, buyer: Buyer, database: Database):
    """Of three people, each of whom may have more."""
    friends = [Buyer(buyer.site, world, await a_person(database)) for _ in range(2)]
    answers = [await each.takes() for each in (buyer, *friends) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200] * 10 + [429] * 2


# -- Not to whoever only tries


@pytest.mark.covers("FIN-084")
async def test_the_same_thing_under_a_new_key_is_denied_and_written_down(
    world: World, buyer: Buyer, superuser: asyncpg.Connection
):
    source = world.shop.sells(world.buyer.identity, 0)
    assert (await buyer.takes(source)).status_code == 200
    denied = await buyer.takes(source)
    assert (denied.status_code, denied.json()["errorCode"]) == (409, "ALREADY_PAID")
    [entry] = await trail_of(superuser, world.organization, "payments.free_checkout_denied")
    assert (entry["reason_code"], entry["actor_id"]) == ("ALREADY_PAID", world.buyer.identity.uuid)
    assert len(await facts_of(superuser, world.organization, "free_checkout.denied")) == 1


async def passes_step_up(buyer: Buyer, superuser: asyncpg.Connection) -> None:
    sent = await buyer.site.post("/api/auth/step-up/send-code", headers=buyer.person.headers)
    letters = [each for each in await mailed(superuser, PLATFORM_ORGANIZATION) if each.to == buyer.person.email]
    proof = {"challengeId": sent.json()["challengeId"], "code": letters[-1].values["code"]}
    answer = await buyer.site.post("/api/auth/step-up", json=proof, headers=buyer.person.headers)
    assert answer.status_code == 200, answer.text


@pytest.mark.covers("FIN-083", "FIN-084")
async def test_after_three_denials_one_proves_who_one_is(
    world: World, buyer: Buyer, superuser: asyncpg.Connection, application: Application
):
    assert (await buyer.takes(guards=(Guard(GUARD),))).status_code == 200
    for _ in range(3):
        denied = await buyer.takes(guards=(Guard(GUARD),))
        assert (denied.status_code, denied.json()["errorCode"]) == (403, "FREE_LIMIT_REACHED")
    stepped = await buyer.takes(guards=(Guard("another show"),))
    assert (stepped.status_code, stepped.json()["errorCode"]) == (403, "STEP_UP_REQUIRED")
    entries = await trail_of(superuser, world.organization, "payments.free_checkout_denied")
    assert [entry["reason_code"] for entry in entries] == ["FREE_LIMIT_REACHED"] * 3 + ["STEP_UP_REQUIRED"]
    async with from_elsewhere(application, 9) as elsewhere:  # It is about the person, wherever they are.
        assert (await Buyer(elsewhere, world, buyer.person).takes()).json()["errorCode"] == "STEP_UP_REQUIRED"
    await passes_step_up(buyer, superuser)
    assert (await buyer.takes(guards=(Guard("another show"),))).status_code == 200


@pytest.mark.covers("FIN-083")
@pytest.mark.parametrize(("device", "others"), [("phone-1", 3), (None, 5)])
async def test_too_many_people_at_one_place_prove_who_they_are(
    world: World,
    database: Database,
    superuser: asyncpg.Connection,
    application: Application,
    device: str | None,
    others: int,
):
    """On one device wherever it is, or at one address whatever they hold."""
    people = [await a_person(database) for _ in range(others + 1)]

    async def takes(number: int) -> httpx.Response:
        place = number if device else 77
        async with from_elsewhere(application, 100 + place) as client:
            return await Buyer(client, world, people[number]).takes(device=device)

    assert [(await takes(number)).status_code for number in range(others)] == [200] * others
    assert (await takes(0)).status_code == 200  # Who was there before is one of them already.
    last = await takes(others)
    assert (last.status_code, last.json()["errorCode"]) == (403, "STEP_UP_REQUIRED")
    async with from_elsewhere(application, 200) as client:
        await passes_step_up(Buyer(client, world, people[others]), superuser)
    assert (await takes(others)).status_code == 200


@pytest.mark.covers("FIN-083")
async def test_a_guest_who_is_asked_to_prove_it_signs_in(world: World, buyer: Buyer, site: httpx.AsyncClient):
    for _ in range(4):
        await buyer.takes(guards=(Guard(GUARD),))
    source = world.shop.sells(world.buyer.identity, 0, guest_allowed=True)
    wanted = {
        "organizationId": str(world.organization),
        "sourceType": source.type,
        "sourceId": source.id,
        "idempotencyKey": "guest-1",
    }
    answer = await site.post("/api/payments/intent", json=wanted)
    assert (answer.status_code, answer.json()["errorCode"]) == (401, "UNAUTHENTICATED")

"""Who repeats a checkout, who applies late money, and who only looks: each is told what is theirs, and nothing else."""

from typing import Any

import httpx
import msgspec
import pytest

from admitone.finance.gateways.api import Method, Provider
from admitone.finance.gateways.port import GATEWAYS, Gateways
from admitone.finance.payments.commands.checkouts import Begun, begin
from admitone.finance.payments.commands.receipts import Decision, apply
from admitone.finance.payments.errors import (
    AlreadyPaid,
    OfferEnded,
    PaymentInProgress,
    SignInToPay,
    SourceNotSold,
)
from admitone.finance.payments.model import Status
from admitone.finance.payments.routes.payments import LAST
from admitone.finance.payments.secrets import status_secret
from admitone.finance.payments.store.receipts import list_receipts
from admitone.finance.sources.api import Source
from admitone.kernel.idempotency import KeyReused
from admitone.kernel.scope import Caller
from tests.finance.payments.telling import K, a_fact, a_late_payment, a_sale, tell
from tests.finance.world import World
from tests.people import a_person

GUEST = Caller(device="phone", address="192.0.2.1")
OTHER = Caller(device="other", address="192.0.2.9")


async def begins(world: World, source: Source, caller: Caller, key: str = "once") -> Any:
    checkout = msgspec.structs.replace(world.checkout(source, key=key), caller=caller)
    [outcome] = await world.database.run(world.scope, lambda tx: begin(tx, [checkout]))
    return outcome


# -- Repeating


async def test_a_guest_who_repeats_is_given_the_same_payment_and_no_other_guest_is(world: World):
    source = world.shop.sells(world.buyer.identity, 5000, guest_allowed=True)
    first = await begins(world, source, GUEST)
    again = await begins(world, source, GUEST)
    assert isinstance(again, Begun)
    assert (again.payment.id, again.replayed, again.intent) == (first.payment.id, True, again.intent)
    assert again.intent is not None
    assert isinstance(await begins(world, source, OTHER), PaymentInProgress)


async def test_what_a_guest_began_is_told_to_nobody_whom_the_shop_does_not_let_in(world: World):
    source = world.shop.sells(world.buyer.identity, 5000, guest_allowed=True)
    await begins(world, source, GUEST)
    world.shop.changes(source, guest_allowed=False)
    assert isinstance(await begins(world, source, GUEST), SignInToPay)
    assert isinstance(await begins(world, source, OTHER), SignInToPay)


async def test_what_a_guest_gave_up_is_not_given_again(world: World):
    source = world.shop.sells(world.buyer.identity, 5000, guest_allowed=True)
    first = await begins(world, source, GUEST)
    await world.clerk.close(world.organization, first.payment.id, K.CANCELLED, Caller())
    assert isinstance(await begins(world, source, GUEST), KeyReused)
    assert isinstance(await begins(world, source, GUEST, key="anew"), Begun)


async def test_nobody_learns_by_a_key_that_another_pays(world: World):
    source = world.shop.sells(world.buyer.identity, 5000)
    assert isinstance(await begins(world, source, world.buyer.caller), Begun)
    stranger = await a_person(world.database)
    assert isinstance(await begins(world, source, stranger.caller), SourceNotSold)


async def test_a_key_is_known_for_ever_however_many_payments_a_source_has(world: World):
    source = world.shop.sells(world.buyer.identity, 5000)
    first = await begins(world, source, world.buyer.caller)
    await world.clerk.close(world.organization, first.payment.id, K.CANCELLED, Caller())
    for number in range(101):
        begun = await begins(world, source, world.buyer.caller, key=f"key-{number}")
        await world.clerk.close(world.organization, begun.payment.id, K.CANCELLED, Caller())
    again = await begins(world, source, world.buyer.caller)
    assert isinstance(again, Begun)
    assert again.payment.id == first.payment.id


# -- Applying


async def test_late_money_pays_only_for_what_its_shop_still_keeps(world: World):
    payment, _ = await a_late_payment(world)
    source = (await world.payment(payment)).source
    decision = Decision(world.owner.caller, payment, "GOODWILL")
    offer = world.shop.offers[source]
    world.shop.offers[source] = AlreadyPaid()
    with pytest.raises(AlreadyPaid):
        await world.submit(apply, decision)
    world.shop.offers[source] = offer
    world.shop.changes(source, expires_at=(await world.payment(payment)).created_at)
    with pytest.raises(OfferEnded):
        await world.submit(apply, decision)
    stranger = await a_person(world.database)
    world.shop.offers[source] = offer
    world.shop.changes(source, buyer=stranger.identity)
    with pytest.raises(SourceNotSold):
        await world.submit(apply, decision)
    assert (await world.payment(payment)).status is Status.NEEDS_MANUAL
    world.shop.offers[source] = offer
    assert (await world.submit(apply, decision)).status is Status.SUCCEEDED


async def test_late_money_does_not_pay_while_somebody_pays_otherwise(world: World):
    payment, _ = await a_late_payment(world)
    await world.begin((await world.payment(payment)).source)
    with pytest.raises(PaymentInProgress):
        await world.submit(apply, Decision(world.owner.caller, payment, "GOODWILL"))


# -- Looking


async def test_every_receipt_of_a_payment_is_listed_also_across_pages(world: World):
    payment, _ = await a_late_payment(world)
    for name in ("a", "b", "c"):
        await tell(world, payment, a_fact(K.CAPTURED, f"ch_{name}", 5000, minutes=1))
    seen: list[str] = []
    place = (LAST, "")
    while found := await world.database.read(world.scope, list_receipts, place, 2):
        seen += [each.capture_key for each in found]
        place = (found[-1].payment_id.uuid, found[-1].capture_key)
    assert len(seen) == len({*seen}) == 4


async def test_who_looks_or_gives_up_spends_nothing_that_paying_has(site: httpx.AsyncClient, world: World):
    order = world.shop.sells(world.buyer.identity, 5000)
    asked = {"organizationId": str(world.organization), "sourceType": order.type.value, "sourceId": order.id}
    for _ in range(31):
        answer = await site.post("/api/payments/quote", json=asked, headers=world.buyer.headers)
        assert answer.status_code == 200
    paying = asked | {"idempotencyKey": "a-key"}
    assert (await site.post("/api/payments/intent", json=paying, headers=world.buyer.headers)).status_code == 200


async def test_the_secret_travels_in_a_header(site: httpx.AsyncClient, world: World):
    payment, _ = await a_sale(world)
    secret = {"x-status-secret": status_secret(await world.payment(payment))}
    asked = {"paymentId": str(payment)}
    assert (await site.get("/api/checkout/status", params=asked, headers=secret)).json()["state"] == "PENDING"
    assert (await site.get("/api/checkout/status", params=asked)).status_code == 404
    given_up = await site.post("/api/checkout/cancel", json=asked, headers=secret)
    assert given_up.json()["state"] == "CANCELLED"


class PixOnly:
    """Another provider, which takes PIX and nothing else."""

    provider = Provider.OPENPIX
    methods = frozenset({Method.PIX})

    def __init__(self, gateway: Any) -> None:
        self._gateway = gateway

    def __getattr__(self, name: str) -> Any:
        return getattr(self._gateway, name)


class CardsOnly(PixOnly):
    provider = Provider.SANDBOX
    methods = frozenset({Method.CARD})


async def test_where_pix_is_taken_by_another_provider_an_organisation_sees_how_far_it_is_there(
    site: httpx.AsyncClient, world: World
):
    path = f"/api/org/{world.organization}/finance/onboarding"
    with GATEWAYS.wired(Gateways([CardsOnly(world.gateway), PixOnly(world.gateway)])):
        cards = await site.get(path, headers=world.owner.headers)
        pix = await site.get(path, params={"method": "PIX"}, headers=world.owner.headers)
    assert (cards.json()["status"], pix.json()["status"]) == ("COMPLETE", "NOT_BEGUN")

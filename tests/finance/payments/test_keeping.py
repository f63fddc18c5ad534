"""What somebody begins to pay is kept for them by whoever sells it, in the same commit, or it is not begun."""

from datetime import UTC, datetime, timedelta

import pytest

from admitone.finance.gateways.api import Method
from admitone.finance.payments.commands.checkouts import begin
from admitone.finance.payments.errors import OfferEnded
from admitone.finance.payments.orders import GRACE, LASTS
from admitone.finance.sources.port import Guard
from admitone.kernel.db import Busy
from tests.builders import rows_of
from tests.finance.world import World

MINUTE = timedelta(minutes=1)


def soon(minutes: float) -> datetime:
    return datetime.now(UTC) + timedelta(minutes=minutes)


@pytest.mark.covers("PAY-002", "PAY-052")
@pytest.mark.parametrize("method", Method)
async def test_whoever_begins_in_the_last_minute_has_the_whole_time(world: World, method: Method):
    order = world.shop.sells(world.buyer.identity, 5000, currency="BRL", expires_at=soon(1), payable_until=soon(60))
    begun = await world.begin(order, method=method)
    assert begun.payment.expires_at - begun.payment.created_at == LASTS[method]
    [kept] = world.shop.kept
    assert (kept.source, kept.until) == (order, begun.payment.expires_at + GRACE)


@pytest.mark.covers("PAY-002")
async def test_no_payment_lives_longer_than_it_is_kept(world: World):
    until = soon(10)
    order = world.shop.sells(world.buyer.identity, 5000, expires_at=soon(1), payable_until=until)
    begun = await world.begin(order)
    assert begun.payment.expires_at == until - GRACE, "and the money of the last moment finds it"
    fixed = world.shop.sells(world.buyer.identity, 5000, expires_at=until)
    assert (await world.begin(fixed)).payment.expires_at == until
    assert [each.source for each in world.shop.kept] == [order], "what cannot be kept longer is not asked for"


@pytest.mark.covers("PAY-002")
async def test_what_is_over_by_then_is_not_begun(world: World):
    order = world.shop.sells(world.buyer.identity, 5000, expires_at=soon(1), payable_until=soon(60))
    other = world.shop.sells(world.buyer.identity, 5000, expires_at=soon(1), payable_until=soon(60))
    world.shop.over[order] = OfferEnded()
    same = world.checkout(order, key="same")
    checkouts = [same, world.checkout(other), world.checkout(order, key="same")]
    said = await world.database.run(world.scope, lambda tx: begin(tx, checkouts))
    assert [type(each) for each in said] == [OfferEnded, type(said[1]), OfferEnded]
    assert await rows_of(world.database, world.scope, "payments.payment") == 1
    assert await rows_of(world.database, world.scope, "payments.gateway_intent") == 1
    late = world.shop.sells(world.buyer.identity, 5000, expires_at=soon(1), payable_until=soon(1))
    with pytest.raises(OfferEnded):
        await world.begin(late)


async def test_what_is_kept_already_is_not_asked_for(world: World):
    placed = world.shop.sells(world.buyer.identity, 5000, expires_at=soon(20), payable_until=soon(60))
    begun = await world.begin(placed, kept=True)
    assert begun.payment.expires_at < soon(18), "within what it is kept for"
    assert world.shop.kept == []


@pytest.mark.covers("FIN-082", "PAY-002")
async def test_what_costs_nothing_is_kept_until_it_is_handed_over(world: World):
    free = {"expires_at": soon(0.01), "guards": (Guard("seat"),)}
    source, gone, never = (
        world.shop.sells(world.buyer.identity, 0, payable_until=until, **free)
        for until in (soon(60), soon(60), soon(1))
    )
    world.shop.over[gone] = OfferEnded()
    for over in (gone, never):
        with pytest.raises(OfferEnded):
            await world.begin(over, counted=True)
    begun = await world.begin(source, counted=True)
    assert begun.payment.applied, "what was not begun took nothing"
    assert [each.source for each in world.shop.kept] == [gone, source]
    assert world.shop.kept[-1].until == begun.payment.created_at + GRACE


async def test_who_waits_for_a_row_of_the_shop_waits_alone(world: World, monkeypatch: pytest.MonkeyPatch):
    """`Busy` names the checkout, so that the others go on."""
    sources = [
        world.shop.sells(world.buyer.identity, 5000, expires_at=soon(1), payable_until=soon(60)) for _ in range(3)
    ]
    keep, calls = world.shop.keep, list[int]()

    async def busy(tx, keepings):
        calls.append(len(keepings))
        if len(calls) == 1:
            raise Busy({"row": [keepings[0].of]})
        return await keep(tx, keepings)

    monkeypatch.setattr(world.shop, "keep", busy)
    checkouts = [world.checkout(each) for each in sources]
    with pytest.raises(Busy) as raised:
        await world.database.run(world.scope, lambda tx: begin(tx, checkouts))
    assert raised.value.inputs_by_key["row"][0] is checkouts[0]
    assert [(await world.begin(each)).payment.source for each in sources] == sources

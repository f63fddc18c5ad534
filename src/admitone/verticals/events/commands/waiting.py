"""For how long an order waits for its money.

Promise (PAY-002, U-28): while somebody may pay, it is kept for them, and not a minute of that is after all that there
is for an order; when they cannot any more, it is soon anybody's. An order and its hold end at the same instant. Orders
are locked before pools, as everywhere, and so is whoever looks whether somebody pays: who begins to pay meanwhile is
seen, or sees.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from msgspec.structs import replace

from admitone.finance.payments import api as payments
from admitone.finance.payments.api import OfferEnded, SourceNotSold
from admitone.finance.sources.api import SourceType
from admitone.finance.sources.port import Keeping
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.selling.stock import api as stock
from admitone.selling.stock.api import Hold, HoldId, KeepUntil
from admitone.verticals.events import sales
from admitone.verticals.events.model import Order, OrderId, OrderState
from admitone.verticals.events.store import events as store
from admitone.verticals.events.store import orders


async def keep_for_payers(tx: Tx, keepings: Sequence[Keeping]) -> list[Refusal | None]:
    """Each until then at least. One that is kept for longer is only held, so that nobody shortens it meanwhile."""
    wanted = {id(each.of): OrderId.parse(each.source.id) for each in keepings}
    locked = await orders.lock_orders(tx, [each.of for each in keepings], lambda of: wanted[id(of)])
    said: dict[OrderId, Refusal] = {}
    longer: dict[OrderId, Keeping] = {}
    for each in keepings:
        order = locked.get(own := wanted[id(each.of)])
        if order is None or order.state is not OrderState.OPEN:
            said[own] = SourceNotSold()
        elif order.expires_at <= tx.now:
            said[own] = OfferEnded()
        elif order.expires_at < each.until:
            longer[own] = each
    ends = {own: each.until for own, each in longer.items()}
    kept = await _put_off(tx, locked, ends, {own: each.of for own, each in longer.items()})
    said |= {own: OfferEnded() for own in longer.keys() - kept}
    return [said.get(wanted[id(each.of)]) for each in keepings]


async def keep_no_longer(tx: Tx, ids: Collection[OrderId]) -> None:
    """Those that nobody pays now: a payment that may still be paid is seen to when it ends."""
    locked = await orders.lock_orders(tx, sorted(ids), lambda own: own)
    waiting = {own: each for own, each in locked.items() if each.state is OrderState.OPEN and each.expires_at > tx.now}
    tried = await payments.find_of_sources(tx, SourceType.TICKET_ORDER, [str(own) for own in waiting])
    events = await store.find_events(tx, {each.event_id for each in waiting.values()})
    ends = {
        own: sales.unpaid_until(each, events[each.event_id], tx.now)
        for own, each in waiting.items()
        if not any(payment.applied or payment.status in payments.CLOSABLE for payment in tried[str(own)])
    }
    sooner = {own: end for own, end in ends.items() if end < waiting[own].expires_at}
    await _put_off(tx, waiting, sooner, {own: own for own in sooner})


async def _put_off(
    tx: Tx, locked: Mapping[OrderId, Order], ends: Mapping[OrderId, datetime], of: Mapping[OrderId, object]
) -> set[OrderId]:
    """Hold and order together; those of which all was still kept."""
    if not ends:
        return set()
    said = await stock.keep_until(tx, [KeepUntil(of[own], HoldId(own.uuid), end) for own, end in ends.items()])
    kept = {own: hold for own, hold in zip(ends, said, strict=True) if isinstance(hold, Hold)}
    await orders.keep_orders(tx, [replace(locked[own], expires_at=hold.expires_at) for own, hold in kept.items()])
    return {*kept}

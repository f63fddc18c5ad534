"""What a bank is told of tickets that somebody disputes: when it took place, who came in, what was agreed.

Promise (FIN-075): it is what our own rows say, and names nobody. What is not known is left out: whoever did not come in
is not said to have stayed away.
"""

from collections.abc import Mapping, Sequence
from typing import Final
from zoneinfo import ZoneInfo

from admitone.entitlements import api as entitlements
from admitone.entitlements.api import Entitlement, EntitlementId, Entry
from admitone.finance.sources.api import Source, SourceType
from admitone.kernel.db import Tx
from admitone.verticals.events.model import Event, EventId, Order, OrderState, order_id_of
from admitone.verticals.events.store import events as store
from admitone.verticals.events.store import orders

REFUND_POLICY: Final = (
    "Tickets are refunded in full when the event is cancelled, or when its organiser failed to provide what was sold. "
    "They are not refunded because their holder did not attend."
)
MOST_ENTRIES: Final = 50


class TicketWitness:
    """Knows orders, and what happened at doors."""

    async def testify(self, tx: Tx, sources: Sequence[Source]) -> Sequence[Mapping[str, str]]:
        ids = [order_id_of(each.id) for each in sources]
        placed = await orders.find_orders(tx, {own for own in ids if own})
        events = await store.find_events(tx, {each.event_id for each in placed.values()})
        rights: dict[str, list[Entitlement]] = {str(own): [] for own in placed}
        for each in await entitlements.list_of_sources(tx, SourceType.TICKET_ORDER, rights):
            rights[each.source.id].append(each)
        entries = await entitlements.list_standing(tx, [each.id for own in rights.values() for each in own])
        return [_testimony(placed.get(own) if own else None, events, rights, entries) for own in ids]


def _testimony(
    order: Order | None,
    events: Mapping[EventId, Event],
    rights: Mapping[str, Sequence[Entitlement]],
    entries: Mapping[EntitlementId, Sequence[Entry]],
) -> dict[str, str]:
    if order is None or order.state is not OrderState.FULFILLED:
        return {}
    event = events[order.event_id]
    said = {
        "service_date": event.starts_at.astimezone(ZoneInfo(event.time_zone)).date().isoformat(),
        "refund_policy": REFUND_POLICY,
    }
    if log := _log(rights[str(order.id)], entries):
        said["access_activity_log"] = log
    return said


def _log(rights: Sequence[Entitlement], entries: Mapping[EntitlementId, Sequence[Entry]]) -> str:
    came = sorted((entry.at, number, entry.gate) for number, each in enumerate(rights, 1) for entry in entries[each.id])
    lines = [
        f"{at:%Y-%m-%d %H:%M} UTC: ticket {number} of {len(rights)} was scanned and admitted"
        + (f" at {gate}." if gate else ".")
        for at, number, gate in came[:MOST_ENTRIES]
    ]
    return "\n".join(lines)

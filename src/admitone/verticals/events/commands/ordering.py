"""Ordering: what somebody wants is kept for them, for as long as the event says.

Promise: an order is placed whole or not at all, out of stock that is counted in the same decision; a key places one
order of one person for ever, and whoever repeats it is shown the same; who may buy is asked of the policy in force and
of nothing else (EVT-014). It counts in the pools that its types draw from when it is kept, whoever changes those at the
same time. A refused order writes nothing.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Final

import msgspec

from admitone.finance.payments import api as payments
from admitone.finance.payments.api import Payment, Status
from admitone.finance.sources.api import SourceType
from admitone.kernel.commands import command
from admitone.kernel.contracts.wire import to_canonical
from admitone.kernel.db import Overtaken, Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.idempotency import KeyReused
from admitone.kernel.ids import IdentityId
from admitone.kernel.scope import Caller
from admitone.kernel.words import Language
from admitone.selling.stock import api as stock
from admitone.selling.stock.api import Hold, HoldId, Keep, PoolId, Portion, UnitId
from admitone.verticals.events import sales
from admitone.verticals.events.billing import Billing, sealed
from admitone.verticals.events.errors import (
    EventNotFound,
    LinesInvalid,
    OrderBeingPaid,
    OrderNotFound,
    OrderNotOpen,
    TicketTypeNotFound,
)
from admitone.verticals.events.model import (
    AccessMode,
    AccessPolicy,
    Event,
    EventId,
    Order,
    OrderId,
    OrderLine,
    OrderState,
    Session,
    TicketType,
    TicketTypeId,
)
from admitone.verticals.events.policy import is_public
from admitone.verticals.events.port import INVITES, Invited
from admitone.verticals.events.showing import is_open
from admitone.verticals.events.store import events as store
from admitone.verticals.events.store import orders

CAME_TO_NOTHING: Final = frozenset({Status.FAILED, Status.CANCELLED, Status.EXPIRED, Status.REFUNDED})
"""Of a payment that paid for nothing: nobody waits for its money, nor has it."""
Name = tuple[IdentityId, str]
"""Of an order: whose, and by which key."""


class Want(msgspec.Struct, frozen=True):
    """So many of a type, these seats or any."""

    ticket_type: TicketTypeId
    quantity: int
    seats: tuple[UnitId, ...] = ()


class Placing(msgspec.Struct, frozen=True):
    caller: Caller
    event: EventId
    buyer: IdentityId
    """Of a guest of whom nothing is written down yet, nobody: an id that no row has."""
    wants: tuple[Want, ...]
    key: str
    is_guest: bool
    language: Language
    age_confirmed: bool = False
    invite_token: str | None = None
    billing: Billing | None = None
    grace: timedelta = timedelta(0)
    """How much longer it is kept than the event says, for whoever pays at once."""
    own: OrderId = msgspec.field(default_factory=OrderId.new)
    """Of the order that it becomes. An order with another one stood before."""

    @property
    def request_hash(self) -> bytes:
        """What must be the same when the key comes again. Not whom the invoice is for: a tax number is soon guessed."""
        return hashlib.sha256(to_canonical((self.event, sorted(self.wants, key=str), self.age_confirmed))).digest()


class Known(msgspec.Struct, frozen=True):
    """All that the decisions of a batch need of what is on sale."""

    events: Mapping[EventId, Event]
    policies: Mapping[EventId, AccessPolicy]
    types: Mapping[TicketTypeId, TicketType]
    sessions: Mapping[EventId, tuple[Session, ...]]
    """Where types name any."""
    is_on: bool
    """Whether the organisation has events switched on."""


@command(only_reads=True)
async def consider(tx: Tx, placings: Sequence[Placing]) -> list[Refusal | None]:
    """Why each may not be ordered, whoever it is by. What there is left is decided when it is."""
    known = await _look_up(tx, placings)
    invited = await _ask_invites(tx, placings, known)
    return [_why_not(tx, each, known, is_invited=_name(each) in invited) for each in placings]


async def find_placed(tx: Tx, placing: Placing) -> Order | None:
    """What the same person ordered under this key before."""
    return (await orders.find_by_keys(tx, [_name(placing)])).get(_name(placing))


@command(keyed_by=lambda placing: placing.event)
async def place(tx: Tx, placings: Sequence[Placing]) -> list[Order | Refusal]:
    """Each, or why not; those that came first have the first choice."""
    names = [_name(each) for each in placings]
    before = await orders.find_by_keys(tx, set(names))
    fresh: dict[Name, Placing] = {}
    for own, each in zip(names, placings, strict=True):
        if own not in before:
            fresh.setdefault(own, each)
    known = await _look_up(tx, fresh.values())
    invited = await _ask_invites(tx, fresh.values(), known)
    refused = {own: why for own, each in fresh.items() if (why := _why_not(tx, each, known, is_invited=own in invited))}
    asked = [(own, each) for own, each in fresh.items() if own not in refused]
    held = await stock.keep(tx, [_keep(tx, each, known) for _, each in asked])
    # An order is written out for those only who have something: in a rush most have not.
    refused |= {own: hold for (own, _), hold in zip(asked, held, strict=True) if isinstance(hold, Refusal)}
    placed = {
        own: _order(tx, each, hold, known)
        for (own, each), hold in zip(asked, held, strict=True)
        if not isinstance(hold, Refusal)
    }
    await _look_again(tx, placed.values(), known)
    if len(await orders.insert_orders(tx, list(placed.values()))) != len(placed):
        raise Overtaken  # The same key is being placed by another this instant.
    outcomes: dict[Name, Order | Refusal] = {**before, **refused, **placed}

    def answer(own: Name, placing: Placing) -> Order | Refusal:
        """What came of the first that had its key, if it asked for the same."""
        first = before.get(own) or fresh[own]
        is_same = first is placing or first.request_hash == placing.request_hash
        return outcomes[own] if is_same else KeyReused()

    return [answer(own, each) for own, each in zip(names, placings, strict=True)]


async def _look_again(tx: Tx, placed: Iterable[Order], known: Known) -> None:
    """What was kept is locked by now: whoever offers it otherwise, or no more, has done so and is seen, or comes after
    and sees that it is kept."""
    types = {line.ticket_type for order in placed for line in order.lines}
    for own, kind in (await store.find_types(tx, types)).items():
        if kind.version != known.types[own].version:
            raise Overtaken


def _name(placing: Placing) -> Name:
    return placing.buyer, placing.key


async def _look_up(tx: Tx, placings: Iterable[Placing]) -> Known:
    events = {each.event for each in placings}
    types = await store.find_types(tx, {want.ticket_type for each in placings for want in each.wants})
    return Known(
        await store.find_events(tx, events),
        await store.find_policies(tx, events),
        types,
        await store.find_named_sessions(tx, types.values()),
        await is_open(tx) if events else False,
    )


async def _ask_invites(tx: Tx, placings: Iterable[Placing], known: Known) -> set[Name]:
    """Who may buy although the event is for those who were invited."""
    closed = [each for each in placings if _mode(each, known) is AccessMode.INVITE_ONLY]
    if not closed:
        return set()
    asked = [
        Invited(each.event, each.buyer, tuple(want.ticket_type for want in each.wants), each.invite_token)
        for each in closed
    ]
    said = await INVITES().admit(tx, asked)
    return {_name(each) for each, is_invited in zip(closed, said, strict=True) if is_invited}


def _mode(placing: Placing, known: Known) -> AccessMode | None:
    policy = known.policies.get(placing.event)
    return policy.mode if policy else None


def _why_not(tx: Tx, placing: Placing, known: Known, *, is_invited: bool) -> Refusal | None:
    """Whatever there is left."""
    event, types = known.events.get(placing.event), known.types
    if event is None or not is_public(event):  # Before anything else is said of it.
        return EventNotFound()
    if _is_muddled(placing.wants):
        return LinesInvalid()
    if any(each.ticket_type not in types or types[each.ticket_type].event_id != event.id for each in placing.wants):
        return TicketTypeNotFound()
    return sales.why_not(
        event,
        known.policies[event.id],
        known.sessions.get(event.id, ()),
        [(types[each.ticket_type], each.quantity) for each in placing.wants],
        tx.now,
        is_on=known.is_on,
        is_guest=placing.is_guest,
        is_invited=is_invited,
        age_confirmed=placing.age_confirmed,
    )


def _order(tx: Tx, placing: Placing, hold: Hold, known: Known) -> Order:
    lines = tuple(_line(each, known.types[each.ticket_type]) for each in placing.wants)
    own = OrderId(hold.id.uuid)
    return Order(
        organization=tx.scope.organization,
        id=own,
        event_id=placing.event,
        buyer=placing.buyer,
        key=placing.key,
        request_hash=placing.request_hash,
        state=OrderState.OPEN,
        currency=known.events[placing.event].currency,
        amount_minor=sum(line.quantity * line.unit_price_minor for line in lines),
        is_guest=placing.is_guest,
        language=placing.language.value,
        age_confirmed=placing.age_confirmed,
        billing=sealed(placing.billing, tx.scope.organization, own),
        expires_at=hold.expires_at,
        payment_id=None,
        fulfilled_at=None,
        version=1,
        created_at=tx.now,
        changed_at=tx.now,
        lines=lines,
    )


def _is_muddled(wants: Sequence[Want]) -> bool:
    """Whether a type or a seat is named twice, or not a seat for each."""
    types = [each.ticket_type for each in wants]
    seats = [seat for each in wants for seat in each.seats]
    counts = all(len(each.seats) in (0, each.quantity) for each in wants)
    return len({*types}) != len(types) or len({*seats}) != len(seats) or not counts


def _line(want: Want, kind: TicketType) -> OrderLine:
    return OrderLine(kind.id, kind.name, want.quantity, kind.price_minor, kind.sessions)


def _keep(tx: Tx, placing: Placing, known: Known) -> Keep:
    """What it wants, under the id that its order will have."""
    wants = [(each, known.types[each.ticket_type]) for each in placing.wants]
    portions = [
        Portion(PoolId(pool), str(kind.id), want.quantity, want.seats if pool == kind.pool_id else ())
        for want, kind in wants
        for pool in kind.pools
    ]
    return Keep(
        placing,
        HoldId(placing.own.uuid),
        str(placing.own),
        placing.buyer,
        tuple(portions),
        sales.kept_until(known.events[placing.event], tx.now) + placing.grace,
        limits={str(kind.id): most for _, kind in wants if (most := sales.most_of(kind))},
        keepable_until=tx.now + sales.LONGEST_KEPT,
    )


class Cancelling(msgspec.Struct, frozen=True):
    """Whoever placed it does not want it."""

    caller: Caller
    order: OrderId
    buyer: IdentityId


@command()
async def cancel(tx: Tx, cancellings: Sequence[Cancelling]) -> list[Order | Refusal]:
    """Each that is open, with what was kept for it; twice is once. Whoever has begun to pay ends that first: while
    their bank may pay, or has, nothing is given up."""
    locked = await orders.lock_orders(tx, cancellings, lambda each: each.order)
    waiting = [str(own) for own, each in locked.items() if each.state is OrderState.OPEN]
    tried = await payments.find_of_sources(tx, SourceType.TICKET_ORDER, waiting)
    after = dict(locked)
    outcomes: list[Order | Refusal] = []
    for each in cancellings:
        order = after.get(each.order)
        if order is None or order.buyer != each.buyer:
            outcomes.append(OrderNotFound())
            continue
        if order.state not in (OrderState.OPEN, OrderState.CANCELLED):
            outcomes.append(OrderNotOpen(state=order.state.value))
            continue
        if paying := _being_paid(tried.get(str(order.id), ())):
            outcomes.append(OrderBeingPaid(status=paying.status.value))
            continue
        after[order.id] = msgspec.structs.replace(order, state=OrderState.CANCELLED)
        outcomes.append(after[order.id])
    ended = [each for own, each in after.items() if each is not locked[own] and locked[own].state is OrderState.OPEN]
    inputs = {each.order: each for each in cancellings}
    await stock.release(tx, [stock.Release(inputs[each.id], HoldId(each.id.uuid)) for each in ended])
    await orders.move_orders(tx, locked, ended)
    return outcomes


def _being_paid(tried: Iterable[Payment]) -> Payment | None:
    """The payment by which money may still come for an order, or came."""
    return next((each for each in tried if each.applied or each.status not in CAME_TO_NOTHING), None)

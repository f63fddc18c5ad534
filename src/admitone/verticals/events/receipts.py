"""What buyers are written: that their tickets are there, that their money goes back, or that nothing takes place.

Promise (FUL-010, EVT-025): one letter for each, posted with the end of its job; it carries a link and never a code. A
guest's link leads to the tickets of that order until its doors close; if none can be made, the letter goes all the
same.

Where a buyer is reached stands among people, where no transaction of an organisation looks. So these are errands: in a
group, one look there, and one transaction that posts them all.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final
from zoneinfo import ZoneInfo

import msgspec

from admitone.finance.payments import api as payments
from admitone.finance.payments.api import Payment
from admitone.finance.sources.api import PaymentId
from admitone.foundation.identity.api import list_profiles, resolve
from admitone.foundation.mail import api as mail
from admitone.foundation.mail.api import Letter, Template
from admitone.kernel.crypto import new_secret
from admitone.kernel.db import PeopleTx, Tx
from admitone.kernel.ids import IdentityId
from admitone.kernel.jobs import Delivered, Desk, Lane, Priority, Round, Subscription, errand
from admitone.kernel.money import Money
from admitone.kernel.scope import PeopleScope
from admitone.kernel.telemetry import logger
from admitone.kernel.words import Language, Words
from admitone.verticals.events.facts import OrderFulfilled, OrderReturned
from admitone.verticals.events.model import Event, EventId, Order, OrderId
from admitone.verticals.events.policy import closes_at
from admitone.verticals.events.store import events as store
from admitone.verticals.events.store import guest_links, orders
from admitone.verticals.events.store.guest_links import NewLink

LETTERS: Final = Lane("receipts", places=2, gives_way=True)
GROUP: Final = 64
PEOPLE: Final = PeopleScope("where receipts go")
GUEST_KIND: Final = "gst"
WALLET: Final = "/wallet"
NOWHERE_ELSE: Final = "/"

Addresses = Mapping[IdentityId, str]
Values = dict[str, str | int]


@errand("events.send_receipt", lane=LETTERS, priority=Priority.NOTICE, group=GROUP)
async def send_receipt(desk: Desk, told: Sequence[Delivered[OrderFulfilled]]) -> Round:
    return await _round(desk, told, _post_receipts)


async def _post_receipts(tx: Tx, told: Sequence[Delivered[OrderFulfilled]], addresses: Addresses) -> None:
    about = await _About.of(tx, told)
    paid = await _payments(tx, told)
    links = await _guest_links(tx, [each.payload.order_id for each in told if each.payload.is_guest], about)

    def values(fact: OrderFulfilled, order: Order, event: Event, words: Words) -> Values:
        payment = paid.get(fact.payment_id) if fact.payment_id else None
        amount = Money(payment.amount_minor, payment.currency) if payment else Money(0, order.currency)
        return {
            "event": event.title,
            "tickets": fact.tickets,
            "when": about.when(event, words),
            "place": ", ".join(each for each in (event.venue.name, event.venue.city) if each) or "-",
            "amount": words.money(amount),
            "order": str(order.id),
            "link": links[order.id] if fact.is_guest else WALLET,
        }

    await mail.post(tx, about.letters(told, addresses, Template.ORDER_RECEIPT, values))


@errand("events.tell_returned", lane=LETTERS, priority=Priority.NOTICE, group=GROUP)
async def tell_returned(desk: Desk, told: Sequence[Delivered[OrderReturned]]) -> Round:
    return await _round(desk, told, _post_returned)


async def _post_returned(tx: Tx, told: Sequence[Delivered[OrderReturned]], addresses: Addresses) -> None:
    def values(fact: OrderReturned, order: Order, event: Event, words: Words) -> Values:  # noqa: ARG001
        return {"event": event.title, "order": str(order.id)}

    about = await _About.of(tx, told)
    found = await _payments(tx, told)
    paid = {own for own, payment in found.items() if payment.amount_minor}
    of_money = [each for each in told if each.payload.payment_id in paid]
    of_nothing = [each for each in told if each.payload.payment_id not in paid]
    await mail.post(
        tx,
        [
            *about.letters(of_money, addresses, Template.ORDER_RETURNED, values),
            *about.letters(of_nothing, addresses, Template.FREE_ORDER_RETURNED, values),
        ],
    )


async def _payments(
    tx: Tx, told: Sequence[Delivered[OrderFulfilled] | Delivered[OrderReturned]]
) -> dict[PaymentId, Payment]:
    return await payments.find_payments(tx, {each.payload.payment_id for each in told if each.payload.payment_id})


class CalledOff(msgspec.Struct, frozen=True):
    """Whoever placed this has tickets for what does not take place."""

    order_id: OrderId
    event_id: EventId
    buyer_id: IdentityId


@errand("events.tell_called_off", lane=LETTERS, priority=Priority.NOTICE, group=GROUP)
async def tell_called_off(desk: Desk, told: Sequence[Delivered[CalledOff]]) -> Round:
    return await _round(desk, told, _post_called_off)


async def _post_called_off(tx: Tx, told: Sequence[Delivered[CalledOff]], addresses: Addresses) -> None:
    about = await _About.of(tx, told)

    def values(what: CalledOff, order: Order, event: Event, words: Words) -> Values:  # noqa: ARG001
        return {"event": event.title, "when": about.when(event, words), "order": str(order.id)}

    await mail.post(tx, about.letters(told, addresses, Template.EVENT_CANCELLED, values))


# -- What they share


async def _round(desk: Desk, told: Sequence[Delivered[Any]], post: Callable[..., Awaitable[None]]) -> Round:
    buyers = list({each.payload.buyer_id for each in told})
    addresses = await desk.database.read(PEOPLE, _addresses_of, buyers)

    async def finish(tx: Tx, ended: Sequence[Delivered[Any]]) -> None:
        # Whoever has gone has no address, and nobody waits for their letter.
        if there := [each for each in ended if each.payload.buyer_id in addresses]:
            await post(tx, there, addresses)

    return Round(finish)


async def _addresses_of(tx: PeopleTx, buyers: Sequence[IdentityId]) -> Addresses:
    """Of the guests, or of the users that the guests are by now."""
    users = await resolve(tx, buyers)
    profiles = await list_profiles(tx, list(set(users.values())))
    return {buyer: profiles[user].email for buyer, user in users.items() if user in profiles}


class _About:
    """The orders that letters tell of, and their events."""

    def __init__(self, orders_: Mapping[OrderId, Order], events: Mapping[EventId, Event]) -> None:
        self.orders = orders_
        self.events = events
        self._moments: dict[tuple[EventId, Language], str] = {}

    @classmethod
    async def of(cls, tx: Tx, told: Sequence[Delivered[Any]]) -> "_About":
        return cls(
            await orders.find_orders(tx, list({each.payload.order_id for each in told})),
            await store.find_events(tx, list({each.payload.event_id for each in told})),
        )

    def when(self, event: Event, words: Words) -> str:
        """Said once for all buyers of an event who speak a language."""
        key = (event.id, words.language)
        if key not in self._moments:
            self._moments[key] = words.moment(event.starts_at, ZoneInfo(event.time_zone))
        return self._moments[key]

    def letters(
        self, told: Sequence[Delivered[Any]], addresses: Addresses, template: Template, values: Callable[..., Values]
    ) -> list[Letter]:
        letters = []
        for each in told:
            order, event = self.orders[each.payload.order_id], self.events[each.payload.event_id]
            words = Words(Language(order.language))
            given = values(each.payload, order, event, words)
            letters.append(Letter(each.caller, addresses[each.payload.buyer_id], template, words.language, given))
        return letters


async def _guest_links(tx: Tx, guests: Sequence[OrderId], about: _About) -> dict[OrderId, str]:
    events = {about.orders[each].event_id for each in guests}
    sessions = await store.find_sessions(tx, list(events)) if events else {}
    closes = {each: closes_at(about.events[each], sessions[each]) for each in events}
    secrets = {each: new_secret(GUEST_KIND, tx.scope.organization) for each in guests}
    rows = [NewLink(secrets[each].digest, each, closes[about.orders[each].event_id], tx.now) for each in guests]
    kept = await _keep(tx, rows)
    return {each: f"/guest/tickets/{secrets[each].text}" if each in kept else NOWHERE_ELSE for each in guests}


async def _keep(tx: Tx, rows: Sequence[NewLink]) -> set[OrderId]:
    """Whose links could be kept: together, and else each by itself."""
    if not rows:
        return set()
    errors = await tx.each([lambda: guest_links.insert_links(tx, rows)])
    if errors == [None]:
        return {each.order_id for each in rows}
    errors = await tx.each([partial(guest_links.insert_links, tx, [each]) for each in rows])
    for each, error in zip(rows, errors, strict=True):
        if error:
            logger().error("events.no_guest_link", orderId=str(each.order_id), error=type(error).__name__)
    return {each.order_id for each, error in zip(rows, errors, strict=True) if error is None}


JOBS: Final = (send_receipt, tell_returned, tell_called_off)
SUBSCRIPTIONS: Final = (Subscription(OrderFulfilled, send_receipt), Subscription(OrderReturned, tell_returned))

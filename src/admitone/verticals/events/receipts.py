"""What buyers are written: that their tickets are there, that their money goes back, or that nothing takes place.

Promise (FUL-010, EVT-025): one letter for each, posted with the end of its job; it carries a link and never a code. A
guest's link leads to the tickets of that order until its doors close; if none can be made, the letter goes all the
same.
"""

from typing import Final
from zoneinfo import ZoneInfo

import msgspec

from admitone.finance.payments import api as payments
from admitone.foundation.identity.api import Profile, list_profiles, resolve
from admitone.foundation.mail import api as mail
from admitone.foundation.mail.api import Letter, Template
from admitone.kernel.crypto import new_secret
from admitone.kernel.db import PeopleTx, Tx
from admitone.kernel.ids import IdentityId
from admitone.kernel.jobs import Delivered, Desk, Lane, Priority, Subscription, errand
from admitone.kernel.jobs.model import Finish
from admitone.kernel.money import Money
from admitone.kernel.scope import PeopleScope
from admitone.kernel.telemetry import logger
from admitone.kernel.words import Language, Words
from admitone.verticals.events.facts import OrderFulfilled, OrderReturned
from admitone.verticals.events.model import Event, EventId, OrderId
from admitone.verticals.events.policy import closes_at
from admitone.verticals.events.store import events as store
from admitone.verticals.events.store import guest_links, orders

LETTERS: Final = Lane("receipts", places=16, gives_way=True)
PEOPLE: Final = PeopleScope("where receipts go")
GUEST_KIND: Final = "gst"
WALLET: Final = "/wallet"
NOWHERE_ELSE: Final = "/"


@errand("events.send_receipt", lane=LETTERS, priority=Priority.NOTICE)
async def send_receipt(desk: Desk, told: Delivered[OrderFulfilled]) -> Finish | None:
    fact = told.payload
    profile = await desk.database.read(PEOPLE, _profile_of, fact.buyer_id)
    if profile is None:  # Whoever it was has gone, and nobody waits for it.
        return None

    async def post(tx: Tx) -> None:
        order = (await orders.find_orders(tx, [fact.order_id]))[fact.order_id]
        event = (await store.find_events(tx, [fact.event_id]))[fact.event_id]
        words = Words(Language(order.language))
        link = await _guest_link(tx, fact.order_id, event) if fact.is_guest else WALLET
        paid = await payments.find_payments(tx, [fact.payment_id]) if fact.payment_id else {}
        amount = next((Money(each.amount_minor, each.currency) for each in paid.values()), Money(0, order.currency))
        values: dict[str, str | int] = {
            "event": event.title,
            "tickets": fact.tickets,
            "when": words.moment(event.starts_at, ZoneInfo(event.time_zone)),
            "place": ", ".join(each for each in (event.venue.name, event.venue.city) if each) or "-",
            "amount": words.money(amount),
            "order": str(order.id),
            "link": link,
        }
        await mail.post(tx, [Letter(told.caller, profile.email, Template.ORDER_RECEIPT, words.language, values)])

    return post


@errand("events.tell_returned", lane=LETTERS, priority=Priority.NOTICE)
async def tell_returned(desk: Desk, told: Delivered[OrderReturned]) -> Finish | None:
    fact = told.payload
    profile = await desk.database.read(PEOPLE, _profile_of, fact.buyer_id)
    if profile is None:
        return None

    async def post(tx: Tx) -> None:
        order = (await orders.find_orders(tx, [fact.order_id]))[fact.order_id]
        event = (await store.find_events(tx, [fact.event_id]))[fact.event_id]
        values = {"event": event.title, "order": str(order.id)}
        language = Language(order.language)
        await mail.post(tx, [Letter(told.caller, profile.email, Template.ORDER_RETURNED, language, values)])

    return post


class CalledOff(msgspec.Struct, frozen=True):
    """Whoever placed this has tickets for what does not take place."""

    order_id: OrderId
    event_id: EventId
    buyer_id: IdentityId


@errand("events.tell_called_off", lane=LETTERS, priority=Priority.NOTICE)
async def tell_called_off(desk: Desk, told: Delivered[CalledOff]) -> Finish | None:
    about = told.payload
    profile = await desk.database.read(PEOPLE, _profile_of, about.buyer_id)
    if profile is None:
        return None

    async def post(tx: Tx) -> None:
        order = (await orders.find_orders(tx, [about.order_id]))[about.order_id]
        event = (await store.find_events(tx, [about.event_id]))[about.event_id]
        words = Words(Language(order.language))
        when = words.moment(event.starts_at, ZoneInfo(event.time_zone))
        values = {"event": event.title, "when": when, "order": str(order.id)}
        await mail.post(tx, [Letter(told.caller, profile.email, Template.EVENT_CANCELLED, words.language, values)])

    return post


async def _profile_of(tx: PeopleTx, buyer: IdentityId) -> Profile | None:
    """Of the guest, or of the user that the guest is by now."""
    user = (await resolve(tx, [buyer])).get(buyer)
    return (await list_profiles(tx, [user])).get(user) if user else None


async def _guest_link(tx: Tx, order: OrderId, event: Event) -> str:
    secret = new_secret(GUEST_KIND, tx.scope.organization)
    closes = closes_at(event, (await store.find_sessions(tx, [event.id]))[event.id])

    async def keep() -> None:
        await guest_links.insert_link(tx, secret.digest, order, closes)

    [error] = await tx.each([keep])
    if error is None:
        return f"/guest/tickets/{secret.text}"
    logger().error("events.no_guest_link", orderId=str(order), error=type(error).__name__)
    return NOWHERE_ELSE


JOBS: Final = (send_receipt, tell_returned, tell_called_off)
SUBSCRIPTIONS: Final = (Subscription(OrderFulfilled, send_receipt), Subscription(OrderReturned, tell_returned))

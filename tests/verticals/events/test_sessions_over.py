"""Tickets for a session that is over are shown, sold, paid for and handed over no more, though their event goes on."""

import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from admitone.finance.payments.api import Status as PaymentStatus
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId
from admitone.kernel.scope import Caller
from admitone.kernel.words import Language
from admitone.verticals.events.commands.ordering import Placing, Want, consider, place
from admitone.verticals.events.model import EventId, OrderState, SessionId, TicketTypeId
from admitone.verticals.events.policy import Availability, availability
from admitone.verticals.events.queries import Look, PublicPage, list_offers, look_at
from tests.builders import sent_in
from tests.foundation.organizations.clubs import facts_of
from tests.verticals.events.office import Office
from tests.verticals.events.stage import soon

TICK = timedelta(microseconds=1)
Event = dict[str, Any]
Kind = dict[str, Any]
OVER = """
    UPDATE events.session
       SET starts_at = $2::timestamptz - interval '2 hours', ends_at = $2
     WHERE id = $1
"""


async def a_weekend(office: Office) -> tuple[Event, Kind, Kind, Kind]:
    """With tickets for Friday, for Friday and Sunday, and for whatever there is."""
    days = [
        {"label": label, "startsAt": soon(days=day), "endsAt": soon(days=day, hours=4)}
        for day, label in enumerate(("Friday", "Saturday", "Sunday"))
    ]
    event = await office.stage.drafted(schedule={"startsAt": soon(), "endsAt": soon(days=3), "sessions": days})
    friday, _, sunday = (each["sessionId"] for each in event["sessions"])
    for name, sessions in (("Friday", [friday]), ("Both", [friday, sunday]), ("Pass", [])):
        event = await office.stage.offered(event, name=name, sessions=sessions)
    event = office.stage.fine(await office.stage.ask("POST", f"/{event['eventId']}/publish"))
    await office.stage.relayed()
    return event, *event["ticketTypes"]


def a_placing(event: Event, *kinds: Kind, key: str = "key") -> Placing:
    wants = tuple(Want(TicketTypeId.parse(each["ticketTypeId"]), 1) for each in kinds)
    buyer = IdentityId.new()
    return Placing(Caller(buyer), EventId.parse(event["eventId"]), buyer, wants, key, False, Language.ENGLISH)


async def friday_is_over(office: Office, event: Event) -> None:
    own = SessionId.parse(event["sessions"][0]["sessionId"])
    await office.stage.superuser.execute(OVER, own.uuid, datetime.now(UTC))


@pytest.mark.covers("EVT-004", "EVT-014")
async def test_a_session_is_sold_until_its_end_on_the_page_in_lists_and_to_whoever_orders(office: Office):
    event, *kinds = await a_weekend(office)
    own, end = EventId.parse(event["eventId"]), datetime.fromisoformat(event["sessions"][0]["endsAt"])

    async def on_page(when: datetime) -> list[str]:
        [page] = await office.at(when, look_at, [Look(own)])
        assert isinstance(page, PublicPage)
        return [availability(page.rules.types[each.id], 50)[0].value for each in page.types]

    async def ordered(when: datetime) -> list[str]:
        placings = [a_placing(event, each, key=str(when)) for each in kinds]
        said = await office.at(when, place, placings)
        refused = [each if isinstance(each, Refusal) else None for each in said]
        assert await office.at(when, consider, placings) == refused, "whoever is considered is told the same"
        return [each.reason if each else "AVAILABLE" for each in refused]

    available, over = Availability.AVAILABLE.value, Availability.OVER.value
    assert await on_page(end - TICK) == await ordered(end - TICK) == [available] * 3
    assert await on_page(end) == await ordered(end) == [over, available, available]
    [mixed] = await office.at(end, place, [a_placing(event, kinds[0], kinds[1])])
    assert (mixed.code, mixed.ticket_type) == ("TICKET_TYPE_NOT_ON_SALE", kinds[0]["ticketTypeId"])


@pytest.mark.covers("EVT-014")
async def test_lists_offer_no_price_of_a_session_that_is_over(office: Office):
    event, friday, *_ = await a_weekend(office)
    office.stage.fine(await office.stage.revise(event, friday, priceMinor=100, sessions=friday["sessions"]))
    own, end = EventId.parse(event["eventId"]), datetime.fromisoformat(event["sessions"][0]["endsAt"])
    [before], [after] = [await office.at(when, list_offers, [own]) for when in (end - TICK, end)]
    assert (before.lowest_minor, after.lowest_minor) == (100, 2500)


@pytest.mark.covers("FIN-017", "EVT-004")
async def test_an_order_of_which_a_part_is_over_is_not_paid_for(office: Office):
    event, friday, both, _ = await a_weekend(office)
    wanted = [(friday,), (friday, both), (both,)]
    gone, mixed, good = [await office.order(event, *((each, 1) for each in kinds)) for kinds in wanted]
    await friday_is_over(office, event)
    for order in (gone, mixed):
        refused = await office.checkout(order)
        assert (refused.status_code, refused.json()["errorCode"]) == (404, "SOURCE_NOT_FOUND")
    await office.pay(good)
    assert len(await office.tickets(good)) == 1


@pytest.mark.covers("EVT-004", "FUL-010", "PAY-064")
@pytest.mark.parametrize("is_late", [True, False], ids=["late", "in time"])
async def test_money_for_a_session_that_is_over_by_then_goes_back(office: Office, is_late: bool):
    event, friday, both, _ = await a_weekend(office)
    order, other = await office.order(event, (friday, 1), (both, 1)), await office.order(event, (both, 1))
    payment, second = await office.begin(order), await office.begin(other)
    await friday_is_over(office, event)
    if is_late:
        late = "UPDATE events.ticket_order SET expires_at = now() WHERE organization_id = $1"
        await office.stage.superuser.execute(late, office.stage.organization.uuid)
    await office.settle(payment)
    assert (await office.find(order)).state is OrderState.RETURNED
    assert (await office.world.payment(payment)).status is PaymentStatus.REFUNDED
    assert (await office.rights(order), await office.tickets(order)) == ([], [])
    returned = await facts_of(office.stage.superuser, office.stage.organization, "order.returned")
    assert [json.loads(each["payload"])["reason"] for each in returned] == ["TYPE_OVER"]
    assert await office.letters(office.buyer.email) == ["order_returned"]
    await office.settle(second)
    assert len(await office.rights(other)) == 2, "of Sunday, and of Friday by the doors that are still open"


async def test_sessions_are_looked_up_once_for_a_batch_and_only_where_tickets_name_them(office: Office):
    event, friday, both, whole = await a_weekend(office)
    night, [standing] = await office.on_sale()

    async def sent(work: Callable[[Tx], Awaitable[object]]) -> int:
        return len(await sent_in(office.stage.database, office.stage.scope, work))

    def orders(of: Event, *kinds: Kind) -> Callable[[Tx], Awaitable[object]]:
        placings = [a_placing(of, *kinds, key=f"{number}") for number in range(8)]
        return lambda tx: place(tx, placings)

    plain = await sent(orders(night, standing))
    assert await sent(orders(event, whole)) == plain
    assert await sent(orders(event, friday, both)) == plain + 1
    pages = [[Look(EventId.parse(each["eventId"]))] * 8 for each in (night, event)]
    assert await sent(lambda tx: look_at(tx, pages[0])) == await sent(lambda tx: look_at(tx, pages[1]))

"""Orders of people who try: nobody has more than they may, and nobody else is hurt by the trying."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from admitone.finance.pricing.port import PROMOTIONS
from admitone.foundation.identity.api import find_guest
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.idempotency import KeyReused
from admitone.kernel.scope import PeopleScope
from admitone.kernel.transactions import Transaction
from admitone.kernel.words import Language
from admitone.selling.stock import api as stock
from admitone.verticals.events.commands.ordering import Placing, Want, place
from admitone.verticals.events.model import EventId, Order, TicketTypeId
from admitone.verticals.events.port import INVITES, Invited
from admitone.verticals.events.store import orders
from tests.finance.payments.test_free_checkout import HalfOrAll
from tests.mails import an_address
from tests.people import a_person
from tests.verticals.events.office import Office
from tests.verticals.events.stage import a_stage, soon


def a_placing(office: Office, event: dict[str, Any], *wanted: tuple[dict[str, Any], int], **more: Any) -> Placing:
    wants = tuple(Want(TicketTypeId.parse(kind["ticketTypeId"]), quantity) for kind, quantity in wanted)
    usual: dict[str, Any] = {
        "caller": office.buyer.caller,
        "event": EventId.parse(event["eventId"]),
        "buyer": office.buyer.identity,
        "wants": wants,
        "key": "key",
        "is_guest": False,
        "language": Language.ENGLISH,
    }
    return Placing(**usual | more)


async def seats_of(office: Office, kind: dict[str, Any]) -> list[str]:
    own = stock.PoolId.parse(kind["pool"]["poolId"])
    rows = await office.stage.superuser.fetch("SELECT id FROM stock.unit WHERE pool_id = $1 ORDER BY place", own.uuid)
    return [str(stock.UnitId(row["id"])) for row in rows]


async def test_a_type_that_is_named_twice_is_refused_and_hurts_nobody(office: Office):
    event, [kind] = await office.on_sale({"mostPerBuyer": 2, "mostPerOrder": 2})
    friend = await a_person(office.stage.database)
    twice, fine = await asyncio.gather(
        office.ask(event, (kind, 2), (kind, 2)), office.ask(event, (kind, 2), buyer=friend)
    )
    assert (twice.status_code, fine.status_code) == (422, 200), twice.text
    assert (await office.pool(kind)).held == 2


async def test_seats_are_named_once_and_as_many_as_are_wanted(office: Office):
    rows = {"name": "Stalls", "supply": {"seats": ["A1", "A2", "A3"]}}
    event, [stalls, balcony] = await office.on_sale(rows, rows | {"name": "Balcony"})
    own, strange = await seats_of(office, stalls), await seats_of(office, balcony)

    async def wants(quantity: int, *seats: str, also: tuple[str, ...] = ()) -> tuple[int, str]:
        lines = [{"ticketTypeId": stalls["ticketTypeId"], "quantity": quantity, "seats": [*seats]}]
        if also:
            lines.append({"ticketTypeId": balcony["ticketTypeId"], "quantity": len(also), "seats": [*also]})
        answer = await office.ask(event, lines=lines)
        return answer.status_code, answer.json().get("errorCode", "")

    assert (await wants(2, own[0]))[0] == 422, "two, and one seat named"
    assert (await wants(2, own[0], own[0]))[0] == 422
    assert (await wants(1, own[0], own[1]))[0] == 422
    assert await wants(1, strange[0]) == (409, "SEAT_TAKEN"), "of another type"
    assert (await wants(1, own[0], also=(own[0],)))[0] == 422
    assert await wants(2, own[1], own[2]) == (200, "")
    assert await wants(1, own[1]) == (409, "SEAT_TAKEN")


async def test_of_two_who_buy_at_once_under_a_key_one_is_obeyed(office: Office):
    event, [kind] = await office.on_sale()
    card, pix = await asyncio.gather(
        *(office.buy(event, (kind, 1), method=method, idempotencyKey="once") for method in ("CARD", "PIX"))
    )
    assert card["order"] == pix["order"]
    said = [each["refusal"] and each["refusal"]["errorCode"] for each in (card, pix)]
    assert sorted(said, key=str) == ["IDEMPOTENCY_KEY_REUSED", None], "the same key, and another wish"


async def test_under_a_key_another_wish_is_never_answered_with_the_refusal_of_the_first(office: Office):
    event, [kind] = await office.on_sale({"mostPerOrder": 5})
    many, one = a_placing(office, event, (kind, 6)), a_placing(office, event, (kind, 1))
    first, second = await office.stage.database.run(office.stage.scope, lambda tx: place(tx, [many, one]))
    assert isinstance(first, Refusal)
    assert isinstance(second, KeyReused | Order), second


async def test_a_key_is_everybodys_own(office: Office):
    event, [kind] = await office.on_sale()
    friend, mine = await a_person(office.stage.database), str(uuid4())
    answers = await asyncio.gather(
        office.ask(event, (kind, 1), idempotencyKey=mine),
        office.ask(event, (kind, 1), idempotencyKey=mine, buyer=friend),
        office.ask(event, (kind, 1), idempotencyKey=mine, guest="somebody@example.org"),
        office.ask(event, (kind, 1), idempotencyKey=mine, guest="Somebody@EXAMPLE.org"),
    )
    orders = [office.stage.fine(each)["orderId"] for each in answers]
    assert len({*orders[:3]}) == 3
    assert orders[2] == orders[3], "the same guest"
    assert (await office.pool(kind)).held == 3


async def test_the_longest_key_that_may_be_sent_places_an_order(office: Office):
    event, [kind] = await office.on_sale()
    first, again = [await office.order(event, (kind, 1), idempotencyKey="k" * 255) for _ in range(2)]
    assert first["orderId"] == again["orderId"]
    assert (await office.ask(event, (kind, 1), idempotencyKey="k" * 256)).status_code == 422


async def test_whoever_repeats_a_key_when_its_time_is_over_is_told_so(office: Office):
    event, [kind] = await office.on_sale()
    placed = await office.order(event, (kind, 1), idempotencyKey="late")
    assert not placed["isExpired"]
    await office.stage.superuser.execute(
        "UPDATE events.ticket_order SET expires_at = now() - interval '1 second', changed_at = now() - interval '1 hour'"
        " WHERE organization_id = $1",
        office.stage.organization.uuid,
    )
    again = await office.order(event, (kind, 1), idempotencyKey="late")
    assert (again["orderId"], again["isExpired"]) == (placed["orderId"], True)
    assert (await office.checkout(again)).json()["errorCode"] == "OFFER_ENDED"


async def test_the_price_of_the_order_is_paid_whatever_it_is_by_then(office: Office):
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 2))
    office.stage.fine(await office.stage.revise(event, kind, priceMinor=9900))
    payment = await office.pay(order)
    assert (await office.world.payment(payment)).amount_minor == 5000
    assert [each.price_minor for each in await office.tickets(order)] == [2500, 2500]


async def test_the_largest_order_can_be_told_and_the_larger_cannot_be_sent(office: Office):
    dear = {"priceMinor": 10**12, "supply": {"capacity": 1000}, "mostPerOrder": 100}
    event, kinds = await office.on_sale(*({**dear, "name": f"Gold {n}"} for n in range(20)))
    order = await office.order(event, *((kind, 100) for kind in kinds))
    assert order["amountMinor"] == 20 * 100 * 10**12
    refused = await office.checkout(order)
    assert 400 <= refused.status_code < 500, refused.text
    assert (await office.ask(event, (kinds[0], 101))).status_code == 422
    assert (await office.ask(event, *((kind, 1) for kind in (*kinds, kinds[0])))).status_code == 422


async def test_what_is_another_organisations_is_not_found(office: Office):
    event, [kind] = await office.on_sale()
    other = await a_stage(office.stage.site, office.stage.database, office.stage.superuser)
    theirs = await other.published([{}])
    [foreign] = theirs["ticketTypes"]
    assert (await office.ask(event, (foreign, 1))).json()["errorCode"] == "TICKET_TYPE_NOT_FOUND"
    assert (await office.ask(theirs, (foreign, 1))).json()["errorCode"] == "EVENT_NOT_FOUND"
    assert (await office.ask(event, (kind, 1), (foreign, 1))).status_code == 404
    second, [own] = await office.on_sale()
    assert (await office.ask(second, (kind, 1))).json()["errorCode"] == "TICKET_TYPE_NOT_FOUND", "of another event"
    assert (await office.ask(second, (own, 1))).status_code == 200
    assert (await office.pool(kind)).held == 0


@pytest.mark.covers("EVT-004")
async def test_sales_begin_and_end_on_the_second(office: Office):
    event, [kind] = await office.on_sale({"salesFrom": soon(days=-2), "salesUntil": soon(days=-1)})
    begins, ends = datetime.fromisoformat(soon(days=-2)), datetime.fromisoformat(soon(days=-1))
    tick = timedelta(microseconds=1)

    async def said(when: datetime, key: str) -> str:
        placing = a_placing(office, event, (kind, 1), key=key)
        [outcome] = await office.at(when, place, [placing])
        return outcome.reason if isinstance(outcome, Refusal) else "ORDERED"

    assert [await said(begins - tick, "a"), await said(begins, "b")] == ["NOT_YET", "ORDERED"]
    assert [await said(ends - tick, "c"), await said(ends, "d")] == ["ORDERED", "OVER"]


@pytest.mark.covers("EVT-002", "EVT-004")
async def test_drafts_are_not_found_and_what_is_over_or_cancelled_is_not_sold(office: Office):
    draft = await office.stage.drafted()
    draft = await office.stage.offered(draft)
    assert (await office.ask(draft, (draft["ticketTypes"][0], 1))).json()["errorCode"] == "EVENT_NOT_FOUND"
    event, [kind] = await office.on_sale()
    end = datetime.fromisoformat(event["endsAt"])
    [over] = await office.at(end, place, [a_placing(office, event, (kind, 1))])
    assert (over.code, over.reason) == ("EVENT_NOT_ON_SALE", "OVER")
    [order] = await office.at(end - timedelta(microseconds=1), place, [a_placing(office, event, (kind, 1))])
    assert isinstance(order, Order)
    await office.stage.cancelled(event)
    answer = await office.ask(event, (kind, 1))
    assert (answer.json()["errorCode"], answer.json()["reason"]) == ("EVENT_NOT_ON_SALE", "CANCELLED")


@pytest.mark.covers("EVT-002")
async def test_whoever_orders_what_was_never_published_learns_no_more_than_of_what_never_was(office: Office):
    draft = await office.stage.offered(await office.stage.drafted())
    dropped = await office.stage.offered(await office.stage.drafted())
    await office.stage.cancelled(dropped)
    never, strange = {"eventId": str(EventId.new())}, {"ticketTypeId": str(TicketTypeId.new())}
    for event in (draft, dropped):
        for wanted in ([(event["ticketTypes"][0], 1)], [(strange, 1)], [(strange, 1), (strange, 1)]):
            for path in ("", "/buy"):
                said, nothing = [await office.ask(each, *wanted, path=path) for each in (event, never)]
                assert (nothing.status_code, nothing.json()["errorCode"]) == (404, "EVENT_NOT_FOUND")
                told = [each.text.replace(each.headers["x-correlation-id"], "") for each in (said, nothing)]
                assert (said.status_code, told[0]) == (404, told[1])


async def test_what_is_hidden_is_sold_to_whoever_has_its_link_and_what_is_archived_to_nobody(office: Office):
    event, [hidden, gone] = await office.on_sale({"status": "HIDDEN"}, {"name": "Gone"})
    office.stage.fine(await office.stage.revise(event, gone, status="ARCHIVED"))
    assert (await office.ask(event, (hidden, 1))).status_code == 200
    assert (await office.ask(event, (gone, 1))).json()["errorCode"] == "TICKET_TYPE_NOT_FOUND"


@pytest.mark.covers("EVT-008")
async def test_nobody_buys_for_a_night_without_saying_that_they_are_old_enough(office: Office):
    event, [kind] = await office.on_sale(about={"leastAge": 18})
    refused = await office.ask(event, (kind, 1))
    assert (refused.json()["errorCode"], refused.json()["leastAge"]) == ("AGE_NOT_CONFIRMED", 18)
    assert (await office.ask(event, (kind, 1), path="/buy")).json()["errorCode"] == "AGE_NOT_CONFIRMED"
    assert (await office.ask(event, (kind, 1), guest="a@example.org")).json()["errorCode"] == "AGE_NOT_CONFIRMED"
    assert (await office.pool(kind)).held == 0
    assert (await office.ask(event, (kind, 1), ageConfirmed=True)).status_code == 200


@pytest.mark.covers("EVT-010", "EVT-014")
async def test_who_was_not_invited_does_not_buy_and_guests_only_where_they_may(office: Office):
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 1), guest="early@example.org")
    policy = {"mode": "INVITE_ONLY", "guestCheckoutAllowed": False, "loginRequired": True, "version": 1}
    office.stage.fine(await office.stage.rule(event, **policy))
    assert (await office.ask(event, (kind, 1))).json()["errorCode"] == "INVITE_REQUIRED"
    assert (await office.ask(event, (kind, 1), inviteToken="made-up")).json()["errorCode"] == "INVITE_REQUIRED"
    late = await office.checkout(order, guest=True)
    assert (late.status_code, late.json()["errorCode"]) == (401, "UNAUTHENTICATED"), "the rules of this moment"
    other, [own] = await office.on_sale()
    office.stage.fine(await office.stage.rule(other, guestCheckoutAllowed=False, version=1))
    assert (await office.ask(other, (own, 1), guest="g@example.org")).json()["errorCode"] == "UNAUTHENTICATED"


@pytest.mark.covers("EVT-015")
@pytest.mark.parametrize("client", ["mobile", "MOBILE-ios/3.2", "mobile-android"])
async def test_phones_order_signed_in(office: Office, client: str):
    event, [kind] = await office.on_sale()
    body = {
        "organizationId": str(office.stage.organization),
        "eventId": event["eventId"],
        "lines": [{"ticketTypeId": kind["ticketTypeId"], "quantity": 1}],
        "idempotencyKey": client,
        "guestEmail": "guest@example.org",
    }
    for path in ("/api/orders", "/api/orders/buy"):
        answer = await office.stage.site.post(path, json=body, headers={"x-client-id": client})
        assert answer.status_code == 401, answer.text
    assert (await office.pool(kind)).held == 0


@pytest.mark.covers("FIN-082", "FIN-085")
async def test_of_what_costs_nothing_nobody_has_more_than_was_decided(office: Office):
    free = {"priceMinor": 0, "allowZeroPrice": True}
    event, [one, three, paid] = await office.on_sale(
        {**free, "name": "One"}, {**free, "name": "Three", "freePerPerson": 3}, {"name": "Paid"}
    )

    async def said(*wanted: Any) -> str:
        return str((await office.ask(event, *wanted)).json().get("errorCode", "ORDERED"))

    assert await said((one, 2)) == "BUYER_LIMIT"
    assert await said((one, 2), (paid, 1)) == "BUYER_LIMIT", "also beside something that is paid"
    assert await said((three, 4)) == "BUYER_LIMIT"
    assert await said((one, 1), (three, 2)) == "ORDERED"
    assert await said((one, 1)) == "BUYER_LIMIT"
    assert await said((three, 2)) == "BUYER_LIMIT"
    assert await said((three, 1)) == "ORDERED"
    assert (await office.pool(three)).held == 3


@pytest.mark.covers("FIN-082")
async def test_a_promotion_gives_away_no_more_than_a_price_of_nothing_would(office: Office):
    event, [one, two, pair] = await office.on_sale(
        {"name": "One"}, {"name": "Two"}, {"name": "Pair", "freePerPerson": 2}
    )

    async def taken(*wanted: Any) -> str:
        order = await office.order(event, *wanted)
        code = str(sum(quantity * 2500 for _, quantity in wanted))
        answer = (await office.checkout(order, promoCode=code)).json()
        return str(answer.get("errorCode", "GIVEN"))

    with PROMOTIONS.wired(HalfOrAll()):
        assert await taken((one, 2)) == "FREE_LIMIT_REACHED", "two of what each has one of"
        assert await taken((one, 1), (pair, 2)) == "GIVEN"
        assert await taken((one, 1), (two, 1)) == "FREE_LIMIT_REACHED", "in other company"
        assert await taken((two, 1)) == "GIVEN", "had nothing of it before"
    async with asyncio.timeout(60):
        await office.work()
    assert [(await office.pool(each)).sold for each in (one, two, pair)] == [1, 1, 2]


@pytest.mark.covers("EVT-014")
async def test_of_a_guest_who_may_not_order_nothing_is_written(office: Office):
    event, [kind] = await office.on_sale(about={"leastAge": 18})
    newcomer, regular = an_address(), an_address()
    key = {"guest": regular, "idempotencyKey": str(uuid4())}
    before = await office.order(event, (kind, 1), ageConfirmed=True, **key)
    missing = dict(kind, ticketTypeId=str(TicketTypeId.new()))
    for asked in (office.ask(event, (kind, 1), guest=newcomer), office.ask(event, (missing, 1), guest=newcomer)):
        assert (await asked).status_code in (404, 422)
    office.stage.fine(await office.stage.rule(event, guestCheckoutAllowed=False))
    refused = await office.ask(event, (kind, 1), guest=newcomer, ageConfirmed=True)
    assert refused.json()["errorCode"] == "UNAUTHENTICATED"
    database = office.stage.database
    assert await database.read(PeopleScope("test"), find_guest, newcomer) is None
    assert await database.read(PeopleScope("test"), find_guest, regular) is not None
    again = await office.order(event, (kind, 1), ageConfirmed=True, **key)
    assert again["orderId"] == before["orderId"], "what they ordered stands, and is shown"
    other = await office.ask(event, (kind, 2), ageConfirmed=True, **key)
    assert other.json()["errorCode"] == "IDEMPOTENCY_KEY_REUSED"


class Door:
    """Lets in whoever has the word, and remembers whom it was asked about."""

    def __init__(self) -> None:
        self.asked: list[Invited] = []

    async def admit(self, tx: Tx, asked: Sequence[Invited]) -> list[bool]:
        self.asked += asked
        return [each.token == "sesame" for each in asked]


@pytest.mark.covers("EVT-014")
async def test_of_a_guest_who_was_not_invited_nothing_is_written(office: Office):
    event, [kind] = await office.on_sale()
    policy = {"mode": "INVITE_ONLY", "guestCheckoutAllowed": True, "version": 1}
    office.stage.fine(await office.stage.rule(event, **policy))
    newcomer, database = an_address(), office.stage.database
    for path in ("", "/buy"):
        for token in ({}, {"inviteToken": "made-up"}):
            refused = await office.ask(event, (kind, 1), guest=newcomer, path=path, **token)
            assert (refused.status_code, refused.json()["errorCode"]) == (403, "INVITE_REQUIRED")
    assert await database.read(PeopleScope("test"), find_guest, newcomer) is None
    with INVITES.wired(door := Door()):
        assert (await office.ask(event, (kind, 1), guest=newcomer, inviteToken="open")).status_code == 403
        assert await database.read(PeopleScope("test"), find_guest, newcomer) is None
        order = await office.order(event, (kind, 1), guest=newcomer, inviteToken="sesame")
    guest = await database.read(PeopleScope("test"), find_guest, newcomer)
    assert (await office.find(order)).buyer == guest == door.asked[-1].buyer
    assert guest not in [each.buyer for each in door.asked[:-1]], "by the word alone, before"


@pytest.mark.covers("EVT-014")
@pytest.mark.parametrize("path", ["", "/buy"])
async def test_a_guests_key_is_one_that_nobody_guesses(office: Office, path: str):
    event, [kind] = await office.on_sale()
    newcomer = an_address()
    for key in ("cart-17", "k" * 21):
        refused = await office.ask(event, (kind, 1), guest=newcomer, idempotencyKey=key, path=path)
        assert (refused.status_code, refused.json()["errorCode"]) == (422, "GUEST_KEY_TOO_SHORT")
        assert refused.json()["nextStep"], "and what to do"
        assert (await office.ask(event, (kind, 1), idempotencyKey=key, path=path)).status_code == 200, "signed in"
    assert await office.stage.database.read(PeopleScope("test"), find_guest, newcomer) is None
    assert (await office.ask(event, (kind, 1), guest=newcomer, idempotencyKey="k" * 22, path=path)).status_code == 200


@pytest.mark.covers("EVT-014")
async def test_a_refusal_costs_the_same_whether_or_not_somebody_ordered_as_a_guest(
    office: Office, monkeypatch: pytest.MonkeyPatch
):
    """So that no clock tells whose address is known."""
    event, [kind] = await office.on_sale()
    regular = an_address()
    await office.order(event, (kind, 1), guest=regular)
    made_up = dict(event, eventId=str(EventId.new()))
    sent: list[str] = []
    fetch = Transaction.fetch

    async def counted(self: Transaction, sql: str, *values: Any) -> Any:
        sent.append(sql)
        return await fetch(self, sql, *values)

    async def costs(guest: str) -> Counter[str]:
        sent.clear()
        refused = await office.ask(made_up, (kind, 1), guest=guest)
        assert refused.json()["errorCode"] == "EVENT_NOT_FOUND"
        return Counter(sent)

    monkeypatch.setattr(Transaction, "fetch", counted)
    known, unknown = await costs(regular), await costs(an_address())
    assert known == unknown
    assert orders.FIND_BY_KEYS in known

"""What organisers and buyers look at: orders, tickets, sales, what each ticket brought, and invoices."""

import csv
import io
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from typing import Any

import msgspec
import pytest

from admitone.finance.ledger import api as ledger
from admitone.finance.pricing.api import FeeMode
from admitone.finance.sources.api import PaymentId
from admitone.foundation.authority.api import STEP_UP_LASTS, MemberRole
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database
from admitone.verticals.events import reporting
from admitone.verticals.events.invoicing import find_invoiced
from admitone.verticals.events.model import EventId, OrderId
from admitone.verticals.events.routes.invoices import InvoiceAnswer
from admitone.verticals.events.store import reports
from tests.people import Person, a_member, a_person
from tests.verticals.events.office import Office
from tests.verticals.events.stage import KEYS, Stage

AUDITED = (
    "SELECT action, subject, reason_code FROM kernel.audit_entry WHERE organization_id = $1 AND action LIKE 'events.%'"
)
ME = {"name": "Ana Lima, Lda.", "taxNumber": "PT 501 442 600"}


async def get(office: Office, event: dict[str, Any], what: str, who: Person | None = None, **asked: Any) -> Any:
    stage = office.stage
    path = f"{stage.path}/{event['eventId']}/{what}"
    return stage.fine(await stage.site.get(path, params=asked, headers=(who or stage.owner).headers))


async def all_pages(office: Office, event: dict[str, Any], what: str, **asked: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        page = await get(office, event, what, **(asked | cursor))
        found += page["items"]
        if page["nextCursor"] is None:
            return found
        cursor = {"cursor": page["nextCursor"]}


async def refund(office: Office, payment: PaymentId, *pieces: tuple[dict[str, Any], int]) -> None:
    stage = office.stage
    body = {
        "reasonCode": "SERIOUS_FAILURE",
        "idempotencyKey": f"back-{next(KEYS)}",
        "pieces": [{"key": kind["ticketTypeId"], "quantity": quantity} for kind, quantity in pieces],
    }
    path = f"/api/org/{stage.organization}/payments/{payment}/refund"
    stage.fine(await stage.site.post(path, json=body, headers=stage.owner.headers))
    await office.work()


async def exported(office: Office, event: dict[str, Any], who: Person | None = None) -> list[dict[str, str]]:
    stage = office.stage
    body = {"reasonCode": "MONTHLY_ACCOUNTS"}
    path = f"{stage.path}/{event['eventId']}/tickets/export"
    answer = await stage.site.post(path, json=body, headers=(who or stage.owner).headers)
    assert answer.status_code == 200, answer.text
    return [*csv.DictReader(io.StringIO(answer.text))]


async def nets(office: Office, *payments: PaymentId) -> dict[str, int]:
    found = await office.stage.database.read(office.stage.scope, ledger.net_of, [*payments])
    return {str(payment): net.minor for (payment, _), net in found.items()}


# -- Orders


async def test_an_organiser_sees_every_order_and_what_became_of_it(office: Office):
    event, [kind] = await office.on_sale({"supply": {"capacity": 20}})
    paid, given_up, waiting, late = [await office.order(event, (kind, number)) for number in (1, 2, 3, 4)]
    payment = await office.pay(paid)
    path = f"/api/me/orders/{given_up['orderId']}/cancel"
    office.stage.fine(await office.stage.site.post(path, headers=office.buyer.headers))
    begun = await office.begin(waiting)
    await office.stage.superuser.execute(
        "UPDATE events.ticket_order SET expires_at = created_at WHERE id = $1", OrderId.parse(late["orderId"]).uuid
    )
    seen = await all_pages(office, event, "orders", limit=1)
    assert [each["orderId"] for each in seen] == [each["orderId"] for each in (late, waiting, given_up, paid)]
    assert [(each["state"], each["tickets"], each["amountMinor"]) for each in seen] == [
        ("EXPIRED", 4, 10000),
        ("OPEN", 3, 7500),
        ("CANCELLED", 2, 5000),
        ("FULFILLED", 1, 2500),
    ]
    standing = [each["payment"] and (each["payment"]["paymentId"], each["payment"]["status"]) for each in seen]
    assert standing[0] is standing[2] is None
    assert standing[1] is not None
    assert standing[1][0] == str(begun)
    assert standing[3] == (str(payment), "SUCCEEDED")
    for state, [one] in {"EXPIRED": [late], "OPEN": [waiting], "CANCELLED": [given_up], "FULFILLED": [paid]}.items():
        found = await all_pages(office, event, "orders", state=state, limit=1)
        assert [each["orderId"] for each in found] == [one["orderId"]], state


async def test_orders_are_found_by_when_they_were_placed_by_whom_and_by_their_id(office: Office):
    event, [kind] = await office.on_sale()
    elsewhere, [other_kind] = await office.on_sale()
    first, second = [await office.order(event, (kind, 1)) for _ in range(2)]
    other = await a_person(office.stage.database)
    third = await office.order(event, (kind, 1), buyer=other)
    foreign = await office.order(elsewhere, (other_kind, 1))

    async def found(**asked: Any) -> list[str]:
        return [each["orderId"] for each in await all_pages(office, event, "orders", limit=2, **asked)]

    assert await found(until=second["createdAt"]) == [first["orderId"]]
    assert await found(since=second["createdAt"]) == [third["orderId"], second["orderId"]]
    assert await found(since=second["createdAt"], until=third["createdAt"]) == [second["orderId"]]
    assert await found(buyerId=str(other.identity)) == [third["orderId"]]
    assert await found(orderId=first["orderId"]) == [first["orderId"]]
    assert await found(orderId=first["orderId"], state="FULFILLED") == []
    assert await found(orderId=foreign["orderId"]) == [], "of another event"


async def test_a_page_looks_only_so_far_for_what_is_rare_and_says_where_to_go_on(
    office: Office, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(reporting, "FARTHEST", 2)
    event, [kind] = await office.on_sale()
    rare = await office.order(event, (kind, 1))
    await office.pay(rare)
    for _ in range(7):
        await office.order(event, (kind, 1))
    page = await get(office, event, "orders", state="FULFILLED", limit=1)
    assert (page["items"], page["nextCursor"] is None) == ([], False)
    found = await all_pages(office, event, "orders", state="FULFILLED", limit=1)
    assert [each["orderId"] for each in found] == [rare["orderId"]]


async def test_one_order_is_shown_with_its_tickets_rights_and_what_it_brought(office: Office):
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 2))
    payment = await office.pay(order)
    seen = await get(office, event, f"orders/{order['orderId']}")
    rights = {str(each.id) for each in await office.rights(order)}
    assert {each["status"] for each in seen["ticketList"]} == {"ACTIVE"}
    assert {right["entitlementId"] for each in seen["ticketList"] for right in each["rights"]} == rights
    assert seen["lines"] == [
        {"ticketTypeId": kind["ticketTypeId"], "name": "Standing", "quantity": 2, "unitPriceMinor": 2500}
    ]
    assert seen["net"]["netMinor"] == (await nets(office, payment))[str(payment)]
    assert seen["net"]["chargedMinor"] == 5000
    elsewhere, _ = await office.on_sale()
    wrong = await office.stage.ask("GET", f"/{elsewhere['eventId']}/orders/{order['orderId']}")
    assert (wrong.status_code, wrong.json()["errorCode"]) == (404, "ORDER_NOT_FOUND")


@pytest.mark.covers("TEN-010")
async def test_another_organisation_sees_none_of_it(office: Office, stage: Stage):
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 1))
    await office.pay(order)
    outsider = await a_person(stage.database)
    for what in ("orders", f"orders/{order['orderId']}", "attendees", "sales", "totals"):
        refused = await stage.site.get(f"{stage.path}/{event['eventId']}/{what}", headers=outsider.headers)
        assert refused.status_code == 403, what
    for what in ("", "/invoice-data"):
        own = await stage.site.get(f"/api/me/orders/{order['orderId']}{what}", headers=outsider.headers)
        assert (own.status_code, own.json()["errorCode"]) == (404, "ORDER_NOT_FOUND")


# -- Attendees


async def test_attendees_are_tickets_with_who_came_in_and_nobodys_name(office: Office):
    event, [standing, seated] = await office.on_sale({}, {"name": "Stalls", "supply": {"seats": ["A1", "A2"]}})
    order = await office.order(event, (standing, 2), (seated, 1))
    payment = await office.pay(order)
    other = await office.order(event, (standing, 1))
    await office.pay(other)
    await refund(office, payment, (standing, 1))
    await office.stage.superuser.execute(
        "UPDATE entitlements.entitlement SET entries = 1, entered = 1, consumed_at = $2, last_entry_at = $2 WHERE source_id = $1",
        other["orderId"],
        datetime.now(UTC),
    )
    seen = await all_pages(office, event, "attendees", limit=1)
    assert len(seen) == 4
    assert Counter(each["status"] for each in seen) == {"ACTIVE": 3, "REFUNDED": 1}
    assert [each["orderId"] for each in seen if each["cameIn"]] == [other["orderId"]]
    assert [each["seat"] for each in seen if each["ticketTypeId"] == seated["ticketTypeId"]] == ["A1"]
    assert "Ana" not in str(seen)
    of_order = await all_pages(office, event, "attendees", orderId=order["orderId"], limit=1)
    assert {each["ticketId"] for each in of_order} == {str(each.id) for each in await office.tickets(order)}
    gone = await all_pages(office, event, "attendees", status="REFUNDED")
    assert [each["orderId"] for each in gone] == [order["orderId"]]
    stalls = await all_pages(office, event, "attendees", ticketTypeId=seated["ticketTypeId"])
    assert [each["seat"] for each in stalls] == ["A1"]
    elsewhere, _ = await office.on_sale()
    assert await all_pages(office, elsewhere, "attendees", orderId=order["orderId"]) == []


@pytest.mark.covers("PRV-023")
async def test_somebody_is_found_by_name_and_it_is_written_down_first(office: Office, stage: Stage):
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 1))
    await office.pay(order)
    path = f"{stage.path}/{event['eventId']}/attendees/search"
    for words in ("an", office.buyer.email):
        page = stage.fine(await stage.site.post(path, json={"search": words}, headers=stage.owner.headers))
        [found] = page["items"]
        assert (found["holderName"], found["orderId"], found["ticketStatus"]) == ("Ana", order["orderId"], "ACTIVE")
        assert office.buyer.email not in str(page)
    rows = await stage.superuser.fetch(AUDITED, stage.organization.uuid)
    assert [tuple(row) for row in rows] == [("events.search_attendees", event["eventId"], None)] * 2
    looker = await a_member(stage.database, stage.organization, MemberRole.STAFF)
    refused = await stage.site.post(path, json={"search": "ana"}, headers=looker.headers)
    assert refused.status_code == 403


# -- Sales


@pytest.mark.covers("EVT-006")
async def test_sales_are_counted_by_the_days_of_the_place(office: Office):
    """23:30 UTC is the next day in Lisbon's summer, and what went back counts on the day it was sold."""
    event, [kind, dear] = await office.on_sale({}, {"name": "Dear", "priceMinor": 9000})
    orders = [await office.order(event, (kind, 2), (dear, 1)), await office.order(event, (kind, 1))]
    payments = [await office.pay(each) for each in orders]
    await refund(office, payments[0], (kind, 1))
    instants = [datetime(2026, 6, 30, 22, 59, tzinfo=UTC), datetime(2026, 6, 30, 23, 30, tzinfo=UTC)]
    for order, instant in zip(orders, instants, strict=True):
        near = reports.id_near(instant)
        for number, ticket in enumerate(await office.tickets(order)):
            await office.stage.superuser.execute(
                "UPDATE events.ticket SET created_at = $2, id = $3 WHERE id = $1",
                ticket.id.uuid,
                instant,
                type(near)(int=near.int + number + 1),
            )
    told = await get(office, event, "sales", since="2026-06-30", until="2026-07-01")
    assert (told["timeZone"], told["currency"]) == ("Europe/Lisbon", "EUR")
    names = {kind["ticketTypeId"]: "kind", dear["ticketTypeId"]: "dear"}
    rows = {
        (each["day"], names[each["ticketTypeId"]]): [
            each[name] for name in ("orders", "tickets", "grossMinor", "refundedTickets", "refundedMinor")
        ]
        for each in told["days"]
    }
    assert rows == {
        ("2026-06-30", "kind"): [1, 2, 5000, 1, 2500],
        ("2026-06-30", "dear"): [1, 1, 9000, 0, 0],
        ("2026-07-01", "kind"): [1, 1, 2500, 0, 0],
    }
    assert len((await get(office, event, "sales", since="2026-07-01", until="2026-07-01"))["days"]) == 1
    assert (await get(office, event, "sales", since="2026-07-02", until="2026-07-02"))["days"] == []


async def test_sales_are_asked_for_by_days_in_order_and_not_too_many(office: Office):
    event, [kind] = await office.on_sale()
    await office.pay(await office.order(event, (kind, 3)))
    told = await get(office, event, "sales")
    assert [(each["orders"], each["tickets"], each["grossMinor"]) for each in told["days"]] == [(1, 3, 7500)]
    assert date.fromisoformat(told["until"]) - date.fromisoformat(told["since"]) == timedelta(days=29)
    for days in (
        {"since": "2026-07-02", "until": "2026-07-01"},
        {"since": "2024-01-01", "until": "2026-01-01"},
        {"until": "0001-01-01"},
    ):
        refused = await office.stage.site.get(
            f"{office.stage.path}/{event['eventId']}/sales", params=days, headers=office.stage.owner.headers
        )
        assert refused.status_code == 422, days
    unknown = await office.stage.ask("GET", f"/{EventId.new()}/sales")
    assert unknown.status_code == 404


async def test_what_is_left_is_what_the_stock_says(office: Office):
    event, [kind] = await office.on_sale({"supply": {"capacity": 10}})
    await office.pay(await office.order(event, (kind, 3)))
    await office.order(event, (kind, 2))
    [total] = (await get(office, event, "totals"))["ticketTypes"]
    assert [total["pool"][name] for name in ("capacity", "sold", "held")] + [total["free"]] == [10, 3, 2, 5]


# -- What each ticket brought


@pytest.mark.covers("FIN-036", "FIN-030")
async def test_the_rows_of_a_payment_sum_to_its_net_in_the_ledger(office: Office, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reporting, "TICKETS", 2)
    event, [kind, odd] = await office.on_sale(
        {"supply": {"capacity": 50}}, {"name": "=cmd|'/c calc'!A1", "priceMinor": 3333}
    )
    wanted = [[(kind, 3)], [(kind, 1), (odd, 3)], [(odd, 1)], [(kind, 2), (odd, 2)]]
    payments = [await office.pay(await office.order(event, *each)) for each in wanted]
    for each in payments[1:]:
        await office.settle(each, "tell_fees")
    await office.settle(payments[1], "adjust_fee", amount=7)
    await refund(office, payments[1], (odd, 1))
    await refund(office, payments[2])
    await office.settle(payments[3], "dispute")
    await office.settle(payments[3], "lose")
    rows = await exported(office, event)
    assert len(rows) == 3 + 4 + 1 + 4
    sums: Counter[str] = Counter()
    for row in rows:
        sums[row["payment_id"]] += int(row["net_minor"])
    assert dict(sums) == await nets(office, *payments)
    first = [row for row in rows if row["payment_id"] == str(payments[0])]
    assert sum(int(row["charged_minor"]) for row in first) == 7500
    assert all(int(row["platform_fee_minor"]) > 0 for row in first)
    gone = [row for row in rows if row["payment_id"] == str(payments[1]) and row["status"] == "REFUNDED"]
    assert [(row["charged_minor"], row["refunded_minor"], row["platform_fee_minor"]) for row in gone] == [
        ("3333", "3333", "0")
    ]
    assert {row["ticket_type"] for row in rows} == {"Standing", "'=cmd|'/c calc'!A1"}, "no cell is a formula"
    assert {row["status"] for row in rows if row["payment_id"] == str(payments[3])} == {"CHARGEBACK_LOST"}
    assert min(sums.values()) < 0, "a dispute that is lost costs more than it brought"


async def test_a_net_says_whether_the_processor_has_said_its_last_word(office: Office):
    event, [kind] = await office.on_sale()
    payment = await office.pay(await office.order(event, (kind, 2)))
    before = await exported(office, event)
    assert {(row["net_is"], row["processor_fee_minor"]) for row in before} == {("BEFORE_PROCESSOR_FEE", "0")}
    await office.settle(payment, "tell_fees")
    after = await exported(office, event)
    assert {(row["net_is"], row["processor_fee_minor"]) for row in after} == {("FINAL", "50")}
    assert sum(int(row["net_minor"]) for row in after) == (await nets(office, payment))[str(payment)]
    [shown] = await all_pages(office, event, "orders")
    net = (await get(office, event, f"orders/{shown['orderId']}"))["net"]
    assert (net["processorFeeMinor"], net["isFinal"]) == (100, True)


@pytest.mark.covers("PRV-023")
async def test_a_table_needs_a_recent_proof_and_is_written_down(office: Office, stage: Stage, database_url: str):
    event, [kind] = await office.on_sale()
    await office.pay(await office.order(event, (kind, 1)))
    await exported(office, event)
    rows = await stage.superuser.fetch(AUDITED, stage.organization.uuid)
    assert [tuple(row) for row in rows] == [("events.export_tickets", event["eventId"], "MONTHLY_ACCOUNTS")]
    async with Database(database_url, clock=Clock(-STEP_UP_LASTS - timedelta(minutes=1))) as earlier:
        stale = await a_person(earlier, identity=stage.owner.identity, email=stage.owner.email)
    path = f"{stage.path}/{event['eventId']}/tickets/export"
    refused = await stage.site.post(path, json={"reasonCode": "MONTHLY_ACCOUNTS"}, headers=stale.headers)
    assert refused.status_code == 403
    unreasoned = await stage.site.post(path, json={}, headers=stage.owner.headers)
    assert unreasoned.status_code == 422


async def test_who_only_sees_events_sees_neither_whom_an_invoice_is_for_nor_the_accounts(office: Office, stage: Stage):
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 1), billing=ME)
    await office.pay(order)
    invoice, table = f"orders/{order['orderId']}/invoice-data", f"{stage.path}/{event['eventId']}/tickets/export"
    for role in (MemberRole.PROMOTER, MemberRole.VIEWER, MemberRole.STAFF):
        somebody = await a_member(stage.database, stage.organization, role)
        await get(office, event, "orders", somebody)
        asked = await stage.site.get(f"{stage.path}/{event['eventId']}/{invoice}", headers=somebody.headers)
        taken = await stage.site.post(table, json={"reasonCode": "MONTHLY_ACCOUNTS"}, headers=somebody.headers)
        assert (asked.status_code, taken.status_code) == (403, 403), role
    admin = await a_member(stage.database, stage.organization, MemberRole.ADMIN)
    assert (await get(office, event, invoice, admin))["buyer"] == ME
    assert len(await exported(office, event, admin)) == 1


# -- Buyers, and invoices


async def test_a_buyer_sees_an_order_with_its_tickets_and_payment(office: Office, stage: Stage):
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 2))
    path = f"/api/me/orders/{order['orderId']}"
    open_ = stage.fine(await stage.site.get(path, headers=office.buyer.headers))
    assert (open_["tickets"], open_["payment"]) == ([], None)
    payment = await office.pay(order)
    seen = stage.fine(await stage.site.get(path, headers=office.buyer.headers))
    assert (seen["state"], seen["payment"]["status"]) == ("FULFILLED", "SUCCEEDED")
    rights = {str(each.id) for each in await office.rights(order)}
    assert {right["entitlementId"] for each in seen["tickets"] for right in each["rights"]} == rights
    await refund(office, payment, (kind, 1))
    after = stage.fine(await stage.site.get(path, headers=office.buyer.headers))
    assert sorted(each["status"] for each in after["tickets"]) == ["ACTIVE", "REFUNDED"]
    assert (after["payment"]["status"], after["payment"]["refundedMinor"]) == ("PARTIAL_REFUND", 2500)


@pytest.mark.covers("FIN-034")
async def test_an_invoice_says_what_was_paid_whatever_is_asked_for_today(office: Office, stage: Stage):
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 2), billing=ME)
    payment = await office.pay(order)
    own = f"/api/me/orders/{order['orderId']}/invoice-data"
    before = stage.fine(await stage.site.get(own, headers=office.buyer.headers))
    assert before["buyer"] == ME
    assert before["seller"]["displayName"] == "Clube do Porto"
    assert (before["totalMinor"], before["currency"], before["paymentId"]) == (5000, "EUR", str(payment))
    assert (before["paymentMethod"], before["refunds"]) == ("CARD", [])
    [line] = before["lines"]
    assert (line["description"], line["quantity"], line["totalMinor"]) == ("Standing", 2, 5000)
    stage.fine(await stage.revise(event, kind, name="Standing, later", priceMinor=9900))
    await refund(office, payment, (kind, 1))
    after = stage.fine(await stage.site.get(own, headers=office.buyer.headers))
    assert {name: after[name] for name in ("lines", "taxes", "totalMinor", "paidAt", "buyer")} == {
        name: before[name] for name in ("lines", "taxes", "totalMinor", "paidAt", "buyer")
    }
    [back] = after["refunds"]
    assert (back["state"], back["amountMinor"], after["refundedMinor"]) == ("SUCCEEDED", 2500, 2500)
    assert back["pieces"] == [{"key": kind["ticketTypeId"], "quantity": 1, "amountMinor": 2500}]
    sold = await get(office, event, f"orders/{order['orderId']}/invoice-data")
    assert sold | {"platformFeeMinor": 0} == after | {"platformFeeMinor": 0}
    rows = await stage.superuser.fetch(AUDITED, stage.organization.uuid)
    assert [tuple(row) for row in rows] == [("events.see_invoice", order["orderId"], None)]


async def test_a_buyer_is_not_told_of_a_fee_that_the_seller_absorbs(office: Office, stage: Stage):
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 2))
    await office.pay(order)
    found = await stage.database.read(stage.scope, find_invoiced, OrderId.parse(order["orderId"]))
    price = msgspec.structs.replace(found.price, fee_mode=FeeMode.ABSORBED)
    absorbed = msgspec.structs.replace(found, price=price)
    told, sold = [InvoiceAnswer.of(absorbed, for_seller=seller) for seller in (False, True)]
    assert (told.platform_fee_minor, [line.platform_fee_minor for line in told.lines]) == (None, [None])
    assert sold.platform_fee_minor == sum(line.platform_fee_minor or 0 for line in sold.lines) == 250
    assert (told.total_minor, told.fee_is_added) == (sold.total_minor, False) == (5000, False)


async def test_whom_an_invoice_is_for_stands_nowhere_in_clear(office: Office, stage: Stage):
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 1), billing=ME)
    row = await stage.superuser.fetchval(
        "SELECT o::text FROM events.ticket_order AS o WHERE id = $1", OrderId.parse(order["orderId"]).uuid
    )
    sealed = (await office.find(order)).billing
    assert sealed is not None
    for word in ME.values():
        assert word not in row
        assert word.encode() not in sealed
    moved = await office.order(event, (kind, 1))
    await stage.superuser.execute(
        "UPDATE events.ticket_order SET billing = $2 WHERE id = $1", OrderId.parse(moved["orderId"]).uuid, sealed
    )
    await office.pay(moved)
    answer = await stage.site.get(f"/api/me/orders/{moved['orderId']}/invoice-data", headers=office.buyer.headers)
    assert answer.status_code == 500, "it opens with its own order alone"


async def test_what_was_not_paid_has_no_invoice(office: Office, stage: Stage):
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 1))
    answer = await stage.site.get(f"/api/me/orders/{order['orderId']}/invoice-data", headers=office.buyer.headers)
    assert (answer.status_code, answer.json()["errorCode"]) == (409, "ORDER_NOT_PAID")
    for billing in ({"name": ""}, {"name": "Ana\nB"}, {"name": "Ana", "taxNumber": "<script>"}):
        refused = await office.ask(event, (kind, 1), billing=billing)
        assert refused.status_code == 422, billing


# -- Seats


async def test_everybody_sees_which_seats_are_free_and_not_whose_the_others_are(office: Office, stage: Stage):
    labels = ["A1", "A2", "A3", "B1"]
    event, [kind, standing] = await office.on_sale({"name": "Stalls", "supply": {"seats": labels}}, {})
    await office.pay(await office.order(event, (kind, 1)))
    await office.order(event, (kind, 1))
    path = f"/api/events/{event['eventId']}/ticket-types/{kind['ticketTypeId']}/seats"
    seen, cursor = [], {}
    while True:
        page = stage.fine(await stage.site.get(path, params={"limit": 3} | cursor))
        seen += page["items"]
        if page["nextCursor"] is None:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert [(each["label"], each["available"]) for each in seen] == [
        ("A1", False),
        ("A2", False),
        ("A3", True),
        ("B1", True),
    ]
    assert {name for each in seen for name in each} == {"unitId", "label", "available"}
    chosen = await office.order(
        event, (kind, 1), lines=[{"ticketTypeId": kind["ticketTypeId"], "quantity": 1, "seats": [seen[3]["unitId"]]}]
    )
    assert chosen["state"] == "OPEN"
    unseated = await stage.site.get(path.replace(kind["ticketTypeId"], standing["ticketTypeId"]))
    assert (unseated.status_code, unseated.json()["errorCode"]) == (409, "NOT_SEATED")
    _, [foreign] = await office.on_sale()
    wrong = await stage.site.get(path.replace(kind["ticketTypeId"], foreign["ticketTypeId"]))
    assert (wrong.status_code, wrong.json()["errorCode"]) == (404, "TICKET_TYPE_NOT_FOUND")


@pytest.mark.covers("EVT-002")
async def test_seats_of_a_draft_are_not_there(stage: Stage):
    draft = await stage.offered(await stage.drafted(), supply={"seats": ["A1"]})
    kind = draft["ticketTypes"][0]["ticketTypeId"]
    answer = await stage.site.get(f"/api/events/{draft['eventId']}/ticket-types/{kind}/seats")
    assert (answer.status_code, answer.json()["errorCode"]) == (404, "EVENT_NOT_FOUND")


# -- What each day brought


async def test_what_a_day_brought_is_what_the_ledger_says_of_its_payments(
    office: Office, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(reporting, "MOST_AT_ONCE", 2)
    event, [kind] = await office.on_sale({"priceMinor": 2500})
    other, [elsewhere] = await office.on_sale({})
    payments = [await office.begin(await office.order(event, (kind, 2))) for _ in range(3)]
    for each in payments:
        await office.settle(each)
    await office.settle(await office.begin(await office.order(other, (elsewhere, 1))))
    await refund(office, payments[0], (kind, 1))

    answer = await get(office, event, "net")
    [day] = answer["days"]
    assert (day["payments"], day["chargedMinor"], day["refundedMinor"]) == (3, 15000, 2500)
    assert day["netMinor"] == sum((await nets(office, *payments)).values())
    assert (answer["currency"], answer["isComplete"]) == ("EUR", True)
    assert day["day"] == answer["until"]
    assert (await get(office, event, "net", until="2020-01-01"))["days"] == []

    monkeypatch.setattr(reporting, "FARTHEST", 1)
    assert (await get(office, event, "net"))["isComplete"] is False


async def test_what_was_earned_is_not_for_everybody_who_sees_events(office: Office, stage: Stage):
    event, _ = await office.on_sale()
    viewer = await a_member(stage.database, stage.organization, MemberRole.VIEWER)
    path = f"{stage.path}/{event['eventId']}/net"
    assert (await stage.site.get(path, headers=viewer.headers)).status_code == 403
    stranger = {**event, "eventId": str(EventId.new())}
    answer = await stage.site.get(f"{stage.path}/{stranger['eventId']}/net", headers=stage.owner.headers)
    assert answer.json()["errorCode"] == "EVENT_NOT_FOUND"

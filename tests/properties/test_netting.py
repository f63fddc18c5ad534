"""Whatever happened to a payment, the rows of its tickets sum to what the ledger says of it."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admitone.finance.ledger.api import EntryType
from admitone.finance.pricing.model import FeeMode, LineItem, Snapshot
from admitone.finance.sources.port import Line, Tax
from admitone.kernel.ids import IdentityId
from admitone.verticals.events.model import EventId, OrderId, Ticket, TicketId, TicketStatus, TicketTypeId
from admitone.verticals.events.netting import GONE, Brought, Moved, brought
from tests.finance.pricing.offers import a_rule, an_offer, computed

E = EntryType
THEN = datetime(2026, 5, 1, tzinfo=UTC)
TYPES = [TicketTypeId.new() for _ in range(4)]
SUMMED = ("charged", "refunded", "platform_fee", "processor_fee")


def a_ticket(kind: TicketTypeId, index: int, price: int, status: TicketStatus = TicketStatus.ACTIVE) -> Ticket:
    return Ticket(
        TicketId.new(),
        OrderId.new(),
        EventId.new(),
        kind,
        index,
        IdentityId.new(),
        status,
        price,
        None,
        None,
        1,
        THEN,
        THEN,
    )


wanted = st.lists(st.tuples(st.integers(0, 50_000), st.integers(1, 7)), min_size=1, max_size=4)
entry_types = st.sampled_from(
    [
        E.PROCESSOR_FEES_FINAL,
        E.PROCESSOR_FEES_ADJUSTMENT,
        E.DISPUTE_FEE,
        E.DISPUTE_FEE_REVERSAL,
        E.REFUND_GROSS,
        E.REFUND_GROSS_MIRROR,
        E.REFUND_PLATFORM_FEE_REVERSAL,
        E.REFUND_PLATFORM_FEE_MIRROR,
        E.REFUND_PROCESSOR_FEES_REVERSAL,
        E.CHARGEBACK_GROSS,
        E.CHARGEBACK_PLATFORM_FEE_REVERSAL,
    ]
)


def priced(lines: list[tuple[int, int]], discount: int, rate: int, fee: int, mode: FeeMode) -> Snapshot:
    offer = an_offer(
        *(Line(str(TYPES[place]), "Some", price, quantity) for place, (price, quantity) in enumerate(lines)),
        discount_minor=discount,
        taxes=(Tax("VAT", "PT", rate),) if rate else (),
    )
    return computed(offer, a_rule(fee, mode=mode))


def tickets_of(lines: list[tuple[int, int]], statuses: list[TicketStatus]) -> list[Ticket]:
    every = [(TYPES[place], index, price) for place, (price, quantity) in enumerate(lines) for index in range(quantity)]
    return [
        a_ticket(*each, statuses[place % len(statuses)] if statuses else TicketStatus.ACTIVE)
        for place, each in enumerate(every)
    ]


@pytest.mark.covers("FIN-030", "FIN-036")
@given(
    wanted,
    st.integers(0, 60_000),
    st.sampled_from([0, 600, 2300]),
    st.integers(0, 2000),
    st.sampled_from([FeeMode.INCLUDED, FeeMode.ADDED]),
    st.lists(st.sampled_from(list(TicketStatus)), max_size=5),
    st.dictionaries(entry_types, st.integers(-70_000, 70_000), max_size=6),
)
def test_the_rows_of_a_payment_sum_to_its_net(lines, discount, rate, fee, mode, statuses, entries):
    price = priced(lines, discount, rate, fee, mode)
    posted = {E.GROSS: price.total, E.PLATFORM_FEE: -price.platform_fee} | entries
    tickets = tickets_of(lines, statuses)
    moved = Moved.of(posted)
    rows = brought(tickets, price.line_items, moved, "EUR")
    assert sum(each.net for each in rows.values()) == sum(posted.values()) == moved.net
    for name in SUMMED:
        assert sum(getattr(each, name) for each in rows.values()) == getattr(moved, name), name
    assert sum(each.discount for each in rows.values()) == price.discounts
    assert sum(each.tax for each in rows.values()) == price.customer_taxes


@given(wanted, st.lists(st.sampled_from(list(TicketStatus)), min_size=1, max_size=5), st.integers(0, 100))
def test_what_went_back_is_taken_first_from_tickets_that_are_gone_and_never_more_than_they_cost(lines, statuses, share):
    price, tickets = priced(lines, 0, 0, 700, FeeMode.INCLUDED), tickets_of(lines, statuses)
    back = price.total * share // 100
    rows = brought(tickets, price.line_items, Moved(price.total, back, price.platform_fee), "EUR")
    assert all(0 <= each.refunded <= each.charged for each in rows.values())
    gone = [rows[each.id] for each in tickets if each.status in GONE]
    cost = sum(each.charged for each in gone)
    assert sum(each.refunded for each in gone) >= min(back, cost)


def an_item(key: TicketTypeId, unit: int, quantity: int, fee: int) -> LineItem:
    gross = unit * quantity
    return LineItem(str(key), "", unit, quantity, gross, 0, 0, fee, gross)


def test_a_ticket_that_went_back_leaves_the_others_as_they_were():
    gone, left = a_ticket(TYPES[0], 0, 2500, TicketStatus.REFUNDED), a_ticket(TYPES[0], 1, 2500)
    rows = brought([gone, left], [an_item(TYPES[0], 2500, 2, 300)], Moved(5000, 2500, 150, 100), "EUR")
    assert rows[left.id] == Brought(0, 0, 2500, 0, 150, 50)
    assert rows[gone.id] == Brought(0, 0, 2500, 2500, 0, 50), "its share of what the processor keeps is its own"


def test_a_cent_that_does_not_divide_is_somebodys():
    tickets = [a_ticket(TYPES[0], index, 3333) for index in range(3)]
    rows = brought(tickets, [an_item(TYPES[0], 3333, 3, 100)], Moved(9999, 0, 100, 50), "EUR")
    assert sorted(each.platform_fee for each in rows.values()) == [33, 33, 34]
    assert sorted(each.processor_fee for each in rows.values()) == [16, 17, 17]
    assert sum(each.net for each in rows.values()) == 9999 - 150


def test_a_price_that_cannot_be_read_is_shared_out_by_what_the_tickets_cost():
    tickets = [a_ticket(TYPES[0], 0, 1000), a_ticket(TYPES[1], 0, 3000)]
    rows = brought(tickets, (), Moved(4000, 0, 400, 40), "EUR")
    assert [rows[each.id].net for each in tickets] == [890, 2670]

"""Refunds that we order among those that others make: what was posted stays, and what is owed is what is under way."""

from collections import Counter
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admitone.finance.gateways.api import FactKind
from admitone.finance.ledger.api import Account
from admitone.finance.payments.books import fee_of, left_of
from admitone.finance.payments.model import Payment, RecordedFact, RefundState, Status
from admitone.finance.payments.policy import Happened, fold
from admitone.finance.refunds.api import Gone, Piece, RefundId
from admitone.finance.refunds.policy import Share, all_left, share_of
from tests.finance.payments.stories import (
    a_fact,
    a_payment,
    balances,
    begun,
    captured,
    given_up,
    in_order,
    posted,
    refund_failed,
    refunded,
)
from tests.finance.pricing.offers import a_rule, an_offer, computed

K = FactKind
PRICE, FEE = 5000, 301
shares = st.integers(1, 100)
steps = st.one_of(
    st.tuples(st.just("order"), shares),
    st.tuples(st.just("elsewhere"), shares),
    st.tuples(st.sampled_from(["settle", "fail", "send back", "give up", "silently settle"]), st.integers(0, 5)),
    st.tuples(st.just("fee"), st.just(0)),
)


class Life:
    """A payment that was captured, and what is done to it, in the order in which we learn it."""

    def __init__(self) -> None:
        self.payment: Payment = a_payment(PRICE, fee=FEE, status=Status.SUCCEEDED, applied=True)
        self.facts: list[RecordedFact] = [captured(PRICE, at=10)]
        self.orders: list[RecordedFact] = []
        self.over: set[str] = set()
        self.told_at = 10

    @property
    def numbered(self) -> list[RecordedFact]:
        return in_order(*self.facts)

    @property
    def at(self) -> int:
        return 30 + 2 * len(self.facts)

    def do(self, deed: str, number: int) -> None:
        left = left_of(self.payment, self.numbered).price_minor
        if deed == "order" and left:
            amount = max(left * number // 100, 1)
            own = begun(amount, self.at, f"rfd_{len(self.orders)}", fee=fee_of(self.payment, self.numbered, amount))
            self.orders.append(own)
            self.facts.append(own)
        elif deed == "elsewhere" and left:
            # By its own clock it may have been before what we ordered, but not before what it told us earlier.
            self.told_at = max(self.told_at + 1, self.at - number % 9)
            amount = max(left * number // 100, 1)
            self.facts.append(refunded(amount, at=self.told_at, of=f"re_x{len(self.facts)}"))
        elif deed == "fee":
            self.facts.append(a_fact(K.FEE, "txn_1", self.at, 100))
            self.facts = [*{each.key: each for each in self.facts}.values()]
        elif self.orders and deed != "elsewhere":
            self._end(deed, self.orders[number % len(self.orders)])

    def _end(self, deed: str, own: RecordedFact) -> None:
        there, said = f"re_{own.reference}", {"order": "" if deed == "silently settle" else own.reference}
        if own.reference in self.over:
            if deed == "send back" and any(each.reference == there for each in self.facts):
                back = msgspec.structs.replace(refund_failed(own.amount_minor, at=self.at, of=there), **said)
                if back.key not in {each.key for each in self.facts}:  # What is known is not told anew.
                    self.facts.append(back)
            return
        self.over.add(own.reference)
        if deed == "give up":
            self.facts.append(given_up(self.at, own.reference))
        elif deed == "fail":
            self.facts.append(msgspec.structs.replace(refund_failed(own.amount_minor, at=self.at, of=there), **said))
        elif deed in ("settle", "silently settle", "send back"):
            self.facts.append(msgspec.structs.replace(refunded(own.amount_minor, at=self.at, of=there), **said))


@pytest.mark.covers("FIN-072", "MOR-042")
@settings(max_examples=250, deadline=None)
@given(st.lists(steps, max_size=12))
def test_what_was_posted_stays_and_nothing_goes_back_twice(deeds: list[tuple[str, int]]):
    life = Life()
    before: Counter[Any] = posted(life.payment, life.numbered)
    for deed in deeds:
        life.do(*deed)
        now = posted(life.payment, life.numbered)
        assert not before - now, f"{deed} changed what had been posted"
        before = now
    happened, standing = Happened(life.numbered), fold(life.payment, life.numbered)
    accounts, reversed_fee = balances(before), _fees_back(before)
    assert abs(accounts.get(Account.REF, 0)) == sum(own.amount_minor for own in happened.under_way)
    assert standing.refunded_minor <= PRICE
    assert 0 <= reversed_fee <= FEE
    if standing.refunded_minor == PRICE:
        assert reversed_fee == FEE
    assert (standing.refund_state is RefundState.PENDING) == bool(happened.under_way)


def _fees_back(transfers: Counter[Any]) -> int:
    signs = {"REFUND_PLATFORM_FEE_REVERSAL": 1, "REFUND_PLATFORM_FEE_MIRROR": -1}
    return sum(signs.get(entry, 0) * minor * times for (entry, _, _, minor, *_), times in transfers.items())


@pytest.mark.covers("FIN-072")
@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 99_999), st.integers(1, 20)), min_size=1, max_size=4), st.data())
def test_pieces_in_any_portions_are_the_price_and_the_fee(lines: list[tuple[int, int]], data: st.DataObject):
    snapshot = computed(an_offer(*lines), a_rule(data.draw(st.integers(0, 2500))))
    gone: dict[str, Gone] = {}
    paid = fees = 0
    while any(gone.get(item.key, Gone()).quantity < item.quantity for item in snapshot.line_items):
        own, pieces = RefundId.new(), []
        for item in snapshot.line_items:
            before = gone.get(item.key, Gone())
            left = item.quantity - before.quantity
            if left and data.draw(st.booleans()):
                free = sorted({*range(item.quantity)} - before.pieces)
                names = data.draw(st.lists(st.sampled_from(free), max_size=left, unique=True))
                pieces.append(Piece(item.key, data.draw(st.integers(max(len(names), 1), left)), tuple(names)))
        share = share_of(own, pieces, snapshot, gone) if pieces else None
        parts = share.lines if isinstance(share, Share) else all_left(own, snapshot, gone)
        for part in parts:
            gone[part.line_key] = gone.get(part.line_key, Gone()).and_also(part)
            paid, fees = paid + part.amount_minor, fees + part.fee_minor
    assert (paid, fees) == (snapshot.total, snapshot.platform_fee)

"""What follows for the books from what happened to a payment: pure decisions.

Promise: everything is posted once for its cause, and nothing goes back that was never there: of the fee, of what was
held of it, and of what was transferred to the organisation, no more than is left when the money goes.
"""

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from admitone.finance.gateways.api import FactKind
from admitone.finance.ledger.api import Event, Posting
from admitone.finance.payments.model import (
    COMMISSION_HELD,
    COMMISSION_KEPT,
    DUE,
    OURS,
    REFUND_BEGUN,
    REFUND_GIVEN_UP,
    TAX_WITHHELD,
    Payment,
    RecordedFact,
)
from admitone.finance.payments.policy import Happened, has_captured, why_unapplied
from admitone.finance.sources.api import Flow
from admitone.kernel.money import Money
from admitone.kernel.scope import Caller

K = FactKind
MIRRORS: Final = {
    Event.REFUND_ACCRUED: Event.REFUND_FAILED,
    Event.UNAPPLIED_REFUNDED: Event.UNAPPLIED_REFUND_FAILED,
    Event.REFUND_SETTLED: Event.REFUND_RETURNED,
}
"""What is posted when a refund that had arrived comes back."""
LAST: Final = 2**31 - 1
"""After everything that we have learnt."""
TIES: Final = {K.REFUNDED: 0, K.REFUND_FAILED: 1, K.DISPUTE_LOST: 2}
"""Of one instant, what counts as first (unification (c))."""


def fresh_postings(
    payment: Payment, before: Sequence[RecordedFact], after: Sequence[RecordedFact], caller: Caller, *, rival: bool
) -> list[Posting]:
    """What is to be posted now that was not before."""
    known = {(each.event, each.cause) for each in postings(payment, before, caller, rival=rival)}
    return [each for each in postings(payment, after, caller, rival=rival) if (each.event, each.cause) not in known]


def postings(
    payment: Payment, facts: Collection[RecordedFact], caller: Caller, *, rival: bool = False
) -> list[Posting]:
    """Everything that is posted for a payment to which this happened."""
    if not has_captured(facts):
        return []  # Refunds and disputes prove a capture; it is fetched, and posted first.
    happened = Happened(facts)
    came_for_nothing = why_unapplied(payment, happened, rival=rival) is not None
    books = [
        _Books(payment, happened, caller, came_for_nothing=came_for_nothing),
        *(_Books(payment, other, caller, came_for_nothing=True) for other in happened.others),
    ]
    return [posting for each in books for posting in each.everything()]


class _Share(msgspec.Struct, frozen=True):
    """What goes back at once: of the price, of what paid for nothing, and what goes with it."""

    price: int = 0
    nothing: int = 0
    fee: int = 0
    transfer: int = 0


_Amounts = tuple[Event, Mapping[str, int]]


class Refundable(msgspec.Struct, frozen=True):
    """What can still go back."""

    price_minor: int
    fee_minor: int


def left_of(payment: Payment, facts: Collection[RecordedFact]) -> Refundable:
    """Of what was paid for; of what paid for nothing there is nothing left that could be refunded."""
    books = _applied(payment, facts)
    return books.left() if books else Refundable(0, 0)


def fee_of(payment: Payment, facts: Collection[RecordedFact], amount: int) -> int:
    """What of the fee goes back with so much more of the price."""
    books = _applied(payment, facts)
    return books.fee_of(amount) if books else 0


def _applied(payment: Payment, facts: Collection[RecordedFact]) -> "_Books | None":
    if not (payment.applied and has_captured(facts)):
        return None
    happened = Happened(facts)
    came_for_nothing = why_unapplied(payment, happened, rival=False) is not None
    return _Books(payment, happened, Caller(), came_for_nothing=came_for_nothing)


class _Books:
    """The postings of one capture, part by part."""

    def __init__(self, payment: Payment, happened: Happened, caller: Caller, *, came_for_nothing: bool) -> None:
        assert happened.capture is not None
        self._payment = payment
        self._happened = happened
        self._capture = happened.capture
        self._caller = caller
        self._gone: dict[str, _Share] = {}
        """By what made it go: our order, or the provider's refund or dispute."""
        self._came_for_nothing = came_for_nothing
        self._has_surplus = payment.manner.keeps_surplus and (not came_for_nothing or happened.application is not None)
        # A destination charge moves all but the fee on to the organisation, whatever the money is for.
        is_moved_on = payment.flow is Flow.SALE
        self._transferred = max(self._capture.amount_minor - payment.fee_minor, 0) if is_moved_on else 0

    def everything(self) -> Iterator[Posting]:
        yield from self._of_capture()
        yield from self._of_fees()
        yield from self._of_commission()
        yield from self._of_due()
        yield from self._of_returns()
        yield from self._of_disputes()

    def _of_capture(self) -> Iterator[Posting]:
        capture, application = self._capture, self._happened.application
        whole = self._unapplied(capture.amount_minor, self._transferred)
        if not self._came_for_nothing:
            yield self._post(Event.CAPTURED, capture, self._split(capture.amount_minor))
            return
        yield self._post(Event.RECEIPT_UNAPPLIED, capture, whole)
        if application is not None:
            yield self._post(Event.UNAPPLIED_APPLIED, capture, whole, cause=application.key)
            yield self._post(Event.CAPTURED, capture, self._split(capture.amount_minor), cause=application.key)

    def _split(self, captured: int) -> Mapping[str, int]:
        """By the names of the flow's template."""
        match self._payment.flow:
            case Flow.STAY | Flow.STAY_LEFT:
                return {"gross": captured}
            case Flow.CAMPAIGN:
                return {"gross": self._payment.amount_minor, "surplus": captured - self._payment.amount_minor}
            case _:
                fee = self._payment.fee_minor
                return {"gross": captured, "fee": fee, "transfer": captured - fee}

    def _of_fees(self) -> Iterator[Posting]:
        for fact in self._happened.of(K.FEE):
            yield self._post(Event.FEES_FINAL, fact, {"fee": fact.amount_minor})
        for fact in self._happened.of(K.FEE_ADJUSTMENT):
            # With a refund, what the provider gives back is the refund's (FIN-070).
            fell = Event.REFUND_FEES_RETURNED if fact.charge else Event.FEES_FELL
            event = Event.FEES_ROSE if fact.amount_minor > 0 else fell
            yield self._post(event, fact, {"fee": abs(fact.amount_minor)})

    def _of_commission(self) -> Iterator[Posting]:
        for fact in self._happened.of(COMMISSION_HELD):
            yield self._post(Event.COMMISSION_HELD, fact, {"fee": fact.amount_minor}, flow=Flow.STAY)

    def _of_due(self) -> Iterator[Posting]:
        for fact in self._happened.of(TAX_WITHHELD):
            yield self._post(Event.TAX_WITHHELD, fact, {"tax": fact.amount_minor}, flow=Flow.STAY)
        for fact in self._happened.of(DUE):
            both = {"due": fact.amount_minor, "commission": fact.fee_minor}
            yield self._post(Event.CHECKED_OUT, fact, both, flow=Flow.STAY)

    # -- What goes back

    def _of_returns(self) -> Iterator[Posting]:
        """Refunds, those of them that came back, and lost disputes, in the order in which they happened; what we order
        ourselves stands where we ordered it."""
        happened, gone = self._happened, self._gone
        gone.clear()
        for fact in sorted(self._returns(), key=self._turn):
            own = happened.made.get(fact.reference)
            if fact.kind == REFUND_BEGUN:
                share = gone[fact.reference] = self._ordered(fact)
                yield from self._posted(fact, self._accrual(share))
            elif fact.kind == REFUND_GIVEN_UP:
                yield from self._mirrored(fact, self._accrual(gone.pop(fact.reference, _Share())))
            elif fact.kind is K.REFUND_FAILED:
                share, failed = gone.pop(own.reference if own else fact.reference, _Share()), fact.reference
                is_settled = any(each.reference == failed for each in happened.given)
                events = [*self._accrual(share), *(self._settlement(share) if is_settled else ())]
                yield from self._mirrored(happened.failed_refunds[failed], events)
            elif own:
                yield self._post(Event.REFUND_SETTLED, fact, {"gross": fact.amount_minor})
            else:
                share = gone[fact.reference] = self._share(fact, _Share(*_sums(gone.values())))
                is_refund = fact.kind is K.REFUNDED
                yield from self._posted(fact, self._refund(share) if is_refund else self._loss(share))

    def _returns(self) -> Iterator[RecordedFact]:
        happened = self._happened
        yield from happened.begun.values()
        yield from happened.given_up.values()
        given = {fact.reference: fact for fact in happened.given}
        yield from given.values()
        for reference, failed in happened.failed_refunds.items():
            if reference in given or reference in happened.made:
                before = given.get(reference, failed)
                at, ordinal = max(failed.at, before.at), max(failed.ordinal, before.ordinal)
                yield msgspec.structs.replace(failed, at=at, ordinal=ordinal)
        for reference, fact in happened.lost.items():
            if opened := happened.opened.get(reference):
                yield msgspec.structs.replace(fact, amount_minor=opened.amount_minor)

    def _turn(self, fact: RecordedFact) -> tuple[object, ...]:
        """What is told is in the order of the provider's times, but never before an order of ours that we had given
        without knowing of it, nor after one that we gave knowing of it."""
        decided = [*self._happened.begun.values(), *self._happened.given_up.values()]
        before = sum(each.ordinal <= fact.ordinal for each in decided)
        if fact.kind in OURS:
            return (before, 0)
        return (before, 1, fact.at, TIES[K(fact.kind)], fact.total_minor, fact.key)

    def _ordered(self, fact: RecordedFact) -> _Share:
        """As it was decided when it was ordered."""
        price, fee = fact.amount_minor, fact.fee_minor
        left = self._transferred - sum(each.transfer for each in self._gone.values())
        return _Share(price=price, fee=fee, transfer=max(min(price - fee, left), 0))

    def left(self) -> "Refundable":
        """What can still go back of the price, and of the fee with it."""
        deque(self._of_returns(), maxlen=0)
        gone, last = _Share(*_sums(self._gone.values())), msgspec.structs.replace(self._capture, ordinal=LAST)
        price = max(min(self._capture.amount_minor, self._payment.amount_minor) - gone.price, 0)
        return Refundable(price, max(min(self._fee_before(last) - gone.fee, price), 0))

    def fee_of(self, amount: int) -> int:
        """What goes back of the fee with so much of the price, so that all parts together are all of it."""
        deque(self._of_returns(), maxlen=0)
        gone = _Share(*_sums(self._gone.values()))
        last = msgspec.structs.replace(self._capture, kind=K.REFUNDED, amount_minor=amount, ordinal=LAST)
        part = min(gone.price + amount, self._payment.amount_minor)
        fee = self._part(self._fee_before(last), part, self._payment.amount_minor) - gone.fee
        return min(max(fee, 0), amount)

    def _share(self, fact: RecordedFact, gone: _Share) -> _Share:
        """Of what is there. A refund takes first what was paid too much, a lost dispute takes it last."""
        amount, payment = fact.amount_minor, self._payment
        if self._was_unapplied(fact):
            part = min(gone.nothing + amount, self._capture.amount_minor)
            moved = self._part(self._transferred, part, self._capture.amount_minor)
            return _Share(nothing=amount, transfer=max(moved - gone.transfer, 0))
        surplus = max(self._capture.amount_minor - payment.amount_minor - gone.nothing, 0) if self._has_surplus else 0
        first = amount if fact.kind is K.REFUNDED else max(amount - max(payment.amount_minor - gone.price, 0), 0)
        nothing = min(first, surplus)
        price = amount - nothing
        part = min(gone.price + price, payment.amount_minor)
        fee = min(max(self._part(self._fee_before(fact), part, payment.amount_minor) - gone.fee, 0), price)
        return _Share(price, nothing, fee, max(min(price - fee, self._transferred - gone.transfer), 0))

    def _refund(self, share: _Share) -> Iterator[_Amounts]:
        yield from self._accrual(share)
        yield from self._settlement(share)

    def _accrual(self, share: _Share) -> Iterator[_Amounts]:
        if share.price:
            yield Event.REFUND_ACCRUED, self._back(share)
        if share.nothing:
            yield Event.UNAPPLIED_REFUNDED, self._unapplied(share.nothing, share.transfer)

    def _settlement(self, share: _Share) -> Iterator[_Amounts]:
        if share.price + share.nothing:
            yield Event.REFUND_SETTLED, {"gross": share.price + share.nothing}

    def _posted(self, fact: RecordedFact, events: Iterable[_Amounts]) -> Iterator[Posting]:
        for event, amounts in events:
            yield self._post(event, fact, amounts)

    def _mirrored(self, fact: RecordedFact, events: Iterable[_Amounts]) -> Iterator[Posting]:
        for event, amounts in events:
            yield self._post(MIRRORS[event], fact, amounts)

    def _loss(self, share: _Share) -> Iterator[_Amounts]:
        if share.price:
            yield Event.DISPUTE_LOST, self._back(share)
        if share.nothing:
            yield Event.UNAPPLIED_LOST, self._unapplied(share.nothing, share.transfer)

    def _was_unapplied(self, fact: RecordedFact) -> bool:
        """Whether the money still paid for nothing when we learnt of it."""
        application = self._happened.application
        return self._came_for_nothing and (application is None or fact.ordinal < application.ordinal)

    def _fee_before(self, fact: RecordedFact) -> int:
        """What there is of the platform's fee to go back: of a commission, what was held by then and is not kept."""
        if self._payment.flow not in (Flow.STAY, Flow.STAY_LEFT):
            return self._payment.fee_minor
        held, kept = (
            sum(each.amount_minor for each in self._happened.of(kind) if each.ordinal < fact.ordinal)
            for kind in (COMMISSION_HELD, COMMISSION_KEPT)
        )
        return max(held - kept, 0)

    def _part(self, whole: int, part: int, of: int) -> int:
        return Money(whole, self._payment.currency).part(part, of).minor if whole else 0

    def _back(self, share: _Share) -> Mapping[str, int]:
        match self._payment.flow:
            case Flow.CAMPAIGN:
                return {"gross": share.price}
            case Flow.STAY | Flow.STAY_LEFT:
                return {"gross": share.price, "fee": share.fee}
            case _:
                return {"gross": share.price, "fee": share.fee, "transfer": share.transfer}

    def _unapplied(self, gross: int, transfer: int) -> Mapping[str, int]:
        moved = {"transfer": transfer} if self._payment.flow is Flow.SALE else {}
        return {"gross": gross, **moved}

    def _of_disputes(self) -> Iterator[Posting]:
        for reference, opened in self._happened.opened.items():
            whole = {"gross": opened.amount_minor}
            yield self._post(Event.DISPUTE_OPENED, opened, whole)
            if opened.fee_minor:
                yield self._post(Event.DISPUTE_FEE_CHARGED, opened, {"fee": opened.fee_minor})
            if won := self._happened.won.get(reference):
                yield self._post(Event.DISPUTE_WON, won, whole)
                if won.fee_minor:
                    yield self._post(Event.DISPUTE_FEE_RETURNED, won, {"fee": won.fee_minor})

    def _flow_of(self, fact: RecordedFact) -> Flow:
        """Whether it happened to money that was held, or to money that was owed by then."""
        due = next(iter(self._happened.of(DUE)), None)
        if self._payment.flow is not Flow.STAY_LEFT or due is None:
            return self._payment.flow
        return Flow.STAY if self._beginning(fact).ordinal < due.ordinal else Flow.STAY_LEFT

    def _beginning(self, fact: RecordedFact) -> RecordedFact:
        """What goes on along the accounts along which it began: money comes back to where it was taken from."""
        happened, reference = self._happened, fact.reference
        if begun := happened.made.get(reference) or happened.begun.get(reference):
            return begun
        match fact.kind:
            case K.REFUND_FAILED:
                return next((each for each in happened.given if each.reference == reference), fact)
            case K.DISPUTE_WON:
                return happened.opened.get(reference, fact)
        return fact

    def _post(
        self,
        event: Event,
        fact: RecordedFact,
        amounts: Mapping[str, int],
        *,
        cause: str | None = None,
        flow: Flow | None = None,
    ) -> Posting:
        payment = self._payment
        return Posting(
            caller=self._caller,
            event=event,
            flow=flow or self._flow_of(fact),
            currency=fact.currency or payment.currency,
            amounts=amounts,
            cause=cause or fact.key,
            payment=payment.id,
            source=payment.source,
            payee=payment.payee,
            city_code=payment.city_code,
            reference=fact.reference or None,
        )


def _sums(shares: Iterable[_Share]) -> list[int]:
    """Of each column."""
    return [sum(column) for column in zip(*map(msgspec.structs.astuple, (_Share(), *shares)), strict=True)]

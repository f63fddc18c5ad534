"""Where a payment stands and what follows for the books: pure decisions.

Promise: `fold` depends on what happened and not on the order in which we were told, but for one thing: money that comes
after we closed a payment is late. `postings` depends on the same facts, so every permutation, repetition and
loss-then-poll of a payment's events ends in the same status and the same ledger.
"""

import hashlib
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Final

import msgspec

from admitone.finance.gateways.api import Account, FactKind
from admitone.finance.ledger.api import Event, Posting
from admitone.finance.payments.model import (
    APPLIED,
    PAYMENT,
    AccountTold,
    FeesStatus,
    KnownAccount,
    Onboarding,
    Payment,
    PaymentMethod,
    Reason,
    ReceiptState,
    RecordedFact,
    RefundState,
    Status,
)
from admitone.finance.sources.api import Flow, LatePayment, PaymentId
from admitone.kernel.contracts.wire import to_canonical
from admitone.kernel.money import Money
from admitone.kernel.scope import Caller

K = FactKind
ATTEMPTS: Final = {
    K.PENDING: Status.PENDING,
    K.REQUIRES_ACTION: Status.REQUIRES_ACTION,
    K.PROCESSING: Status.PROCESSING,
    K.FAILED: Status.FAILED,
}
"""What the latest attempt makes of a payment that nothing else decides; of one instant, the later in this order."""
CLOSURES: Final = {K.CANCELLED: Status.CANCELLED, K.EXPIRED: Status.EXPIRED}
CLOCKS_DIFFER: Final = timedelta(minutes=1)
"""Ours and a provider's, at the most."""
MOST_DECLINES: Final = 2
"""One more card after the first was declined (PAY-040)."""
MOST_AUTHENTICATIONS: Final = 3
"""Two more tries after the first proof failed (PAY-041)."""
MIRRORS: Final = {
    Event.REFUND_ACCRUED: Event.REFUND_FAILED,
    Event.UNAPPLIED_REFUNDED: Event.UNAPPLIED_REFUND_FAILED,
    Event.REFUND_SETTLED: Event.REFUND_RETURNED,
}
"""What is posted when a refund that had arrived comes back."""


class Standing(msgspec.Struct, frozen=True):
    """The fold of a payment's facts."""

    status: Status
    applied: bool = False
    manual_reason: Reason | None = None
    captured_minor: int = 0
    refunded_minor: int = 0
    refund_state: RefundState = RefundState.NONE
    failed_attempts: int = 0
    fees_status: FeesStatus = FeesStatus.PENDING
    fees_actual: int | None = None
    must_ask: bool = False
    """Something was told that proves more than we know: the provider is to be asked for the whole charge."""
    is_spent: bool = False
    """It failed as often as it may; nobody may try again."""


class Happened:
    """A payment's facts, by what they are about."""

    def __init__(self, facts: Iterable[RecordedFact]) -> None:
        self._facts = sorted(facts, key=lambda fact: (fact.at, fact.key))
        captures = sorted(self.of(K.CAPTURED), key=lambda fact: fact.ordinal)
        self.capture: RecordedFact | None = captures[0] if captures else None
        self.second_captures = captures[1:]
        self.closure = min(self.of(*CLOSURES), key=lambda fact: fact.ordinal, default=None)
        self.application = next(self.of(APPLIED), None)
        self.failed_refunds = {fact.reference: fact for fact in self.of(K.REFUND_FAILED)}
        self.given = [*self.of(K.REFUNDED)]
        self.refunds = [fact for fact in self.given if fact.reference not in self.failed_refunds]
        self.opened = {fact.reference: fact for fact in self.of(K.DISPUTE_OPENED)}
        self.won = {fact.reference: fact for fact in self.of(K.DISPUTE_WON)}
        self.lost = {fact.reference: fact for fact in self.of(K.DISPUTE_LOST)}

    def of(self, *kinds: FactKind | str) -> Iterator[RecordedFact]:
        return (fact for fact in self._facts if fact.kind in kinds)

    @property
    def captured_minor(self) -> int:
        """Of all that came in the currency of the first."""
        if self.capture is None:
            return 0
        return sum(fact.amount_minor for fact in self.of(K.CAPTURED) if fact.currency == self.capture.currency)

    @property
    def refunded_minor(self) -> int:
        """What went back and stayed there."""
        return sum(fact.amount_minor for fact in self.refunds)

    def refunded_by(self, at: datetime) -> int:
        """What had gone back by then, and had not returned by then."""
        returned = {own for own, failed in self.failed_refunds.items() if failed.at <= at}
        return sum(fact.amount_minor for fact in self.given if fact.at <= at and fact.reference not in returned)

    @property
    def refunded_at(self) -> datetime | None:
        """Since when all of it had gone back, if ever: what comes back to us later makes nobody a buyer again."""
        return next((fact.at for fact in self.given if self.refunded_by(fact.at) >= self.captured_minor), None)

    @property
    def disputes(self) -> set[str]:
        return {*self.opened, *self.won, *self.lost}

    @property
    def decisive_disputes(self) -> set[str]:
        """Those that were opened before all of it had gone back; a tie counts as refunded first."""
        refunded_at = self.refunded_at
        return {each for each in self.disputes if refunded_at is None or self._began(each) < refunded_at}

    def _began(self, dispute: str) -> datetime:
        """One of which only the end was told began then at the latest."""
        return next(facts[dispute].at for facts in (self.opened, self.won, self.lost) if dispute in facts)

    @property
    def refund_state(self) -> RefundState:
        settled = {fact.reference for fact in self.refunds} | self.failed_refunds.keys()
        if any(fact.reference not in settled for fact in self.of(K.REFUND_PENDING)):
            return RefundState.PENDING
        latest = max((fact.at for fact in self.refunds), default=None)
        failed = max((fact.at for fact in self.failed_refunds.values()), default=None)
        return RefundState.FAILED if failed and (latest is None or failed > latest) else RefundState.NONE

    @property
    def proves_more(self) -> bool:
        """Whether something happened of which the beginning, or a part, was not told."""
        about_captured = self.given or self.disputes or self.failed_refunds or any(self.of(K.REFUND_PENDING))
        if self.capture is None:
            return bool(about_captured)
        told = max((fact.total_minor for fact in self.given), default=0)
        known = sum(fact.amount_minor for fact in self.given)
        return told > known or any(each not in self.opened for each in self.disputes)


def has_captured(facts: Collection[RecordedFact]) -> bool:
    """Whether money came: most of what is recorded comes before."""
    return any(fact.kind == K.CAPTURED for fact in facts)


def fold(payment: Payment, facts: Iterable[RecordedFact], *, rival: bool = False) -> Standing:
    """The first that holds, in the order of unification (c). `rival`: another payment has paid for the source."""
    happened = Happened(facts)
    reason = None if happened.application else why_unapplied(payment, happened, rival=rival)
    is_applied = happened.capture is not None and reason is None
    fees = [*happened.of(K.FEE)]
    return Standing(
        status=_after_capture(happened, is_applied) if happened.capture else _before_capture(happened),
        applied=is_applied,
        manual_reason=reason,
        captured_minor=happened.captured_minor,
        refunded_minor=min(happened.refunded_minor, happened.captured_minor),
        refund_state=happened.refund_state,
        failed_attempts=sum(1 for _ in happened.of(K.FAILED)),
        fees_status=FeesStatus.FINAL if fees else FeesStatus.PENDING,
        fees_actual=sum(fact.amount_minor for fact in (*fees, *happened.of(K.FEE_ADJUSTMENT))) if fees else None,
        must_ask=happened.proves_more,
        is_spent=is_spent(happened),
    )


def why_unapplied(payment: Payment, happened: Happened, *, rival: bool) -> Reason | None:
    """Why the money that came paid for nothing, if it did not."""
    capture = happened.capture
    if capture is None:
        return None
    if capture.currency != payment.currency:
        return Reason.CURRENCY_MISMATCH
    too_much = capture.amount_minor > payment.amount_minor and not payment.manner.keeps_surplus
    if capture.amount_minor < payment.amount_minor or too_much:
        return Reason.AMOUNT_MISMATCH
    if happened.closure and happened.closure.ordinal < capture.ordinal:
        return Reason.LATE
    # A PIX code ends with the payment: what is paid later is late, whether or not its end was told before.
    if payment.method is PaymentMethod.PIX and capture.at > payment.expires_at:
        return Reason.LATE
    return Reason.SOURCE_ALREADY_PAID if rival and not payment.applied else None


def _after_capture(happened: Happened, is_applied: bool) -> Status:
    disputes = happened.decisive_disputes
    if disputes & happened.lost.keys():
        return Status.CHARGEBACK_LOST
    if disputes - happened.won.keys():
        return Status.DISPUTED
    if happened.refunded_at:
        return Status.REFUNDED
    if not is_applied:
        return Status.NEEDS_MANUAL
    if happened.given:
        return Status.PARTIAL_REFUND
    return Status.CHARGEBACK_WON if happened.won else Status.SUCCEEDED


def _before_capture(happened: Happened) -> Status:
    if happened.closure:
        return CLOSURES[K(happened.closure.kind)]
    if is_spent(happened):
        return Status.FAILED
    order = [*ATTEMPTS]
    latest = max(happened.of(*ATTEMPTS), key=lambda fact: (fact.at, order.index(K(fact.kind))), default=None)
    return ATTEMPTS[K(latest.kind)] if latest else Status.CREATED


def is_spent(happened: Happened) -> bool:
    """Whether the tries that a card and a proof of identity have are used up (U-28)."""
    failures = [*happened.of(K.FAILED)]
    unproved = sum("authentication" in fact.code for fact in failures)
    return unproved >= MOST_AUTHENTICATIONS or len(failures) - unproved >= MOST_DECLINES


@cache
def path(start: Status, end: Status) -> tuple[Status, ...] | None:
    """The shortest allowed way, without its beginning; nothing if the table has none."""
    ways: dict[Status, tuple[Status, ...]] = {start: ()}
    frontier = deque([start])
    while frontier:
        here = frontier.popleft()
        if here is end:
            return ways[here]
        for to in Status:
            if PAYMENT.may(here, to) and to not in ways:
                ways[to] = (*ways[here], to)
                frontier.append(to)
    return None


def way(payment: Payment, standing: Standing) -> list[Status] | None:
    """The states through which a payment comes to stand so; another part that is refunded leads from one to itself."""
    here = payment.status
    if here is standing.status and PAYMENT.may(here, here) and standing.refunded_minor != payment.refunded_minor:
        return [here]
    steps = path(here, standing.status)
    return None if steps is None else [*steps]


class Receipt(msgspec.Struct, frozen=True):
    """Money that paid for nothing, and what became of it."""

    payment_id: PaymentId
    capture_key: str
    city_code: str
    amount_minor: int
    currency: str
    reason: Reason
    policy: LatePayment
    state: ReceiptState = ReceiptState.OPEN


def receipts_of(payment: Payment, facts: Collection[RecordedFact], *, rival: bool) -> list[Receipt]:
    """Late or wrong money goes back as the source's type says; too much of it waits for somebody to look."""
    if not has_captured(facts):
        return []
    happened = Happened(facts)
    capture = happened.capture
    assert capture is not None

    def receipt(of: RecordedFact, amount: int, reason: Reason, policy: LatePayment, state: ReceiptState) -> Receipt:
        return Receipt(payment.id, of.key, payment.city_code, amount, of.currency, reason, policy, state)

    found = []
    reason = why_unapplied(payment, happened, rival=rival)
    if reason is not None:
        state = _became_of(happened, happened.captured_minor)
        found.append(receipt(capture, capture.amount_minor, reason, payment.manner.late_payment, state))
    elif surplus := max(capture.amount_minor - payment.amount_minor, 0):
        state = _became_of(happened, surplus)
        found.append(receipt(capture, surplus, Reason.SURPLUS, LatePayment.MANUAL, state))
    found += [
        receipt(each, each.amount_minor, Reason.SECOND_CAPTURE, LatePayment.MANUAL, ReceiptState.OPEN)
        for each in happened.second_captures
    ]
    return found


def _became_of(happened: Happened, amount: int) -> ReceiptState:
    if happened.application:
        return ReceiptState.APPLIED
    if happened.decisive_disputes & happened.lost.keys():
        return ReceiptState.LOST
    return ReceiptState.RETURNED if happened.refunded_minor >= amount else ReceiptState.OPEN


# -- Whether an organisation may take money


def onboarding_of(account: Account, before: Onboarding) -> Onboarding:
    """What an account that stood so before is now (FIN-020). Who once could take money and cannot any more is
    restricted, and stays it until everything is in order again."""
    if account.charges_enabled and not account.requirements_due:
        return Onboarding.COMPLETE
    was_complete = before is not Onboarding.PENDING
    return Onboarding.RESTRICTED if was_complete or account.rejected else Onboarding.PENDING


def is_news(told: AccountTold, known: KnownAccount) -> bool:
    """Whether it is later than what we have. Of one instant, for providers tell whole seconds, that counts which lets
    the organisation do less, until the provider was asked."""
    account = told.account
    may_less = (account.charges_enabled and not account.requirements_due, account.payouts_enabled) < (
        known.onboarding_status is Onboarding.COMPLETE,
        known.payouts_enabled,
    )
    return told.at > known.told_at or (told.at == known.told_at and may_less)


def asked_at(known: KnownAccount | None, now: datetime) -> datetime:
    """As of when an answer counts that was asked for now: later than what we have, and otherwise so much earlier that
    nothing is lost which the provider tells by a clock that is behind ours."""
    earlier = now - CLOCKS_DIFFER
    return max(known.told_at + timedelta(microseconds=1), earlier) if known else earlier


def fingerprint_of(account: KnownAccount) -> str:
    """The same for the same state (FIN-092)."""
    said = (account.account, account.charges_enabled, account.payouts_enabled, account.requirements_due)
    return hashlib.sha256(to_canonical(said)).hexdigest()


# -- What follows for the books


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
    books = _Books(payment, Happened(facts), caller, rival=rival)
    return [*books.of_captures(), *books.of_fees(), *books.of_refunds(), *books.of_disputes()]


class _Books:
    """The postings of one payment, part by part."""

    def __init__(self, payment: Payment, happened: Happened, caller: Caller, *, rival: bool) -> None:
        assert happened.capture is not None
        self._payment = payment
        self._happened = happened
        self._capture = happened.capture
        self._caller = caller
        self._came_for_nothing = why_unapplied(payment, happened, rival=rival) is not None
        keeps_surplus = not self._came_for_nothing and payment.manner.keeps_surplus
        self._surplus = max(happened.capture.amount_minor - payment.amount_minor, 0) if keeps_surplus else 0

    def of_captures(self) -> Iterator[Posting]:
        capture, application = self._capture, self._happened.application
        whole = {"gross": capture.amount_minor}
        if self._came_for_nothing:
            yield self._post(Event.RECEIPT_UNAPPLIED, capture, whole)
        if not self._came_for_nothing:
            yield self._post(Event.CAPTURED, capture, self._split(capture.amount_minor))
        elif application is not None:
            yield self._post(Event.UNAPPLIED_APPLIED, capture, whole, cause=application.key)
            yield self._post(Event.CAPTURED, capture, self._split(capture.amount_minor), cause=application.key)
        for second in self._happened.second_captures:
            yield self._post(Event.RECEIPT_UNAPPLIED, second, {"gross": second.amount_minor})

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

    def of_fees(self) -> Iterator[Posting]:
        for fact in self._happened.of(K.FEE):
            yield self._post(Event.FEES_FINAL, fact, {"fee": fact.amount_minor})
        for fact in self._happened.of(K.FEE_ADJUSTMENT):
            event = Event.FEES_ROSE if fact.amount_minor > 0 else Event.FEES_FELL
            yield self._post(event, fact, {"fee": abs(fact.amount_minor)})

    def of_refunds(self) -> Iterator[Posting]:
        for fact in self._happened.given:
            failed = self._happened.failed_refunds.get(fact.reference)
            for event, amounts in self._refund(fact):
                yield self._post(event, fact, amounts)
                if failed is not None:
                    yield self._post(MIRRORS[event], failed, amounts)

    def _refund(self, fact: RecordedFact) -> Iterator[tuple[Event, Mapping[str, int]]]:
        """By what was refunded up to it, so that the parts sum to the fee, in whatever order they come (GAP-6). What
        was paid too much goes back first."""
        total = max(fact.total_minor, fact.amount_minor)
        before = total - fact.amount_minor
        of_nothing = fact.amount_minor
        if not self._was_unapplied(fact):
            of_nothing = min(total, self._surplus) - min(before, self._surplus)
            rest = fact.amount_minor - of_nothing
            if rest:
                yield Event.REFUND_ACCRUED, self._back(rest, self._fee_on(total) - self._fee_on(before))
        if of_nothing:
            yield Event.UNAPPLIED_REFUNDED, {"gross": of_nothing}
        yield Event.REFUND_SETTLED, {"gross": fact.amount_minor}

    def of_disputes(self) -> Iterator[Posting]:
        for reference, opened in self._happened.opened.items():
            whole = {"gross": opened.amount_minor}
            yield self._post(Event.DISPUTE_OPENED, opened, whole)
            if opened.fee_minor:
                yield self._post(Event.DISPUTE_FEE_CHARGED, opened, {"fee": opened.fee_minor})
            if won := self._happened.won.get(reference):
                yield self._post(Event.DISPUTE_WON, won, whole)
                if won.fee_minor:
                    yield self._post(Event.DISPUTE_FEE_RETURNED, won, {"fee": won.fee_minor})
            if lost := self._happened.lost.get(reference):
                for event, amounts in self._lost(opened, lost):
                    yield self._post(event, lost, amounts)

    def _lost(self, opened: RecordedFact, lost: RecordedFact) -> Iterator[tuple[Event, Mapping[str, int]]]:
        """Of the fee goes back what did not go back with refunds before."""
        of_nothing = opened.amount_minor
        if not self._was_unapplied(lost):
            of_nothing = min(max(opened.amount_minor - self._payment.amount_minor, 0), self._surplus)
            rest = opened.amount_minor - of_nothing
            before = self._happened.refunded_by(opened.at)
            yield Event.DISPUTE_LOST, self._back(rest, self._fee_on(before + rest) - self._fee_on(before))
        if of_nothing:
            yield Event.UNAPPLIED_LOST, {"gross": of_nothing}

    def _was_unapplied(self, fact: RecordedFact) -> bool:
        """Whether the money still paid for nothing when we learnt of it."""
        application = self._happened.application
        return self._came_for_nothing and (application is None or fact.ordinal < application.ordinal)

    def _fee_on(self, part: int) -> int:
        """The platform's fee on a part of the price."""
        payment = self._payment
        if not payment.fee_minor:
            return 0
        return (
            Money(payment.fee_minor, payment.currency).part(min(part, payment.amount_minor), payment.amount_minor).minor
        )

    def _back(self, gross: int, fee: int) -> Mapping[str, int]:
        match self._payment.flow:
            case Flow.CAMPAIGN:
                return {"gross": gross}
            case Flow.STAY | Flow.STAY_LEFT:
                return {"gross": gross, "fee": fee}
            case _:
                return {"gross": gross, "fee": fee, "transfer": gross - fee}

    def _post(
        self, event: Event, fact: RecordedFact, amounts: Mapping[str, int], *, cause: str | None = None
    ) -> Posting:
        payment = self._payment
        return Posting(
            caller=self._caller,
            event=event,
            flow=payment.flow,
            currency=fact.currency or payment.currency,
            amounts=amounts,
            cause=cause or fact.key,
            payment=payment.id,
            source=payment.source,
            payee=payment.payee,
            city_code=payment.city_code,
            reference=fact.reference,
        )

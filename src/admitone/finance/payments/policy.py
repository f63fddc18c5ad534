"""Where a payment stands and what follows for the books: pure decisions.

Promise: `fold` depends on what happened and not on the order in which we were told, but for one thing: money that comes
after we closed a payment is late. `postings` depends on the same facts, so every permutation, repetition and
loss-then-poll of a payment's events ends in the same status and the same ledger.
"""

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
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
MOST_DECLINES: Final = 2
"""One more card after the first was declined (PAY-040)."""
MOST_AUTHENTICATIONS: Final = 3
"""Two more tries after the first proof failed (PAY-041)."""


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
        self.refunds = [fact for fact in self.of(K.REFUNDED) if fact.reference not in self.failed_refunds]
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
        return sum(fact.amount_minor for fact in self.refunds)

    @property
    def disputes(self) -> set[str]:
        return {*self.opened, *self.won, *self.lost}

    @property
    def disputed_at(self) -> datetime:
        """When the first dispute was opened; one of which only the end was told began then at the latest."""
        ends = self.won | self.lost
        return min((self.opened.get(each) or ends[each]).at for each in self.disputes)

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
        about_captured = self.refunds or self.disputes or self.failed_refunds or any(self.of(K.REFUND_PENDING))
        if self.capture is None:
            return bool(about_captured)
        told = max((fact.total_minor for fact in self.refunds), default=0)
        return told > self.refunded_minor or any(each not in self.opened for each in self.disputes)


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
    refunded, captured = happened.refunded_minor, happened.captured_minor
    is_fully_refunded = refunded >= captured
    # By the provider's times; a tie counts as refunded first.
    if happened.disputes and is_fully_refunded and happened.refunds[-1].at <= happened.disputed_at:
        return Status.REFUNDED
    if happened.lost:
        return Status.CHARGEBACK_LOST
    if happened.disputes - happened.won.keys():
        return Status.DISPUTED
    if is_fully_refunded:
        return Status.REFUNDED
    if not is_applied:
        return Status.NEEDS_MANUAL
    if refunded:
        return Status.PARTIAL_REFUND
    return Status.CHARGEBACK_WON if happened.won else Status.SUCCEEDED


def _before_capture(happened: Happened) -> Status:
    if happened.closure:
        return CLOSURES[K(happened.closure.kind)]
    order = [*ATTEMPTS]
    latest = max(happened.of(*ATTEMPTS), key=lambda fact: (fact.at, order.index(K(fact.kind))), default=None)
    return ATTEMPTS[K(latest.kind)] if latest else Status.CREATED


def is_spent(happened: Happened) -> bool:
    """Whether the tries that a card and a proof of identity have are used up (U-28)."""
    failures = [*happened.of(K.FAILED)]
    unproved = sum("authentication" in fact.code for fact in failures)
    return unproved >= MOST_AUTHENTICATIONS or len(failures) - unproved >= MOST_DECLINES


def path(start: Status, end: Status) -> list[Status] | None:
    """The shortest allowed way, without its beginning; nothing if the table has none."""
    ways: dict[Status, list[Status]] = {start: []}
    frontier = deque([start])
    while frontier:
        here = frontier.popleft()
        if here is end:
            return ways[here]
        for to in Status:
            if PAYMENT.may(here, to) and to not in ways:
                ways[to] = [*ways[here], to]
                frontier.append(to)
    return None


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


def receipts_of(payment: Payment, facts: Iterable[RecordedFact], *, rival: bool) -> list[Receipt]:
    """Late or wrong money goes back as the source's type says; too much of it waits for somebody to look."""
    happened = Happened(facts)
    capture = happened.capture
    if capture is None:
        return []

    def receipt(of: RecordedFact, amount: int, reason: Reason, policy: LatePayment, state: ReceiptState) -> Receipt:
        return Receipt(payment.id, of.key, payment.city_code, amount, of.currency, reason, policy, state)

    found = []
    reason = why_unapplied(payment, happened, rival=rival)
    if reason is not None:
        state = _became_of(happened)
        found.append(receipt(capture, capture.amount_minor, reason, payment.manner.late_payment, state))
    elif capture.amount_minor > payment.amount_minor:
        surplus = capture.amount_minor - payment.amount_minor
        found.append(receipt(capture, surplus, Reason.SURPLUS, LatePayment.MANUAL, ReceiptState.OPEN))
    found += [
        receipt(each, each.amount_minor, Reason.SECOND_CAPTURE, LatePayment.MANUAL, ReceiptState.OPEN)
        for each in happened.second_captures
    ]
    return found


def _became_of(happened: Happened) -> ReceiptState:
    if happened.application:
        return ReceiptState.APPLIED
    if happened.lost:
        return ReceiptState.LOST
    return ReceiptState.RETURNED if happened.refunded_minor >= happened.captured_minor else ReceiptState.OPEN


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
    the organisation do less: too little is mended by whatever comes next."""
    account = told.account
    may_less = (account.charges_enabled and not account.requirements_due, account.payouts_enabled) < (
        known.onboarding_status is Onboarding.COMPLETE,
        known.payouts_enabled,
    )
    return told.at > known.told_at or (told.at == known.told_at and may_less)


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


def postings(payment: Payment, facts: Iterable[RecordedFact], caller: Caller, *, rival: bool = False) -> list[Posting]:
    """Everything that is posted for a payment to which this happened."""
    happened = Happened(facts)
    if happened.capture is None:
        return []  # Refunds and disputes prove a capture; it is fetched, and posted first.
    books = _Books(payment, happened, caller, rival=rival)
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
        self._is_unapplied = self._came_for_nothing and happened.application is None

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
        for fact in self._happened.refunds:
            if self._is_unapplied:
                yield self._post(Event.UNAPPLIED_REFUNDED, fact, {"gross": fact.amount_minor})
            else:
                # By what was refunded up to it, so that the parts sum to the fee, in whatever order they come (GAP-6).
                total = max(fact.total_minor, fact.amount_minor)
                fee = self._fee_on(total) - self._fee_on(total - fact.amount_minor)
                yield self._post(Event.REFUND_ACCRUED, fact, self._back(fact.amount_minor, fee))
            yield self._post(Event.REFUND_SETTLED, fact, {"gross": fact.amount_minor})

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
                if self._is_unapplied:
                    yield self._post(Event.UNAPPLIED_LOST, lost, whole)
                else:
                    fee = self._fee_on(opened.amount_minor)
                    yield self._post(Event.DISPUTE_LOST, lost, self._back(opened.amount_minor, fee))

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

"""Where a payment stands and what became of its money: pure decisions.

Promise: `fold` depends on what happened and not on the order in which we were told, but for what we decide ourselves:
money that comes after we closed a payment is late, and who has paid stays the one who has. What is posted follows from
the same facts (`books`), so every permutation, repetition and loss-then-poll of a payment's events ends in the same
status and the same ledger.
"""

import hashlib
from collections import deque
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cache, cached_property
from typing import Final

import msgspec

from admitone.finance.gateways.api import Account, FactKind
from admitone.finance.payments.model import (
    APPLIED,
    PAYMENT,
    REFUND_BEGUN,
    REFUND_GIVEN_UP,
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
from admitone.finance.sources.api import LatePayment, PaymentId
from admitone.kernel.contracts.wire import to_canonical

K = FactKind
ATTEMPTS: Final = {
    K.PENDING: Status.PENDING,
    K.REQUIRES_ACTION: Status.REQUIRES_ACTION,
    K.PROCESSING: Status.PROCESSING,
    K.FAILED: Status.FAILED,
}
"""What the latest attempt makes of a payment that nothing else decides; of one instant, the later in this order."""
CLOSURES: Final = {K.CANCELLED: Status.CANCELLED, K.EXPIRED: Status.EXPIRED}
REFUNDS: Final = (K.REFUND_PENDING, K.REFUNDED, K.REFUND_FAILED)
HERE: Final = ":here"
"""How the keys of closures end that were decided here."""
CLOCKS_DIFFER: Final = timedelta(minutes=1)
"""Ours and a provider's, at the most."""
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


class RefundEnd(StrEnum):
    SETTLED = "SETTLED"
    FAILED = "FAILED"
    """At the provider, also after it had arrived."""
    GIVEN_UP = "GIVEN_UP"


class Happened:
    """What happened to a payment's first capture, and, each by itself, to those that came after it."""

    def __init__(self, facts: Iterable[RecordedFact]) -> None:
        every = sorted(facts, key=lambda fact: (fact.at, fact.total_minor, fact.key))
        captures = sorted((fact for fact in every if fact.kind is K.CAPTURED), key=lambda fact: fact.ordinal)
        told = [fact for fact in every if fact.kind is not K.CAPTURED]
        second = {fact.reference for fact in captures[1:]}
        self.others = [
            Happened([capture, *(fact for fact in told if fact.charge == capture.reference)])
            for capture in captures[1:]
        ]
        self._facts = [fact for fact in told if fact.charge not in second]
        self._kinds = {fact.kind for fact in self._facts}
        self.capture: RecordedFact | None = captures[0] if captures else None
        self.given = self.of(K.REFUNDED)
        self.failed_refunds = {fact.reference: fact for fact in self.of(K.REFUND_FAILED)}
        self.refunds = [fact for fact in self.given if fact.reference not in self.failed_refunds]
        self.begun = {fact.reference: fact for fact in self.of(REFUND_BEGUN)}
        self.given_up = {fact.reference: fact for fact in self.of(REFUND_GIVEN_UP)}

    @cached_property
    def closure(self) -> RecordedFact | None:
        return min(self.of(*CLOSURES), key=_when_closed, default=None)

    @cached_property
    def application(self) -> RecordedFact | None:
        return next(iter(self.of(APPLIED)), None)

    @cached_property
    def opened(self) -> dict[str, RecordedFact]:
        return {fact.reference: fact for fact in self.of(K.DISPUTE_OPENED)}

    @cached_property
    def won(self) -> dict[str, RecordedFact]:
        return {fact.reference: fact for fact in self.of(K.DISPUTE_WON)}

    @cached_property
    def lost(self) -> dict[str, RecordedFact]:
        return {fact.reference: fact for fact in self.of(K.DISPUTE_LOST)}

    @cached_property
    def made(self) -> dict[str, RecordedFact]:
        """Which refunds at the provider are ours, by its own ids. Where it does not say which order made one, it is
        ours if it is as much as one of ours: the same money goes back either way."""
        if not self.begun:
            return {}
        told: dict[str, RecordedFact] = {}
        for fact in sorted(self.of(*REFUNDS), key=lambda fact: fact.ordinal):
            if fact.reference not in told or fact.order:
                told[fact.reference] = fact
        made: dict[str, RecordedFact] = {}
        for by_amount in (False, True):
            for reference, fact in told.items():
                if reference not in made and bool(fact.order) is not by_amount and (own := self._maker(fact, made)):
                    made[reference] = own
        return made

    def _maker(self, fact: RecordedFact, made: Mapping[str, RecordedFact]) -> RecordedFact | None:
        taken = {each.reference for each in made.values()}
        for own in self.begun.values():
            given_up = self.given_up.get(own.reference)
            is_same = fact.order == own.reference if fact.order else fact.amount_minor == own.amount_minor
            is_after = own.ordinal < fact.ordinal and (given_up is None or fact.ordinal < given_up.ordinal)
            if is_same and is_after and own.reference not in taken:
                return own
        return None

    @property
    def ends(self) -> dict[str, RefundEnd]:
        """How refunds that we ordered ended, as far as we know."""
        ends = dict.fromkeys(self.given_up, RefundEnd.GIVEN_UP)
        arrived = {fact.reference for fact in self.refunds}
        for reference, own in self.made.items():
            if reference in self.failed_refunds:
                ends[own.reference] = RefundEnd.FAILED
            elif reference in arrived:
                ends[own.reference] = RefundEnd.SETTLED
        return ends

    def why_failed(self, refund: str) -> str:
        """The provider's word for why one that we ordered did not arrive."""
        failed = (fact for there, fact in self.failed_refunds.items() if self.made.get(there) is self.begun[refund])
        given_up = (fact for own, fact in self.given_up.items() if own == refund)
        return next((fact.code for fact in (*failed, *given_up)), "")

    @property
    def under_way(self) -> list[RecordedFact]:
        """Refunds that we ordered and of which we do not know how they ended."""
        ends = self.ends
        return [own for own in self.begun.values() if own.reference not in ends]

    def of(self, *kinds: FactKind | str) -> list[RecordedFact]:
        if self._kinds.isdisjoint(kinds):  # Of most payments little is ever told, and very much is asked.
            return []
        return [fact for fact in self._facts if fact.kind in kinds]

    @property
    def captured_minor(self) -> int:
        return self.capture.amount_minor if self.capture else 0

    @property
    def refunded_minor(self) -> int:
        """What went back and stayed there."""
        return sum(fact.amount_minor for fact in self.refunds)

    @property
    def all_alike(self) -> "list[Happened]":
        """All captures in the currency of the first."""
        currency = self.capture.currency if self.capture else ""
        return [self, *(each for each in self.others if each.capture and each.capture.currency == currency)]

    @property
    def came_too_late(self) -> bool:
        """Whether the end came before the money. What we decided counts by when we learnt of the money; of what the
        provider says, its own times do, in whatever order it tells them."""
        capture = self.capture
        return capture is not None and any(
            fact.ordinal < capture.ordinal if is_here(fact) else fact.at < capture.at for fact in self.of(*CLOSURES)
        )

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
        if self.under_way or any(fact.reference not in settled for fact in self.of(K.REFUND_PENDING)):
            return RefundState.PENDING
        latest = max((fact.at for fact in self.refunds), default=None)
        failed = max((fact.at for fact in (*self.failed_refunds.values(), *self.given_up.values())), default=None)
        return RefundState.FAILED if failed and (latest is None or failed > latest) else RefundState.NONE

    @property
    def proves_more(self) -> bool:
        """Whether something happened of which the beginning, or a part, was not told."""
        about_captured = self.given or self.disputes or self.failed_refunds or self.of(K.REFUND_PENDING)
        if self.capture is None:
            return bool(about_captured)
        told = max((fact.total_minor for fact in self.given), default=0)
        known = sum(fact.amount_minor for fact in self.given)
        if told > known or any(each not in self.opened for each in self.disputes):
            return True
        return any(each.proves_more for each in self.others)


def is_here(fact: RecordedFact) -> bool:
    """Whether it was decided here; no provider has an object of that name."""
    return fact.key.endswith(HERE)


def _when_closed(fact: RecordedFact) -> tuple[bool, int, datetime, str]:
    """Ours first: what the provider calls it says nothing of our reason."""
    return (False, fact.ordinal, fact.at, fact.key) if is_here(fact) else (True, 0, fact.at, fact.key)


def has_captured(facts: Collection[RecordedFact]) -> bool:
    """Whether money came. Most of what is recorded comes before, and there is nothing to sort out."""
    return any(fact.kind == K.CAPTURED for fact in facts)


def fold(payment: Payment, facts: Iterable[RecordedFact], *, rival: bool = False) -> Standing:
    """The first that holds, in the order of unification (c). `rival`: another payment has paid for the source."""
    happened = Happened(facts)
    reason = None if happened.application else why_unapplied(payment, happened, rival=rival)
    is_applied = happened.capture is not None and reason is None
    # Of another currency it is in the books, and in no number of this one: what this one bore is not known (FIN-042).
    fees, changes = (
        [each for each in happened.of(kind) if (each.currency or payment.currency) == payment.currency]
        for kind in (K.FEE, K.FEE_ADJUSTMENT)
    )
    return Standing(
        status=_after_capture(happened, is_applied) if happened.capture else _before_capture(happened),
        applied=is_applied,
        manual_reason=reason,
        captured_minor=sum(each.captured_minor for each in happened.all_alike),
        refunded_minor=sum(min(each.refunded_minor, each.captured_minor) for each in happened.all_alike),
        refund_state=_refund_state(happened),
        failed_attempts=len(happened.of(K.FAILED)),
        fees_status=FeesStatus.FINAL if fees else FeesStatus.PENDING,
        fees_actual=sum(fact.amount_minor for fact in (*fees, *changes)) if fees else None,
        must_ask=happened.proves_more,
        is_spent=is_spent(happened),
    )


def _refund_state(happened: Happened) -> RefundState:
    states = {each.refund_state for each in (happened, *happened.others)}
    return next((each for each in (RefundState.PENDING, RefundState.FAILED) if each in states), RefundState.NONE)


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
    if payment.applied and not happened.application:
        return None  # Who paid stays the one who paid, whatever is told later.
    # A PIX code ends with the payment: what is paid later is late, whether or not its end was told before.
    if happened.came_too_late or (payment.method is PaymentMethod.PIX and capture.at > payment.expires_at):
        return Reason.LATE
    return Reason.SOURCE_ALREADY_PAID if rival else None


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
    failures = happened.of(K.FAILED)
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
    if capture is None:
        return []

    def receipt(
        of: RecordedFact, key: str, amount: int, reason: Reason, state: ReceiptState, policy: LatePayment
    ) -> Receipt:
        return Receipt(payment.id, key, payment.city_code, amount, of.currency, reason, policy, state)

    found = []
    application = happened.application
    reason = why_unapplied(payment, happened, rival=rival)
    if reason is not None:
        state = ReceiptState.APPLIED if application else _became_of(happened, happened.captured_minor)
        policy = payment.manner.late_payment
        found.append(receipt(capture, capture.key, capture.amount_minor, reason, state, policy))
    surplus = max(capture.amount_minor - payment.amount_minor, 0)
    if surplus and (reason is None or application):
        key, state = application.key if reason and application else capture.key, _became_of(happened, surplus)
        found.append(receipt(capture, key, surplus, Reason.SURPLUS, state, LatePayment.MANUAL))
    for other in happened.others:
        if second := other.capture:
            whole, state = second.amount_minor, _became_of(other, second.amount_minor)
            found.append(receipt(second, second.key, whole, Reason.SECOND_CAPTURE, state, LatePayment.MANUAL))
    return found


def _became_of(happened: Happened, amount: int) -> ReceiptState:
    if happened.decisive_disputes & happened.lost.keys():
        return ReceiptState.LOST
    return ReceiptState.RETURNED if happened.refunded_minor >= amount else ReceiptState.OPEN


# -- Whether an organisation may take money


def onboarding_of(account: Account, before: Onboarding) -> Onboarding:
    """What an account that stood so before is now (FIN-020). Who once could take money and cannot any more is
    restricted, and stays it until everything is in order again."""
    if account.rejected:
        return Onboarding.RESTRICTED
    if account.charges_enabled and not account.requirements_due:
        return Onboarding.COMPLETE
    return Onboarding.PENDING if before is Onboarding.PENDING else Onboarding.RESTRICTED


def is_news(told: AccountTold, known: KnownAccount) -> bool:
    """Whether it is later than what we have. Of one instant, for providers tell whole seconds, that counts which lets
    the organisation do less, until the provider was asked."""
    account = told.account
    may_less = (
        onboarding_of(account, known.onboarding_status) is Onboarding.COMPLETE,
        account.payouts_enabled,
    ) < (known.onboarding_status is Onboarding.COMPLETE, known.payouts_enabled)
    return told.at > known.told_at or (told.at == known.told_at and may_less)


def asked_at(known: KnownAccount | None, now: datetime) -> datetime:
    """As of when an answer counts that was asked for now: later than what we have, and otherwise so much earlier that
    nothing is lost which the provider tells by a clock that is behind ours."""
    earlier = now - CLOCKS_DIFFER
    return max(known.told_at + timedelta(microseconds=1), earlier) if known else earlier


def fingerprint_of(account: KnownAccount) -> str:
    """The same for the same state (FIN-092)."""
    is_complete = account.onboarding_status is Onboarding.COMPLETE
    said = (account.account, is_complete, account.charges_enabled, account.payouts_enabled, account.requirements_due)
    return hashlib.sha256(to_canonical(said)).hexdigest()

"""What can happen to a charge at the provider, each as a pure step from one intent to the next.

Promise: a step that is not possible raises `No` and changes nothing; one that is says everything that follows: the
intent after it, the events to tell, the rows of the provider's books, and what is to be done later. Money is captured
at most once, no more goes back than came, and time along one charge only rises.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final

from msgspec.structs import replace

from admitone.finance.gateways.model import MovementKind
from admitone.finance.gateways.sandbox.objects import (
    MILLION,
    Attempt,
    Balance,
    Dispute,
    EvidenceDetails,
    Intent,
    Kept,
    MovementRow,
    Refund,
    Transaction,
)
from admitone.kernel.money import BASIS_POINTS

NewId = Callable[..., str]
"""`new_id(prefix, *scope)`: the same for the same scope, and for no other."""


class Card(StrEnum):
    """What the customer's card does."""

    GOOD = "good"
    DECLINED = "card_declined"
    EMPTY = "insufficient_funds"
    ASKS = "asks"
    """Wants its owner to prove who they are (3DS)."""
    SLOW = "slow"
    """Says later whether it pays."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What the provider takes, and when it says so."""

    fee_bps: int = 150
    fee_fixed_minor: int = 25
    dispute_fee_minor: int = 1_500
    evidence_within: timedelta = timedelta(days=14)
    """How long after a dispute was opened it takes evidence."""
    fees_after: timedelta | None = None
    """How long after the capture it tells its fee by itself; left out, when it is asked to."""

    def fee_of(self, amount: int) -> int:
        return (2 * amount * self.fee_bps + BASIS_POINTS) // (2 * BASIS_POINTS) + self.fee_fixed_minor


class No(Exception):
    """The provider refuses."""

    def __init__(self, code: str, message: str = "", *, status: int = 400, intent: Intent | None = None) -> None:
        super().__init__(message or code)
        self.code, self.message, self.status, self.intent = code, message, status, intent


@dataclass(frozen=True, slots=True)
class Step:
    """What follows from a step."""

    thing: Kept
    events: list[tuple[str, Any]] = field(default_factory=list)
    movements: list[MovementRow] = field(default_factory=list)
    timers: list[tuple[int, str]] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    """What is in it from now on and has an id of its own by which it is asked for."""
    account: str | None = None
    """Whose event it is, where it is not the platform's own."""


@dataclass(frozen=True, slots=True)
class Returning:
    """What is to go back, and whose it was."""

    amount: int
    application_fee: int = 0
    reverse_transfer: bool = True


@dataclass(frozen=True, slots=True)
class Till:
    """One charge at one moment: every step gives what follows from it."""

    intent: Intent
    now: int
    terms: Terms
    new_id: NewId

    @property
    def at(self) -> int:
        return max(self.now, self.intent.touched + 1)

    # -- Paying

    def pay(self, card: Card, amount: int | None = None, currency: str | None = None, *, late: bool = False) -> Step:
        """The customer pays; `late` is a provider that takes money for what it had closed."""
        is_open = self.intent.status in ("requires_payment_method", "pending")
        is_closed = self.intent.status in ("canceled", "cancelled", "expired")
        if not is_open and not (late and is_closed):
            raise self._unexpected("cannot be paid")
        if amount is not None and amount <= 0:
            raise No("amount_too_small")
        intent = self.intent
        attempt = Attempt(
            id=self.new_id("ch", intent.id, len(intent.charges)),
            status="pending",
            created=self.at // MILLION,
            status_transitions={},
            amount=intent.amount if amount is None else amount,
            currency=currency or intent.currency,
            payment_intent=intent.id,
        )
        if card is Card.GOOD or intent.pix:
            return self._captured(attempt)
        if card is Card.ASKS:
            return self._waiting(attempt, "requires_action")
        if card is Card.SLOW:
            return self._waiting(attempt, "processing")
        return self._failed(attempt, card.value)

    def authenticate(self, *, passed: bool) -> Step:
        """The customer proved who they are, or did not."""
        attempt = self._attempt_in("requires_action")
        return self._captured(attempt) if passed else self._failed(attempt, "authentication_required")

    def clear(self, *, paid: bool) -> Step:
        """The slow card's bank answers."""
        attempt = self._attempt_in("processing")
        return self._captured(attempt) if paid else self._failed(attempt, "card_declined")

    def cancel(self) -> Step:
        """Close it. Closed already, it stays so."""
        if self.intent.status in ("canceled", "cancelled", "expired"):
            return Step(self.intent)
        if self.intent.paid or self.intent.status == "processing":
            raise self._unexpected("cannot be cancelled")
        word = "cancelled" if self.intent.pix else "canceled"
        return self._closed(word, "pix.charge.cancelled" if self.intent.pix else "payment_intent.canceled")

    def expire(self) -> Step:
        """Its time is over: a PIX charge and a session end by themselves."""
        is_open = self.intent.status in ("requires_payment_method", "requires_action", "pending")
        if not is_open or not (self.intent.pix or self.intent.session):
            return Step(self.intent)
        if self.intent.pix:
            return self._closed("expired", "pix.charge.expired")
        return self._closed("expired", "checkout.session.expired", status="canceled")

    # -- After the capture

    def refund(self, key: str, back: Returning, *, pending: bool) -> Step:
        attempt = self._paid()
        if not 0 < back.amount <= attempt.refundable:
            code = "charge_already_refunded" if attempt.refundable == 0 else "amount_too_large"
            raise No(code, f"{attempt.refundable} can be refunded", intent=self.intent)
        if not 0 <= back.application_fee <= self.intent.application_fee_amount - attempt.application_fee_refunded:
            raise No("parameter_invalid", "no more of the fee goes back than was taken", intent=self.intent)
        refund = Refund(
            id=self.new_id("re", self.intent.id, len(attempt.refunds)),
            status="pending",
            created=self.at // MILLION,
            status_transitions={"pending": self.at} if pending else {},
            amount=back.amount,
            currency=attempt.currency,
            charge=attempt.id,
            payment_intent=self.intent.id,
            refund_application_fee=back.application_fee,
            reverse_transfer=back.reverse_transfer,
            metadata={**self.intent.metadata, "order_key": key},
        )
        attempt = replace(attempt, refunds=(*attempt.refunds, refund))
        if pending:
            return self._step(attempt, {}, ("charge.refund.updated", refund))
        return self._refunded(attempt, refund)

    def settle_refund(self, name: str, *, paid: bool) -> Step:
        """A refund that was on its way arrived, or came back."""
        attempt = self._paid()
        refund = next((each for each in attempt.refunds if each.id == name and each.status == "pending"), None)
        if refund is None:
            raise No("resource_missing", "no refund of this charge is on its way", status=404)
        if paid:
            return self._refunded(attempt, refund)
        failed = self._failed_refund(refund)
        return self._step(_with_refund(attempt, failed), {}, ("charge.refund.updated", failed))

    def return_refund(self, name: str) -> Step:
        """A refund that had arrived comes back after all, to the platform; what else moved with it stays there."""
        attempt = self._paid()
        refund = next((each for each in attempt.refunds if each.id == name and each.status == "succeeded"), None)
        if refund is None:
            raise No("resource_missing", "no refund of this charge has arrived", status=404)
        failed = self._failed_refund(refund)
        attempt = replace(_with_refund(attempt, failed), amount_refunded=attempt.amount_refunded - failed.amount)
        moved = self._movement(MovementKind.REFUND_RETURNED, failed.id, failed.amount)
        return self._step(attempt, {}, ("charge.refund.updated", failed), moved)

    def tell_fees(self) -> Step:
        """The fee is final. Told already, it stays as it was."""
        attempt = self._paid()
        if attempt.balance_transaction:
            return Step(self.intent)
        fee = self._transaction(attempt, self.terms.fee_of(attempt.amount))
        attempt = replace(attempt, balance_transaction=fee)
        balance = Balance(amount=attempt.amount - fee.fee, currency=fee.currency, charge=self._shown(attempt))
        moved = self._movement(MovementKind.FEE, fee.id, fee.fee)
        return self._step(attempt, {}, ("balance.available", balance), moved)

    def adjust_fee(self, change: int) -> Step:
        """The provider takes more after all, or less when the change is negative."""
        attempt = self._paid()
        if attempt.balance_transaction is None or change == 0:
            raise No("parameter_invalid", "only a fee that was told can change")
        adjustment = self._transaction(attempt, change)
        attempt = replace(attempt, fee_adjustments=(*attempt.fee_adjustments, adjustment))
        balance = Balance(amount=-change, currency=attempt.currency, charge=self._shown(attempt))
        moved = self._movement(MovementKind.FEE, adjustment.id, change)
        return self._step(attempt, {}, ("balance.available", balance), moved)

    def dispute(self, amount: int | None = None, due_in: int | None = None) -> Step:
        """The cardholder wants it back; the provider takes it away meanwhile. `due_in`: another time for evidence than
        its terms give, in seconds."""
        attempt = self._paid()
        asked = attempt.amount if amount is None else amount
        if self.intent.pix or any(each.is_open for each in attempt.disputes):
            raise No("charge_not_disputable", "PIX has no disputes, and a charge one at a time")
        if not 0 < asked <= attempt.amount:
            raise No("amount_too_large")
        dispute = Dispute(
            id=self.new_id("dp", self.intent.id, len(attempt.disputes)),
            status="needs_response",
            created=self.at // MILLION,
            status_transitions={"needs_response": self.at},
            amount=asked,
            currency=attempt.currency,
            charge=attempt.id,
            payment_intent=self.intent.id,
            fee=self.terms.dispute_fee_minor,
            metadata=self.intent.metadata,
            evidence_details=EvidenceDetails(due_by=self.at // MILLION + self._evidence_seconds(due_in)),
        )
        step = self._step(
            replace(attempt, disputes=(*attempt.disputes, dispute)),
            {},
            ("charge.dispute.created", dispute),
            self._movement(MovementKind.DISPUTE, dispute.id, asked),
            self._movement(MovementKind.DISPUTE_FEE, dispute.id, dispute.fee),
        )
        step.parts.append(dispute.id)
        return step

    def answer_dispute(self, texts: Mapping[str, str], *, submit: bool) -> Step:
        """Evidence takes the place of what was on file; submitted, it is with the bank and nobody changes it."""
        attempt = self._paid()
        if not attempt.disputes or not attempt.disputes[-1].is_open:
            raise No("dispute_closed", "it is decided, or there is none")
        *others, dispute = attempt.disputes
        if dispute.status != "needs_response":
            raise No("dispute_already_submitted", f"{dispute.id} is with the bank")
        if self.at // MILLION >= (dispute.evidence_details.due_by or 0):
            raise No("dispute_evidence_past_due", "its time is over")
        told = {"status": "under_review", "status_transitions": self._moved(dispute, "under_review")} if submit else {}
        details = replace(dispute.evidence_details, has_evidence=True, submission_count=int(submit))
        answered = replace(dispute, evidence=dict(texts), evidence_details=details, **told)
        attempt = replace(attempt, disputes=(*others, answered))
        return self._step(attempt, {}, ("charge.dispute.updated", answered))

    def close_dispute(self, *, won: bool) -> Step:
        attempt = self._paid()
        if not attempt.disputes or not attempt.disputes[-1].is_open:
            raise No("resource_missing", "no dispute of this charge is open", status=404)
        *others, dispute = attempt.disputes
        word = "won" if won else "lost"
        closed = replace(dispute, status=word, status_transitions=self._moved(dispute, word))
        returned = (
            self._movement(MovementKind.DISPUTE_RETURNED, closed.id, closed.amount),
            self._movement(MovementKind.DISPUTE_FEE_RETURNED, closed.id, closed.fee),
        )
        attempt = replace(attempt, disputes=(*others, closed))
        return self._step(attempt, {}, ("charge.dispute.closed", closed), *(returned if won else ()))

    def take_back(self, name: str, amount: int) -> Step:
        """The platform has the account to which it went give back what a dispute took."""
        attempt = self._paid()
        disputes = {each.id: each for each in attempt.disputes}
        dispute = disputes.get(name)
        if dispute is None or dispute.status != "lost" or self.intent.destination is None:
            raise No("no_transfer", "nothing was lost that had gone to an account")
        if dispute.taken_back:
            if dispute.taken_back != amount:
                raise No("idempotency_error", f"{dispute.taken_back} were taken back for {name}")
            return Step(self.intent)
        if not 0 < amount <= attempt.amount:
            raise No("amount_too_large", "no more comes back than went there")
        disputes[name] = replace(dispute, taken_back=amount)
        moved = self._movement(MovementKind.TRANSFER_REVERSED, name, amount)
        told = ("transfer.reversed", disputes[name])
        return self._step(replace(attempt, disputes=tuple(disputes.values())), {}, told, moved)

    def hand_on(self, name: str, amount: int) -> Step:
        """The platform gives the account again what it gave for a refund that came back after it had arrived."""
        attempt = self._paid()
        refund = next((each for each in attempt.refunds if each.id == name), None)
        has_given = refund is not None and refund.reverse_transfer and "succeeded" in refund.status_transitions
        if refund is None or not has_given or self.intent.destination is None:
            raise No("no_transfer", "no account gave anything for it")
        if refund.status != "failed":
            raise No("refund_not_returned", f"{name} is {refund.status}")
        if refund.handed_on:
            if refund.handed_on != amount:
                raise No("idempotency_error", f"{refund.handed_on} were handed on for {name}")
            return Step(self.intent)
        if not 0 < amount <= refund.amount:
            raise No("amount_too_large", "no more goes there than came from there")
        handed = replace(refund, handed_on=amount)
        moved = self._movement(MovementKind.TRANSFER_AGAIN, name, amount)
        return self._step(_with_refund(attempt, handed), {}, ("transfer.created", handed), moved)

    # -- Within

    def _captured(self, attempt: Attempt) -> Step:
        attempt = replace(attempt, status="succeeded", status_transitions=self._moved(attempt, "succeeded"))
        word = "paid" if self.intent.pix else "succeeded"
        session = self.intent.session
        changes: dict[str, Any] = {"status": word, "amount_received": attempt.amount}
        if session:
            changes["session"] = replace(session, status="complete", payment_status="paid")
        moved = self._split(attempt)
        told = "pix.charge.paid" if self.intent.pix else "payment_intent.succeeded"
        step = self._step(attempt, changes, (told, None), *moved)
        if session and session.status != "complete":
            step.events.append(("checkout.session.completed", _session_event(step.thing)))
        if self.terms.fees_after is not None:
            step.timers.append((self.at + self.terms.fees_after // timedelta(microseconds=1), "tell_fees"))
        return step

    def _split(self, attempt: Attempt) -> Iterator[MovementRow]:
        """Where the money went: to the organisation's account, if it was for one, less the platform's fee."""
        yield self._movement(MovementKind.CHARGE, attempt.id, attempt.amount, attempt.currency)
        if self.intent.destination:
            yield self._movement(MovementKind.TRANSFER, attempt.id, attempt.amount)
            if fee := min(self.intent.application_fee_amount, attempt.amount):
                yield self._movement(MovementKind.APPLICATION_FEE, attempt.id, fee)

    def _returned(self, refund: Refund) -> Iterator[MovementRow]:
        """Where it came from."""
        yield self._movement(MovementKind.REFUND, refund.id, refund.amount, refund.currency)
        if self.intent.destination:
            if refund.reverse_transfer:
                yield self._movement(MovementKind.TRANSFER_REVERSED, refund.id, refund.amount)
            if fee := refund.refund_application_fee:
                yield self._movement(MovementKind.APPLICATION_FEE_REFUNDED, refund.id, fee)

    def _failed(self, attempt: Attempt, code: str) -> Step:
        moved = self._moved(attempt, "failed")
        attempt = replace(attempt, status="failed", failure_code=code, status_transitions=moved)
        return self._step(attempt, {"status": "requires_payment_method"}, ("payment_intent.payment_failed", None))

    def _waiting(self, attempt: Attempt, word: str) -> Step:
        attempt = replace(attempt, status_transitions=self._moved(attempt, word))
        session, changes = self.intent.session, {"status": word}
        if word == "requires_action" or not session:
            return self._step(attempt, changes, (f"payment_intent.{word}", None))
        # The customer is done, and nothing is paid: "completed" does not mean paid.
        done = replace(session, status="complete")
        step = self._step(attempt, {**changes, "session": done}, (f"payment_intent.{word}", None))
        step.events.append(("checkout.session.completed", _session_event(step.thing)))
        return step

    def _closed(self, word: str, told: str, *, status: str | None = None) -> Step:
        transitions = self._moved(self.intent, word)
        intent = replace(self.intent, status=status or word, status_transitions=transitions, touched=self.at)
        if intent.session:
            intent = replace(intent, session=replace(intent.session, status="expired"))
        about = _session_event(intent) if told.startswith("checkout.session") else intent
        return Step(intent, [(told, about)])

    def _refunded(self, attempt: Attempt, refund: Refund) -> Step:
        total = attempt.amount_refunded + refund.amount
        done = replace(refund, status="succeeded", total=total, status_transitions=self._moved(refund, "succeeded"))
        attempt = replace(_with_refund(attempt, done), amount_refunded=total)
        step = self._step(attempt, {}, ("charge.refunded", self._shown(attempt)))
        step.movements.extend(self._returned(done))
        if refund.status_transitions:
            step.events.append(("charge.refund.updated", done))
        return step

    def _failed_refund(self, refund: Refund) -> Refund:
        moved = self._moved(refund, "failed")
        return replace(refund, status="failed", failure_reason="expired_or_canceled_card", status_transitions=moved)

    def _step(self, attempt: Attempt, changes: dict[str, Any], told: tuple[str, Any], *moved: MovementRow) -> Step:
        """The intent with its attempt as it is now; an event without an object is about the intent."""
        known = {each.id: each for each in self.intent.charges} | {attempt.id: attempt}
        transitions = self.intent.status_transitions
        if "status" in changes:
            transitions = self._moved(self.intent, changes["status"])
        intent = replace(
            self.intent,
            **changes,
            charges=tuple(known.values()),
            latest_charge=attempt.id,
            status_transitions=transitions,
            touched=self.at,
        )
        return Step(intent, [(told[0], told[1] or intent)], list(moved))

    def _moved(self, thing: Intent | Attempt | Refund | Dispute, word: str) -> dict[str, int]:
        """When each status first began: an intent that waits again has waited since it was made."""
        return {**thing.status_transitions, word: thing.status_transitions.get(word, self.at)}

    def _shown(self, attempt: Attempt) -> Attempt:
        """As it is told by itself: with what its intent says about whose it is."""
        return replace(attempt, metadata=self.intent.metadata)

    def _evidence_seconds(self, due_in: int | None) -> int:
        return self.terms.evidence_within // timedelta(seconds=1) if due_in is None else due_in

    def _transaction(self, attempt: Attempt, fee: int) -> Transaction:
        name = self.new_id("txn", self.intent.id, self.at)
        return Transaction(id=name, fee=fee, currency=attempt.currency, source=attempt.id, at=self.at)

    def _movement(self, kind: MovementKind, reference: str, amount: int, currency: str | None = None) -> MovementRow:
        return MovementRow(
            id=self.new_id("mov", reference, kind),
            kind=kind.value,
            reference=reference,
            amount=amount,
            currency=currency or self.intent.currency,
            at=self.at,
            organization=self.intent.metadata.get("orgId"),
            payment=self.intent.metadata.get("payment_id"),
        )

    def _paid(self) -> Attempt:
        if self.intent.paid is None:
            raise self._unexpected("nothing was captured")
        return self.intent.paid

    def _attempt_in(self, word: str) -> Attempt:
        if self.intent.status != word or self.intent.latest is None:
            raise self._unexpected(f"is not {word}")
        return self.intent.latest

    def _unexpected(self, why: str) -> No:
        return No(UNEXPECTED_STATE, f"{self.intent.id} is {self.intent.status}: {why}", intent=self.intent)


UNEXPECTED_STATE: Final = "payment_intent_unexpected_state"


def _with_refund(attempt: Attempt, refund: Refund) -> Attempt:
    known = {each.id: each for each in attempt.refunds} | {refund.id: refund}
    return replace(attempt, refunds=tuple(known.values()))


def _session_event(intent: Any) -> Any:
    return replace(intent.session, payment_intent=intent)

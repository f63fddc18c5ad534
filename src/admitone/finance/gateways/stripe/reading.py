"""What Stripe's objects mean, in the words of all providers.

Promise: a fact has the same key wherever it is told. Its time is the second that Stripe keeps for it; where Stripe
keeps none (since when an intent waits for 3DS, when a dispute was lost), the moment at which it was seen stands for it:
an event's own second, or that of the answer. That is never before it happened, nor after what followed.

A capture goes by the name of its intent, which is captured at most once: a session that was paid knows no other.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

import msgspec

from admitone.finance.gateways import model
from admitone.finance.gateways.model import (
    DisputeStatus,
    FactKind,
    ObjectType,
    PayoutStatus,
    PixCode,
    ProviderFact,
    Ref,
)
from admitone.finance.gateways.stripe.objects import (
    Account,
    Attempt,
    Dispute,
    Intent,
    PaymentError,
    Payout,
    Refund,
    Session,
    Transaction,
    Transfer,
)
from admitone.finance.gateways.words import (
    ATTEMPT_STATUS,
    DISPUTE_STATUS,
    INTENT_STATUS,
    PAYOUT_STATUS,
    REFUND_STATUS,
    SESSION_STATUS,
    fact,
    id_in,
    known,
    second,
)
from admitone.kernel.ids import OrganizationId

FILE_STATUS: Final[Mapping[str, DisputeStatus]] = {
    **DISPUTE_STATUS,
    "warning_needs_response": DisputeStatus.NEEDS_RESPONSE,
    "warning_under_review": DisputeStatus.UNDER_REVIEW,
    "warning_closed": DisputeStatus.WON,
    "prevented": DisputeStatus.WON,
}
"""A bank that only asks takes no money; that it asks no more is won. So is what was prevented: it was
settled with the bank before it became a dispute, and took nothing."""
SESSION_STATES: Final = {"open": None, "complete": None, "expired": FactKind.EXPIRED}
ENDED: Final = "payment_intent_payment_attempt_expired"
"""Of a PIX code that nobody paid."""
GENERIC: Final = "generic_decline"
STOPPED: Final = ("rejected.", "listed", "under_review", "platform_paused")
"""How reasons begin for which an account takes no money whatever its owner tells."""


class Whole(msgspec.Struct, frozen=True):
    """An intent, with what happened to it and is not in it."""

    intent: Intent
    attempts: tuple[Attempt, ...] = ()
    """Those before the latest, and the latest, if nothing was captured."""
    refunds: tuple[Refund, ...] = ()
    """The oldest first."""
    disputes: tuple[Dispute, ...] = ()


# -- Charges


def charge_of(whole: Whole, at: datetime) -> model.Charge:
    """An intent of its own. A PIX code is paid without its secret, with which it could be begun anew."""
    intent = whole.intent
    code = intent.next_action.pix_display_qr_code if intent.next_action else None
    return model.Charge(
        (*refs_of(intent), *_attempts_of(whole)),
        tuple(facts_of(whole, at)),
        client_secret=None if intent.is_pix else intent.client_secret,
        pix=PixCode(code.data, second(code.expires_at)) if code else None,
    )


def session_charge_of(session: Session, whole: Whole | None, at: datetime) -> model.Charge:
    """A session, and its intent, if the customer has tried."""
    tried = [*facts_of(whole, at)] if whole else []
    attempts = _attempts_of(whole) if whole else ()
    return model.Charge(
        (*session_refs(session), *attempts),
        tuple(_in_order([*session_facts(session, at), *tried])),
        redirect_url=session.url if session.status == "open" else None,
    )


def refs_of(intent: Intent) -> tuple[Ref, ...]:
    latest = intent.latest_charge
    name = latest.id if isinstance(latest, Attempt) else latest
    return (Ref(ObjectType.INTENT, intent.id), *((Ref(ObjectType.CHARGE, name),) if name else ()))


def session_refs(session: Session) -> tuple[Ref, ...]:
    intent = session.payment_intent
    if isinstance(intent, Intent):
        return (Ref(ObjectType.SESSION, session.id), *refs_of(intent))
    return (Ref(ObjectType.SESSION, session.id), *((Ref(ObjectType.INTENT, intent),) if intent else ()))


def _attempts_of(whole: Whole) -> tuple[Ref, ...]:
    told = {ref.id for ref in refs_of(whole.intent)}
    return tuple(Ref(ObjectType.CHARGE, each.id) for each in whole.attempts if each.id not in told)


def facts_of(whole: Whole, at: datetime) -> list[ProviderFact]:
    """Everything that is known to have happened to it, in the order in which it did."""
    intent = whole.intent
    kind = known(INTENT_STATUS, intent.status, refs_of(intent), intent.carried)
    opened = fact(FactKind.PENDING, intent.id, second(intent.created), intent.amount, intent.currency)
    failures = [each for attempt in whole.attempts for each in _failure(attempt)]
    # How it stands comes last: of an attempt that failed, both know, and it failed by now at the latest.
    told = {each.key: each for each in (opened, *failures, *_standing(intent, kind, at))}
    if kind is FactKind.CAPTURED:
        told |= {each.key: each for each in _captured(whole, at)}
    return _in_order(told.values())


def _in_order(facts: Iterable[ProviderFact]) -> list[ProviderFact]:
    return sorted(facts, key=lambda each: each.at)


def _failure(attempt: Attempt) -> Iterator[ProviderFact]:
    about = (Ref(ObjectType.CHARGE, attempt.id),)
    if known(ATTEMPT_STATUS, attempt.status, about, attempt.carried) is FactKind.FAILED:
        code = _why(attempt.failure_code, attempt.outcome.reason if attempt.outcome else None)
        at = second(attempt.created)
        yield fact(FactKind.FAILED, attempt.id, at, attempt.amount, attempt.currency, code=code)


def _standing(intent: Intent, kind: FactKind, at: datetime) -> Iterator[ProviderFact]:
    """What the status alone says. A PIX code that is shown to its customer waits for them, and needs no proof."""
    if kind is FactKind.CANCELLED:
        yield fact(kind, intent.id, second(intent.canceled_at) if intent.canceled_at else at)
    elif kind is FactKind.PENDING and (error := intent.last_payment_error):
        yield _failed(intent, error, at)
    elif kind in (FactKind.REQUIRES_ACTION, FactKind.PROCESSING) and not intent.is_pix:
        attempt = f"{intent.id}:{intent.payment_method or ''}"
        yield fact(kind, intent.id, at, intent.amount, intent.currency, key=attempt)


def _failed(intent: Intent, error: PaymentError, at: datetime) -> ProviderFact:
    """An attempt goes by its charge; one whose owner could not prove who they are has none, and goes by the card."""
    if error.code == ENDED:
        return fact(FactKind.EXPIRED, intent.id, second(intent.ends) if intent.ends else at)
    card = error.payment_method.id if error.payment_method else ""
    return fact(
        FactKind.FAILED,
        error.charge or intent.id,
        at,
        intent.amount,
        intent.currency,
        code=_why(error.code, error.decline_code),
        key=error.charge or f"{intent.id}:{card}",
    )


def _why(code: str | None, decline: str | None) -> str:
    """The bank's word for it, if it has one."""
    return (code if decline in (None, GENERIC) else decline) or ""


# -- After the capture


def _captured(whole: Whole, at: datetime) -> Iterator[ProviderFact]:
    intent = whole.intent
    attempt = intent.latest_charge if isinstance(intent.latest_charge, Attempt) else None
    when = second(attempt.created) if attempt else at
    if intent.is_pix and intent.ends:
        when = min(when, second(intent.ends))  # Stripe closes the code by itself: what it took, it took in time.
    received = intent.amount if intent.amount_received is None else intent.amount_received
    yield fact(FactKind.CAPTURED, intent.id, when, received, intent.currency)
    if attempt and isinstance(attempt.balance_transaction, Transaction):
        taken = attempt.balance_transaction
        yield fact(FactKind.FEE, taken.id, second(taken.created), taken.fee, taken.currency)
    for refund, total in totals(whole.refunds):
        yield from refund_facts(refund, total)
        yield from _fees_with(refund)
    for dispute in whole.disputes:
        yield from dispute_facts(dispute, at)


def totals(refunds: Sequence[Refund]) -> Iterator[tuple[Refund, int]]:
    """Each with what had gone back by then, itself included. What came back counts no further."""
    gone = 0
    for refund in refunds:
        yield refund, gone + refund.amount
        if refund.status == "succeeded":
            gone += refund.amount


def refund_facts(refund: Refund, total: int, at: datetime | None = None) -> Iterator[ProviderFact]:
    """One that failed after Stripe had booked it had gone out, and came back."""
    kind = known(REFUND_STATUS, refund.status or "", refund_refs(refund), refund.carried)
    if kind is FactKind.REFUND_FAILED and refund.balance_transaction:
        yield _refund_fact(FactKind.REFUNDED, refund, second(refund.created), total=total)
    if kind is not FactKind.REFUND_FAILED:
        yield _refund_fact(kind, refund, second(refund.created), total=total if kind is FactKind.REFUNDED else 0)
        return
    returned = refund.failure_balance_transaction
    when = second(returned.created) if isinstance(returned, Transaction) else at or second(refund.created)
    yield _refund_fact(kind, refund, when, code=refund.failure_reason or refund.status or "")


def _fees_with(refund: Refund) -> Iterator[ProviderFact]:
    """What Stripe gave back of its fee with a refund (FIN-070), or took for it."""
    for row in (refund.balance_transaction, refund.failure_balance_transaction):
        if isinstance(row, Transaction) and row.fee:
            at, charge = second(row.created), refund.payment_intent or refund.attempt
            yield fact(FactKind.FEE_ADJUSTMENT, row.id, at, row.fee, row.currency, charge=charge)


def _refund_fact(kind: FactKind, refund: Refund, at: datetime, *, total: int = 0, code: str = "") -> ProviderFact:
    return fact(
        kind,
        refund.id,
        at,
        refund.amount,
        refund.currency,
        total=total,
        code=code,
        charge=refund.payment_intent or refund.attempt,
        order=refund.carried.get("order_key", ""),
    )


def refund_of(refund: Refund, total: int) -> model.Refund:
    """With the last of its facts."""
    return model.Refund(refund.id, [*refund_facts(refund, total)][-1])


def refund_refs(refund: Refund) -> tuple[Ref, ...]:
    return _refs_about(refund.payment_intent, refund.attempt, Ref(ObjectType.REFUND, refund.id))


def attempt_refs(attempt: Attempt) -> tuple[Ref, ...]:
    return _refs_about(attempt.payment_intent, attempt.id)


def dispute_refs(dispute: Dispute) -> tuple[Ref, ...]:
    return _refs_about(dispute.payment_intent, dispute.attempt, Ref(ObjectType.DISPUTE, dispute.id))


def _refs_about(intent: str | None, attempt: str, *more: Ref) -> tuple[Ref, ...]:
    named = (Ref(ObjectType.INTENT, intent),) if intent else ()
    return (*named, *((Ref(ObjectType.CHARGE, attempt),) if attempt else ()), *more)


def dispute_facts(dispute: Dispute, at: datetime) -> Iterator[ProviderFact]:
    """What happened to the money: taken, given back, or gone for good. A bank that only asks has taken none. How it was
    opened also when it is closed: who hears of the end first has not missed the beginning."""
    status = known(FILE_STATUS, dispute.status, dispute_refs(dispute), dispute.carried)
    taken = [each for each in dispute.balance_transactions if each.amount < 0]
    returned = [each for each in dispute.balance_transactions if each.amount > 0]
    if not taken:
        return
    fee = _fee_in(dispute, taken)
    yield _dispute_fact(FactKind.DISPUTE_OPENED, dispute, second(dispute.created), fee)
    if status is DisputeStatus.LOST:
        yield _dispute_fact(FactKind.DISPUTE_LOST, dispute, at, 0)
    elif status is DisputeStatus.WON and returned:
        given_back = -_fee_in(dispute, returned)
        yield _dispute_fact(FactKind.DISPUTE_WON, dispute, second(returned[0].created), given_back)


def _fee_in(dispute: Dispute, rows: Sequence[Transaction]) -> int:
    """In the currency of what is disputed. One that Stripe took in another is not told as if it were in this: its row
    stands in the books there, and is missed here."""
    return sum(each.fee for each in rows if each.currency == dispute.currency)


def _dispute_fact(kind: FactKind, dispute: Dispute, at: datetime, fee: int) -> ProviderFact:
    charge = dispute.payment_intent or dispute.attempt
    amount, currency = dispute.amount, dispute.currency
    return fact(kind, dispute.id, at, amount, currency, fee=fee, code=dispute.reason, charge=charge)


def dispute_of(dispute: Dispute) -> model.Dispute:
    details = dispute.evidence_details
    return model.Dispute(
        id=dispute.id,
        charge=dispute.payment_intent or dispute.attempt,
        status=known(FILE_STATUS, dispute.status, dispute_refs(dispute), dispute.carried),
        reason=dispute.reason,
        amount_minor=dispute.amount,
        currency=dispute.currency.upper(),
        opened_at=second(dispute.created),
        due_at=second(details.due_by) if details.due_by else None,
        has_evidence=details.has_evidence,
        submissions=details.submission_count,
    )


# -- Sessions


def session_facts(session: Session, at: datetime) -> Iterator[ProviderFact]:
    """What the page itself says; what it names by id only is not looked into."""
    refs = session_refs(session)
    paid = known(SESSION_STATUS, session.payment_status, refs, session.carried)
    ended = known(SESSION_STATES, session.status or "", refs, session.carried)
    currency = session.currency or ""
    amount = session.amount_total or 0
    yield fact(FactKind.PENDING, session.id, second(session.created), amount, currency)
    if paid is FactKind.CAPTURED and isinstance(session.payment_intent, str):
        yield fact(FactKind.CAPTURED, session.payment_intent, at, amount, currency)
    if ended:
        # Closed by us, it ends before its time; otherwise at it, however late we look.
        yield fact(ended, session.id, min(at, second(session.expires_at)) if session.expires_at else at)


# -- Accounts and payouts


def account_of(account: Account, *, livemode: bool) -> model.Account:
    asked = account.requirements
    due = {*(asked.currently_due or ()), *(asked.past_due or ())} if asked else set()
    reason = (asked.disabled_reason or "") if asked else ""
    return model.Account(
        id=account.id,
        type=account.type,
        charges_enabled=account.charges_enabled,
        payouts_enabled=account.payouts_enabled,
        requirements_due=tuple(sorted(due)),
        livemode=livemode,
        organization=id_in(account.metadata or {}, "orgId", OrganizationId),
        rejected=reason.startswith(STOPPED),
    )


def transfer_of(transfer: Transfer) -> model.Payout:
    """Stripe moves it at once: it is there, or was taken back."""
    reversals = transfer.reversals.data if transfer.reversals else []
    back = max((each.created for each in reversals), default=transfer.created)
    status, code = (PayoutStatus.FAILED, "reversed") if transfer.reversed else (PayoutStatus.PAID, "")
    at = second(back if transfer.reversed else transfer.created)
    return model.Payout(transfer.id, status, transfer.amount, transfer.currency.upper(), at, code)


def payout_of(payout: Payout, at: datetime) -> model.Payout:
    status = known(PAYOUT_STATUS, payout.status, (Ref(ObjectType.PAYOUT, payout.id),), payout.carried)
    code = payout.failure_code or ""
    return model.Payout(payout.id, status, payout.amount, payout.currency.upper(), at, code, to_bank=True)

"""What the sandbox's objects and events mean, in the words of all providers.

Promise: every fact has the key and the time under which it is told anywhere else, so it does not matter by which event,
in which order or how often we hear of it.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from admitone.finance.gateways import model
from admitone.finance.gateways.model import (
    DisputeStatus,
    Envelope,
    FactKind,
    ObjectType,
    PixCode,
    ProviderEvent,
    ProviderFact,
    Ref,
    Topic,
)
from admitone.finance.gateways.sandbox.keys import CONNECT
from admitone.finance.gateways.sandbox.objects import (
    BANK,
    MILLION,
    Account,
    Attempt,
    Balance,
    Dispute,
    Intent,
    Payout,
    Refund,
    Session,
)
from admitone.finance.gateways.words import (
    ATTEMPT_STATUS,
    DISPUTE_STATUS,
    EPOCH,
    INTENT_STATUS,
    PAYOUT_STATUS,
    REFUND_STATUS,
    SESSION_STATUS,
    envelope_of,
    fact,
    id_in,
    known,
)
from admitone.finance.sources.api import PaymentId
from admitone.kernel.errors import Malformed
from admitone.kernel.ids import OrganizationId

PIX_STATUS: Final = {
    "pending": FactKind.PENDING,
    "paid": FactKind.CAPTURED,
    "expired": FactKind.EXPIRED,
    "cancelled": FactKind.CANCELLED,
}
"""PAY-062."""
DISPUTE_STEPS: Final = {
    DisputeStatus.NEEDS_RESPONSE: FactKind.DISPUTE_OPENED,
    DisputeStatus.WON: FactKind.DISPUTE_WON,
    DisputeStatus.LOST: FactKind.DISPUTE_LOST,
}
"""What happens to the money. That evidence is with the bank moves none."""

ATTEMPT_STEPS: Final = {
    "requires_action": FactKind.REQUIRES_ACTION,
    "processing": FactKind.PROCESSING,
    "failed": FactKind.FAILED,
    "succeeded": FactKind.CAPTURED,
}
CLOSINGS: Final = {
    "canceled": FactKind.CANCELLED,
    "cancelled": FactKind.CANCELLED,
    "expired": FactKind.EXPIRED,
}

TICK: Final = timedelta(microseconds=1)


def moment(micros: int) -> datetime:
    return EPOCH + micros * TICK


# -- Objects


def charge_of(intent: Intent) -> model.Charge:
    pix = PixCode(intent.pix.copy_paste, moment(intent.pix.expires_at * MILLION)) if intent.pix else None
    return model.Charge(
        refs_of(intent),
        tuple(facts_of(intent)),
        client_secret=intent.client_secret,
        redirect_url=intent.redirect_url,
        pix=pix,
    )


def refs_of(intent: Intent) -> tuple[Ref, ...]:
    session = (Ref(ObjectType.SESSION, intent.session.id),) if intent.session else ()
    return (_asked_by(intent.id), *session, *(Ref(ObjectType.CHARGE, each.id) for each in intent.charges))


def facts_of(intent: Intent) -> list[ProviderFact]:
    """Everything that happened to it, in the order in which it did."""
    table = PIX_STATUS if intent.pix else INTENT_STATUS
    known(table, intent.status, refs_of(intent), intent.metadata)
    opened = min(intent.status_transitions.values())
    facts = [fact(FactKind.PENDING, intent.id, moment(opened), intent.amount, intent.currency)]
    facts += [fact for attempt in intent.charges for fact in attempt_facts(attempt)]
    closed_as = intent.session.id if intent.session and "expired" in intent.status_transitions else intent.id
    facts += [
        fact(CLOSINGS[word], closed_as if word == "expired" else intent.id, moment(at))
        for word, at in intent.status_transitions.items()
        if word in CLOSINGS
    ]
    return sorted(facts, key=lambda fact: fact.at)


def attempt_facts(attempt: Attempt) -> Iterator[ProviderFact]:
    known(ATTEMPT_STATUS, attempt.status, _refs_about(attempt.payment_intent, attempt.id), attempt.metadata)
    for word, at in attempt.status_transitions.items():
        kind = ATTEMPT_STEPS[word]
        code = attempt.failure_code or "" if kind is FactKind.FAILED else ""
        yield fact(kind, attempt.id, moment(at), attempt.amount, attempt.currency, code=code)
    if fee := attempt.balance_transaction:
        yield fact(FactKind.FEE, fee.id, moment(fee.at), fee.fee, fee.currency)
    for change in attempt.fee_adjustments:
        yield fact(FactKind.FEE_ADJUSTMENT, change.id, moment(change.at), change.fee, change.currency)
    for refund in attempt.refunds:
        yield from refund_facts(refund)
    for dispute in attempt.disputes:
        yield from dispute_facts(dispute)


def refund_facts(refund: Refund) -> Iterator[ProviderFact]:
    """How it was on its way, and how it ended."""
    about = _refs_about(refund.payment_intent, refund.charge, Ref(ObjectType.REFUND, refund.id))
    for word, at in refund.status_transitions.items():
        kind = known(REFUND_STATUS, word, about, refund.metadata)
        total = refund.total if kind is FactKind.REFUNDED else 0
        code = refund.failure_reason or "" if kind is FactKind.REFUND_FAILED else ""
        yield fact(
            kind,
            refund.id,
            moment(at),
            refund.amount,
            refund.currency,
            total=total,
            code=code,
            charge=refund.charge,
            order=refund.metadata.get("order_key", ""),
        )
    known(REFUND_STATUS, refund.status, about, refund.metadata)


def refund_of(refund: Refund) -> model.Refund:
    """With the last of its facts."""
    return model.Refund(refund.id, max(refund_facts(refund), key=lambda fact: fact.at))


def dispute_facts(dispute: Dispute) -> Iterator[ProviderFact]:
    """How it was opened also when it is closed: who hears of the end first has not missed the beginning."""
    about = _about_dispute(dispute)
    known(DISPUTE_STATUS, dispute.status, about, dispute.metadata)
    for word, at in dispute.status_transitions.items():
        kind = DISPUTE_STEPS.get(known(DISPUTE_STATUS, word, about, dispute.metadata))
        if kind is None:
            continue
        fee = 0 if kind is FactKind.DISPUTE_LOST else dispute.fee
        amount, currency, reason = dispute.amount, dispute.currency, dispute.reason
        yield fact(kind, dispute.id, moment(at), amount, currency, fee=fee, code=reason, charge=dispute.charge)


def dispute_of(dispute: Dispute) -> model.Dispute:
    details = dispute.evidence_details
    return model.Dispute(
        id=dispute.id,
        charge=dispute.charge,
        status=known(DISPUTE_STATUS, dispute.status, _about_dispute(dispute), dispute.metadata),
        reason=dispute.reason,
        amount_minor=dispute.amount,
        currency=dispute.currency.upper(),
        opened_at=moment(dispute.status_transitions["needs_response"]),
        due_at=moment(details.due_by * MILLION) if details.due_by else None,
        has_evidence=details.has_evidence,
        submissions=details.submission_count,
    )


def account_of(account: Account) -> model.Account:
    return model.Account(
        id=account.id,
        type=account.type,
        charges_enabled=account.charges_enabled,
        payouts_enabled=account.payouts_enabled,
        requirements_due=account.requirements_due,
        livemode=account.livemode,
        organization=id_in(account.metadata, "orgId", OrganizationId),
    )


def payout_of(payout: Payout) -> model.Payout:
    status = known(PAYOUT_STATUS, payout.status, (Ref(ObjectType.PAYOUT, payout.id),), payout.metadata)
    at, code = moment(max(payout.status_transitions.values())), payout.failure_code or ""
    to_bank = payout.destination == BANK
    return model.Payout(payout.id, status, payout.amount, payout.currency.upper(), at, code, to_bank)


# -- Events


def read_event(payload: bytes, source: str) -> ProviderEvent:
    envelope, event = envelope_of(payload, source, CONNECT)
    dealt_with = _TYPES.get(event.type)
    if dealt_with is None:
        return ProviderEvent(envelope, Topic.NOTHING)
    kind, understand = dealt_with
    try:
        about = msgspec.json.decode(event.data.object, type=kind)
    except msgspec.DecodeError:
        raise Malformed from None
    return understand(envelope, about)


def _of_intent(envelope: Envelope, intent: Intent) -> ProviderEvent:
    return _about_charge(envelope, refs_of(intent), facts_of(intent), intent.metadata)


def _of_session(envelope: Envelope, session: Session) -> ProviderEvent:
    try:
        intent = msgspec.convert(session.payment_intent, Intent)
    except msgspec.ValidationError:
        raise Malformed from None
    known(SESSION_STATUS, session.payment_status, refs_of(intent), intent.metadata)
    return _of_intent(envelope, intent)


def _of_attempt(envelope: Envelope, attempt: Attempt) -> ProviderEvent:
    refs = _refs_about(attempt.payment_intent, attempt.id)
    return _about_charge(envelope, refs, list(attempt_facts(attempt)), attempt.metadata)


def _of_refund(envelope: Envelope, refund: Refund) -> ProviderEvent:
    refs = _refs_about(refund.payment_intent, refund.charge, Ref(ObjectType.REFUND, refund.id))
    return _about_charge(envelope, refs, list(refund_facts(refund)), refund.metadata)


def _of_dispute(envelope: Envelope, dispute: Dispute) -> ProviderEvent:
    return _about_charge(envelope, _about_dispute(dispute), list(dispute_facts(dispute)), dispute.metadata)


def _of_balance(envelope: Envelope, balance: Balance) -> ProviderEvent:
    if balance.charge is None:
        return ProviderEvent(envelope, Topic.BALANCE)
    return msgspec.structs.replace(_of_attempt(envelope, balance.charge), topic=Topic.BALANCE)


def _of_account(envelope: Envelope, account: Account) -> ProviderEvent:
    understood = account_of(account)
    return ProviderEvent(
        envelope,
        Topic.ACCOUNT,
        refs=(Ref(ObjectType.ACCOUNT, account.id),),
        organization=understood.organization,
        account=understood,
    )


def _of_payout(envelope: Envelope, payout: Payout) -> ProviderEvent:
    account = () if payout.destination == BANK else (Ref(ObjectType.ACCOUNT, payout.destination),)
    return ProviderEvent(
        envelope,
        Topic.PAYOUT,
        refs=(Ref(ObjectType.PAYOUT, payout.id), *account),
        organization=id_in(payout.metadata, "orgId", OrganizationId),
        payout=payout_of(payout),
    )


def _about_charge(
    envelope: Envelope, refs: tuple[Ref, ...], facts: list[ProviderFact], metadata: Mapping[str, str]
) -> ProviderEvent:
    return ProviderEvent(
        envelope,
        Topic.CHARGE,
        refs=refs,
        facts=tuple(facts),
        organization=id_in(metadata, "orgId", OrganizationId),
        payment=id_in(metadata, "payment_id", PaymentId),
    )


_TYPES: Final[dict[str, tuple[Any, Callable[[Envelope, Any], ProviderEvent]]]] = {
    **dict.fromkeys(
        (
            "payment_intent.created",
            "payment_intent.requires_action",
            "payment_intent.processing",
            "payment_intent.succeeded",
            "payment_intent.payment_failed",
            "payment_intent.canceled",
            "pix.charge.paid",
            "pix.charge.expired",
            "pix.charge.cancelled",
        ),
        (Intent, _of_intent),
    ),
    **dict.fromkeys(("checkout.session.completed", "checkout.session.expired"), (Session, _of_session)),
    "charge.refunded": (Attempt, _of_attempt),
    "charge.refund.updated": (Refund, _of_refund),
    **dict.fromkeys(
        ("charge.dispute.created", "charge.dispute.updated", "charge.dispute.closed"), (Dispute, _of_dispute)
    ),
    "balance.available": (Balance, _of_balance),
    "account.updated": (Account, _of_account),
    **dict.fromkeys(("payout.paid", "payout.failed"), (Payout, _of_payout)),
}


# -- Within


def _asked_by(name: str) -> Ref:
    return Ref(ObjectType.PIX if name.startswith("pix_") else ObjectType.INTENT, name)


def _refs_about(intent: str, charge: str, *more: Ref) -> tuple[Ref, ...]:
    return (_asked_by(intent), Ref(ObjectType.CHARGE, charge), *more)


def _about_dispute(dispute: Dispute) -> tuple[Ref, ...]:
    return _refs_about(dispute.payment_intent, dispute.charge, Ref(ObjectType.DISPUTE, dispute.id))

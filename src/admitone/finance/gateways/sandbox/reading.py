"""What the sandbox's objects and events mean, in the words of all providers.

Promise: every fact has the key and the time under which it is told anywhere else, so it does not matter by which event,
in which order or how often we hear of it. A status that is not in the tables is never guessed: it raises
`UnknownStatus`, which names what it is about.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar

import msgspec

from admitone.finance.gateways import model
from admitone.finance.gateways.model import (
    DisputeStatus,
    Envelope,
    FactKind,
    ObjectType,
    PayoutStatus,
    PixCode,
    ProviderEvent,
    ProviderFact,
    Ref,
    Topic,
    UnknownStatus,
)
from admitone.finance.gateways.sandbox.keys import CONNECT
from admitone.finance.gateways.sandbox.objects import (
    MILLION,
    Account,
    Attempt,
    Balance,
    Dispute,
    Event,
    Intent,
    Payout,
    Refund,
    Session,
)
from admitone.finance.sources.api import PaymentId
from admitone.kernel.errors import Malformed
from admitone.kernel.ids import Id, InvalidId, OrganizationId

INTENT_STATUS: Final = {
    "requires_payment_method": FactKind.PENDING,
    "requires_confirmation": FactKind.PROCESSING,
    "requires_action": FactKind.REQUIRES_ACTION,
    "processing": FactKind.PROCESSING,
    "succeeded": FactKind.CAPTURED,
    "canceled": FactKind.CANCELLED,
}
"""PAY-061."""
PIX_STATUS: Final = {
    "pending": FactKind.PENDING,
    "paid": FactKind.CAPTURED,
    "expired": FactKind.EXPIRED,
    "cancelled": FactKind.CANCELLED,
}
"""PAY-062."""
ATTEMPT_STATUS: Final = {
    "pending": FactKind.PROCESSING,
    "succeeded": FactKind.CAPTURED,
    "failed": FactKind.FAILED,
}
REFUND_STATUS: Final = {
    "pending": FactKind.REFUND_PENDING,
    "requires_action": FactKind.REFUND_PENDING,
    "succeeded": FactKind.REFUNDED,
    "failed": FactKind.REFUND_FAILED,
    "canceled": FactKind.REFUND_FAILED,
}
DISPUTE_STATUS: Final = {
    "needs_response": DisputeStatus.NEEDS_RESPONSE,
    "under_review": DisputeStatus.UNDER_REVIEW,
    "won": DisputeStatus.WON,
    "lost": DisputeStatus.LOST,
}
DISPUTE_STEPS: Final = {
    DisputeStatus.NEEDS_RESPONSE: FactKind.DISPUTE_OPENED,
    DisputeStatus.WON: FactKind.DISPUTE_WON,
    DisputeStatus.LOST: FactKind.DISPUTE_LOST,
}
"""What happens to the money. That evidence is with the bank moves none."""
PAYOUT_STATUS: Final = {
    "pending": PayoutStatus.PENDING,
    "in_transit": PayoutStatus.PENDING,
    "paid": PayoutStatus.PAID,
    "failed": PayoutStatus.FAILED,
    "canceled": PayoutStatus.FAILED,
}
SESSION_STATUS: Final = {"paid": FactKind.CAPTURED, "unpaid": FactKind.PENDING}
"""`completed` alone never means paid (PAY-022)."""

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

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
TICK: Final = timedelta(microseconds=1)

Known = TypeVar("Known")
OwnId = TypeVar("OwnId", bound=Id)


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
    _known(table, intent.status, refs_of(intent), intent.metadata)
    opened = min(intent.status_transitions.values())
    facts = [_fact(FactKind.PENDING, intent.id, opened, intent.amount, intent.currency)]
    facts += [fact for attempt in intent.charges for fact in attempt_facts(attempt)]
    closed_as = intent.session.id if intent.session and "expired" in intent.status_transitions else intent.id
    facts += [
        _fact(CLOSINGS[word], closed_as if word == "expired" else intent.id, at)
        for word, at in intent.status_transitions.items()
        if word in CLOSINGS
    ]
    return sorted(facts, key=lambda fact: fact.at)


def attempt_facts(attempt: Attempt) -> Iterator[ProviderFact]:
    _known(ATTEMPT_STATUS, attempt.status, _refs_about(attempt.payment_intent, attempt.id), attempt.metadata)
    for word, at in attempt.status_transitions.items():
        kind = ATTEMPT_STEPS[word]
        code = attempt.failure_code or "" if kind is FactKind.FAILED else ""
        yield _fact(kind, attempt.id, at, attempt.amount, attempt.currency, code=code)
    if fee := attempt.balance_transaction:
        yield _fact(FactKind.FEE, fee.id, fee.at, fee.fee, fee.currency)
    for change in attempt.fee_adjustments:
        yield _fact(FactKind.FEE_ADJUSTMENT, change.id, change.at, change.fee, change.currency)
    for refund in attempt.refunds:
        yield from refund_facts(refund)
    for dispute in attempt.disputes:
        yield from dispute_facts(dispute)


def refund_facts(refund: Refund) -> Iterator[ProviderFact]:
    """How it was on its way, and how it ended."""
    about = _refs_about(refund.payment_intent, refund.charge, Ref(ObjectType.REFUND, refund.id))
    for word, at in refund.status_transitions.items():
        kind = _known(REFUND_STATUS, word, about, refund.metadata)
        total = refund.total if kind is FactKind.REFUNDED else 0
        code = refund.failure_reason or "" if kind is FactKind.REFUND_FAILED else ""
        fact = _fact(kind, refund.id, at, refund.amount, refund.currency, total=total, code=code, charge=refund.charge)
        yield msgspec.structs.replace(fact, order=refund.metadata.get("order_key", ""))
    _known(REFUND_STATUS, refund.status, about, refund.metadata)


def refund_of(refund: Refund) -> model.Refund:
    """With the last of its facts."""
    return model.Refund(refund.id, max(refund_facts(refund), key=lambda fact: fact.at))


def dispute_facts(dispute: Dispute) -> Iterator[ProviderFact]:
    """How it was opened also when it is closed: who hears of the end first has not missed the beginning."""
    about = _about_dispute(dispute)
    _known(DISPUTE_STATUS, dispute.status, about, dispute.metadata)
    for word, at in dispute.status_transitions.items():
        kind = DISPUTE_STEPS.get(_known(DISPUTE_STATUS, word, about, dispute.metadata))
        if kind is None:
            continue
        fee = 0 if kind is FactKind.DISPUTE_LOST else dispute.fee
        amount, currency, reason = dispute.amount, dispute.currency, dispute.reason
        yield _fact(kind, dispute.id, at, amount, currency, fee=fee, code=reason, charge=dispute.charge)


def dispute_of(dispute: Dispute) -> model.Dispute:
    details = dispute.evidence_details
    return model.Dispute(
        id=dispute.id,
        charge=dispute.charge,
        status=_known(DISPUTE_STATUS, dispute.status, _about_dispute(dispute), dispute.metadata),
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
        organization=_id_in(account.metadata, "orgId", OrganizationId),
    )


def payout_of(payout: Payout) -> model.Payout:
    status = _known(PAYOUT_STATUS, payout.status, (Ref(ObjectType.PAYOUT, payout.id),), payout.metadata)
    at = moment(max(payout.status_transitions.values()))
    return model.Payout(payout.id, status, payout.amount, payout.currency.upper(), at, payout.failure_code or "")


# -- Events


def envelope_of(payload: bytes, source: str) -> tuple[Envelope, Event]:
    """What is known of an event before it is understood; `Malformed` if it is none."""
    try:
        event = msgspec.json.decode(payload, type=Event)
        created = moment(event.created * MILLION)
    except (msgspec.DecodeError, OverflowError, UnicodeDecodeError):
        raise Malformed from None
    return (
        Envelope(
            # The provider's list has the events of both routes in it, and this tells them apart.
            source=CONNECT if event.account else source,
            id=event.id,
            type=event.type,
            created=created,
            livemode=event.livemode,
            account=event.account,
            request_id=event.request.id if event.request else None,
        ),
        event,
    )


def read_event(payload: bytes, source: str) -> ProviderEvent:
    envelope, event = envelope_of(payload, source)
    known = _TYPES.get(event.type)
    if known is None:
        return ProviderEvent(envelope, Topic.NOTHING)
    kind, understand = known
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
    _known(SESSION_STATUS, session.payment_status, refs_of(intent), intent.metadata)
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
    return ProviderEvent(
        envelope,
        Topic.PAYOUT,
        refs=(Ref(ObjectType.PAYOUT, payout.id), Ref(ObjectType.ACCOUNT, payout.destination)),
        organization=_id_in(payout.metadata, "orgId", OrganizationId),
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
        organization=_id_in(metadata, "orgId", OrganizationId),
        payment=_id_in(metadata, "payment_id", PaymentId),
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


def _fact(
    kind: FactKind,
    reference: str,
    at: int,
    amount: int = 0,
    currency: str = "",
    *,
    total: int = 0,
    fee: int = 0,
    code: str = "",
    charge: str = "",
) -> ProviderFact:
    return ProviderFact(
        kind,
        f"{kind.lower()}:{reference}",
        moment(at),
        reference,
        amount_minor=amount,
        currency=currency.upper(),
        total_minor=total,
        fee_minor=fee,
        code=code,
        charge=charge,
    )


def _known(table: Mapping[str, Known], status: str, refs: tuple[Ref, ...], metadata: Mapping[str, str]) -> Known:
    if status not in table:
        raise UnknownStatus(
            status,
            refs,
            organization=_id_in(metadata, "orgId", OrganizationId),
            payment=_id_in(metadata, "payment_id", PaymentId),
        )
    return table[status]


def _asked_by(name: str) -> Ref:
    return Ref(ObjectType.PIX if name.startswith("pix_") else ObjectType.INTENT, name)


def _refs_about(intent: str, charge: str, *more: Ref) -> tuple[Ref, ...]:
    return (_asked_by(intent), Ref(ObjectType.CHARGE, charge), *more)


def _about_dispute(dispute: Dispute) -> tuple[Ref, ...]:
    return _refs_about(dispute.payment_intent, dispute.charge, Ref(ObjectType.DISPUTE, dispute.id))


def _id_in(metadata: Mapping[str, str], name: str, kind: type[OwnId]) -> OwnId | None:
    try:
        return kind.parse(metadata[name])
    except (KeyError, InvalidId):
        return None

"""What Mercado Pago's payments and notices mean, in the words of all providers.

Promise: every fact has the key and the time under which it is told anywhere else. A status that is not in the tables is
never guessed: it raises `UnknownStatus`. A notice tells nothing but what to ask for.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, TypeVar

import msgspec

from admitone.finance.gateways import model
from admitone.finance.gateways.mercadopago.objects import Notice, Payment, Refund
from admitone.finance.gateways.model import (
    Envelope,
    FactKind,
    ObjectType,
    PixCode,
    ProviderEvent,
    ProviderFact,
    Ref,
    Topic,
    UnknownStatus,
)
from admitone.finance.gateways.pix import REAIS, fact, id_in
from admitone.finance.sources.api import PaymentId
from admitone.kernel.errors import Malformed
from admitone.kernel.ids import OrganizationId

K = FactKind
STATUS: Final[dict[str, tuple[FactKind, ...]]] = {
    "pending": (),
    "in_process": (K.PROCESSING,),
    "authorized": (K.PROCESSING,),
    "approved": (K.CAPTURED,),
    "in_mediation": (K.CAPTURED,),
    "refunded": (K.CAPTURED,),
    "rejected": (K.FAILED, K.CANCELLED),
    "cancelled": (K.CANCELLED,),
}
"""What besides having been opened (PAY-062). Of a code that was rejected nobody can try again: it is closed, too. A
buyer who complains (`in_mediation`) has paid; what they are given back is a refund. `charged_back` is a word for cards:
of a PIX it is none, and somebody must look."""
EXPIRED: Final = "expired"
"""Why it was cancelled, where its time was over."""
REFUND_STATUS: Final = {
    "approved": K.REFUNDED,
    "in_process": K.REFUND_PENDING,
    "authorized": K.REFUND_PENDING,
    "rejected": K.REFUND_FAILED,
    "cancelled": K.REFUND_FAILED,
}
PAYMENT_TYPE: Final = "payment"
CREATED: Final = "payment.created"
"""It tells nothing that the answer to our order does not; and before that is written down nobody knows whose it is."""
DEADLINE: Final = "expires_at"
"""Ours, in the metadata: theirs is later, because they take none that is near."""

Known = TypeVar("Known")


def ref_of(payment: str) -> Ref:
    return Ref(ObjectType.PIX, payment)


def is_captured(payment: Payment) -> bool:
    return K.CAPTURED in STATUS.get(payment.status, ())


def charge_of(payment: Payment, refunds: Sequence[Refund]) -> model.Charge:
    ends = _deadline(payment)
    pix = PixCode(payment.qr_code, ends) if payment.qr_code and ends else None
    facts = sorted(_facts_of(payment, refunds), key=lambda each: each.at)
    return model.Charge((ref_of(str(payment.id)),), tuple(facts), pix=pix)


def refund_of(refund: Refund, refunds: Sequence[Refund], order: str = "") -> model.Refund:
    """As it stands among all those of its payment."""
    told = next(each for each in _refund_facts(refunds, {}) if each.reference == str(refund.id))
    return model.Refund(str(refund.id), msgspec.structs.replace(told, order=order))


def _facts_of(payment: Payment, refunds: Sequence[Refund]) -> Iterator[ProviderFact]:
    own, minor, currency = str(payment.id), payment.minor, payment.currency_id
    changed = payment.date_last_updated or payment.date_created
    yield fact(K.PENDING, own, payment.date_created, minor, currency)
    for kind in _known(STATUS, payment.status, (ref_of(own),), payment.carried):
        match kind:
            case K.CAPTURED:
                paid = payment.date_approved or changed
                yield fact(kind, own, paid, minor, currency)
                if payment.fee_minor is not None:
                    yield fact(K.FEE, own, paid, payment.fee_minor, currency)
            case K.CANCELLED if payment.status_detail == EXPIRED:
                yield fact(K.EXPIRED, own, changed)
            case K.FAILED:
                yield fact(kind, own, changed, minor, currency, code=payment.status_detail or payment.status)
            case _:
                yield fact(kind, own, changed)
    yield from _refund_facts(refunds, payment.carried)


def _refund_facts(refunds: Sequence[Refund], metadata: Mapping[str, object]) -> Iterator[ProviderFact]:
    """In the order in which they were made, with what had gone back by each."""
    total = 0
    for refund in sorted(refunds, key=lambda each: (each.date_created, each.id)):
        about = (ref_of(str(refund.payment_id)), Ref(ObjectType.REFUND, str(refund.id)))
        kind = _known(REFUND_STATUS, refund.status, about, metadata)
        total += refund.minor if kind is K.REFUNDED else 0
        yield fact(
            kind,
            str(refund.id),
            refund.date_created,
            refund.minor,
            REAIS,
            total_minor=total if kind is K.REFUNDED else 0,
            code=refund.status if kind is K.REFUND_FAILED else "",
            charge=str(refund.payment_id),
        )


def _deadline(payment: Payment) -> datetime | None:
    """Until when the customer may pay."""
    try:
        return datetime.fromisoformat(str(payment.carried[DEADLINE])).astimezone(UTC)
    except (KeyError, ValueError):
        return payment.date_of_expiration


# -- Notices


def notice_of(payload: bytes) -> Notice:
    try:
        return msgspec.json.decode(payload, type=Notice)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise Malformed from None


def envelope_of(notice: Notice, source: str) -> Envelope:
    """What it says of itself."""
    return Envelope(source, str(notice.id), notice.action or notice.type, notice.date_created, notice.live_mode)


def read_event(payload: bytes, source: str) -> ProviderEvent:
    notice = notice_of(payload)
    envelope = envelope_of(notice, source)
    if notice.type != PAYMENT_TYPE or notice.action == CREATED:
        return ProviderEvent(envelope, Topic.NOTHING)
    return ProviderEvent(envelope, Topic.CHARGE, refs=(ref_of(str(notice.data.id)),))


# -- Within


def _known(table: Mapping[str, Known], status: str, about: tuple[Ref, ...], metadata: Mapping[str, object]) -> Known:
    if status not in table:
        # They write the names in metadata their own way.
        raise UnknownStatus(
            status,
            about,
            organization=id_in(metadata, ("orgId", "org_id"), OrganizationId),
            payment=id_in(metadata, ("payment_id",), PaymentId),
        )
    return table[status]

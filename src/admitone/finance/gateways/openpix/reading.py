"""What OpenPix's charges and events mean, in the words of all providers.

Promise: every fact has the key and the time under which it is told anywhere else. A status that is not in the tables is
never guessed: it raises `UnknownStatus`. An event is about the charge that has its transaction id, which nobody but
OpenPix gives, and about no other: the correlation id is whatever its customer chose, and any customer's events are
signed alike. Whose a charge is, its event does not say at all.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, TypeVar

import msgspec

from admitone.finance.gateways import model
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
from admitone.finance.gateways.openpix.objects import Charge, Event, Refund
from admitone.finance.gateways.pix import REAIS, fact, id_in
from admitone.finance.sources.api import PaymentId
from admitone.kernel.errors import Malformed
from admitone.kernel.ids import OrganizationId

K = FactKind
STATUS: Final[dict[str, FactKind | None]] = {"ACTIVE": None, "COMPLETED": K.CAPTURED, "EXPIRED": K.EXPIRED}
"""What besides having been opened (PAY-062). One that is cancelled is deleted, and has no status any more."""
REFUND_STATUS: Final = {"IN_PROCESSING": K.REFUND_PENDING, "CONFIRMED": K.REFUNDED, "REJECTED": K.REFUND_FAILED}
OF_CHARGE: Final = frozenset({"CHARGE_COMPLETED", "CHARGE_COMPLETED_NOT_SAME_CUSTOMER_PAYER", "CHARGE_EXPIRED"})
"""`CHARGE_CREATED` is not among them: it tells nothing that the answer to our order does not; and before that is
written down nobody knows whose it is."""
OF_REFUND: Final = frozenset(
    {
        "TRANSACTION_REFUND_RECEIVED",
        "PIX_TRANSACTION_REFUND_SENT_CONFIRMED",
        "PIX_TRANSACTION_REFUND_SENT_REJECTED",
    }
)
"""That say of a refund neither our key nor what went back before: the charge is to be asked for."""
LIVE: Final = {"PRODUCTION": True, "TESTING": False}
UNTOLD: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""When an event was made that says nothing of it."""

Known = TypeVar("Known")
_decode = msgspec.json.Decoder(Charge | None).decode


def refs_of(charge: Charge) -> tuple[Ref, ...]:
    return (Ref(ObjectType.PIX, charge.correlation_id), Ref(ObjectType.CHARGE, charge.transaction_id))


def is_captured(charge: Charge) -> bool:
    return STATUS.get(charge.status) is K.CAPTURED


def charge_of(charge: Charge, refunds: Sequence[Refund] = (), *more: ProviderFact) -> model.Charge:
    pix = PixCode(charge.br_code, charge.ends_at) if charge.ends_at else None
    facts = [*_facts_of(charge), *_refund_facts(refunds, charge), *more]
    return model.Charge(refs_of(charge), tuple(sorted(facts, key=lambda each: each.at)), pix=pix)


def cancelled(charge: Charge, at: datetime) -> ProviderFact:
    return fact(K.CANCELLED, charge.transaction_id, at)


def refund_of(order: str, charge: Charge, refunds: Sequence[Refund]) -> model.Refund | None:
    """The one that this order made, as it stands among all those of its charge."""
    made = (each for each in _refund_facts(refunds, charge) if each.order == order)
    return next((model.Refund(each.reference, each) for each in made), None)


def _facts_of(charge: Charge) -> Iterator[ProviderFact]:
    own, changed = charge.transaction_id, charge.updated_at or charge.created_at
    kind = _known(STATUS, charge.status, refs_of(charge), charge)
    yield fact(K.PENDING, own, charge.created_at, charge.value, REAIS)
    if kind is K.CAPTURED:
        paid = charge.paid_at or changed
        yield fact(kind, own, paid, charge.value, REAIS)
        if charge.fee is not None:
            yield fact(K.FEE, own, paid, charge.fee, REAIS)
    elif kind is K.EXPIRED:
        yield fact(kind, own, charge.ends_at or changed)


def _refund_facts(refunds: Sequence[Refund], charge: Charge) -> Iterator[ProviderFact]:
    """In the order in which they were made, with what had gone back by each."""
    total = 0
    for refund in sorted(refunds, key=lambda each: (each.time, each.correlation_id)):
        about = (*refs_of(charge), Ref(ObjectType.REFUND, refund.correlation_id))
        kind = _known(REFUND_STATUS, refund.status, about, charge)
        total += refund.value if kind is K.REFUNDED else 0
        yield fact(
            kind,
            refund.correlation_id,
            refund.time,
            refund.value,
            REAIS,
            total_minor=total if kind is K.REFUNDED else 0,
            code=refund.status if kind is K.REFUND_FAILED else "",
            charge=charge.transaction_id,
            order=refund.correlation_id,
        )


# -- Events


def envelope_of(payload: bytes, source: str, *, livemode: bool) -> tuple[Envelope, Event]:
    """Its id is the digest of what was signed: what is sent again is the same event, and nobody gives it another id."""
    try:
        event = msgspec.json.decode(payload, type=Event)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise Malformed from None
    place = event.account.environment if event.account else None
    mode = LIVE.get(place or "", livemode)
    return Envelope(source, hashlib.sha256(payload).hexdigest(), event.event, _when(event), mode), event


def read_event(payload: bytes, source: str, *, livemode: bool) -> ProviderEvent:
    envelope, event = envelope_of(payload, source, livemode=livemode)
    kind, charge = _type_of(event), _charge_in(event)
    # What `pix` is of a refund is the refund itself.
    paid = event.original_transaction if kind in OF_REFUND else event.pix
    name = Ref(ObjectType.CHARGE, charge.transaction_id) if charge else None
    bank = Ref(ObjectType.CHARGE, paid.end_to_end_id) if paid and paid.end_to_end_id else None
    about = name or bank
    if kind in OF_REFUND and about:
        return ProviderEvent(envelope, Topic.CHARGE, (about,))
    if kind not in OF_CHARGE:
        return ProviderEvent(envelope, Topic.NOTHING)
    if charge is None or name is None:
        raise Malformed
    facts = sorted(_facts_of(charge), key=lambda each: each.at)
    return ProviderEvent(envelope, Topic.CHARGE, (name, bank) if bank else (name,), tuple(facts))


def _type_of(event: Event) -> str:
    """Their own name stands before some of them, and they have two."""
    return event.event.rpartition(":")[2]


def _charge_in(event: Event) -> Charge | None:
    """Of the events that we deal with; of others it may be anything."""
    if _type_of(event) not in OF_CHARGE | OF_REFUND:
        return None
    try:
        charge: Charge | None = _decode(event.charge)
    except msgspec.DecodeError:
        raise Malformed from None
    return charge


def _when(event: Event) -> datetime:
    moved, charge = event.refund_transaction or event.pix, _charge_in(event)
    told = (moved.time if moved else None, *((charge.updated_at, charge.created_at) if charge else ()))
    return next((each for each in told if each), UNTOLD)


# -- Within


def _known(table: Mapping[str, Known], status: str, about: tuple[Ref, ...], charge: Charge) -> Known:
    if status not in table:
        carried = {each.key: each.value for each in charge.additional_info or ()}
        raise UnknownStatus(
            status,
            about,
            organization=id_in(carried, ("orgId",), OrganizationId),
            payment=id_in(carried, ("payment_id",), PaymentId),
        )
    return table[status]

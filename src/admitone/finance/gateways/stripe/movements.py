"""Rows of Stripe's books as movements, each with whose it is.

Promise: a row is attributed by what it is about: our own metadata on the charge, the refund or the transfer, found
through whatever stands between. What is nobody's is the platform's own, and what leaves its balance for a bank goes to
its own: an organisation's payouts stand in the books of the organisation's account. A type of row that is about an
organisation and in no table raises `UnknownStatus`: the books would not add up without it.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from admitone.finance.gateways.model import Movement, MovementKind, ObjectType, Ref, UnknownStatus
from admitone.finance.gateways.stripe.objects import (
    ApplicationFee,
    Attempt,
    Dispute,
    FeeRefund,
    Payout,
    Refund,
    Reversal,
    Thing,
    Transaction,
    Transfer,
)
from admitone.finance.gateways.stripe.parameters import RETURNED
from admitone.finance.gateways.words import id_in, second
from admitone.finance.sources.api import PaymentId
from admitone.kernel.ids import PLATFORM_ORGANIZATION, OrganizationId

K = MovementKind
EXPANDED: Final = [
    "data.source",
    "data.source.charge",
    "data.source.source_transaction",
    "data.source.originating_transaction",
    "data.source.source_refund",
    "data.source.transfer.source_transaction",
    "data.source.fee.originating_transaction",
]
SOURCES: Final[dict[str, type[Thing]]] = {
    "charge": Attempt,
    "refund": Refund,
    "dispute": Dispute,
    "transfer": Transfer,
    "transfer_reversal": Reversal,
    "application_fee": ApplicationFee,
    "fee_refund": FeeRefund,
    "payout": Payout,
}
CHARGES: Final = ("charge", "payment")
REFUNDS: Final = ("refund", "payment_refund")
TO_BANK: Final = ("payout", "payout_cancel", "payout_failure")
OWN_FEES: Final = ("stripe_fee", "stripe_fx_fee", "tax_fee")
TAKEN_BESIDES: Final = {**dict.fromkeys((*CHARGES, *REFUNDS), K.FEE), **dict.fromkeys(TO_BANK, K.ACCOUNT_FEE)}
"""What the fee of a row is; the same row says it besides what it moved."""
KINDS: Final = {
    **dict.fromkeys(CHARGES, K.CHARGE),
    **dict.fromkeys(REFUNDS, K.REFUND),
    "refund_failure": K.REFUND_RETURNED,
    "application_fee": K.APPLICATION_FEE,
    "application_fee_refund": K.APPLICATION_FEE_REFUNDED,
    "transfer": K.TRANSFER,
    **dict.fromkeys(("transfer_refund", "transfer_cancel", "transfer_failure"), K.TRANSFER_REVERSED),
    **dict.fromkeys(TO_BANK, K.BANK_PAYOUT_RETURNED),
    "payout": K.BANK_PAYOUT,
    **dict.fromkeys(OWN_FEES, K.FEE),
}
"""Disputes are adjustments, and stand apart. A payment that failed after it had been counted (`payment_failure_refund`)
is of methods that we do not take: it would take money back, and is in no table."""
OF_PAYOUTS: Final = {K.TRANSFER: K.PAYOUT, K.TRANSFER_REVERSED: K.PAYOUT_RETURNED}
HANDED_ON: Final = {K.TRANSFER: K.TRANSFER_AGAIN}


class About(msgspec.Struct, frozen=True):
    """What a row is about: by what name facts know it, and what we wrote on it."""

    reference: str
    carried: Mapping[str, str] = {}
    apart: Mapping[MovementKind, MovementKind] = {}
    """What a transfer is that moved by itself, and not with a charge."""


def movements_of(row: Transaction, organization: OrganizationId) -> Iterator[Movement]:
    """Those of one row that are this organisation's."""
    source = _source(row)
    about = _about(source, row)
    owner = id_in(about.carried, "orgId", OrganizationId) or PLATFORM_ORGANIZATION
    if owner != organization:
        return
    kind = KINDS.get(row.type)
    if isinstance(source, Refund) and row.type == "adjustment" and row.amount > 0:
        kind = K.REFUND_RETURNED  # Some that failed are booked as that.
    if isinstance(source, Dispute) and row.type == "adjustment":
        yield from _disputed(row, about, source)
    elif kind is not None:
        yield from _moved(row, about, kind, source)
    elif owner != PLATFORM_ORGANIZATION:
        raise UnknownStatus(row.type, (Ref(ObjectType.CHARGE, about.reference),), organization=owner)


def _moved(row: Transaction, about: About, kind: MovementKind, source: Thing | None) -> Iterator[Movement]:
    kind = about.apart.get(kind, kind)
    of_row = msgspec.structs.replace(about, reference=row.id)
    if kind is K.FEE:
        is_somebodys = "orgId" in about.carried
        yield _movement(row, *((about, K.FEE) if is_somebodys else (of_row, K.ACCOUNT_FEE)), -row.amount)
        return
    yield _paid(row, about, kind, source)
    if row.fee and row.type in TAKEN_BESIDES:
        yield _movement(row, of_row, TAKEN_BESIDES[row.type], row.fee, part=":fee")


def _disputed(row: Transaction, about: About, source: Dispute) -> Iterator[Movement]:
    kinds = (K.DISPUTE, K.DISPUTE_FEE) if row.amount < 0 else (K.DISPUTE_RETURNED, K.DISPUTE_FEE_RETURNED)
    yield _paid(row, about, kinds[0], source)
    if row.fee:
        yield _movement(row, about, kinds[1], abs(row.fee), part=":fee")


def _paid(row: Transaction, about: About, kind: MovementKind, source: Thing | None) -> Movement:
    """Of what was paid in another currency than Stripe keeps for us, what was paid: that is what facts tell."""
    if row.exchange_rate is None or not isinstance(source, Attempt | Refund | Dispute):
        return _movement(row, about, kind, abs(row.amount))
    return _movement(msgspec.structs.replace(row, currency=source.currency), about, kind, source.amount)


def _movement(row: Transaction, about: About, kind: MovementKind, amount: int, *, part: str = "") -> Movement:
    return Movement(
        id=f"{row.id}{part}",
        kind=kind,
        reference=about.reference,
        amount_minor=amount,
        currency=row.currency.upper(),
        at=second(row.created),
        organization=id_in(about.carried, "orgId", OrganizationId),
        payment=id_in(about.carried, "payment_id", PaymentId),
    )


def _source(row: Transaction) -> Thing | None:
    """What it is about, if that is something we know."""
    name = row.source.get("object") if isinstance(row.source, Mapping) else None
    kind: Any = SOURCES.get(str(name))
    return msgspec.convert(row.source, kind) if kind else None


def _about(source: Thing | str | None, row: Transaction) -> About:
    match source:
        case Attempt():
            return About(source.reference, source.carried)
        case Refund():
            return About(source.id, source.carried if "orgId" in source.carried else _carried(source.charge, row))
        case Dispute():
            return About(source.id, _carried(source.charge, row))
        case ApplicationFee():
            return _about(source.originating_transaction, row)
        case FeeRefund(fee=ApplicationFee() as fee):
            return About(source.id, _carried(fee, row))
        case Transfer(source_transaction=None):
            refund = source.carried.get(RETURNED)
            return About(refund or source.id, source.carried, HANDED_ON if refund else OF_PAYOUTS)
        case Transfer():
            return _about(source.source_transaction, row)
        case Reversal(source_refund=Refund() as refund):
            return About(refund.id, _carried(refund, row))
        case Reversal(transfer=Transfer() as transfer):
            return _about(transfer, row)
        case _:
            named = source.id if isinstance(source, Thing) else source or row.source
            return About(named if isinstance(named, str) else row.id)


def _carried(thing: Thing | str | None, row: Transaction) -> Mapping[str, str]:
    return _about(thing, row).carried

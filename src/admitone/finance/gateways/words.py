"""Stripe's words, which the sandbox speaks too, and what they mean in the words of all providers.

Promise: a status that is not in the tables is never guessed: it raises `UnknownStatus`, which names what it is about.
An event is known by its envelope before anybody understands it.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final, TypeVar

import msgspec

from admitone.finance.gateways.model import (
    DisputeStatus,
    Envelope,
    FactKind,
    PayoutStatus,
    ProviderFact,
    Ref,
    UnknownStatus,
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
PAYOUT_STATUS: Final = {
    "pending": PayoutStatus.PENDING,
    "in_transit": PayoutStatus.PENDING,
    "paid": PayoutStatus.PAID,
    "failed": PayoutStatus.FAILED,
    "canceled": PayoutStatus.FAILED,
}
SESSION_STATUS: Final = {"paid": FactKind.CAPTURED, "unpaid": FactKind.PENDING}
"""`completed` alone never means paid (PAY-022)."""

CONNECT_ROUTE: Final = "/api/organizacao/payouts/webhook"
"""Where events of organisations' accounts are told, under a secret of their own (FIN-023)."""
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

Known = TypeVar("Known")
OwnId = TypeVar("OwnId", bound=Id)


def second(seconds: int) -> datetime:
    return EPOCH + timedelta(seconds=seconds)


def fact(
    kind: FactKind,
    reference: str,
    at: datetime,
    amount: int = 0,
    currency: str = "",
    *,
    total: int = 0,
    fee: int = 0,
    code: str = "",
    charge: str = "",
    order: str = "",
    key: str = "",
) -> ProviderFact:
    """Under the key of what it happened to, unless it can happen to it more than once."""
    return ProviderFact(
        kind,
        f"{kind.lower()}:{key or reference}",
        at,
        reference,
        amount_minor=amount,
        currency=currency.upper(),
        total_minor=total,
        fee_minor=fee,
        code=code,
        charge=charge,
        order=order,
    )


def known(table: Mapping[str, Known], status: str, refs: tuple[Ref, ...], metadata: Mapping[str, str]) -> Known:
    if status not in table:
        raise UnknownStatus(
            status,
            refs,
            organization=id_in(metadata, "orgId", OrganizationId),
            payment=id_in(metadata, "payment_id", PaymentId),
        )
    return table[status]


def id_in(metadata: Mapping[str, str], name: str, kind: type[OwnId]) -> OwnId | None:
    try:
        return kind.parse(metadata[name])
    except (KeyError, InvalidId):
        return None


# -- Events


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """The call that made it happen."""

    id: str | None = None
    idempotency_key: str | None = None


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    object: msgspec.Raw


class Event(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    type: str
    created: int
    data: Subject
    livemode: bool = False
    account: str | None = None
    request: Cause | None = None
    object: str = "event"


def envelope_of(payload: bytes, source: str, connect: str) -> tuple[Envelope, Event]:
    """What is known of an event before it is understood; `Malformed` if it is none. `connect`: the source of events of
    organisations' accounts."""
    try:
        event = msgspec.json.decode(payload, type=Event)
        created = second(event.created)
    except (msgspec.DecodeError, OverflowError, UnicodeDecodeError):
        raise Malformed from None
    return (
        Envelope(
            # A provider's list may have the events of both routes in it, and this tells them apart.
            source=connect if event.account else source,
            id=event.id,
            type=event.type,
            created=created,
            livemode=event.livemode,
            account=event.account,
            request_id=event.request.id if event.request else None,
        ),
        event,
    )

"""What providers that take PIX and nothing else have in common: their orders, their answers, and what they do not do.

Promise: an order that such a provider cannot carry out is refused before anything is sent. 2xx is the answer; 4xx is a
refusal, but for those that are none (`UNSAID`); these, 5xx, an answer that cannot be read and one that never came are
unknown; and with a key of ours that is not right (401) nothing was asked. Amounts become reais and centavos again by
their digits.
"""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Final, TypeVar

import msgspec
from msgspec import Meta

from admitone.finance.gateways import model
from admitone.finance.gateways.model import (
    NOT_OFFERED,
    TURNED_AWAY,
    UNSAID,
    Ability,
    AccountOrder,
    ChargeOrder,
    EvidenceOrder,
    FactKind,
    HandOnOrder,
    Method,
    PayoutOrder,
    ProviderFact,
    RefundOrder,
    Refused,
    ReversalOrder,
    Trouble,
)
from admitone.finance.sources.api import SettlementModel
from admitone.kernel.breaker import Dependency, DependencyUnavailable
from admitone.kernel.ids import Id, InvalidId, OrganizationId
from admitone.kernel.outbound import Answer, NotSent, Outcome, Unknown
from admitone.kernel.scope import Caller

REAIS: Final = "BRL"
PIX_ROUTE: Final = "/webhooks/pix"
CONFLICT: Final = "idempotency_conflict"
"""Ours: the key was used for another order, and the provider showed that one."""
SHOWN_AS_READ: Final = "answered what cannot be read"
CENTAVO: Final = Decimal("0.01")
MOST_REAIS: Final = 10**12
CLOSED: Final = frozenset({FactKind.CAPTURED, FactKind.CANCELLED, FactKind.EXPIRED})
"""What leaves nothing to cancel."""

Instant = Annotated[datetime, Meta(tz=True)]
Read = TypeVar("Read")
OwnId = TypeVar("OwnId", bound=Id)

_encode = msgspec.json.Encoder(decimal_format="number").encode


# -- Orders


def why_not(order: ChargeOrder) -> Refused | None:
    """Why a provider that takes PIX for the platform alone does not take this order, if it does not."""
    if order.method is not Method.PIX:
        return Refused(NOT_OFFERED, "PIX and nothing else")
    if order.settlement is not SettlementModel.PLATFORM_MOR or order.account or order.application_fee_minor:
        return Refused(NOT_OFFERED, "no charge is split, so the money must be the platform's")
    if order.currency != REAIS:
        return Refused(NOT_OFFERED, "PIX is paid in reais")
    return None


def why_no_refund(order: RefundOrder) -> Refused | None:
    if order.currency != REAIS or order.application_fee_minor:
        return Refused(NOT_OFFERED, "what was not split goes back whole, in reais")
    return None


def carried(order: ChargeOrder) -> dict[str, str]:
    """What every charge carries (PAY-001), and nothing of a person."""
    return dict(order.metadata) | {
        "orgId": str(order.organization),
        "payment_id": str(order.payment),
        "correlation_id": str(order.caller.correlation_id),
    }


def encoded(given: Any) -> bytes:
    """As JSON; a decimal is written digit by digit."""
    return b"" if given is None else _encode(given)


def reais_of(minor: int) -> Decimal:
    return Decimal(minor).scaleb(-2)


def centavos_of(reais: Decimal) -> int:
    """`ValueError` for what is not a whole number of them, or more than anybody has."""
    if not reais.is_finite() or not 0 <= reais <= MOST_REAIS or reais != reais.quantize(CENTAVO):
        raise ValueError("not a whole number of centavos")
    return int(reais.scaleb(2))


# -- Answers


def read(outcome: Outcome, kind: type[Read], dependency: Dependency) -> Read | Trouble | None:
    """What was answered; trouble that is the same at every provider; or nothing, where it said no in its own words."""
    match outcome:
        case NotSent(refusal=refusal):
            return model.NotSent(refusal)
        case Unknown(reason=reason):
            return model.Unknown(reason)
        case Answer(status=status, body=body) if status < 300:
            return decoded(body, kind)
        case Answer(status=status) if status == TURNED_AWAY:
            return model.NotSent(DependencyUnavailable(dependency=dependency.name, retry_after_seconds=1))
        case Answer(status=status) if status < 400 or status in UNSAID or status >= 500:
            return model.Unknown(f"answered {status}")
    return None


def decoded(body: bytes, kind: type[Read]) -> Read | model.Unknown:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return model.Unknown(SHOWN_AS_READ)


def fact(kind: FactKind, reference: str, at: datetime, minor: int = 0, currency: str = "", **more: Any) -> ProviderFact:
    """One whose key says what it happened to."""
    return ProviderFact(kind, f"{kind.lower()}:{reference}", at, reference, minor, currency, **more)


def id_in(metadata: Mapping[str, object], names: tuple[str, ...], kind: type[OwnId]) -> OwnId | None:
    for name in names:
        try:
            return kind.parse(str(metadata[name]))
        except (KeyError, InvalidId):
            continue
    return None


def is_closed(charge: model.Charge) -> bool:
    return not CLOSED.isdisjoint(fact.kind for fact in charge.facts)


# -- What is not offered


class PixOnly:
    """Of everything else that is asked of providers: that it is not offered."""

    methods: Final = frozenset({Method.PIX})
    abilities: Final[frozenset[Ability]] = frozenset()

    async def open_account(self, order: AccountOrder) -> Refused:  # noqa: ARG002
        return Refused(NOT_OFFERED)

    async def link_account(self, caller: Caller, account: str, return_url: str) -> Refused:  # noqa: ARG002
        return Refused(NOT_OFFERED)

    async def find_account(self, caller: Caller, account: str) -> Refused:  # noqa: ARG002
        return Refused(NOT_OFFERED)

    async def pay_out(self, order: PayoutOrder) -> Refused:  # noqa: ARG002
        return Refused(NOT_OFFERED)

    async def find_payout(self, order: PayoutOrder) -> Refused:  # noqa: ARG002
        return Refused(NOT_OFFERED)

    async def find_dispute(self, caller: Caller, dispute: str) -> Refused:  # noqa: ARG002
        return Refused(NOT_OFFERED)

    async def answer_dispute(self, order: EvidenceOrder) -> Refused:  # noqa: ARG002
        return Refused(NOT_OFFERED)

    async def take_back(self, order: ReversalOrder) -> Refused:  # noqa: ARG002
        return Refused(NOT_OFFERED)

    async def hand_on(self, order: HandOnOrder) -> Refused:  # noqa: ARG002
        return Refused(NOT_OFFERED)

    async def list_events(self, caller: Caller, cursor: str | None, since: datetime) -> Refused:  # noqa: ARG002
        return Refused(NOT_OFFERED)

    async def list_movements(
        self,
        caller: Caller,  # noqa: ARG002
        organization: OrganizationId,  # noqa: ARG002
        cursor: str | None,  # noqa: ARG002
        since: datetime | None = None,  # noqa: ARG002
    ) -> Refused:
        return Refused(NOT_OFFERED)

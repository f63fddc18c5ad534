"""What Mercado Pago has, as far as we look: amounts are reais, times have their zone.

Promise: what cannot be counted in whole centavos is not read at all.
"""

from decimal import Decimal
from typing import Any

import msgspec

from admitone.finance.gateways.pix import Instant, centavos_of


class Fee(msgspec.Struct, frozen=True, kw_only=True):
    amount: Decimal
    fee_payer: str = "collector"

    def __post_init__(self) -> None:
        centavos_of(self.amount)


class Refund(msgspec.Struct, frozen=True, kw_only=True):
    id: int
    payment_id: int
    amount: Decimal
    status: str
    date_created: Instant

    def __post_init__(self) -> None:
        centavos_of(self.amount)

    @property
    def minor(self) -> int:
        return centavos_of(self.amount)


class TransactionData(msgspec.Struct, frozen=True, kw_only=True):
    qr_code: str | None = None


class PointOfInteraction(msgspec.Struct, frozen=True, kw_only=True):
    transaction_data: TransactionData | None = None


class Payment(msgspec.Struct, frozen=True, kw_only=True):
    id: int
    status: str
    status_detail: str | None = None
    currency_id: str
    transaction_amount: Decimal
    date_created: Instant
    date_last_updated: Instant | None = None
    date_approved: Instant | None = None
    date_of_expiration: Instant | None = None
    external_reference: str | None = None
    live_mode: bool
    metadata: dict[str, Any] | None = None
    fee_details: tuple[Fee, ...] | None = None
    point_of_interaction: PointOfInteraction | None = None

    def __post_init__(self) -> None:
        centavos_of(self.transaction_amount)

    @property
    def minor(self) -> int:
        return centavos_of(self.transaction_amount)

    @property
    def fee_minor(self) -> int | None:
        """What it keeps of what the payer gave; nothing while it does not say."""
        fees = [centavos_of(fee.amount) for fee in self.fee_details or () if fee.fee_payer == "collector"]
        return sum(fees) if fees else None

    @property
    def carried(self) -> dict[str, Any]:
        return self.metadata or {}

    @property
    def qr_code(self) -> str | None:
        shown = self.point_of_interaction.transaction_data if self.point_of_interaction else None
        return shown.qr_code if shown else None


class Found(msgspec.Struct, frozen=True):
    """One of what a search found."""

    id: int


class Search(msgspec.Struct, frozen=True):
    results: tuple[Found, ...]


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    code: int | str | None = None
    description: str | None = None


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """Why it says no."""

    message: str | None = None
    error: str | None = None
    cause: tuple[Cause, ...] | None = None

    @property
    def code(self) -> str:
        codes = [str(each.code) for each in self.cause or () if each.code is not None]
        return codes[0] if codes else self.error or "refused"

    @property
    def text(self) -> str:
        return self.message or ""


class Named(msgspec.Struct, frozen=True):
    id: str | int


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """What it posts to us. None of this is signed but the id of what it is about."""

    id: str | int
    type: str
    date_created: Instant
    data: Named
    live_mode: bool
    action: str | None = None

"""What OpenPix has, as far as we look: amounts are whole centavos, times have their zone."""

from datetime import datetime, timedelta
from typing import Annotated

import msgspec
from msgspec import Meta

from admitone.finance.gateways.pix import Instant

Centavos = Annotated[int, Meta(ge=0, le=10**14)]


class Info(msgspec.Struct, frozen=True):
    key: str
    value: str | int | None = None


class Charge(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    correlation_id: str = msgspec.field(name="correlationID")
    transaction_id: str = msgspec.field(name="transactionID")
    status: str
    value: Centavos
    br_code: str
    created_at: Instant
    updated_at: Instant | None = None
    paid_at: Instant | None = None
    expires_date: Instant | None = None
    expires_in: int | None = None
    """Seconds, from when it was made."""
    fee: Centavos | None = None
    """Told from the beginning, and taken when it is paid."""
    additional_info: tuple[Info, ...] | None = None

    @property
    def ends_at(self) -> datetime | None:
        if self.expires_date is None and self.expires_in is not None:
            return self.created_at + timedelta(seconds=self.expires_in)
        return self.expires_date


class ChargeAnswer(msgspec.Struct, frozen=True):
    charge: Charge


class Refund(msgspec.Struct, frozen=True, kw_only=True):
    correlation_id: str = msgspec.field(name="correlationID")
    status: str
    value: Centavos
    time: Instant


class RefundAnswer(msgspec.Struct, frozen=True):
    refund: Refund


class Refunds(msgspec.Struct, frozen=True):
    refunds: tuple[Refund, ...]


class Deleted(msgspec.Struct, frozen=True):
    status: str


class Failure(msgspec.Struct, frozen=True):
    """Why it says no: one sentence, and no code."""

    error: str


class PublicKey(msgspec.Struct, frozen=True):
    key_identifier: str
    key: str


class PublicKeys(msgspec.Struct, frozen=True):
    public_keys: tuple[PublicKey, ...]


# -- What it posts to us


class Transaction(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Money that moved by PIX."""

    end_to_end_id: str | None = None
    time: Instant | None = None


class Place(msgspec.Struct, frozen=True, kw_only=True):
    environment: str | None = None


class Event(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    event: str
    charge: msgspec.Raw = msgspec.Raw(b"null")
    pix: Transaction | None = None
    refund_transaction: Transaction | None = None
    original_transaction: Transaction | None = None
    account: Place | None = None

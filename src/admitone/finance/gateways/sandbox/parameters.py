"""What an order at the sandbox says: written by the adapter, read by the provider, so that both mean the same."""

import msgspec


class ChargeParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    amount: int
    currency: str
    payment_method: str
    order_key: str
    expires_at: int
    metadata: dict[str, str]
    description: str = ""
    application_fee_amount: int = 0
    destination: str | None = None
    return_url: str | None = None


class RefundParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    payment_intent: str
    amount: int
    order_key: str
    refund_application_fee: int = 0
    reverse_transfer: bool = True


class EvidenceParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    evidence: dict[str, str]
    submit: bool


class ReversalParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    amount: int


class HandOnParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    refund: str
    amount: int


class AccountParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    type: str
    country: str
    order_key: str
    metadata: dict[str, str]
    email: str | None = None


class LinkParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    account: str
    return_url: str


class PayoutParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    destination: str
    amount: int
    currency: str
    order_key: str
    metadata: dict[str, str]

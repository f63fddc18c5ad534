"""Policies, and what a price is made of.

Promise: a snapshot is written as one text, and one text has one hash: keys in order, no spaces, whole numbers only.
Whoever reads the text again gets the snapshot that was priced, or an error, and never another price. A text is read
as it was written, whichever version wrote it: what it does not say has its default, what we do not know is left there.
"""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Literal

import msgspec

from admitone.finance.sources.api import Bearer, SettlementModel, Source, SourceType
from admitone.finance.sources.port import TaxBearer
from admitone.kernel.ids import Id, IdentityId, OrganizationId
from admitone.kernel.scope import Caller


class FeeMode(StrEnum):
    """Who sees and who pays the platform's fee (U-13)."""

    INCLUDED = "INCLUDED"
    """It is part of the price."""
    ADDED = "ADDED"
    """It comes on top of the price."""
    ABSORBED = "ABSORBED"
    """As INCLUDED, and the buyer is not told; for those whose policy allows it."""


class FeeBase(StrEnum):
    """Of what the fee is a share."""

    SUBTOTAL = "SUBTOTAL"
    SUBTOTAL_PLUS_TAXES = "SUBTOTAL_PLUS_TAXES"
    """With the taxes that the customer pays (U-19)."""


class FeePolicyId(Id, prefix="fee"):
    """One version of a fee policy."""


class FeeChoiceId(Id, prefix="fmc"):
    """One choice of an organisation how its fee is shown."""


# -- Policies


class Target(msgspec.Struct, frozen=True):
    """What a policy is for: everything, a type of source, or one source; in one currency, or in each."""

    source_type: SourceType | None = None
    source_id: str | None = None
    currency: str | None = None

    @property
    def key(self) -> str:
        """As the tables have it. No part has a slash."""
        return f"{self.source_type or ''}/{self.source_id or ''}/{self.currency or ''}"


class Terms(msgspec.Struct, frozen=True):
    """How the fee is computed. Amounts are in the currency of the target."""

    fee_bps: int
    fee_fixed_minor: int = 0
    min_minor: int | None = None
    max_minor: int | None = None
    fee_mode: FeeMode = FeeMode.INCLUDED
    base: FeeBase = FeeBase.SUBTOTAL
    absorbed_allowed: bool = False


class Policy(msgspec.Struct, frozen=True):
    """One version, which never changes. A retired one says that from now on there is no rule for its target."""

    id: FeePolicyId
    organization: OrganizationId
    version: int
    target: Target
    terms: Terms
    retired: bool
    created_by: IdentityId | None
    created_at: datetime


class Choice(msgspec.Struct, frozen=True):
    """How an organisation wants its fee shown, for a type of source or for all. Nothing chosen: as the policy says."""

    id: FeeChoiceId
    version: int
    source_type: SourceType | None
    fee_mode: FeeMode | None
    created_by: IdentityId | None
    created_at: datetime

    @property
    def target(self) -> str:
        return self.source_type or ""


class InForce(msgspec.Struct, frozen=True):
    """By what a price is made: the terms of a policy, and the mode that holds."""

    version: str
    """The id of the policy, and after a plus that of the choice, if one counted."""
    currency: str | None
    terms: Terms
    fee_mode: FeeMode


class PolicyChange(msgspec.Struct, frozen=True):
    """A new version for a target; without terms, the rule for it is retired."""

    caller: Caller
    target: Target
    terms: Terms | None
    reason_code: str


class ModeChoice(msgspec.Struct, frozen=True):
    """How an organisation wants its fee shown from now on; without a mode, as its policy says."""

    caller: Caller
    source_type: SourceType | None
    fee_mode: FeeMode | None


# -- Snapshots


class Part(msgspec.Struct, frozen=True, rename="camel"):
    """A part of a snapshot, under its names on paper. A new field needs a default: what was kept does not say it."""


class TaxItem(Part, frozen=True):
    name: str
    jurisdiction: str
    rate_bps: int
    bearer: TaxBearer
    amount: int


class Promotion(Part, frozen=True):
    """A discount that was promised to somebody, as far as it could be given."""

    amount: int
    promo_policy_version: str
    code_snapshot: str | None
    label: str
    type: str
    value: int


class LineItem(Part, frozen=True):
    """A line, with its part of whatever was computed for all of them. The parts of all lines sum to the whole."""

    key: str
    label: str
    unit_price: int
    quantity: int
    gross: int
    discount: int
    tax: int
    """Of what the customer pays in taxes."""
    fee: int
    total: int
    """What the customer pays for it: refunding every line refunds the total."""


class Snapshot(Part, frozen=True):
    """Everything that a price was made of (FIN-034), frozen. Amounts are in minor units of the currency."""

    currency: str
    gross: int
    discounts: int
    taxes: tuple[TaxItem, ...]
    platform_fee: int
    total: int
    net_to_org_pending: int
    """What was collected without the platform's fee (FIN-036). It informs, and decides nothing."""
    fee_mode: FeeMode
    fee_bps: int
    fee_fixed: int
    fee_policy_version: str
    promo_policy_version: str | None
    promotions: tuple[Promotion, ...]
    source_type: SourceType
    source_id: str
    line_items: tuple[LineItem, ...]
    settlement_model: SettlementModel
    processor_fee_bearer: Bearer
    processor_fees_status: Literal["PENDING"] = "PENDING"
    processor_fees_actual: None = None
    """As it was when the price was made; what it became stands with the payment."""

    @property
    def source(self) -> Source:
        return Source(self.source_type, self.source_id)

    @property
    def subtotal(self) -> int:
        return self.gross - self.discounts

    @property
    def customer_taxes(self) -> int:
        return _borne_by(TaxBearer.CUSTOMER, self.taxes)

    @property
    def withheld_taxes(self) -> int:
        return _borne_by(TaxBearer.OWNER, self.taxes)

    @property
    def fee_shown(self) -> int | None:
        """What a buyer is told of the fee (U-13)."""
        return None if self.fee_mode is FeeMode.ABSORBED else self.platform_fee

    @property
    def is_free(self) -> bool:
        return self.total == 0


class Priced(msgspec.Struct, frozen=True):
    """A price and its proof: the text is what is kept, and the hash is over the text."""

    snapshot: Snapshot
    text: str
    hash: str

    @classmethod
    def of(cls, snapshot: Snapshot) -> "Priced":
        text = _ENCODER.encode(snapshot)
        return cls(snapshot, text.decode(), sha256(text).hexdigest())

    @classmethod
    def read(cls, text: str, hash_: str) -> "Priced":
        """What was kept, if it is still what was priced; else `Tampered`."""
        if sha256(text.encode()).hexdigest() != hash_:
            raise Tampered("the text is not the one that was priced")
        try:
            return cls(_DECODER.decode(text), text, hash_)
        except msgspec.DecodeError as unreadable:
            raise Tampered("the text is no snapshot") from unreadable


class Tampered(Exception):
    """A stored price does not match its hash. Nobody can cause this through us: it is never a refusal."""


_ENCODER = msgspec.json.Encoder(order="sorted")
_DECODER = msgspec.json.Decoder(Snapshot)


def _borne_by(bearer: TaxBearer, taxes: Sequence[TaxItem]) -> int:
    return sum(tax.amount for tax in taxes if tax.bearer is bearer)

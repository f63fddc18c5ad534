"""Terms of a fee, as they go over the wire and into plans."""

from typing import Annotated

from msgspec import Meta

from admitone.finance.pricing.model import FeeBase, FeeMode, Terms
from admitone.finance.pricing.policy import DEAREST
from admitone.kernel.contracts import Wire
from admitone.kernel.money import BASIS_POINTS

BasisPoints = Annotated[int, Meta(ge=0, le=BASIS_POINTS)]
Amount = Annotated[int, Meta(ge=0, le=DEAREST)]


class TermsWire(Wire, kw_only=True):
    """How a fee is computed; amounts in minor units of the policy's currency."""

    fee_bps: BasisPoints
    fee_fixed_minor: Amount = 0
    min_minor: Amount | None = None
    max_minor: Amount | None = None
    fee_mode: FeeMode = FeeMode.INCLUDED
    base: FeeBase = FeeBase.SUBTOTAL
    absorbed_allowed: bool = False

    def terms(self) -> Terms:
        return Terms(**{name: getattr(self, name) for name in Terms.__struct_fields__})

    @classmethod
    def of(cls, terms: Terms) -> "TermsWire":
        return cls(**{name: getattr(terms, name) for name in Terms.__struct_fields__})

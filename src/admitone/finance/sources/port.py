"""What finance asks of whoever sells: offers, and to keep what is being paid, for many sources at once, in the caller's
transaction."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final, Protocol
from uuid import UUID

import msgspec
from msgspec import Meta

from admitone.finance.sources.model import Source, SourceType
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId
from admitone.kernel.money import Currency
from admitone.kernel.ports import Port
from admitone.kernel.scope import GLOBAL, Caller

UnitPrice = Annotated[int, Meta(ge=0, le=10**12)]
Quantity = Annotated[int, Meta(ge=1, le=10_000)]
LONGEST_DESCRIPTION: Final = 200
MOST_SUBJECTS: Final = 20
LONGEST_SUBJECT: Final = 200
Rate = Annotated[int, Meta(ge=0, le=10_000)]


class TaxBearer(StrEnum):
    CUSTOMER = "CUSTOMER"
    """On top of the price."""
    OWNER = "OWNER"
    """Out of the price: withheld from what is due to the payee (U-08)."""


class Tax(msgspec.Struct, frozen=True):
    """One tax on the subtotal, in basis points of it."""

    name: str
    jurisdiction: str
    rate_bps: Rate
    bearer: TaxBearer = TaxBearer.CUSTOMER


class Line(msgspec.Struct, frozen=True):
    """Something in the offer: what, how many, for how much each. `key` is the vertical's word for the kind of thing."""

    key: str
    label: str
    unit_price_minor: UnitPrice
    quantity: Quantity


class Guard(msgspec.Struct, frozen=True):
    """Of this kind of thing there are so many in the offer, and one person has so many for nothing, all in all
    (FIN-082)."""

    key: str
    quantity: int = 1
    most: int = 1


class Wanted(msgspec.Struct, frozen=True):
    """Somebody wants to pay for a source: the caller's actor, or a guest."""

    caller: Caller
    source: Source
    is_signed_in: bool
    promo_code: str | None = None
    invite_token: str | None = None


class Offer(msgspec.Struct, frozen=True):
    """What it costs and on what conditions, at this moment."""

    source: Source
    buyer: IdentityId
    """Whose it is to pay: nobody pays for another's, and a guest only for what is a guest's."""
    currency: Currency
    lines: tuple[Line, ...]
    expires_at: datetime
    """Until when the vertical keeps it for the buyer."""
    description: str
    city_code: str = GLOBAL
    payee: UUID | None = None
    """Whose money it becomes; left out, the organisation's."""
    taxes: tuple[Tax, ...] = ()
    discount_minor: int = 0
    """What the vertical itself takes off, before promotions."""
    subjects: tuple[str, ...] = ()
    """What has a kill switch, such as `event:…`: opaque to us (FIN-018)."""
    guards: tuple[Guard, ...] = ()
    guest_allowed: bool = False
    """Whether somebody who is not signed in may pay (FIN-017)."""
    payable_until: datetime | None = None
    """Until when the vertical would keep it for whoever begins to pay now, at the most: it is asked to. Left out, no
    longer than it is kept already. A payment never lives longer than that (PAY-002)."""

    def __post_init__(self) -> None:
        """What is only read by people is cut; what decides whether it is sold is whole, or the vertical has a bug."""
        if len(self.subjects) > MOST_SUBJECTS or not all(0 < len(each) <= LONGEST_SUBJECT for each in self.subjects):
            raise ValueError(f"{self.source} has too many subjects, or too long ones")
        msgspec.structs.force_setattr(self, "description", self.description[:LONGEST_DESCRIPTION])


class Keeping(msgspec.Struct, frozen=True):
    """Somebody begins to pay for a source, and may until then."""

    of: Any
    """The input of the caller's own batch, so that `Busy` can name it."""
    caller: Caller
    source: Source
    until: datetime


class Shop(Protocol):
    """A vertical, as finance sees it. What becomes of a payment it hears by the facts of payments: for one that ended
    unpaid nothing need be kept any more."""

    async def offer(self, tx: Tx, wanted: Sequence[Wanted]) -> Sequence[Offer | Refusal]:
        """One offer or refusal for each, in their order. It is asked again inside the checkout: nothing of what a page
        was told before counts (FIN-017)."""
        ...

    async def keep(self, tx: Tx, keepings: Sequence[Keeping]) -> Sequence[Refusal | None]:
        """Keep each until then at least, or say why not; in their order. Asked of those whose offers say that they can
        be, in the transaction that begins the payments and before anything is written: what is refused is not begun."""
        ...


SHOPS: Final = Port[Mapping[SourceType, Shop]]("finance.shops")
"""Who sells what, as the entry point knows it."""

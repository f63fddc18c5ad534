"""The types of sources and how the money of each flows."""

from enum import StrEnum
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from admitone.kernel.ids import Id

LARGEST_AMOUNT: Final = 2**53 - 1
"""Of anything that is priced, paid or posted: the largest whole number that every reader of JSON reads as it was
written. The tables of payments and of the ledger say the same."""


class PaymentId(Id, prefix="pay"):
    """One payment."""


class SourceType(StrEnum):
    """What is paid for. Version 1 of the list are the first four, version 2 added the rest (U-55)."""

    TICKET_ORDER = "TICKET_ORDER"
    BOOKING = "BOOKING"
    PADEL_REGISTRATION = "PADEL_REGISTRATION"
    STORE_ORDER = "STORE_ORDER"
    STAY_RESERVATION = "STAY_RESERVATION"
    COUPON_CAMPAIGN = "COUPON_CAMPAIGN"


class SettlementModel(StrEnum):
    """Who is merchant of record."""

    ORG_MOR = "ORG_MOR"
    """The organisation: a destination charge, of which the platform keeps its fee."""
    PLATFORM_MOR = "PLATFORM_MOR"
    """The platform: it holds the money and pays out what is due."""


class Bearer(StrEnum):
    """Whose the processor's fee is (U-10)."""

    ORG = "ORG"
    PLATFORM = "PLATFORM"


class Flow(StrEnum):
    """Along which accounts the money of a source moves: the columns of the ledger's table of postings."""

    SALE = "SALE"
    """The organisation sells: tickets, courts, registrations, goods."""
    STAY = "STAY"
    """The platform holds the guest's money until the guest has left."""
    STAY_LEFT = "STAY_LEFT"
    """The guest has left, and what was held is due to the host."""
    CAMPAIGN = "CAMPAIGN"
    """The organisation buys from the platform, and pays before."""
    RESALE = "RESALE"
    """Somebody who holds a ticket sells it on; off until there is such a market (U-20)."""
    OWN = "OWN"
    """The platform's own balance at a provider, of no source."""


class LatePayment(StrEnum):
    """What becomes of money that came and paid for nothing (U-26)."""

    AUTO_REFUND = "AUTO_REFUND"
    MANUAL = "MANUAL"


class Manner(msgspec.Struct, frozen=True):
    """How a type of source is dealt with, whoever sells it."""

    flow: Flow
    settlement: SettlementModel
    fee_bearer: Bearer
    since: int
    """In which version of the list it came."""
    may_be_free: bool = True
    keeps_surplus: bool = False
    """More than the price pays it too, and the rest is a receipt that nothing asked for (U-51)."""
    late_payment: LatePayment = LatePayment.AUTO_REFUND
    needs_account: bool = True
    """Whether the money, or a part of it, goes on to the organisation's own account."""
    told_by_webhook: bool = False
    """That it was paid is heard from its provider, and never found out by comparing books: whoever compares tells of
    it, and its webhook comes again (U-51)."""


SOURCE_TYPES: Final[dict[SourceType, Manner]] = {
    SourceType.TICKET_ORDER: Manner(Flow.SALE, SettlementModel.ORG_MOR, Bearer.ORG, since=1),
    SourceType.BOOKING: Manner(Flow.SALE, SettlementModel.ORG_MOR, Bearer.ORG, since=1),
    SourceType.PADEL_REGISTRATION: Manner(Flow.SALE, SettlementModel.ORG_MOR, Bearer.ORG, since=1),
    SourceType.STORE_ORDER: Manner(Flow.SALE, SettlementModel.ORG_MOR, Bearer.ORG, since=1),
    SourceType.STAY_RESERVATION: Manner(Flow.STAY, SettlementModel.PLATFORM_MOR, Bearer.PLATFORM, since=2),
    SourceType.COUPON_CAMPAIGN: Manner(
        Flow.CAMPAIGN,
        SettlementModel.PLATFORM_MOR,
        Bearer.PLATFORM,
        since=2,
        may_be_free=False,
        keeps_surplus=True,
        late_payment=LatePayment.MANUAL,
        needs_account=False,
        told_by_webhook=True,
    ),
}

SourceId = Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_.:-]+$(?!\n)")]
"""The vertical's own word for it."""


class Source(msgspec.Struct, frozen=True, order=True):
    """What is paid for."""

    type: SourceType
    id: SourceId

    def __str__(self) -> str:
        return f"{self.type}:{self.id}"

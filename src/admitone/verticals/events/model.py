"""Events, what is sold for them, and what somebody has of it: what they are made of."""

from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

import msgspec

from admitone.entitlements.api import CheckinPolicy
from admitone.finance.sources.api import PaymentId
from admitone.kernel.ids import Id, IdentityId, InvalidId, OrganizationId
from admitone.kernel.states import Lifecycle


class EventId(Id, prefix="event"):
    """One event. Its text is the `eventId` of doors and the subject of its kill switch."""


class SessionId(Id, prefix="ses"):
    """One part of an event with an entry of its own."""


class TicketTypeId(Id, prefix="tkt"):
    """What one can buy."""


class OrderId(Id, prefix="ord"):
    """What somebody wants, and the source of its payment."""


class TicketId(Id, prefix="tic"):
    """One piece of an order that was paid."""


class EventStatus(StrEnum):
    """Past is no state: it is what the clock says of one that is published."""

    DRAFT = "DRAFT"
    PUBLISHED = "PUBLISHED"
    CANCELLED = "CANCELLED"


EVENT: Final = Lifecycle(
    "event",
    initial=EventStatus.DRAFT,
    moves={
        EventStatus.DRAFT: (EventStatus.PUBLISHED, EventStatus.CANCELLED),
        EventStatus.PUBLISHED: (EventStatus.CANCELLED,),
    },
)


class PricingMode(StrEnum):
    STANDARD = "STANDARD"
    FREE_ONLY = "FREE_ONLY"


class Venue(msgspec.Struct, frozen=True):
    """Where it takes place, in words."""

    name: str = ""
    address: str = ""
    city: str = ""
    country: str = ""


class Event(msgspec.Struct, frozen=True):
    organization: OrganizationId
    id: EventId
    title: str
    description: str
    status: EventStatus
    starts_at: datetime
    ends_at: datetime
    time_zone: str
    currency: str
    venue: Venue
    least_age: int | None
    hold_minutes: int
    allows_zero: bool
    pricing_mode: PricingMode
    policy_version: int
    first_sold_at: datetime | None
    published_at: datetime | None
    cancelled_at: datetime | None
    version: int
    created_at: datetime
    changed_at: datetime

    @property
    def subject(self) -> str:
        """Under which it is stopped, and its payments are found."""
        return f"event:{self.id}"


class About(msgspec.Struct, frozen=True):
    """What an event says of itself, and may say otherwise at any time."""

    title: str
    description: str = ""
    venue: Venue = Venue()
    least_age: int | None = None
    hold_minutes: int = 15
    allows_zero: bool = False
    """Whether its types may cost nothing without saying so themselves (FIN-085)."""
    pricing_mode: PricingMode = PricingMode.STANDARD


class Session(msgspec.Struct, frozen=True):
    id: SessionId
    label: str
    starts_at: datetime
    ends_at: datetime


class Schedule(msgspec.Struct, frozen=True):
    """When an event takes place: instants, and the clocks that people there read them on (EVT-006)."""

    starts_at: datetime
    ends_at: datetime
    time_zone: str
    sessions: tuple[Session, ...] = ()


class SharedPool(msgspec.Struct, frozen=True):
    """What several types of an event draw from, beside their own pools."""

    id: UUID
    label: str


class TypeStatus(StrEnum):
    ON_SALE = "ON_SALE"
    HIDDEN = "HIDDEN"
    """For whoever has its link."""
    ARCHIVED = "ARCHIVED"


class TicketType(msgspec.Struct, frozen=True):
    id: TicketTypeId
    event_id: EventId
    name: str
    description: str
    price_minor: int
    allows_zero: bool
    free_per_person: int
    pool_id: UUID
    shared_pools: tuple[UUID, ...]
    seated: bool
    sales_from: datetime | None
    sales_until: datetime | None
    most_per_order: int
    most_per_buyer: int | None
    status: TypeStatus
    sessions: tuple[SessionId, ...]
    position: int
    version: int
    created_at: datetime
    changed_at: datetime

    @property
    def pools(self) -> tuple[UUID, ...]:
        """All that it draws from, its own first."""
        return (self.pool_id, *self.shared_pools)

    @property
    def session_uuids(self) -> tuple[UUID, ...]:
        """As rows have them."""
        return tuple(each.uuid for each in self.sessions)


class AccessMode(StrEnum):
    PUBLIC = "PUBLIC"
    UNLISTED = "UNLISTED"
    """For whoever has the link."""
    INVITE_ONLY = "INVITE_ONLY"


class IdentityMatch(StrEnum):
    EMAIL = "EMAIL"
    USERNAME = "USERNAME"
    BOTH = "BOTH"


class AccessPolicy(msgspec.Struct, frozen=True):
    """The sole truth of who may buy and how people are let in (EVT-010)."""

    version: int
    mode: AccessMode = AccessMode.PUBLIC
    guest_checkout_allowed: bool = True
    login_required: bool = False
    invite_token_allowed: bool = False
    invite_identity_match: IdentityMatch = IdentityMatch.EMAIL
    invite_token_hours: int | None = None
    requires_entitlement: bool = True
    scanner_required: bool = False
    checkin: CheckinPolicy = CheckinPolicy()

    @property
    def is_listed(self) -> bool:
        """Whether strangers find the event in lists; else whoever has its link does."""
        return self.mode is AccessMode.PUBLIC


class OrderState(StrEnum):
    """Over is no state: it is what the clock says of one that is open."""

    OPEN = "OPEN"
    FULFILLED = "FULFILLED"
    CANCELLED = "CANCELLED"
    """By whoever placed it, before it was paid."""
    RETURNED = "RETURNED"
    """Paid, and could not be delivered: the money goes back."""


ORDER: Final = Lifecycle(
    "ticket_order",
    initial=OrderState.OPEN,
    moves={
        OrderState.OPEN: (OrderState.FULFILLED, OrderState.CANCELLED, OrderState.RETURNED),
        # Somebody paid in the last moment.
        OrderState.CANCELLED: (OrderState.RETURNED,),
    },
)


class OrderLine(msgspec.Struct, frozen=True):
    ticket_type: TicketTypeId
    name: str
    quantity: int
    unit_price_minor: int
    sessions: tuple[SessionId, ...] | None
    """Those that it is good for; none named, all. None: it was ordered before that was written down."""


class Order(msgspec.Struct, frozen=True):
    organization: OrganizationId
    id: OrderId
    event_id: EventId
    buyer: IdentityId
    key: str
    request_hash: bytes
    state: OrderState
    currency: str
    amount_minor: int
    is_guest: bool
    language: str
    age_confirmed: bool
    billing: bytes | None
    expires_at: datetime
    payment_id: PaymentId | None
    fulfilled_at: datetime | None
    version: int
    created_at: datetime
    changed_at: datetime
    lines: tuple[OrderLine, ...] = ()


class TicketStatus(StrEnum):
    """Used is none of them (EVT-040)."""

    ACTIVE = "ACTIVE"
    RESALE_LISTED = "RESALE_LISTED"
    TRANSFERRED = "TRANSFERRED"
    REFUNDED = "REFUNDED"
    DISPUTED = "DISPUTED"
    CHARGEBACK_LOST = "CHARGEBACK_LOST"
    CANCELLED = "CANCELLED"


class Ticket(msgspec.Struct, frozen=True):
    id: TicketId
    order_id: OrderId
    event_id: EventId
    ticket_type: TicketTypeId
    emission_index: int
    owner: IdentityId
    status: TicketStatus
    price_minor: int
    unit_id: UUID | None
    seat: str | None
    version: int
    created_at: datetime
    changed_at: datetime

    @property
    def name(self) -> tuple[str, str, int]:
        """As its rights say of which piece they are."""
        return str(self.order_id), str(self.ticket_type), self.emission_index


def order_id_of(source: str) -> OrderId | None:
    """As finance knows an order; none, if it is something that somebody made up."""
    try:
        return OrderId.parse(source)
    except InvalidId:
        return None


def emission_key(order: OrderId, ticket_type: TicketTypeId, index: int, session: SessionId | None = None) -> str:
    """Under which a right is granted once: of a ticket, or of a ticket for one session."""
    return ":".join(map(str, (order, ticket_type, index, *([session] if session else []))))

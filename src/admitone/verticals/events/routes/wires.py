"""Words that several contracts of events share, and an event to show them with."""

from datetime import UTC, datetime
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from admitone.entitlements.api import CheckinPolicy, Method
from admitone.finance.refunds.api import FINANCE_REFUNDS_RW
from admitone.kernel.contracts import Audience, Contract, Instant, Wire
from admitone.kernel.ids import OrganizationId
from admitone.selling.stock.api import PoolId
from admitone.verticals.events.model import (
    About,
    AccessMode,
    AccessPolicy,
    EventId,
    IdentityMatch,
    PricingMode,
    Session,
    SessionId,
    TicketTypeId,
    Venue,
)
from admitone.verticals.events.policy import TOKEN_HOURS

EVENTS_R: Final = "EVENTS_R"
EVENTS_RW: Final = "EVENTS_RW"
FINANCE_SALES_R: Final = "FINANCE_SALES_R"
"""What was earned by whom, and whom an invoice is for: whoever only sees events does not see that."""
PERMISSIONS: Final = (EVENTS_R, EVENTS_RW, FINANCE_SALES_R, FINANCE_REFUNDS_RW)

# On one line: a title that could begin another would be one property more in a calendar.
LINE: Final = r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]*$(?!\n)"
FULL_LINE: Final = (
    r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]*[^\x00-\x20\x7f-\x9f\u2028\u2029][^\x00-\x1f\x7f-\x9f\u2028\u2029]*$(?!\n)"
)
Title = Annotated[str, Meta(min_length=1, max_length=200, pattern=FULL_LINE)]
Label = Annotated[str, Meta(min_length=1, max_length=100, pattern=FULL_LINE)]
Description = Annotated[str, Meta(max_length=20_000)]
VenueName = Annotated[str, Meta(max_length=200, pattern=LINE)]
Address = Annotated[str, Meta(max_length=300, pattern=LINE)]
City = Annotated[str, Meta(max_length=100, pattern=LINE)]
Country = Annotated[str, Meta(max_length=2, pattern=r"^([A-Z]{2})?$(?!\n)")]
Currency = Annotated[str, Meta(max_length=3, pattern=r"^[A-Z]{3}$(?!\n)")]
ZoneName = Annotated[str, Meta(min_length=1, max_length=64)]
Age = Annotated[int, Meta(ge=1, le=99)]
Version = Annotated[int, Meta(ge=1, le=2**31 - 1)]
Capacity = Annotated[int, Meta(ge=0, le=10_000_000)]
Seat = Annotated[str, Meta(min_length=1, max_length=64, pattern=FULL_LINE)]

SOME_ORGANIZATION: Final = OrganizationId.parse("org_0198c9a40000700080000000000000aa")
SOME_EVENT: Final = EventId.parse("event_0198c9a40000700080000000000000e1")
SOME_TYPE: Final = TicketTypeId.parse("tkt_0198c9a40000700080000000000000e2")
SOME_SESSION: Final = SessionId.parse("ses_0198c9a40000700080000000000000e3")
SOME_POOL: Final = PoolId.parse("pol_0198c9a40000700080000000000000e4")
THEN: Final = datetime(2026, 6, 12, 20, 0, tzinfo=UTC)
LATER: Final = datetime(2026, 6, 13, 1, 0, tzinfo=UTC)
SOONER: Final = datetime(2026, 5, 1, 9, 0, tzinfo=UTC)


def organisers(number: str, summary: str, *, permission: str = EVENTS_RW, **more: Any) -> Contract:
    """What members of an organisation do with its events."""
    usual: dict[str, Any] = {"version": "1.0.0", "consumers": ("web", "mobile"), "order_key": "eventId"}
    return Contract(
        id=f"EVT.{number}",
        owner="events",
        summary=summary,
        audience=Audience.ORGANIZATION,
        permission=permission,
        **(usual | more),
    )


class EventRequest(Wire):
    event_id: EventId


class VenueWire(Wire):
    name: VenueName = ""
    address: Address = ""
    city: City = ""
    country: Country = ""

    @classmethod
    def of(cls, venue: Venue) -> "VenueWire":
        return cls(**msgspec.structs.asdict(venue))

    def venue(self) -> Venue:
        return Venue(**msgspec.structs.asdict(self))


class AboutWire(Wire):
    """What an event says of itself."""

    title: Title
    description: Description = ""
    venue: VenueWire = VenueWire()
    least_age: Age | None = None
    """Whoever buys says that they are that old."""
    hold_minutes: Annotated[int, Meta(ge=1, le=60)] = 15
    """How long an order is kept for whoever placed it."""
    allow_zero_price_tickets: bool = False
    pricing_mode: PricingMode = PricingMode.STANDARD

    def about(self) -> About:
        return About(
            self.title,
            self.description,
            self.venue.venue(),
            self.least_age,
            self.hold_minutes,
            self.allow_zero_price_tickets,
            self.pricing_mode,
        )


class SessionWire(Wire):
    label: Label
    starts_at: Instant
    ends_at: Instant
    session_id: SessionId | None = None
    """Left out: a new one."""

    @classmethod
    def of(cls, session: Session) -> "SessionWire":
        return cls(session_id=session.id, label=session.label, starts_at=session.starts_at, ends_at=session.ends_at)


Sessions = Annotated[list[SessionWire], Meta(max_length=100)]


def sessions_of(wires: list[SessionWire]) -> tuple[tuple[Session, ...], frozenset[SessionId]]:
    """As they shall be, and which of them are new."""
    known = [(each.session_id or SessionId.new(), each) for each in wires]
    sessions = tuple(Session(own, each.label, each.starts_at, each.ends_at) for own, each in known)
    return sessions, frozenset(own for own, each in known if each.session_id is None)


class CheckinWire(Wire):
    """How people are let in (ENT-012)."""

    requires_entitlement_for_entry: bool = True
    methods: Annotated[tuple[Method, ...], Meta(min_length=1, max_length=4)] = (Method.QR_TICKET,)
    scanner_required: bool = False
    allow_reentry: bool = False
    reentry_window_minutes: Annotated[int, Meta(ge=0, le=10_080)] = 15
    max_entries: Annotated[int, Meta(ge=1, le=1000)] = 1
    undo_window_minutes: Annotated[int, Meta(ge=0, le=1440)] = 10

    @classmethod
    def of(cls, policy: AccessPolicy) -> "CheckinWire":
        checkin = policy.checkin
        return cls(
            requires_entitlement_for_entry=policy.requires_entitlement,
            methods=checkin.methods,
            scanner_required=policy.scanner_required,
            allow_reentry=checkin.allow_reentry,
            reentry_window_minutes=checkin.reentry_minutes,
            max_entries=checkin.max_entries,
            undo_window_minutes=checkin.undo_minutes,
        )

    def checkin(self) -> CheckinPolicy:
        return CheckinPolicy(
            methods=tuple(sorted(set(self.methods))),
            allow_reentry=self.allow_reentry,
            reentry_minutes=self.reentry_window_minutes,
            max_entries=self.max_entries,
            undo_minutes=self.undo_window_minutes,
        )


class PolicyWire(Wire):
    """Who may buy, and how people are let in (EVT-010)."""

    mode: AccessMode = AccessMode.PUBLIC
    guest_checkout_allowed: bool = True
    login_required: bool = False
    invite_token_allowed: bool = False
    invite_identity_match: IdentityMatch = IdentityMatch.EMAIL
    invite_token_ttl_hours: Annotated[int, Meta(ge=1, le=8760)] | None = TOKEN_HOURS
    checkin: CheckinWire = CheckinWire()

    @classmethod
    def of(cls, policy: AccessPolicy) -> "PolicyWire":
        return cls(
            mode=policy.mode,
            guest_checkout_allowed=policy.guest_checkout_allowed,
            login_required=policy.login_required,
            invite_token_allowed=policy.invite_token_allowed,
            invite_identity_match=policy.invite_identity_match,
            invite_token_ttl_hours=policy.invite_token_hours,
            checkin=CheckinWire.of(policy),
        )

    def policy(self, version: int) -> AccessPolicy:
        return AccessPolicy(
            version=version,
            mode=self.mode,
            guest_checkout_allowed=self.guest_checkout_allowed,
            login_required=self.login_required,
            invite_token_allowed=self.invite_token_allowed,
            invite_identity_match=self.invite_identity_match,
            invite_token_hours=self.invite_token_ttl_hours,
            requires_entitlement=self.checkin.requires_entitlement_for_entry,
            scanner_required=self.checkin.scanner_required,
            checkin=self.checkin.checkin(),
        )

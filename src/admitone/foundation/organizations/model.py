"""What organisations are made of."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

import msgspec

from admitone.foundation.authority.api import Denial, Level, Membership
from admitone.kernel.ids import Id, IdentityId, OrganizationId
from admitone.kernel.scope import GLOBAL, Caller
from admitone.kernel.states import Lifecycle
from admitone.kernel.words import Language

INVITATION_LASTS: Final = timedelta(days=7)
OFFICIAL_LINK_LASTS: Final = timedelta(days=7)


class InvitationId(Id, prefix="inv"):
    """One invitation."""


class OrganizationStatus(StrEnum):
    ACTIVE = "ACTIVE"
    SUSPENDED = "SUSPENDED"
    CLOSED = "CLOSED"


class LegalDocument(StrEnum):
    """What an organisation agrees to."""

    TERMS_OF_SERVICE = "TERMS_OF_SERVICE"
    PAYMENT_TERMS = "PAYMENT_TERMS"
    DATA_PROCESSING = "DATA_PROCESSING"
    ORGANIZER_RESPONSIBILITY = "ORGANIZER_RESPONSIBILITY"
    """The organisation answers for what it offers: content, safety, the law, VAT and invoices (FIN-021)."""
    PLATFORM_ENFORCEMENT = "PLATFORM_ENFORCEMENT"
    """The platform takes a fee, and may suspend features and block checkouts for risk or abuse (FIN-021)."""


ON_OFFER: Final = {
    LegalDocument.TERMS_OF_SERVICE: frozenset({"2026-01"}),
    LegalDocument.PAYMENT_TERMS: frozenset({"2026-01"}),
    LegalDocument.DATA_PROCESSING: frozenset({"2026-01"}),
    LegalDocument.ORGANIZER_RESPONSIBILITY: frozenset({"2026-01"}),
    LegalDocument.PLATFORM_ENFORCEMENT: frozenset({"2026-01"}),
}
"""Which versions of each can be agreed to. Whoever publishes another adds it here."""


class InvitationState(StrEnum):
    PENDING = "PENDING"
    ACCEPTED = "ACCEPTED"
    REVOKED = "REVOKED"
    EXPIRED = "EXPIRED"


INVITATION: Final = Lifecycle(
    "invitation",
    initial=InvitationState.PENDING,
    moves={InvitationState.PENDING: (InvitationState.ACCEPTED, InvitationState.REVOKED, InvitationState.EXPIRED)},
)


# -- Organisations


class Invoicing(StrEnum):
    """How an organisation invoices its customers, which is its own duty (FIN-008)."""

    EXTERNAL = "EXTERNAL"
    """With software that it names."""
    MANUAL = "MANUAL"
    """By hand, or elsewhere: it confirms what it answers for."""


class InvoicingDuty(StrEnum):
    """What whoever invoices by hand confirms, all of it."""

    ISSUES_INVOICES = "ISSUES_INVOICES"
    DECLARES_VAT = "DECLARES_VAT"
    KEEPS_RECORDS = "KEEPS_RECORDS"


class Settings(msgspec.Struct, frozen=True):
    """What an organisation says of itself."""

    display_name: str
    legal_name: str | None = None
    tax_id: str | None = None
    tax_country: str | None = None
    invoice_prefix: str | None = None
    invoice_address: tuple[str, ...] = ()
    invoice_email: str | None = None
    default_currency: str = "EUR"
    time_zone: str = "Europe/Lisbon"
    language: Language = Language.PORTUGUESE
    home_city: str = GLOBAL
    invoicing: Invoicing | None = None
    invoicing_software: str | None = None
    invoicing_notes: str | None = None
    invoicing_duties: tuple[InvoicingDuty, ...] = ()
    accent_color: str | None = None
    """Of the pages where it sells, as in #0b5c57; none, for ours."""


CRITICAL: Final = (
    "legal_name",
    "tax_id",
    "tax_country",
    "invoice_prefix",
    "invoice_address",
    "invoice_email",
    "invoicing",
    "invoicing_software",
    "invoicing_notes",
    "invoicing_duties",
)
"""Who the organisation is for the law, and how it invoices: to change these the official e-mail must be verified."""
PLAIN: Final = ("default_currency", "time_zone", "language", "home_city", "accent_color")
"""Of these the audit trail keeps what they were; of the others, that they changed."""


class OfficialEmail(msgspec.Struct, frozen=True):
    """Whether an organisation can be reached officially."""

    organization: OrganizationId
    email: str | None = None
    verified_at: datetime | None = None


class Organization(msgspec.Struct, frozen=True):
    id: OrganizationId
    settings: Settings
    official: OfficialEmail
    status: OrganizationStatus
    version: int
    created_at: datetime


class Founding(msgspec.Struct, frozen=True):
    """A new organisation, which is a group of its own or belongs to its mother's."""

    caller: Caller
    group: OrganizationId
    settings: Settings
    modules: frozenset[str]


class Founded(msgspec.Struct, frozen=True):
    id: OrganizationId
    group: OrganizationId
    display_name: str
    modules: tuple[str, ...]
    """Those that are on."""
    created_at: datetime


class SettingsChange(msgspec.Struct, frozen=True):
    """What an organisation is to say of itself, by somebody who has seen this version of it."""

    caller: Caller
    version: int
    settings: Settings


class OfficialEmailChange(msgspec.Struct, frozen=True):
    caller: Caller
    email: str
    """Normalised."""
    reason_code: str


class OfficialEmailProof(msgspec.Struct, frozen=True):
    """The link that was mailed came back."""

    caller: Caller
    digest: bytes


class ModuleSwitch(msgspec.Struct, frozen=True):
    caller: Caller
    module: str
    enabled: bool


class Acceptance(msgspec.Struct, frozen=True):
    caller: Caller
    document: LegalDocument
    version: str


class Accepted(msgspec.Struct, frozen=True):
    document: LegalDocument
    version: str
    accepted_by: IdentityId
    at: datetime


# -- Teams


class Change(msgspec.Struct, frozen=True):
    """What somebody is to be. `None`: nothing of its own any more."""

    caller: Caller
    target: IdentityId
    to: Membership | Denial | None
    group: dict[UUID, Membership | None] = {}
    """In a branch: what the caller and the target are in the group, which the branch cannot see."""
    instead: dict[UUID, Membership | Denial] = {}
    """In the mother: what the caller is in branches instead, which the mother cannot see."""


class Leaving(msgspec.Struct, frozen=True):
    """Somebody leaves the group, and with it this branch."""

    caller: Caller
    target: IdentityId
    member: Membership | None
    """What they are in the group."""


class Changed(msgspec.Struct, frozen=True):
    """What somebody was and is: in effect, in this organisation."""

    target: IdentityId
    level: Level
    before: Membership | None
    after: Membership | None


# -- Invitations


class Invitation(msgspec.Struct, frozen=True):
    id: InvitationId
    email: str | None
    """Only while it is pending."""
    membership: Membership
    state: InvitationState
    invited_by: IdentityId
    accepted_by: IdentityId | None
    created_at: datetime
    expires_at: datetime

    def state_at(self, now: datetime) -> InvitationState:
        """One that nobody answered in time is expired, whether or not somebody has written it down."""
        overdue = self.state is InvitationState.PENDING and self.expires_at <= now
        return InvitationState.EXPIRED if overdue else self.state


class Invite(msgspec.Struct, frozen=True):
    """Ask somebody to join."""

    caller: Caller
    email: str
    """Normalised."""
    membership: Membership
    group: dict[UUID, Membership | None] = {}
    """In a branch: what the caller is in the group."""
    instead: dict[UUID, Membership | Denial] = {}
    """In the mother: what the caller is in branches instead."""


class Due(msgspec.Struct, frozen=True, rename="camel"):
    """An invitation whose time ends."""

    invitation_id: InvitationId


class Invited(msgspec.Struct, frozen=True):
    id: InvitationId
    expires_at: datetime


class Revocation(msgspec.Struct, frozen=True):
    caller: Caller
    invitation: InvitationId
    group: dict[UUID, Membership | None] = {}


class Answer(msgspec.Struct, frozen=True):
    """Somebody says yes, with the token from the mail."""

    caller: Caller
    digest: bytes
    hashes: frozenset[bytes]
    """Of the address that the caller has proved, under every live key."""
    inviter: IdentityId
    group: dict[UUID, Membership | None] = {}
    """In a branch: what the caller and whoever invited them are in the group."""
    instead: dict[UUID, Membership | Denial] = {}
    """In the mother: what whoever invited them is in branches instead."""


class Joined(msgspec.Struct, frozen=True):
    organization: OrganizationId
    membership: Membership

"""The door for other packages: the gate of the official e-mail, what an organisation says of itself, and for operators
how one begins."""

from admitone.foundation.organizations.commands.appointing import Appointment, appoint, see_off
from admitone.foundation.organizations.commands.founding import found, new_id
from admitone.foundation.organizations.commands.invitations import invite
from admitone.foundation.organizations.commands.official_email import vouch_for_official_email
from admitone.foundation.organizations.commands.profile import change_profile
from admitone.foundation.organizations.commands.settings import accept_documents
from admitone.foundation.organizations.errors import (
    MemberNotFound,
    OfficialEmailNotVerified,
    OfficialEmailRequired,
    OrganizationNotFound,
    TeamTooLarge,
)
from admitone.foundation.organizations.gate import gate, require_official_email
from admitone.foundation.organizations.layout import Layout, LayoutChange, ProfileBlock, Question
from admitone.foundation.organizations.model import (
    ON_OFFER,
    Acceptance,
    Accepted,
    Founding,
    InvitationId,
    Invite,
    Invoicing,
    InvoicingDuty,
    LegalDocument,
    OfficialEmail,
    OfficialEmailChange,
    Organization,
    Settings,
)
from admitone.foundation.organizations.store.organizations import get_organization, list_acceptances

__all__ = (
    "ON_OFFER",
    "Acceptance",
    "Accepted",
    "Appointment",
    "Founding",
    "InvitationId",
    "Invite",
    "Invoicing",
    "InvoicingDuty",
    "Layout",
    "LayoutChange",
    "LegalDocument",
    "MemberNotFound",
    "OfficialEmail",
    "OfficialEmailChange",
    "OfficialEmailNotVerified",
    "OfficialEmailRequired",
    "Organization",
    "OrganizationNotFound",
    "ProfileBlock",
    "Question",
    "Settings",
    "TeamTooLarge",
    "accept_documents",
    "appoint",
    "change_profile",
    "found",
    "gate",
    "get_organization",
    "invite",
    "list_acceptances",
    "new_id",
    "require_official_email",
    "see_off",
    "vouch_for_official_email",
)

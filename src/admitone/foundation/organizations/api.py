"""The door for other packages: the gate of the official e-mail, what an organisation says of itself, and for operators
how one begins."""

from admitone.foundation.organizations.commands.appointing import Appointment, appoint, see_off
from admitone.foundation.organizations.commands.founding import found, new_id
from admitone.foundation.organizations.commands.invitations import invite
from admitone.foundation.organizations.errors import (
    OfficialEmailNotVerified,
    OfficialEmailRequired,
    OrganizationNotFound,
)
from admitone.foundation.organizations.gate import gate, require_official_email
from admitone.foundation.organizations.model import (
    ON_OFFER,
    Accepted,
    Founding,
    Invite,
    Invoicing,
    InvoicingDuty,
    LegalDocument,
    OfficialEmail,
    Organization,
    Settings,
)
from admitone.foundation.organizations.store.organizations import get_organization, list_acceptances

__all__ = (
    "ON_OFFER",
    "Accepted",
    "Appointment",
    "Founding",
    "Invite",
    "Invoicing",
    "InvoicingDuty",
    "LegalDocument",
    "OfficialEmail",
    "OfficialEmailNotVerified",
    "OfficialEmailRequired",
    "Organization",
    "OrganizationNotFound",
    "Settings",
    "appoint",
    "found",
    "gate",
    "get_organization",
    "invite",
    "list_acceptances",
    "new_id",
    "require_official_email",
    "see_off",
)

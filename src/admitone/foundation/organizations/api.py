"""The door for other packages: the gate of the official e-mail, and what an organisation says of itself."""

from admitone.foundation.organizations.errors import OfficialEmailNotVerified, OfficialEmailRequired
from admitone.foundation.organizations.gate import gate, require_official_email
from admitone.foundation.organizations.model import Accepted, LegalDocument, OfficialEmail, Organization, Settings
from admitone.foundation.organizations.store.organizations import get_organization, list_acceptances

__all__ = (
    "Accepted",
    "LegalDocument",
    "OfficialEmail",
    "OfficialEmailNotVerified",
    "OfficialEmailRequired",
    "Organization",
    "Settings",
    "gate",
    "get_organization",
    "list_acceptances",
    "require_official_email",
)

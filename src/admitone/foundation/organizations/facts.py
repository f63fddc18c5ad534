"""What happens to organisations and their teams. Ids only."""

from enum import StrEnum

from admitone.foundation.authority.api import Level, OrganizationModule
from admitone.foundation.organizations.model import LegalDocument
from admitone.kernel.facts import Fact
from admitone.kernel.ids import IdentityId, OrganizationId


class OrganizationCreated(Fact, frozen=True):
    name = "organization.created"
    version = "1.0.0"
    subject = ("ORGANIZATION", "organization_id")

    organization_id: OrganizationId
    group_id: OrganizationId
    """Its own id, unless it is a branch."""


class SettingsChanged(Fact, frozen=True):
    name = "organization.settings_changed"
    version = "1.0.0"
    subject = ("ORGANIZATION", "organization_id")

    organization_id: OrganizationId
    settings_version: int


class ProfileChanged(Fact, frozen=True):
    """What strangers see of an organisation is laid out anew."""

    name = "organization.profile_changed"
    version = "1.0.0"
    subject = ("ORGANIZATION", "organization_id")

    organization_id: OrganizationId
    layout_version: int


class ModuleSwitched(Fact, frozen=True):
    name = "organization.module_switched"
    version = "1.0.0"
    subject = ("ORGANIZATION", "organization_id")

    organization_id: OrganizationId
    module: OrganizationModule
    enabled: bool


class OfficialEmailVerified(Fact, frozen=True):
    name = "organization.official_email_verified"
    version = "1.0.0"
    subject = ("ORGANIZATION", "organization_id")

    organization_id: OrganizationId


class DocumentAccepted(Fact, frozen=True):
    name = "organization.document_accepted"
    version = "1.0.0"
    subject = ("ORGANIZATION", "organization_id")

    organization_id: OrganizationId
    document: LegalDocument
    accepted_by_id: IdentityId


class MemberFate(StrEnum):
    JOINED = "JOINED"
    CHANGED = "CHANGED"
    REMOVED = "REMOVED"


class MemberChanged(Fact, frozen=True):
    """Somebody is something else in this organisation, or in its whole group, than a moment ago."""

    name = "organization.member_changed"
    version = "1.0.0"
    subject = ("IDENTITY", "identity_id")

    identity_id: IdentityId
    organization_id: OrganizationId
    level: Level
    fate: MemberFate

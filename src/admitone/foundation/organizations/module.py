"""The manifest of organisations."""

from admitone.foundation.organizations import routes
from admitone.foundation.organizations.facts import (
    DocumentAccepted,
    MemberChanged,
    ModuleSwitched,
    OfficialEmailVerified,
    OrganizationCreated,
    ProfileChanged,
    SettingsChanged,
)
from admitone.foundation.organizations.handlers import expire_invitations
from admitone.foundation.organizations.model import INVITATION
from admitone.foundation.organizations.port import SHOWCASES
from admitone.foundation.organizations.routes.wires import PLATFORM_AUDIT_R, SETTINGS_R, SETTINGS_RW, TEAM_R, TEAM_RW
from admitone.kernel.manifest import Module, Privacy, Table, TableClass

MODULE = Module(
    name="organizations",
    contracts=routes.CONTRACTS,
    tables=(
        Table(
            "organization",
            TableClass.TENANT,
            Privacy.PERSONAL,
            kept_because="who an organisation is for the law stands on its invoices for as long as they are kept",
        ),
        Table(
            "acceptance",
            TableClass.TENANT,
            Privacy.PSEUDONYMOUS,
            append_only=True,
            kept_because="the proof of what was agreed lasts as long as what was agreed",
        ),
        Table(
            "profile_layout",
            TableClass.TENANT,
            Privacy.PSEUDONYMOUS,
            append_only=True,
            kept_because="what an organisation told everybody, and when, is kept for as long as it answers for it",
        ),
        Table("invitation", TableClass.TENANT, Privacy.PERSONAL, retention_days=90, aged_by="expires_at"),
    ),
    permissions=(PLATFORM_AUDIT_R, SETTINGS_R, SETTINGS_RW, TEAM_R, TEAM_RW),
    limits=routes.LIMITS,
    ports=(SHOWCASES,),
    jobs=(expire_invitations,),
    lifecycles=(INVITATION,),
    facts=(
        OrganizationCreated,
        SettingsChanged,
        ProfileChanged,
        ModuleSwitched,
        OfficialEmailVerified,
        DocumentAccepted,
        MemberChanged,
    ),
    listed_statements=("store.organizations.FIND_CARDS",),
    listed_indexes=("invitation_by_age",),
)

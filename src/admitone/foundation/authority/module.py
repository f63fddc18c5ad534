"""Authority's manifest."""

from admitone.foundation.authority import routes
from admitone.foundation.authority.facts import (
    EventKillSwitch,
    FeatureSwitched,
    IdentityKillSwitch,
    OrganizationKillSwitch,
    PlatformKillSwitch,
    SecurityAlert,
)
from admitone.foundation.authority.features import FEATURES
from admitone.foundation.authority.routes import keys, switches
from admitone.kernel.manifest import Module, Privacy, Table, TableClass

MODULE = Module(
    name="authority",
    contracts=routes.CONTRACTS,
    tables=(
        Table("session", TableClass.IDENTITY, Privacy.PSEUDONYMOUS, retention_days=30, aged_by="lasts_until"),
        Table(
            "spent_token",
            TableClass.IDENTITY,
            Privacy.PSEUDONYMOUS,
            append_only=True,
            retention_days=100,
            aged_by="spent_at",
        ),
        Table("service_key", TableClass.PLATFORM, kept_because="who made which key is part of the trail"),
        Table("branch", TableClass.PLATFORM),
        Table("group_member", TableClass.PLATFORM, Privacy.PSEUDONYMOUS, kept_because="a member is one until removed"),
        Table(
            "member_override", TableClass.PLATFORM, Privacy.PSEUDONYMOUS, kept_because="a member is one until removed"
        ),
        Table("module_entry", TableClass.PLATFORM),
        Table("switch", TableClass.PLATFORM, kept_because="until it is switched back; the trail keeps the rest"),
    ),
    permissions=(switches.SEE, switches.TURN, keys.SEE, keys.CHANGE),
    features=tuple(feature.name for feature in FEATURES),
    facts=(
        SecurityAlert,
        EventKillSwitch,
        OrganizationKillSwitch,
        IdentityKillSwitch,
        PlatformKillSwitch,
        FeatureSwitched,
    ),
    definer_functions=("stopped",),
)

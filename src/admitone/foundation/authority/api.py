"""The door for other packages: sessions, members, modules, switches. Each takes the caller's transaction.

A contract that is new business says `stoppable=True`, and by `guards` what else in its request has a kill switch, as in
`event:evt_…`. Whoever shows such things asks `find_stops` with the same words, as `READING`.
"""

from admitone.foundation.authority.errors import InvalidSession, ModuleDisabled
from admitone.foundation.authority.model import (
    Denial,
    EndReason,
    KeyPurpose,
    Level,
    MemberRole,
    Membership,
    Method,
    OrganizationModule,
    RolePack,
    ServiceKeyId,
    SessionId,
)
from admitone.foundation.authority.policy import (
    AREAS,
    PACKS,
    ROLE_SCOPES,
    covers,
    feature,
    includes,
    is_scope,
    membership_in,
    scopes_of,
    stop_of_identity,
    stop_of_organization,
    why_not,
)
from admitone.foundation.authority.queries import READING, find_scopes, find_stops
from admitone.foundation.authority.resolving import TableAuthority
from admitone.foundation.authority.sessions import Opened, Opening, Refresh, open_sessions, rotate
from admitone.foundation.authority.store.members import (
    find_group,
    insert_branch,
    list_members,
    list_modules,
    list_organizations,
    lock_members,
    lock_overrides,
    put_members,
    put_modules,
    put_overrides,
    remove_members,
    remove_overrides,
)
from admitone.foundation.authority.store.reading import find_switches
from admitone.foundation.authority.store.sessions import confirm_email, end_sessions, end_sessions_of, step_up

__all__ = (
    "AREAS",
    "PACKS",
    "READING",
    "ROLE_SCOPES",
    "Denial",
    "EndReason",
    "InvalidSession",
    "KeyPurpose",
    "Level",
    "MemberRole",
    "Membership",
    "Method",
    "ModuleDisabled",
    "Opened",
    "Opening",
    "OrganizationModule",
    "Refresh",
    "RolePack",
    "ServiceKeyId",
    "SessionId",
    "TableAuthority",
    "confirm_email",
    "covers",
    "end_sessions",
    "end_sessions_of",
    "feature",
    "find_group",
    "find_scopes",
    "find_stops",
    "find_switches",
    "includes",
    "insert_branch",
    "is_scope",
    "list_members",
    "list_modules",
    "list_organizations",
    "lock_members",
    "lock_overrides",
    "membership_in",
    "open_sessions",
    "put_members",
    "put_modules",
    "put_overrides",
    "remove_members",
    "remove_overrides",
    "rotate",
    "scopes_of",
    "step_up",
    "stop_of_identity",
    "stop_of_organization",
    "why_not",
)

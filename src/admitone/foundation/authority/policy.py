"""Who may what: pure decisions.

Promise: the same membership, modules and permission give the same answer, whoever asks; a role, pack, scope, area or
level that is not known here gives nothing. A permission is an area with parts and a level: `PADEL_MATCHES_RW` is
covered by `PADEL_MATCHES_RW`, by `PADEL_RW` and by `PADEL_*`, and covers `PADEL_MATCHES_R`.

A pack is a preset: whoever has one has exactly its scopes, and the role beside it is a rank (ORG-022). The sources name
no scopes of the bare roles; those below are ours: owners have everything, an administrator everything but the
handling of money, others what their work needs.
"""

from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from typing import Final
from uuid import UUID

from admitone.foundation.authority.errors import (
    EventStopped,
    IdentityStopped,
    ModuleDisabled,
    OrganizationStopped,
    PlatformStopped,
    ScopeNotForPurpose,
    ScopeNotHeld,
    StopNotAllowed,
)
from admitone.foundation.authority.model import (
    STEP_UP_LASTS,
    Denial,
    KeyPurpose,
    Known,
    KnownSession,
    MemberRole,
    Membership,
    OrganizationModule,
    RolePack,
    ServiceKeyId,
)
from admitone.kernel.authority import (
    Ask,
    Audience,
    EmailNotConfirmed,
    FeatureDisabled,
    Granted,
    PermissionDenied,
    Stopped,
)
from admitone.kernel.errors import Refusal, Unauthenticated
from admitone.kernel.ids import PLATFORM_ORGANIZATION, IdentityId, OrganizationId
from admitone.kernel.streaks import StepUpRequired

Module = OrganizationModule

AREAS: Final[dict[str, frozenset[str]]] = {
    "EVENTS": frozenset({Module.EVENTOS}),
    "PADEL": frozenset({Module.TORNEIOS}),
    "RESERVAS": frozenset({Module.RESERVAS}),
    "FINANCE": frozenset({Module.FINANCEIRO}),
    "CRM": frozenset({Module.CRM}),
    "SHOP": frozenset({Module.LOJA}),
    "TEAM": frozenset({Module.STAFF}),
    "SETTINGS": frozenset({Module.DEFINICOES}),
    "CHECKIN": frozenset({Module.EVENTOS, Module.TORNEIOS}),
}
"""Which modules, one of which must be on, an area of scopes needs (ORG-021)."""
PLATFORM_AREA: Final = "PLATFORM"
"""Of those who run the installation: members of its own organisation, and nobody else."""
LEVELS: Final = {"R": ("R", "RW", "*"), "RW": ("RW", "*")}
"""Which levels of a scope cover a level that is needed."""

EVERYTHING: Final = frozenset(f"{area}_*" for area in AREAS)

ROLE_SCOPES: Final[dict[str, frozenset[str]]] = {
    MemberRole.OWNER: EVERYTHING,
    MemberRole.CO_OWNER: EVERYTHING,
    MemberRole.ADMIN: frozenset(f"{area}_RW" for area in AREAS if area != "FINANCE") | {"FINANCE_R"},
    MemberRole.STAFF: frozenset({"CHECKIN_RW", "RESERVAS_RW", "EVENTS_R", "PADEL_R", "CRM_R", "SHOP_R"}),
    MemberRole.TRAINER: frozenset({"RESERVAS_R", "PADEL_R"}),
    MemberRole.PROMOTER: frozenset({"EVENTS_R"}),
    MemberRole.VIEWER: frozenset({"EVENTS_R", "PADEL_R", "RESERVAS_R", "SHOP_R", "CHECKIN_R"}),
}

PACKS: Final[dict[str, tuple[MemberRole, frozenset[str]]]] = {
    RolePack.CLUB_MANAGER: (
        MemberRole.ADMIN,
        frozenset({"PADEL_*", "RESERVAS_*", "CHECKIN_*", "CRM_RW", "TEAM_R", "SETTINGS_R"}),
    ),
    RolePack.TOURNAMENT_DIRECTOR: (
        MemberRole.STAFF,
        frozenset({"PADEL_*", "EVENTS_RW", "CHECKIN_RW", "RESERVAS_R"}),
    ),
    RolePack.FRONT_DESK: (MemberRole.STAFF, frozenset({"CHECKIN_*", "RESERVAS_RW", "EVENTS_R", "CRM_R"})),
    RolePack.COACH: (MemberRole.TRAINER, frozenset({"RESERVAS_RW", "PADEL_R", "CRM_R"})),
    # "PADEL_RW (matches/live)": writes what happens on court, and only reads the rest.
    RolePack.REFEREE: (
        MemberRole.STAFF,
        frozenset({"PADEL_R", "PADEL_MATCHES_RW", "PADEL_LIVE_RW", "EVENTS_R", "CHECKIN_R"}),
    ),
}

PLATFORM_SCOPES: Final[dict[str, frozenset[str]]] = {
    MemberRole.OWNER: frozenset({"PLATFORM_*"}),
    MemberRole.CO_OWNER: frozenset({"PLATFORM_*"}),
    MemberRole.ADMIN: frozenset({"PLATFORM_RW"}),
    MemberRole.STAFF: frozenset({"PLATFORM_R"}),
}

FOR_PEOPLE: Final = ("TEAM", "SETTINGS")
"""Who is here and what the organisation is: people decide that, and answer for it."""
KEY_SCOPES: Final[dict[KeyPurpose, frozenset[str]]] = {
    KeyPurpose.API: frozenset(f"{area}_*" for area in AREAS if area not in FOR_PEOPLE) | {"SETTINGS_R"},
    KeyPurpose.SCANNER: frozenset({"CHECKIN_RW"}),
}
"""What keys of a purpose may have at most."""


# -- Scopes


@lru_cache(maxsize=1024)
def covering(permission: str) -> frozenset[str]:
    """Every scope that covers this permission; of one that makes no sense, none."""
    path, _, level = permission.rpartition("_")
    area, *parts = path.split("_")
    if level not in LEVELS or (area not in AREAS and area != PLATFORM_AREA):
        return frozenset()
    wider = ["_".join((area, *parts[:length])) for length in range(len(parts) + 1)]
    return frozenset(f"{each}_{mark}" for each in wider for mark in LEVELS[level])


def is_scope(text: str) -> bool:
    """Whether it is a scope that an organisation can give: an area that exists, with parts, and a level."""
    path, _, level = text.rpartition("_")
    return path.split("_")[0] in AREAS and level in ("R", "RW", "*") and "" not in path.split("_")


def covers(granted: Iterable[str], permission: str) -> bool:
    return not covering(permission).isdisjoint(granted)


def includes(granted: Iterable[str], scope: str) -> bool:
    """Whether whoever has those scopes has this one: nobody gives away what they do not have."""
    held = frozenset(granted)
    if scope.endswith("_*"):
        area = scope.removesuffix("_*")
        wider = ["_".join(area.split("_")[:length]) for length in range(1, area.count("_") + 2)]
        return any(f"{each}_*" in held for each in wider)
    return covers(held, scope)


def scopes_of(membership: Membership) -> frozenset[str]:
    own = PACKS[membership.pack][1] if membership.pack in PACKS else ROLE_SCOPES.get(membership.role, frozenset())
    return own.union(membership.scopes)


def why_no_key(purpose: KeyPurpose, scopes: Iterable[str], held: Iterable[str]) -> Refusal | None:
    """Why somebody who has those scopes cannot make a key with these."""
    held, most = frozenset(held), KEY_SCOPES[purpose]
    for scope in scopes:
        if not is_scope(scope) or not includes(most, scope):
            return ScopeNotForPurpose(scope=scope)
        if not includes(held, scope):
            return ScopeNotHeld(scope=scope)
    return None


def modules_of(permission: str) -> frozenset[str]:
    return AREAS.get(permission.partition("_")[0], frozenset())


# -- Memberships


def membership_in(
    organization: UUID, member: Membership | None, override: Membership | Denial | None
) -> Membership | None:
    """What somebody is in a branch: the override's word beats the group's, except about owners of the group."""
    if member and member.role == MemberRole.OWNER:
        return member
    if isinstance(override, Denial):
        return None
    if override:
        return override
    if member and (member.branches is None or organization in member.branches):
        return member
    return None


def why_not(membership: Membership | None, modules: Iterable[str], permission: str) -> Refusal | None:
    """Role and module are asked apart, and both must say yes, also to an owner (ORG-012)."""
    if membership is None or not covers(scopes_of(membership), permission):
        return PermissionDenied(permission=permission)
    return _without_module(modules, permission)


def _without_module(modules: Iterable[str], permission: str) -> Refusal | None:
    needed = modules_of(permission)
    return ModuleDisabled(module=min(needed, default="")) if needed.isdisjoint(modules) else None


def why_not_on_platform(member: Membership | None, permission: str) -> Refusal | None:
    granted = PLATFORM_SCOPES.get(member.role, frozenset()) if member else frozenset()
    return None if covers(granted, permission) else PermissionDenied(permission=permission)


# -- Switches


def feature(name: str) -> str:
    return f"feature:{name}"


def stop_of(guard: str) -> str:
    """What stops whatever a contract calls so in its guards: `event:evt_…`."""
    return f"stop:{guard}"


def stop_of_organization(organization: OrganizationId) -> str:
    return stop_of(f"organization:{organization}")


def stop_of_identity(identity: IdentityId) -> str:
    return stop_of(f"identity:{identity}")


STOP_OF_PLATFORM: Final = stop_of("platform")

Switch = tuple[UUID, str]
"""Whose it is, and its key."""


def switches_of(ask: Ask) -> set[Switch]:
    """What must be looked up before an ask can be decided."""
    ours = PLATFORM_ORGANIZATION.uuid
    found: set[Switch] = set()
    if ask.gate:
        found.add((ours, feature(ask.gate)))
        if ask.organization:
            found.add((ask.organization.uuid, feature(ask.gate)))
    found.update((ours, key) for key in stops_of(ask))
    return found


def stops_of(ask: Ask) -> dict[str, type[Stopped]]:
    """What could stop it, in the order in which it is said."""
    if not ask.stoppable:
        return {}
    stops: dict[str, type[Stopped]] = {STOP_OF_PLATFORM: PlatformStopped}
    if ask.organization:
        stops[stop_of_organization(ask.organization)] = OrganizationStopped
    for guard in ask.guards:
        stops[stop_of(guard)] = OrganizationStopped if guard.startswith("organization:") else EventStopped
    return stops


def why_not_stop(actor: Membership | None, target: Membership | None = None) -> Refusal | None:
    """Whether one who runs the platform may stop another."""
    ranks = [str(role) for role in MemberRole]
    if target is None or target.role not in ranks:
        return None
    above = actor is not None and actor.role in ranks and ranks.index(actor.role) < ranks.index(target.role)
    return None if above else StopNotAllowed()


# -- The decision


def decide(ask: Ask, known: Known | None, on: frozenset[Switch], now: datetime) -> Granted | Refusal:
    """The first reason to refuse, in the order a caller should hear it. A key is good for its organisation's contracts
    and for no others: where people are recognised, it is nobody."""
    anonymous = ask.audience in (Audience.PUBLIC, Audience.INTERNAL)
    if known and known.key and anonymous:
        return Unauthenticated()
    session, key = (known.session, known.key) if known else (None, None)
    who = _identity_of(known)
    if session is None and key is None and (ask.credential or not anonymous):
        return Unauthenticated()
    if session and session.stopped:
        return IdentityStopped().to(who)
    if closed := _closed(ask, on):
        return closed
    refused = _unpermitted(ask, known, session) if not anonymous else None
    if refused is None:
        refused = _unproved(ask, session, now)
    if refused is not None:
        return refused.to(who, at_home=_is_at_home(ask, known))
    credential = session.id if session else key.id if key else None
    device = str(ServiceKeyId(key.id)) if key and key.purpose is KeyPurpose.SCANNER else None
    return Granted(who, ask.organization, credential, device)


def _identity_of(known: Known | None) -> IdentityId | None:
    if known and known.session:
        return known.session.identity
    return IdentityId(known.key.id) if known and known.key else None


def _is_at_home(ask: Ask, known: Known | None) -> bool:
    """Whether it is a member, or a key, of the organisation that it named."""
    if known is None or ask.organization is None:
        return False
    if known.key:
        return known.key.organization == ask.organization
    return membership_in(ask.organization.uuid, known.member, known.override) is not None


def _closed(ask: Ask, on: frozenset[Switch]) -> Refusal | None:
    ours = PLATFORM_ORGANIZATION.uuid
    if ask.gate:
        homes = [ours, ask.organization.uuid] if ask.organization else [ours]
        if not any((home, feature(ask.gate)) in on for home in homes):
            return FeatureDisabled()
    return next((kind() for key, kind in stops_of(ask).items() if (ours, key) in on), None)


def _unpermitted(ask: Ask, known: Known | None, session: KnownSession | None) -> Refusal | None:
    """A person's own matters are for people; an organisation's for its members and keys; the platform's for ours."""
    assert known is not None
    needed = ask.permission or ""
    match ask.audience:
        case Audience.PERSON:
            return None if session else Unauthenticated()
        case Audience.ADMIN:
            return why_not_on_platform(known.member if session else None, needed)
        case _:
            assert ask.organization is not None
            if session:
                membership = membership_in(ask.organization.uuid, known.member, known.override)
                return why_not(membership, known.modules, needed)
            return _unpermitted_key(ask.organization, known, needed)


def _unpermitted_key(organization: OrganizationId, known: Known, needed: str) -> Refusal | None:
    key = known.key
    if key is None or key.organization != organization or not covers(key.scopes, needed):
        return PermissionDenied(permission=needed)
    if not covers(KEY_SCOPES[key.purpose], needed):
        return PermissionDenied(permission=needed)
    return _without_module(known.modules, needed)


def _unproved(ask: Ask, session: KnownSession | None, now: datetime) -> Refusal | None:
    if ask.verified_only and session and not session.email_verified:  # A key was made by somebody who was asked.
        return EmailNotConfirmed()
    if ask.step_up and not (session and session.proved_at and session.proved_at > now - STEP_UP_LASTS):
        return StepUpRequired()
    return None

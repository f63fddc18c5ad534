"""What organisations decide, without touching anything.

Promise: an owner makes and changes anybody; everybody else gives and takes away only ranks below their own, and only
what they have themselves. Oneself one may always make less. So nobody climbs, alone or with the help of another.
"""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from admitone.foundation.authority.api import (
    PACKS,
    Denial,
    Level,
    MemberRole,
    Membership,
    OrganizationModule,
    covers,
    includes,
    is_scope,
    membership_in,
    scopes_of,
)
from admitone.foundation.organizations.errors import (
    GrantNotAllowed,
    LastOwner,
    MemberNotFound,
    OfficialEmailNotVerified,
    OfficialEmailRequired,
    OwnerOfGroup,
    PackWithoutItsRole,
    UnknownScope,
)
from admitone.foundation.organizations.model import Change, Changed, OfficialEmail
from admitone.kernel.errors import Refusal

RANKS: Final = {role: rank for rank, role in enumerate(MemberRole)}
"""The owner's is 0."""
LOWEST: Final = len(RANKS)
"""Of whoever is nothing, or something that we do not know."""

ROLE_WORDS: Final[dict[str, str]] = {
    MemberRole.OWNER: "Owner",
    MemberRole.CO_OWNER: "Co-owner",
    MemberRole.ADMIN: "Administrator",
    MemberRole.STAFF: "Staff",
    MemberRole.TRAINER: "Trainer",
    MemberRole.PROMOTER: "Promoter",
    MemberRole.VIEWER: "Viewer",
}
"""As people read it."""

ALWAYS_ON: Final = frozenset({OrganizationModule.DEFINICOES})
"""Without these nobody could switch anything on again."""
FROM_THE_START: Final = frozenset({OrganizationModule.STAFF, OrganizationModule.DEFINICOES})


# -- Who may give what


def rank_of(membership: Membership | None) -> int:
    return RANKS.get(membership.role, LOWEST) if membership else LOWEST  # type: ignore[call-overload]


def impossible(membership: Membership) -> Refusal | None:
    """What cannot be given at all, whoever gives it."""
    if membership.role == MemberRole.OWNER and membership.level is Level.BRANCH:
        return OwnerOfGroup()
    if membership.pack is not None and PACKS[membership.pack][0] != membership.role:
        return PackWithoutItsRole(role=PACKS[membership.pack][0])
    strange = next((scope for scope in membership.scopes if not is_scope(scope)), None)
    return UnknownScope(scope=strange) if strange is not None else None


def why_not_change(
    actor: Membership | None, before: Membership | None, after: Membership | None, *, oneself: bool = False
) -> Refusal | None:
    """Whether somebody who is `actor` may turn `before` into `after`."""
    own = rank_of(actor)
    if own == LOWEST:
        return GrantNotAllowed(reason="NOT_A_MEMBER")
    highest = 0 if own == 0 else own + 1
    if rank_of(before) < highest and not oneself:
        return GrantNotAllowed(reason="RANK_OF_MEMBER")
    if rank_of(after) < (own if oneself else highest):
        return GrantNotAllowed(reason="RANK_OF_ROLE")
    assert actor is not None
    return None if after is None or _has_all(actor, after) else GrantNotAllowed(reason="SCOPES")


def _has_all(actor: Membership, given: Membership) -> bool:
    """Of a role or a pack one must have what it permits; `*` permits no more than `RW` does. A single scope that is
    given beside them one must have as it is."""
    held = scopes_of(actor)
    preset = scopes_of(Membership(given.role, given.pack))
    return all(_permits(held, scope) for scope in preset) and all(includes(held, scope) for scope in given.scopes)


def _permits(held: frozenset[str], scope: str) -> bool:
    return includes(held, scope) or (scope.endswith("_*") and covers(held, f"{scope.removesuffix('*')}RW"))


class Group:
    """Decides changes of the members of a group, one after another: the second of a batch sees the first.

    Knows the members who are meant, the callers, and every owner.
    """

    level = Level.GROUP

    def __init__(self, members: Mapping[UUID, Membership]) -> None:
        self._began = dict(members)
        self._now = dict(members)

    def decide(self, change: Change) -> Changed | Refusal:
        target, actor = change.target.uuid, change.caller.actor
        before, after = self._now.get(target), change.to
        assert actor is not None
        assert not isinstance(after, Denial)
        if before is None:
            return MemberNotFound()
        if refusal := (impossible(after) if after else None):
            return refusal
        if refusal := why_not_change(self._now.get(actor.uuid), before, after, oneself=target == actor.uuid):
            return refusal
        if before.role == MemberRole.OWNER and rank_of(after) > 0 and self._owners() == 1:
            return LastOwner()
        self._put(target, after)
        return Changed(change.target, self.level, before, after)

    def admit(self, target: UUID, membership: Membership) -> None:
        """Somebody who was invited and said yes."""
        self._put(target, membership)

    def effective(self, group: Mapping[UUID, Membership | None], who: UUID) -> Membership | None:  # noqa: ARG002
        """The group knows its members itself."""
        return self._now.get(who)

    def knows(self, who: UUID) -> bool:
        return who in self._now

    def _put(self, target: UUID, after: Membership | None) -> None:
        if after is None:
            del self._now[target]
        else:
            self._now[target] = after

    def _owners(self) -> int:
        return sum(member.role == MemberRole.OWNER for member in self._now.values())

    def written(self) -> dict[UUID, Membership]:
        """What to write: what somebody is in the end, unless they were before."""
        return {who: member for who, member in self._now.items() if self._began.get(who) != member}

    def removed(self) -> list[UUID]:
        return sorted(self._began.keys() - self._now.keys())


class Branch:
    """Decides what people are in one branch instead, one after another."""

    level = Level.BRANCH

    def __init__(self, organization: UUID, overrides: Mapping[UUID, Membership | Denial]) -> None:
        self._organization = organization
        self._began = dict(overrides)
        self._now = dict(overrides)

    def decide(self, change: Change) -> Changed | Refusal:
        target, actor = change.target.uuid, change.caller.actor
        assert actor is not None
        member = change.group.get(target)
        if member is None and target not in self._now:
            return MemberNotFound()
        to = change.to
        if member and member.role == MemberRole.OWNER and to is not None:
            return OwnerOfGroup()
        if isinstance(to, Membership) and (refusal := impossible(to)):
            return refusal
        before = self.effective(change.group, target)
        after = membership_in(self._organization, member, to)
        whose = self.effective(change.group, actor.uuid)
        if refusal := why_not_change(whose, before, after, oneself=target == actor.uuid):
            return refusal
        if to is None:
            self._now.pop(target, None)
        else:
            self._now[target] = to
        return Changed(change.target, self.level, before, after)

    def effective(self, group: Mapping[UUID, Membership | None], who: UUID) -> Membership | None:
        return membership_in(self._organization, group.get(who), self._now.get(who))

    def knows(self, who: UUID) -> bool:
        """Also whom it keeps out."""
        return who in self._now

    def admit(self, target: UUID, membership: Membership) -> None:
        self._now[target] = membership

    def written(self) -> dict[UUID, Membership | Denial]:
        return {who: to for who, to in self._now.items() if self._began.get(who) != to}

    def removed(self) -> list[UUID]:
        return sorted(self._began.keys() - self._now.keys())


# -- The gate of the official e-mail (CAUTH.01)


def settings_url(official: OfficialEmail) -> str:
    return f"/org/{official.organization}/settings?tab=official-email"


def why_not_official(official: OfficialEmail, reason_code: str, request_id: str) -> OfficialEmailRequired | None:
    """The same organisation and reason get the same answer, and nothing is changed by asking."""
    if official.email and official.verified_at:
        return None
    kind = OfficialEmailNotVerified if official.email else OfficialEmailRequired
    url = settings_url(official)
    return kind(request_id=request_id, email=official.email, verify_url=url, next_step_url=url, reason_code=reason_code)

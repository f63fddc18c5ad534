"""What organisations decide, without touching anything.

Promise: an owner makes and changes anybody; everybody else gives and takes away only ranks below their own, and only
what they have themselves, and only where they have it. Oneself one may always make less. So nobody climbs, alone or
with the help of another.
"""

from collections.abc import Collection, Mapping
from typing import Final
from uuid import UUID

import msgspec

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
    InvoicingIncomplete,
    LastOwner,
    MemberNotFound,
    OfficialEmailNotVerified,
    OfficialEmailRequired,
    OwnerOfGroup,
    PackWithoutItsRole,
    UnknownScope,
)
from admitone.foundation.organizations.model import (
    Answer,
    Change,
    Changed,
    Invite,
    Invoicing,
    InvoicingDuty,
    OfficialEmail,
    Settings,
)
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId

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


class Reach(msgspec.Struct, frozen=True):
    """Where in a group somebody has what the group says that they are."""

    only: frozenset[UUID] | None = None
    """Everywhere, unless they are limited to some branches."""
    less_in: frozenset[UUID] = frozenset()
    """Which say that they are less there, or nothing."""

    def covers(self, branches: Collection[UUID] | None) -> bool:
        """Left out, these are all branches, also those that are founded later."""
        if branches is None:
            return self.only is None and not self.less_in
        return self.less_in.isdisjoint(branches) and (self.only is None or self.only.issuperset(branches))


EVERYWHERE: Final = Reach()


def reach_of(member: Membership | None, instead: Mapping[UUID, Membership | Denial]) -> Reach:
    if member is None or member.role == MemberRole.OWNER:
        return EVERYWHERE
    less_in = frozenset(branch for branch, override in instead.items() if not _is_all_of(override, member))
    return Reach(None if member.branches is None else frozenset(member.branches), less_in)


def _is_all_of(override: Membership | Denial, member: Membership) -> bool:
    return isinstance(override, Membership) and rank_of(override) <= rank_of(member) and _has_all(override, member)


def why_not_change(
    actor: Membership | None,
    before: Membership | None,
    after: Membership | None,
    *,
    oneself: bool = False,
    reach: Reach = EVERYWHERE,
) -> Refusal | None:
    """Whether somebody who is `actor` may turn `before` into `after`; for what is given in a whole group, `reach` says
    where they are."""
    own = rank_of(actor)
    if own == LOWEST:
        return GrantNotAllowed(reason="NOT_A_MEMBER")
    highest = 0 if own == 0 else own + 1
    if rank_of(before) < highest and not oneself:
        return GrantNotAllowed(reason="RANK_OF_MEMBER")
    if rank_of(after) < (own if oneself else highest):
        return GrantNotAllowed(reason="RANK_OF_ROLE")
    assert actor is not None
    if after is None:
        return None
    if not _has_all(actor, after):
        return GrantNotAllowed(reason="SCOPES")
    return None if reach.covers(after.branches) or _is_less(before, after) else GrantNotAllowed(reason="BRANCHES")


def _is_less(before: Membership | None, after: Membership) -> bool:
    """Whether nobody gains anything anywhere, so that it can be said also about where one is nothing oneself."""
    return before is not None and (
        rank_of(after) >= rank_of(before) and _has_all(before, after) and reach_of(before, {}).covers(after.branches)
    )


def why_not_leave(
    actor: Membership | None, standings: Collection[Membership], *, oneself: bool, is_last_owner: bool
) -> Refusal | None:
    """Whether somebody may take away all that another is in a group and its branches: the highest of it counts."""
    if not standings:
        return None
    highest = min(standings, key=rank_of)
    return why_not_change(actor, highest, None, oneself=oneself) or (LastOwner() if is_last_owner else None)


def why_not_invite(
    team: "Group | Branch", given: Invite | Answer, by: IdentityId, membership: Membership
) -> Refusal | None:
    """Whoever invites is in charge of the team, when they do so and still when somebody says yes."""
    inviter = team.effective(given.group, by.uuid)
    if inviter is None or not covers(scopes_of(inviter), "TEAM_RW"):
        return GrantNotAllowed(reason="NOT_IN_CHARGE").to(by)
    return impossible(membership) or team.why_not(given, by, None, membership)


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
        if refusal := self.why_not(change, actor, before, after, oneself=target == actor.uuid):
            return refusal
        return self.turn(change.target, after)

    def turn(self, who: IdentityId, after: Membership | None) -> Changed | Refusal:
        """Whoever asks: nobody is made what cannot be, nobody leaves who was not there, and a group keeps an owner."""
        before = self._now.get(who.uuid)
        if refusal := (impossible(after) if after else None):
            return refusal
        if before is None and after is None:
            return MemberNotFound()
        if before and before.role == MemberRole.OWNER and rank_of(after) > 0 and self._owners() == 1:
            return LastOwner()
        self._put(who.uuid, after)
        return Changed(who, self.level, before, after)

    def why_not(
        self,
        given: Change | Invite | Answer,
        by: IdentityId,
        before: Membership | None,
        after: Membership | None,
        *,
        oneself: bool = False,
    ) -> Refusal | None:
        """Whether `by` may turn the one into the other."""
        actor = self._now.get(by.uuid)
        reach = reach_of(actor, given.instead)
        refusal = why_not_change(actor, before, after, oneself=oneself, reach=reach)
        return refusal.to(by) if refusal else None

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
        if refusal := self.why_not(change, actor, before, after, oneself=target == actor.uuid):
            return refusal
        if to is None:
            self._now.pop(target, None)
        else:
            self._now[target] = to
        return Changed(change.target, self.level, before, after)

    def why_not(
        self,
        given: Change | Invite | Answer,
        by: IdentityId,
        before: Membership | None,
        after: Membership | None,
        *,
        oneself: bool = False,
    ) -> Refusal | None:
        """What is given here reaches nowhere else."""
        refusal = why_not_change(self.effective(given.group, by.uuid), before, after, oneself=oneself)
        return refusal.to(by) if refusal else None

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


# -- How an organisation invoices (FIN-008)


def why_not_invoiced_so(before: Settings, after: Settings) -> InvoicingIncomplete | None:
    """Whoever said it once may say it otherwise, and never again nothing."""
    missing: tuple[str, ...] = ()
    match after.invoicing:
        case None if before.invoicing or _says_more(after):
            missing = ("invoicing",)
        case Invoicing.EXTERNAL if not after.invoicing_software or after.invoicing_duties:
            missing = ("invoicingSoftware",)
        case Invoicing.MANUAL if {*InvoicingDuty} - {*after.invoicing_duties} or after.invoicing_software:
            missing = ("invoicingDuties",)
    return InvoicingIncomplete(missing=missing) if missing else None


def _says_more(settings: Settings) -> bool:
    return bool(settings.invoicing_software or settings.invoicing_notes or settings.invoicing_duties)


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

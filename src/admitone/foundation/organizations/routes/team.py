"""Teams: who is what here, and changing it. In the mother's path it is the whole group, in a branch's that branch."""

from collections.abc import Sequence
from typing import Annotated, Final
from uuid import UUID

from msgspec import Meta

from admitone.foundation.authority import api as authority
from admitone.foundation.authority.api import Denial, Level, MemberRole, Membership, RolePack
from admitone.foundation.identity.api import list_names
from admitone.foundation.organizations import queries, roster
from admitone.foundation.organizations.commands.team import change_members, change_overrides, forget, shut_out
from admitone.foundation.organizations.errors import (
    BranchesOfBranch,
    BranchNotFound,
    GrantNotAllowed,
    LastOwner,
    MemberNotFound,
    NotInTheMother,
    OrganizationNotFound,
    OwnerOfGroup,
    PackWithoutItsRole,
    TeamTooLarge,
    UnknownScope,
)
from admitone.foundation.organizations.model import Change, Changed, Leaving
from admitone.foundation.organizations.policy import why_not_leave
from admitone.foundation.organizations.queries import ACROSS, FIRST, PEOPLE, Member
from admitone.foundation.organizations.roster import Named, TeamOrder, Wanted
from admitone.foundation.organizations.routes.organizations import group_of
from admitone.foundation.organizations.routes.wires import SOMEBODY, TEAM_R, TEAM_RW, here, me
from admitone.kernel.contracts import Audience, Call, Contract, Example, Page, PageRequest, Wire
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.scope import Scope

ScopeName = Annotated[str, Meta(min_length=3, max_length=60, pattern=r"^[A-Z]+(_[A-Z]+)*_(\*|[A-Z]+)$(?!\n)")]
Scopes = Annotated[list[ScopeName], Meta(max_length=40)]
NameSearch = Annotated[str, Meta(max_length=100, pattern=r"^[^\x00-\x1f]*$(?!\n)")]
Branches = Annotated[list[OrganizationId], Meta(min_length=1, max_length=200)]

GRANT_REFUSALS: Final = (
    OrganizationNotFound,
    GrantNotAllowed,
    OwnerOfGroup,
    PackWithoutItsRole,
    UnknownScope,
    BranchNotFound,
    BranchesOfBranch,
)


class Grant(Wire):
    """What somebody is to be."""

    role: MemberRole
    pack: RolePack | None = None
    scopes: Scopes = []  # noqa: RUF012, msgspec copies it
    branches: Branches | None = None
    """Of a member of the group: only in these."""

    async def membership(self, call: Call, group: OrganizationId) -> Membership:
        """As it stands in this organisation: of the whole group, or of this branch."""
        scopes = tuple(sorted({*self.scopes}))
        if group != here(call):
            if self.branches is not None:
                raise BranchesOfBranch
            return Membership(self.role, self.pack, scopes, Level.BRANCH)
        if self.branches is None:
            return Membership(self.role, self.pack, scopes)
        if self.role is MemberRole.OWNER:
            raise OwnerOfGroup
        await call.read(queries.check_branches, group, tuple(self.branches), scope=ACROSS)
        within = tuple(sorted({branch.uuid for branch in self.branches}))
        return Membership(self.role, self.pack, scopes, Level.GROUP, within)


class MembershipAnswer(Wire):
    role: str
    pack: str | None
    scopes: list[str]
    branches: list[OrganizationId] | None

    @classmethod
    def of(cls, membership: Membership | None) -> "MembershipAnswer | None":
        if membership is None:
            return None
        within = membership.branches
        return cls(
            role=membership.role,
            pack=membership.pack,
            scopes=list(membership.scopes),
            branches=None if within is None else [OrganizationId(branch) for branch in within],
        )


class MemberAnswer(Wire):
    identity: IdentityId
    display_name: str | None
    """Addresses are for whoever exports them and says why."""
    is_now: MembershipAnswer | None
    """What they are here, all in all; nothing, when the branch says so, or they are limited to others."""
    level: Level | None
    """Where that was given."""
    inherited: MembershipAnswer | None
    """What they are in the group."""
    overridden: bool
    """Whether this branch says something else."""

    @classmethod
    def of(cls, member: Member, name: str | None) -> "MemberAnswer":
        return cls(
            identity=member.identity,
            display_name=name,
            is_now=MembershipAnswer.of(member.effective),
            level=member.effective.level if member.effective else None,
            inherited=MembershipAnswer.of(member.member),
            overridden=member.override is not None,
        )


DESK: Final = MembershipAnswer(role=MemberRole.STAFF, pack=RolePack.FRONT_DESK, scopes=[], branches=None)
SHOWN: Final = MemberAnswer(
    identity=SOMEBODY, display_name="Ana", is_now=DESK, level=Level.GROUP, inherited=DESK, overridden=False
)


class MembersRequest(PageRequest):
    search: NameSearch = ""
    """Beginnings of somebody's names, with or without accents."""
    role: MemberRole | None = None
    order: TeamOrder = TeamOrder.ID

    @property
    def wanted(self) -> Wanted:
        return Wanted(self.search, self.role)


members = Contract(
    id="TEAM.01",
    version="1.0.0",
    owner="organizations",
    consumers=("web", "mobile"),
    summary="Who is what here: by the group, or by this branch instead. A page may be short and still have a next.",
    get="/api/org/{organizationId}/members",
    takes=MembersRequest,
    gives=Page[MemberAnswer],
    refuses=(OrganizationNotFound, TeamTooLarge),
    audience=Audience.ORGANIZATION,
    permission=TEAM_R,
    order_key="identity",
    examples=(
        Example(
            "one",
            takes=MembersRequest(limit=1, order=TeamOrder.NAME),
            gives=Page(items=[SHOWN], next_cursor=None),
        ),
    ),
)


@members.serves
async def list_members(call: Call, request: MembersRequest) -> Page[MemberAnswer]:
    after, group = request.after(request.order.key), await group_of(call)
    if request.order is TeamOrder.ID:
        return await _by_id(call, request, group, after[0] if after else FIRST)
    team = await call.read(queries.list_team, group, here(call), FIRST, roster.MOST + 1, scope=ACROSS)
    if len(team) > roster.MOST:
        raise TeamTooLarge
    named = roster.rest_of(await _named(call, group, team, request.wanted), request.order, after)
    found = request.page(named[: request.limit + 1], key=lambda each: each.place(request.order))
    return Page(items=[MemberAnswer.of(each.member, each.name) for each in found.items], next_cursor=found.next_cursor)


async def _by_id(call: Call, request: MembersRequest, group: OrganizationId, after: UUID) -> Page[MemberAnswer]:
    team = await call.read(queries.list_team, group, here(call), after, request.limit + 1, scope=ACROSS)
    named = await _named(call, group, team[: request.limit], request.wanted)
    # Whoever is nothing here, or not wanted, is left out: a page ends where the look did, not with the last one shown.
    last = team[request.limit - 1].identity.uuid if len(team) > request.limit else None
    shown = [MemberAnswer.of(each.member, each.name) for each in named]
    return Page(items=shown, next_cursor=request.cursor_at((last,)) if last else None)


async def _named(call: Call, group: OrganizationId, team: Sequence[Member], wanted: Wanted) -> list[Named]:
    """Those who belong here and are wanted; no address is opened for it."""
    level = level_of(call, group)
    there = [member for member in team if queries.belongs(member, level)]
    names = await call.read(list_names, [member.identity for member in there], scope=PEOPLE)
    return [each for member in there if wanted.wants(each := Named(member, names.get(member.identity)))]


class ChangeRequest(Grant, kw_only=True):
    identity: IdentityId


class ChangeAnswer(Wire):
    identity: IdentityId
    level: Level
    before: MembershipAnswer | None
    after: MembershipAnswer | None

    @classmethod
    def of(cls, changed: Changed) -> "ChangeAnswer":
        return cls(
            identity=changed.target,
            level=changed.level,
            before=MembershipAnswer.of(changed.before),
            after=MembershipAnswer.of(changed.after),
        )


WAS: Final = MembershipAnswer(role=MemberRole.VIEWER, pack=None, scopes=[], branches=None)


change = Contract(
    id="TEAM.02",
    version="1.0.0",
    owner="organizations",
    consumers=("web", "mobile"),
    summary="Make a member something else: in the whole group, or in this branch instead.",
    put="/api/org/{organizationId}/members/{identity}",
    takes=ChangeRequest,
    gives=ChangeAnswer,
    refuses=(*GRANT_REFUSALS, MemberNotFound, LastOwner),
    audience=Audience.ORGANIZATION,
    permission=TEAM_RW,
    repeats="the last word stays",
    order_key="identity",
    examples=(
        Example(
            "front desk",
            takes=ChangeRequest(identity=SOMEBODY, role=MemberRole.STAFF, pack=RolePack.FRONT_DESK),
            gives=ChangeAnswer(identity=SOMEBODY, level=Level.GROUP, before=WAS, after=DESK),
        ),
    ),
)


@change.serves
async def make(call: Call, request: ChangeRequest) -> ChangeAnswer:
    group = await group_of(call)
    return ChangeAnswer.of(await turn(call, group, request.identity, await request.membership(call, group)))


class MemberRequest(Wire):
    identity: IdentityId


LEFT: Final = Example(
    "gone",
    takes=MemberRequest(identity=SOMEBODY),
    gives=ChangeAnswer(identity=SOMEBODY, level=Level.GROUP, before=DESK, after=None),
)


remove = Contract(
    id="TEAM.03",
    version="1.0.0",
    owner="organizations",
    consumers=("web", "mobile"),
    summary="Take somebody out of the group and all its branches; in a branch, take back what only the branch said.",
    delete="/api/org/{organizationId}/members/{identity}",
    takes=MemberRequest,
    gives=ChangeAnswer,
    refuses=(OrganizationNotFound, GrantNotAllowed, MemberNotFound, LastOwner, OwnerOfGroup),
    audience=Audience.ORGANIZATION,
    permission=TEAM_RW,
    repeats="whoever is gone is not found any more",
    order_key="identity",
    examples=(LEFT,),
)


@remove.serves
async def take_out(call: Call, request: MemberRequest) -> ChangeAnswer:
    group = await group_of(call)
    who = request.identity
    leaving = see_off(call, group, who) if group == here(call) else turn(call, group, who, None)
    return ChangeAnswer.of(await leaving)


deny = Contract(
    id="TEAM.04",
    version="1.0.0",
    owner="organizations",
    consumers=("web", "mobile"),
    summary="Keep a member of the group out of this branch.",
    put="/api/org/{organizationId}/members/{identity}/denial",
    takes=MemberRequest,
    gives=ChangeAnswer,
    refuses=(OrganizationNotFound, GrantNotAllowed, MemberNotFound, OwnerOfGroup, NotInTheMother),
    audience=Audience.ORGANIZATION,
    permission=TEAM_RW,
    repeats="whoever is kept out stays out",
    order_key="identity",
    examples=(LEFT,),
)


@deny.serves
async def keep_out(call: Call, request: MemberRequest) -> ChangeAnswer:
    group = await group_of(call)
    if group == here(call):
        raise NotInTheMother
    return ChangeAnswer.of(await turn(call, group, request.identity, Denial()))


def level_of(call: Call, group: OrganizationId) -> Level:
    return Level.GROUP if group == here(call) else Level.BRANCH


async def turn(call: Call, group: OrganizationId, who: IdentityId, to: Membership | Denial | None) -> Changed:
    """Make somebody something, at the level of the organisation that is called."""
    if group == here(call):
        return await call.batch(
            change_members, Change(call.caller, who, to, {}, await instead_of(call, group, me(call)))
        )
    standing = await in_group(call, group, here(call), [me(call), who])
    return await call.batch(change_overrides, Change(call.caller, who, to, standing))


async def in_group(
    call: Call, group: OrganizationId, branch: OrganizationId, people: Sequence[IdentityId]
) -> dict[UUID, Membership | None]:
    """What they are in the group, which a branch does not see."""
    ids = sorted({person.uuid for person in people})
    found = await call.read(authority.find_memberships, group.uuid, branch.uuid, ids, scope=ACROSS)
    return {who: member for who, (member, _) in found.items()}


async def instead_of(call: Call, group: OrganizationId, who: IdentityId) -> dict[UUID, Membership | Denial]:
    """What branches say that somebody is, which the mother does not see."""
    return await call.read(authority.find_overrides, group.uuid, who.uuid, scope=ACROSS)


async def see_off(call: Call, group: OrganizationId, who: IdentityId) -> Changed:
    """Out of the group and all its branches. That one may is asked before anything is written."""
    known = await in_group(call, group, group, [me(call), who])
    overrides, member = await instead_of(call, group, who), known[who.uuid]
    if member is None and not overrides:
        raise MemberNotFound
    standings = [each for each in (member, *overrides.values()) if isinstance(each, Membership)]
    is_last_owner = await call.read(authority.list_owners) == [who.uuid]
    oneself = who == me(call)
    if refusal := why_not_leave(known[me(call).uuid], standings, oneself=oneself, is_last_owner=is_last_owner):
        raise refusal.to(me(call))
    leaving = Leaving(call.caller, who, member)
    branches = [Scope(OrganizationId(branch), "a member leaves the group") for branch in overrides]
    changed = [await call.batch(shut_out, leaving, scope=branch) for branch in branches]
    if member is not None:
        changed.append(await turn(call, group, who, None))
    for branch in branches:
        await call.batch(forget, leaving, scope=branch)
    return changed[-1]


CONTRACTS = (members, change, remove, deny)

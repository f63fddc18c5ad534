"""Appointments: what somebody with the keys of the house makes of people, without asking anybody's rank.

Promise: it is told and written down like every other change, and a group keeps its owner.
"""

from collections.abc import Mapping, Sequence
from uuid import UUID

import msgspec

from admitone.foundation.authority import api as authority
from admitone.foundation.authority.api import Level, MemberRole, Membership, RolePack
from admitone.foundation.organizations.commands.team import forget, shut_out, tell_changes
from admitone.foundation.organizations.errors import LastOwner, MemberNotFound, OwnerOfGroup
from admitone.foundation.organizations.model import Changed, Leaving
from admitone.foundation.organizations.policy import impossible
from admitone.kernel.commands import command
from admitone.kernel.db import Database, Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.scope import Caller, Scope


class Appointment(msgspec.Struct, frozen=True):
    caller: Caller
    who: IdentityId
    role: MemberRole
    pack: RolePack | None = None

    @property
    def membership(self) -> Membership:
        return Membership(self.role, self.pack)


class Dismissal(msgspec.Struct, frozen=True):
    caller: Caller
    who: IdentityId


@command()
async def appoint(tx: Tx, appointments: Sequence[Appointment]) -> list[Changed | Refusal]:
    """In the mother's scope; branches are staffed by their group."""
    if await authority.find_group(tx) != tx.scope.organization.uuid:
        return [OwnerOfGroup() for _ in appointments]
    now = await authority.lock_members(tx, [each.who.uuid for each in appointments])
    before = dict(now)
    outcomes: list[Changed | Refusal] = []
    for each in appointments:
        former = now.get(each.who.uuid)
        if refusal := impossible(each.membership):
            outcomes.append(refusal)
        elif _owners(now) == [each.who.uuid] and each.role is not MemberRole.OWNER:
            outcomes.append(LastOwner())
        else:
            now[each.who.uuid] = each.membership
            outcomes.append(Changed(each.who, Level.GROUP, former, each.membership))
    await authority.put_members(tx, {who: member for who, member in now.items() if before.get(who) != member})
    await _tell(tx, [each.caller for each in appointments], outcomes)
    return outcomes


@command()
async def dismiss(tx: Tx, dismissals: Sequence[Dismissal]) -> list[Changed | Refusal]:
    """In the mother's scope."""
    if await authority.find_group(tx) != tx.scope.organization.uuid:
        return [OwnerOfGroup() for _ in dismissals]
    now = await authority.lock_members(tx, [each.who.uuid for each in dismissals])
    outcomes: list[Changed | Refusal] = []
    gone = []
    for each in dismissals:
        if each.who.uuid not in now:
            outcomes.append(MemberNotFound())
        elif _owners(now) == [each.who.uuid]:
            outcomes.append(LastOwner())
        else:
            gone.append(each.who.uuid)
            outcomes.append(Changed(each.who, Level.GROUP, now.pop(each.who.uuid), None))
    await authority.remove_members(tx, sorted(gone))
    await _tell(tx, [each.caller for each in dismissals], outcomes)
    return outcomes


async def see_off(database: Database, group: OrganizationId, who: IdentityId) -> None:
    """Out of a group and all its branches, in the order of `commands.team`. Raises what refuses it."""
    caller, own = Caller(), Scope(group, "operator")
    if await database.read(own, authority.list_owners) == [who.uuid]:
        raise LastOwner
    known = await database.read(authority.READING, authority.find_memberships, group.uuid, group.uuid, [who.uuid])
    overrides = await database.read(authority.READING, authority.find_overrides, group.uuid, who.uuid)
    member, _ = known[who.uuid]
    leaving, branches = Leaving(caller, who, member), [Scope(OrganizationId(each), "operator") for each in overrides]
    for branch in branches:
        await database.run(branch, lambda tx: shut_out(tx, [leaving]))
    if member or not branches:
        [outcome] = await database.run(own, lambda tx: dismiss(tx, [Dismissal(caller, who)]))
        if isinstance(outcome, Refusal):
            raise outcome
    for branch in branches:
        await database.run(branch, lambda tx: forget(tx, [leaving]))


def _owners(members: Mapping[UUID, Membership]) -> list[UUID]:
    return [who for who, member in members.items() if member.role == MemberRole.OWNER]


async def _tell(tx: Tx, callers: Sequence[Caller], outcomes: Sequence[Changed | Refusal]) -> None:
    """What stays as it was is no news."""
    news = [
        (caller, each)
        for caller, each in zip(callers, outcomes, strict=True)
        if isinstance(each, Changed) and each.before != each.after
    ]
    await tell_changes(tx, [caller for caller, _ in news], [changed for _, changed in news])

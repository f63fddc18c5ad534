"""Appointments: what somebody with the keys of the house makes of people, without asking anybody's rank.

Promise: it is told and written down like every other change, and a group keeps its owner.
"""

from collections.abc import Sequence

import msgspec

from admitone.foundation.authority import api as authority
from admitone.foundation.authority.api import Membership
from admitone.foundation.organizations.commands.team import forget, shut_out, tell_changes, write_group
from admitone.foundation.organizations.errors import LastOwner, OwnerOfGroup
from admitone.foundation.organizations.model import Changed, Leaving
from admitone.foundation.organizations.policy import Group
from admitone.kernel.commands import command
from admitone.kernel.db import Database, Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.scope import Caller, Scope


class Appointment(msgspec.Struct, frozen=True):
    caller: Caller
    who: IdentityId
    to: Membership | None
    """Nothing: they are dismissed."""


@command()
async def appoint(tx: Tx, appointments: Sequence[Appointment]) -> list[Changed | Refusal]:
    """In the mother's scope; branches are staffed by their group."""
    if await authority.find_group(tx) != tx.scope.organization.uuid:
        return [OwnerOfGroup() for _ in appointments]
    group = Group(await authority.lock_members(tx, [each.who.uuid for each in appointments]))
    outcomes = [group.turn(each.who, each.to) for each in appointments]
    await write_group(tx, group)
    # What stays as it was is no news.
    news = [
        (each.caller, outcome)
        for each, outcome in zip(appointments, outcomes, strict=True)
        if isinstance(outcome, Changed) and outcome.before != outcome.after
    ]
    await tell_changes(tx, [caller for caller, _ in news], [changed for _, changed in news])
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
        [outcome] = await database.run(own, lambda tx: appoint(tx, [Appointment(caller, who, None)]))
        if isinstance(outcome, Refusal):
            raise outcome
    for branch in branches:
        await database.run(branch, lambda tx: forget(tx, [leaving]))

"""Appointments: what somebody with the keys of the house makes of people, without asking anybody's rank.

Promise: it is told and written down like every other change, and a group keeps its owner.
"""

from collections.abc import Sequence

import msgspec

from admitone.foundation.authority import api as authority
from admitone.foundation.authority.api import Level, MemberRole, Membership, RolePack
from admitone.foundation.organizations.commands.team import entry_of, fact_of
from admitone.foundation.organizations.errors import LastOwner, OwnerOfGroup
from admitone.foundation.organizations.model import Changed
from admitone.foundation.organizations.policy import impossible
from admitone.kernel import audit
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId
from admitone.kernel.scope import Caller


class Appointment(msgspec.Struct, frozen=True):
    caller: Caller
    who: IdentityId
    role: MemberRole
    pack: RolePack | None = None

    @property
    def membership(self) -> Membership:
        return Membership(self.role, self.pack)


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
        owners = [who for who, member in now.items() if member.role == MemberRole.OWNER]
        if refusal := impossible(each.membership):
            outcomes.append(refusal)
        elif owners == [each.who.uuid] and each.role is not MemberRole.OWNER:
            outcomes.append(LastOwner())
        else:
            now[each.who.uuid] = each.membership
            outcomes.append(Changed(each.who, Level.GROUP, former, each.membership))
    await authority.put_members(tx, {who: member for who, member in now.items() if before.get(who) != member})
    made = [
        (each.caller, outcome)
        for each, outcome in zip(appointments, outcomes, strict=True)
        if isinstance(outcome, Changed) and outcome.before != outcome.after
    ]
    await audit.record(tx, [entry_of(caller, tx.scope.organization, changed) for caller, changed in made])
    for caller, changed in made:
        tx.publish(caller, fact_of(tx.scope.organization, changed))
    return outcomes

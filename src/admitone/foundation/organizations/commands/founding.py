"""Founding: an organisation, its place in a group, its owner, its modules, in one transaction of its own.

Promise: the id of a new organisation is made from who founds it and under which key, so a request that is repeated
comes to the same organisation and finds its answer there.
"""

from collections.abc import Sequence
from typing import Final
from uuid import UUID, uuid5

from admitone.foundation.authority import api as authority
from admitone.foundation.authority.api import MemberRole, Membership, OrganizationModule
from admitone.foundation.organizations.errors import OrganizationExists
from admitone.foundation.organizations.facts import OrganizationCreated
from admitone.foundation.organizations.model import Founded, Founding
from admitone.foundation.organizations.policy import FROM_THE_START
from admitone.foundation.organizations.store import organizations as store
from admitone.kernel import audit
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Caller

NAMESPACE: Final = UUID("0198c9a4-0000-7000-8000-00000000f0d1")


def new_id(caller: Caller, key: str, mother: OrganizationId | None = None) -> OrganizationId:
    return OrganizationId(uuid5(NAMESPACE, f"{caller.key}\0{mother or ''}\0{key}"))


@command()
async def found(tx: Tx, foundings: Sequence[Founding]) -> list[Founded | Refusal]:
    """Only the first can be it: all of them mean the organisation of this scope."""
    first, *others = foundings
    return [await _found(tx, first), *(OrganizationExists() for _ in others)]


async def _found(tx: Tx, founding: Founding) -> Founded | Refusal:
    own, caller = tx.scope.organization, founding.caller
    assert caller.actor is not None
    if not await store.insert_organization(tx, founding.settings):
        return OrganizationExists()
    on = founding.modules | FROM_THE_START
    await authority.insert_branch(tx, founding.group.uuid)
    await authority.put_modules(tx, {module: module in on for module in OrganizationModule})
    if founding.group == own:
        await authority.put_members(tx, {caller.actor.uuid: Membership(MemberRole.OWNER)})
    after = {"group": str(founding.group), "modules": sorted(on)}
    await audit.record(tx, [audit.Entry(caller, "organization.found", str(own), after=after)])
    tx.publish(caller, OrganizationCreated(organization_id=own, group_id=founding.group))
    return Founded(own, founding.group, founding.settings.display_name, tuple(sorted(on)), tx.now)

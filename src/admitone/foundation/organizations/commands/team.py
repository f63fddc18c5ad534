"""Teams: what people are in a group, and in one branch of it instead.

Promise: whoever changes somebody in a group holds both their own row of the group and the other's, and every owner's,
until the end; so what was decided of the group is still so when it is written, and two owners who remove each other
leave one. An organisation holds no rows of others: what the group says is read a moment before a branch decides, and
what branches say instead a moment before the group does. Whoever is demoted in that moment can still do one thing more.

Whoever leaves a group is first shut out of each branch that says something about them, then out of the group, and then
forgotten by the branches: cut short anywhere, they have no more than before, and it can be repeated.
"""

from collections.abc import Sequence
from typing import Any

from admitone.foundation.authority import api as authority
from admitone.foundation.authority.api import Denial, Level, Membership, membership_in
from admitone.foundation.organizations.facts import MemberChanged, MemberFate
from admitone.foundation.organizations.model import Change, Changed, Leaving
from admitone.foundation.organizations.policy import Branch, Group
from admitone.kernel import audit
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Caller


@command()
async def change_members(tx: Tx, changes: Sequence[Change]) -> list[Changed | Refusal]:
    """In the mother's scope: what people are in the whole group."""
    group = Group(await authority.lock_members(tx, people_of(changes)))
    outcomes = [group.decide(change) for change in changes]
    await write_group(tx, group)
    await tell_changes(tx, [change.caller for change in changes], outcomes)
    return outcomes


@command()
async def change_overrides(tx: Tx, changes: Sequence[Change]) -> list[Changed | Refusal]:
    """In a branch's scope: what people are there instead."""
    branch = Branch(tx.scope.organization.uuid, await authority.lock_overrides(tx, people_of(changes)))
    outcomes = [branch.decide(change) for change in changes]
    await write_branch(tx, branch)
    await tell_changes(tx, [change.caller for change in changes], outcomes)
    return outcomes


@command()
async def shut_out(tx: Tx, leavings: Sequence[Leaving]) -> list[Changed | Refusal]:
    """In a branch's scope: whoever leaves the group is nothing here any more, whatever the branch said. Ranks were
    asked in the mother."""
    overrides = await authority.lock_overrides(tx, [each.target.uuid for each in leavings])
    branch = tx.scope.organization.uuid
    outcomes: list[Changed | Refusal] = [
        Changed(each.target, Level.BRANCH, membership_in(branch, each.member, overrides.get(each.target.uuid)), None)
        for each in leavings
    ]
    await authority.put_overrides(tx, {who: Denial() for who, override in overrides.items() if override != Denial()})
    await tell_changes(tx, [each.caller for each in leavings], outcomes)
    return outcomes


@command()
async def forget(tx: Tx, leavings: Sequence[Leaving]) -> list[bool | Refusal]:
    """In a branch's scope: of whoever has left the group, the branch need not say anything."""
    overrides = await authority.lock_overrides(tx, [each.target.uuid for each in leavings])
    await authority.remove_overrides(tx, sorted(overrides))
    return [True for _ in leavings]


async def write_group(tx: Tx, group: Group) -> None:
    await authority.put_members(tx, group.written())
    await authority.remove_members(tx, group.removed())


async def write_branch(tx: Tx, branch: Branch) -> None:
    await authority.put_overrides(tx, branch.written())
    await authority.remove_overrides(tx, branch.removed())


def people_of(changes: Sequence[Change]) -> list[Any]:
    """Those who are changed, and those who change them."""
    everybody = {change.target.uuid for change in changes}
    return sorted(everybody | {change.caller.actor.uuid for change in changes if change.caller.actor})


async def tell_changes(tx: Tx, callers: Sequence[Caller], outcomes: Sequence[Changed | Refusal]) -> None:
    made = [(caller, each) for caller, each in zip(callers, outcomes, strict=True) if isinstance(each, Changed)]
    await audit.record(tx, [entry_of(caller, tx.scope.organization, changed) for caller, changed in made])
    for caller, changed in made:
        tx.publish(caller, fact_of(tx.scope.organization, changed))


def entry_of(caller: Caller, organization: OrganizationId, changed: Changed) -> audit.Entry:
    """Says at which level and of which organisation (ORG-011)."""
    where = {"level": changed.level.value, "entity": str(organization)}
    return audit.Entry(
        caller,
        "organization.change_member",
        str(changed.target),
        before={**where, **told(changed.before)},
        after={**where, **told(changed.after)},
    )


def fact_of(organization: OrganizationId, changed: Changed) -> MemberChanged:
    if changed.after is None:
        fate = MemberFate.REMOVED
    else:
        fate = MemberFate.CHANGED if changed.before else MemberFate.JOINED
    return MemberChanged(identity_id=changed.target, organization_id=organization, level=changed.level, fate=fate)


def told(membership: Membership | None) -> dict[str, Any]:
    if membership is None:
        return {"role": None}
    told: dict[str, Any] = {"role": membership.role, "pack": membership.pack, "scopes": list(membership.scopes)}
    if membership.level is Level.GROUP and membership.branches is not None:
        told["branches"] = [str(OrganizationId(branch)) for branch in membership.branches]
    return told

"""The public profile, as its organisation wants it: each change is a version of its own, and none is ever rewritten."""

from collections.abc import Sequence
from datetime import datetime

from admitone.foundation.organizations.errors import ProfileOvertaken
from admitone.foundation.organizations.facts import ProfileChanged
from admitone.foundation.organizations.layout import Layout, LayoutChange, LayoutVersion
from admitone.foundation.organizations.store import layouts
from admitone.foundation.organizations.store.organizations import lock_organization
from admitone.kernel import audit
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import OrganizationId


@command()
async def change_profile(tx: Tx, changes: Sequence[LayoutChange]) -> list[LayoutVersion | Refusal]:
    """Each is made to what its caller saw: of two who saw the same, the second is told so. The same said again is no
    version of its own, whoever says it."""
    organization = await lock_organization(tx, changes)
    now = await layouts.find_layout(tx)
    outcomes: list[LayoutVersion | Refusal] = []
    written, entries = [], []
    for change in changes:
        outcome = _changed(now, change, tx.now)
        if isinstance(outcome, LayoutVersion) and outcome is not now:
            entries.append(_entry(organization.id, change, now))
            tx.publish(change.caller, ProfileChanged(organization_id=organization.id, layout_version=outcome.version))
            written.append(outcome)
            now = outcome
        outcomes.append(outcome)
    await layouts.insert_layouts(tx, written)
    await audit.record(tx, entries)
    return outcomes


def _changed(now: LayoutVersion, change: LayoutChange, at: datetime) -> LayoutVersion | Refusal:
    if change.layout == now.layout:
        return now
    if change.version != now.version:
        return ProfileOvertaken(version=now.version)
    return LayoutVersion(now.version + 1, change.layout, change.caller.actor, at)


def _entry(own: OrganizationId, change: LayoutChange, before: LayoutVersion) -> audit.Entry:
    """That words changed is told; the words stand in their version."""
    changed = [
        field for field in Layout.__struct_fields__ if getattr(before.layout, field) != getattr(change.layout, field)
    ]
    return audit.Entry(
        change.caller,
        "organization.change_profile",
        str(own),
        before={"version": before.version},
        after={"version": before.version + 1, "changed": changed},
    )

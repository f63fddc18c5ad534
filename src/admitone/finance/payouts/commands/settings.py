"""Schedules: when an owner is paid, as the organisation says.

Promise: a schedule says which day, or is refused; whoever changes one has seen the version that they change. What
became due before keeps the days that it waits. Who changed what, and why, stands in the trail (ORG-017, ORG-024).
"""

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

import msgspec

from admitone.finance.payouts.errors import ScheduleChanged, ScheduleInvalid
from admitone.finance.payouts.model import KnownSchedule, Schedule
from admitone.finance.payouts.store import owners as store
from admitone.foundation.organizations import api as organizations
from admitone.kernel import audit
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.scope import Caller

SETTINGS: Final = "PAYOUTS_SETTINGS"
"""Why the official e-mail is asked for."""


class Setting(msgspec.Struct, frozen=True):
    """When an owner is to be paid, for a property or for all that have no schedule of their own."""

    caller: Caller
    owner: UUID
    property_key: str
    schedule: Schedule | None
    """None: as whatever comes next says, the owner's or the system's."""
    version: int
    """That is changed; 0 if there is none."""
    reason_code: str


class Set(msgspec.Struct, frozen=True):
    known: KnownSchedule | None


@command(keyed_by=lambda setting: setting.owner)
async def set_schedules(tx: Tx, settings: Sequence[Setting]) -> list[Set | Refusal]:
    """What is said last counts."""
    organization = await organizations.get_organization(tx)
    await store.lock_owners(tx, {each.owner for each in settings})
    outcomes: list[Set | Refusal] = []
    for each in settings:
        if refusal := organizations.gate(organization.official, each.caller, SETTINGS):
            outcomes.append(refusal)
        elif each.schedule is not None and not each.schedule.is_whole:
            outcomes.append(ScheduleInvalid())
        else:
            outcomes.append(await _set(tx, each))
    return outcomes


async def _set(tx: Tx, setting: Setting) -> Set | Refusal:
    there = await store.find_schedule(tx, setting.owner, setting.property_key)
    version = there.version if there else 0
    if setting.version != version:
        return ScheduleChanged(version=version)
    after: KnownSchedule | None = None
    if setting.schedule is not None:
        after = KnownSchedule(setting.owner, setting.property_key, setting.schedule, version + 1)
        await store.put_schedule(tx, after)
    elif there is not None:
        await store.drop_schedule(tx, there)
    entry = audit.Entry(
        setting.caller,
        "payouts.set_schedule",
        f"{setting.owner}:{setting.property_key}",
        setting.reason_code,
        before=_written(there),
        after=_written(after),
    )
    await audit.record(tx, [entry])
    return Set(after)


def _written(known: KnownSchedule | None) -> dict[str, Any] | None:
    written: dict[str, Any] | None = msgspec.to_builtins(known.schedule) if known else None
    return written

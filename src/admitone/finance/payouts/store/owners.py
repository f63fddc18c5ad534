"""Owners, who are held while it is decided what they are paid, and their schedules."""

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from admitone.finance.payouts.model import Frequency, KnownSchedule, Schedule
from admitone.kernel.db import Record, Tx
from admitone.kernel.statements import Insert, Lock

BEGIN_OWNERS = Insert("payouts.owner", {"payee_id": "uuid", "created_at": "timestamptz"}, on_conflict="DO NOTHING")


LOCK_OWNERS = Lock(
    """
    SELECT payee_id
      FROM payouts.owner
     WHERE organization_id = $1
       AND payee_id = ANY($2::uuid[])
     ORDER BY payee_id
    """,
    key="payee_id",
)


LIST_OWNERS = """
    SELECT payee_id
      FROM payouts.owner
     WHERE organization_id = $1
       AND payee_id > $2
     ORDER BY payee_id
     LIMIT $3
"""


FIND_SCHEDULES = """
    SELECT payee_id, property_key, frequency, day_of_week, day_of_month, min_threshold_minor, hold_days, version
      FROM payouts.schedule
     WHERE organization_id = $1
       AND payee_id = ANY($2::uuid[])
"""


FIND_SCHEDULE = """
    SELECT payee_id, property_key, frequency, day_of_week, day_of_month, min_threshold_minor, hold_days, version
      FROM payouts.schedule
     WHERE organization_id = $1
       AND payee_id = $2
       AND property_key = $3
"""


PUT_SCHEDULE = """
    INSERT INTO payouts.schedule AS s (organization_id, payee_id, property_key, frequency, day_of_week, day_of_month,
                                       min_threshold_minor, hold_days, version, changed_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        ON CONFLICT (organization_id, payee_id, property_key)
        DO UPDATE SET frequency = excluded.frequency, day_of_week = excluded.day_of_week,
                      day_of_month = excluded.day_of_month, min_threshold_minor = excluded.min_threshold_minor,
                      hold_days = excluded.hold_days, version = excluded.version, changed_at = excluded.changed_at
                WHERE s.version = excluded.version - 1
"""


DROP_SCHEDULE = """
    DELETE FROM payouts.schedule
     WHERE organization_id = $1
       AND payee_id = $2
       AND property_key = $3
       AND version = $4
"""


class _Owner(msgspec.Struct, frozen=True):
    payee_id: UUID
    created_at: datetime


async def lock_owners(tx: Tx, owners: Collection[UUID]) -> None:
    """Hold them until the end, also those who are owed for the first time."""
    ordered = sorted({*owners})
    await tx.insert_many(BEGIN_OWNERS, [_Owner(each, tx.now) for each in ordered])
    await tx.lock(LOCK_OWNERS, ordered, lambda each: each)


async def list_owners(tx: Tx, after: UUID, limit: int) -> list[UUID]:
    return [row["payee_id"] for row in await tx.fetch(LIST_OWNERS, after, limit)]


async def find_schedules(tx: Tx, owners: Collection[UUID]) -> list[KnownSchedule]:
    return [_schedule(row) for row in await tx.fetch(FIND_SCHEDULES, sorted({*owners}))]


async def find_schedule(tx: Tx, owner: UUID, property_key: str) -> KnownSchedule | None:
    row = await tx.find(FIND_SCHEDULE, owner, property_key)
    return _schedule(row) if row else None


async def put_schedule(tx: Tx, known: KnownSchedule) -> None:
    """Of the version after the one that is there, or the first."""
    schedule = known.schedule
    said: Sequence[object] = (
        schedule.frequency.value,
        schedule.day_of_week,
        schedule.day_of_month,
        schedule.min_threshold_minor,
        schedule.hold_days,
    )
    await tx.execute_exactly(1, PUT_SCHEDULE, known.owner, known.property_key, *said, known.version, tx.now)


async def drop_schedule(tx: Tx, known: KnownSchedule) -> None:
    await tx.execute_exactly(1, DROP_SCHEDULE, known.owner, known.property_key, known.version)


def _schedule(row: Record) -> KnownSchedule:
    schedule = Schedule(
        Frequency(row["frequency"]),
        row["day_of_week"],
        row["day_of_month"],
        row["min_threshold_minor"],
        row["hold_days"],
    )
    return KnownSchedule(row["payee_id"], row["property_key"], schedule, row["version"])

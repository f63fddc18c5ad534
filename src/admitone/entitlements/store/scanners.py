"""Scanners: how much each was shown of late, and what is remembered of some."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import msgspec

from admitone.entitlements.model import Tally
from admitone.kernel.db import PlatformTx, Tx

Scanner = tuple[str, str]
"""One device at one event."""


class Shown(msgspec.Struct, frozen=True):
    """How much a scanner was shown, and how much of it was refused."""

    scans: int = 0
    refused: int = 0

    @classmethod
    def of(cls, tally: Tally) -> "Shown":
        refused = tally.duplicate + tally.denied
        return cls(tally.admitted + refused, refused)

    def __add__(self, more: "Shown") -> "Shown":
        return Shown(self.scans + more.scans, self.refused + more.refused)


class Remembered(NamedTuple):
    """Of one scanner."""

    warned_at: datetime | None
    closed_at: datetime | None
    """It is closed since then."""
    opened_at: datetime | None
    """It had been closed, and is counted anew since then."""


SUM_RECENT = """
    SELECT w.event_id, w.device, s.scans, s.refused
      FROM unnest($2::text[], $3::text[], $4::timestamptz[]) AS w(event_id, device, since)
     CROSS JOIN LATERAL (SELECT sum(admitted + duplicate + denied)::bigint AS scans,
                                sum(duplicate + denied)::bigint AS refused
                           FROM entitlements.tally
                          WHERE organization_id = $1
                            AND event_id = w.event_id
                            AND device = w.device
                            AND minute > w.since) AS s
     WHERE s.scans > 0
"""


FIND_SCANNERS = """
    SELECT event_id, device, warned_at, closed_at, opened_at
      FROM entitlements.scanner
     WHERE organization_id = $1
       AND event_id = ANY($2::text[])
       AND device = ANY($3::text[])
"""


# Of several at once one warns: whoever finds that it was done lately does not.
WARN = """
    INSERT INTO entitlements.scanner AS s (organization_id, event_id, device, warned_at)
    VALUES ($1, $2, $3, $4)
        ON CONFLICT (organization_id, event_id, device) DO UPDATE
       SET warned_at = EXCLUDED.warned_at
     WHERE s.warned_at IS NULL OR s.warned_at <= $5
"""


CLOSE = """
    INSERT INTO entitlements.scanner AS s (organization_id, event_id, device, closed_at)
    VALUES ($1, $2, $3, $4)
        ON CONFLICT (organization_id, event_id, device) DO UPDATE
       SET closed_at = EXCLUDED.closed_at, opened_at = NULL
     WHERE s.closed_at IS NULL
"""


OPEN = """
    UPDATE entitlements.scanner
       SET opened_at = $4, closed_at = NULL, warned_at = NULL
     WHERE organization_id = $1
       AND event_id = $2
       AND device = $3
       AND closed_at IS NOT NULL
"""


SUM_BY_DEVICE = """
    SELECT device, max(minute) AS last_minute, max(gate) AS gate,
           sum(admitted + duplicate + denied)::bigint AS scans, sum(duplicate + denied)::bigint AS refused,
           COALESCE(sum(admitted + duplicate + denied) FILTER (WHERE minute > $3), 0)::bigint AS recent_scans,
           COALESCE(sum(duplicate + denied) FILTER (WHERE minute > $3), 0)::bigint AS recent_refused
      FROM entitlements.tally
     WHERE organization_id = $1
       AND event_id = $2
     GROUP BY device
     ORDER BY device
     LIMIT $4
"""


LIST_SCANNERS = """
    SELECT event_id, device, warned_at, closed_at, opened_at
      FROM entitlements.scanner
     WHERE organization_id = $1
       AND event_id = $2
     ORDER BY device
     LIMIT $3
"""


# Of everybody, for whoever watches.
SUM_EVERYWHERE = """
    SELECT organization_id, event_id, device, sum(admitted + duplicate + denied)::bigint AS scans,
           sum(duplicate)::bigint AS duplicates, sum(denied)::bigint AS denied
      FROM entitlements.tally
     WHERE minute > $1
     GROUP BY organization_id, event_id, device
     ORDER BY 4 DESC
     LIMIT $2
"""


LIST_CLOSED_EVERYWHERE = """
    SELECT organization_id, event_id, device, closed_at
      FROM entitlements.scanner
     WHERE closed_at > $1
     ORDER BY closed_at DESC
     LIMIT $2
"""


async def sum_recent(tx: Tx, since: Mapping[Scanner, datetime]) -> dict[Scanner, Shown]:
    """What each was shown in the minutes that began after its instant."""
    if not since:
        return {}
    ordered = sorted(since)
    values = [event for event, _ in ordered], [device for _, device in ordered], [since[own] for own in ordered]
    rows = await tx.fetch(SUM_RECENT, *values)
    return {(row["event_id"], row["device"]): Shown(row["scans"], row["refused"]) for row in rows}


async def find_scanners(tx: Tx, scanners: Collection[Scanner]) -> dict[Scanner, Remembered]:
    """Those of which anything is remembered; most are as good as new."""
    events, devices = sorted({event for event, _ in scanners}), sorted({device for _, device in scanners})
    rows = await tx.fetch(FIND_SCANNERS, events, devices)
    return {
        (row["event_id"], row["device"]): Remembered(row["warned_at"], row["closed_at"], row["opened_at"])
        for row in rows
    }


async def find_closed(tx: Tx, scanners: Collection[Scanner]) -> set[Scanner]:
    return {own for own, each in (await find_scanners(tx, scanners)).items() if each.closed_at}


async def warn(tx: Tx, scanner: Scanner, unless_since: datetime) -> bool:
    """Whether it is the first time since then."""
    return await tx.execute(WARN, *scanner, tx.now, unless_since) > 0


async def close(tx: Tx, scanner: Scanner) -> bool:
    """Whether it was open."""
    return await tx.execute(CLOSE, *scanner, tx.now) > 0


async def reopen(tx: Tx, scanner: Scanner) -> bool:
    """Whether it was closed."""
    return await tx.execute(OPEN, *scanner, tx.now) > 0


class Used(NamedTuple):
    """What one device was shown at an event, in all and of late."""

    device: str
    last_minute: datetime
    gate: str
    scans: int
    refused: int
    recent_scans: int
    recent_refused: int


async def sum_by_device(tx: Tx, event: str, lately: datetime, most: int) -> list[Used]:
    return [Used(*row) for row in await tx.fetch(SUM_BY_DEVICE, event, lately, most)]


async def list_scanners(tx: Tx, event: str, most: int) -> dict[str, Remembered]:
    """What is remembered of those of an event, by device."""
    rows = await tx.fetch(LIST_SCANNERS, event, most)
    return {row["device"]: Remembered(row["warned_at"], row["closed_at"], row["opened_at"]) for row in rows}


class Busy(NamedTuple):
    """What one scanner somewhere was shown of late."""

    organization: UUID
    event: str
    device: str
    scans: int
    duplicates: int
    denied: int


async def sum_everywhere(tx: PlatformTx, since: datetime, most: int) -> list[Busy]:
    """The busiest first."""
    return [Busy(*row) for row in await tx.fetch(SUM_EVERYWHERE, since, most)]


class Closed(NamedTuple):
    organization: UUID
    event: str
    device: str
    closed_at: datetime


async def list_closed_everywhere(tx: PlatformTx, since: datetime, most: int) -> list[Closed]:
    return [Closed(*row) for row in await tx.fetch(LIST_CLOSED_EVERYWHERE, since, most)]

"""What happened at the doors of an event, in sums."""

from datetime import datetime
from typing import NamedTuple

from admitone.kernel.db import Tx


class Counted(NamedTuple):
    """At one gate, or for one session; with neither, in all."""

    gate: str | None
    session: str | None
    admitted: int
    undone: int
    duplicates: int
    denied: int


class Quarter(NamedTuple):
    """What happened within a quarter of an hour."""

    begins_at: datetime
    admitted: int
    undone: int
    duplicates: int
    denied: int


# All of it first: however many gates somebody makes up, the sum is the sum.
SUM_BY_GATE = """
    SELECT gate, session_id, COALESCE(sum(admitted), 0)::bigint AS admitted, COALESCE(sum(undone), 0)::bigint AS undone,
           COALESCE(sum(duplicate), 0)::bigint AS duplicates, COALESCE(sum(denied), 0)::bigint AS denied
      FROM entitlements.tally
     WHERE organization_id = $1
       AND event_id = $2
     GROUP BY GROUPING SETS ((), (session_id), (gate))
     ORDER BY GROUPING(gate, session_id) DESC, session_id, gate
     LIMIT $3
"""


# By the event and not by the state: an index of all that is active everywhere would be taken for shorter.
COUNT_EXPECTED = """
    SELECT COALESCE(session_id, '') AS session_id, count(*) FILTER (WHERE status = 'ACTIVE') AS rights
      FROM entitlements.entitlement
     WHERE organization_id = $1
       AND event_id = $2
     GROUP BY 1
     ORDER BY 1
     LIMIT $3
"""


SUM_BY_QUARTER = """
    SELECT date_bin('15 minutes', minute, '2000-01-01T00:00Z') AS begins_at, sum(admitted)::bigint AS admitted,
           sum(undone)::bigint AS undone, sum(duplicate)::bigint AS duplicates, sum(denied)::bigint AS denied
      FROM entitlements.tally
     WHERE organization_id = $1
       AND event_id = $2
       AND minute >= $3
     GROUP BY 1
     ORDER BY 1
     LIMIT $4
"""


async def sum_by_gate(tx: Tx, event: str, most: int) -> list[Counted]:
    return [Counted(*row) for row in await tx.fetch(SUM_BY_GATE, event, most)]


async def count_expected(tx: Tx, event: str, most: int) -> dict[str, int]:
    """How many rights could come in, by session; those of all sessions under no name."""
    rows = await tx.fetch(COUNT_EXPECTED, event, most)
    return {row["session_id"]: row["rights"] for row in rows if row["rights"]}


async def sum_by_quarter(tx: Tx, event: str, since: datetime, most: int) -> list[Quarter]:
    return [Quarter(*row) for row in await tx.fetch(SUM_BY_QUARTER, event, since, most)]

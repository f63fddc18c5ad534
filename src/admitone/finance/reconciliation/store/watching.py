"""What is watched over all organisations: who falls behind, and what stays open."""

from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from admitone.finance.reconciliation.model import Late, OpenOverall
from admitone.kernel.db import PlatformTx
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import PlatformScope, Role

ACROSS: Final = PlatformScope("see that every organisation is reconciled", Role.RELAY)
MOST_COUNTED: Final = 10_000
Place = tuple[datetime, UUID]
"""Up to when an organisation was compared, and which."""
START: Final[Place] = (datetime(1900, 1, 1, tzinfo=UTC), UUID(int=0))

COUNT_LATE = """
    SELECT count(*) AS organizations, min(l.behind) AS behind_at
      FROM (SELECT COALESCE(s.compared_until, s.known_since) AS behind
              FROM reconciliation.standing AS s
             WHERE COALESCE(s.compared_until, s.known_since) < $1
             ORDER BY COALESCE(s.compared_until, s.known_since)
             LIMIT $2) AS l
"""


LIST_LATE = """
    SELECT s.organization_id, COALESCE(s.compared_until, s.known_since) AS behind
      FROM reconciliation.standing AS s
     WHERE COALESCE(s.compared_until, s.known_since) < $1
       AND (COALESCE(s.compared_until, s.known_since), s.organization_id) > ($2, $3)
     ORDER BY COALESCE(s.compared_until, s.known_since), s.organization_id
     LIMIT $4
"""


COUNT_OPEN = """
    SELECT count(*) AS issues, min(o.first_seen_at) AS oldest_at
      FROM (SELECT i.first_seen_at
              FROM reconciliation.issue AS i
             WHERE i.state = 'OPEN'
             ORDER BY i.first_seen_at
             LIMIT $1) AS o
"""


# Of the oldest that are counted at all: whoever has many is not asked how many exactly.
LIST_WHOSE = """
    SELECT o.organization_id, count(*) AS issues, min(o.first_seen_at) AS oldest_at
      FROM (SELECT i.organization_id, i.first_seen_at
              FROM reconciliation.issue AS i
             WHERE i.state = 'OPEN'
             ORDER BY i.first_seen_at
             LIMIT $1) AS o
     GROUP BY o.organization_id
     ORDER BY min(o.first_seen_at)
     LIMIT $2
"""


async def list_whose(tx: PlatformTx, limit: int) -> list[tuple[OrganizationId, OpenOverall]]:
    """Who has open issues, and how many; whose oldest is the oldest comes first."""
    rows = await tx.fetch(LIST_WHOSE, MOST_COUNTED, limit)
    return [(OrganizationId(row["organization_id"]), OpenOverall(row["issues"], row["oldest_at"])) for row in rows]


async def count_late(tx: PlatformTx, due: datetime) -> Late:
    """Those that were not compared up to then."""
    row = await tx.find(COUNT_LATE, due, MOST_COUNTED)
    assert row is not None
    return Late(row["organizations"], row["behind_at"])


async def list_late(tx: PlatformTx, due: datetime, after: Place, limit: int) -> list[Place]:
    """Which they are, those furthest behind first."""
    rows = await tx.fetch(LIST_LATE, due, *after, limit)
    return [(row["behind"], row["organization_id"]) for row in rows]


async def count_open(tx: PlatformTx) -> OpenOverall:
    row = await tx.find(COUNT_OPEN, MOST_COUNTED)
    assert row is not None
    return OpenOverall(row["issues"], row["oldest_at"])

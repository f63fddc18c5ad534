"""What is to be done, of all organisations: the relay's look at what may be paid, what nobody answered, and what was
not released yet."""

from datetime import UTC, datetime
from typing import Final
from uuid import UUID

import msgspec

from admitone.finance.payouts.model import PayoutId
from admitone.kernel.db import PlatformTx
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import PlatformScope, Role

SWEEPING: Final = PlatformScope("find what is to be paid out", Role.RELAY)
FIRST: Final = UUID(int=0)
BEFORE_ALL: Final = datetime(1970, 1, 1, tzinfo=UTC)


# From one organisation to the next by the index, without reading all that each of them owes.
LIST_ORGANIZATIONS_DUE = """
      WITH RECURSIVE owing AS (
           (SELECT o.organization_id
              FROM payouts.obligation AS o
             WHERE o.state = 'DUE'
               AND o.organization_id > $1
             ORDER BY o.organization_id
             LIMIT 1)
             UNION ALL
            SELECT (SELECT o.organization_id
                      FROM payouts.obligation AS o
                     WHERE o.state = 'DUE'
                       AND o.organization_id > w.organization_id
                     ORDER BY o.organization_id
                     LIMIT 1)
              FROM owing AS w
             WHERE w.organization_id IS NOT NULL)
    SELECT organization_id
      FROM owing
     WHERE organization_id IS NOT NULL
     LIMIT $2
"""


LIST_ORGANIZATIONS_UNRELEASED = """
      WITH RECURSIVE told AS (
           (SELECT r.organization_id
              FROM payouts.reported AS r
             WHERE r.released_at IS NULL
               AND r.payout_id IS NULL
               AND r.organization_id > $1
             ORDER BY r.organization_id
             LIMIT 1)
             UNION ALL
            SELECT (SELECT r.organization_id
                      FROM payouts.reported AS r
                     WHERE r.released_at IS NULL
                       AND r.payout_id IS NULL
                       AND r.organization_id > t.organization_id
                     ORDER BY r.organization_id
                     LIMIT 1)
              FROM told AS t
             WHERE t.organization_id IS NOT NULL)
    SELECT organization_id
      FROM told
     WHERE organization_id IS NOT NULL
     LIMIT $2
"""


LIST_UNPOSTED = """
    SELECT organization_id, id, created_at, asked_at
      FROM payouts.payout
     WHERE state IN ('payout_pending', 'processing')
       AND created_at < $1
       AND (created_at, id) > ($2, $3)
     ORDER BY created_at, id
     LIMIT $4
"""


class Left(msgspec.Struct, frozen=True):
    """A payout that somebody must see to."""

    organization: OrganizationId
    payout: PayoutId
    created_at: datetime
    asked_at: datetime | None


async def list_organizations_due(tx: PlatformTx, after: UUID, limit: int) -> list[OrganizationId]:
    """Those that owe something that is not frozen and in no payout."""
    return [OrganizationId(row["organization_id"]) for row in await tx.fetch(LIST_ORGANIZATIONS_DUE, after, limit)]


async def list_organizations_unreleased(tx: PlatformTx, after: UUID, limit: int) -> list[OrganizationId]:
    rows = await tx.fetch(LIST_ORGANIZATIONS_UNRELEASED, after, limit)
    return [OrganizationId(row["organization_id"]) for row in rows]


async def list_unposted(tx: PlatformTx, before: datetime, after: Left | None, limit: int) -> list[Left]:
    """Written down so long ago, and the ledger still does not know of it."""
    place = (after.created_at, after.payout.uuid) if after else (BEFORE_ALL, FIRST)
    return [
        Left(OrganizationId(row["organization_id"]), PayoutId(row["id"]), row["created_at"], row["asked_at"])
        for row in await tx.fetch(LIST_UNPOSTED, before, *place, limit)
    ]

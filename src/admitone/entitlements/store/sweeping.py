"""Rights over all organisations: the relay's look at those that somebody must see to."""

from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

import msgspec

from admitone.entitlements.model import EntitlementId
from admitone.kernel.db import PlatformTx, Record
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import PlatformScope, Role

SWEEPING: Final = PlatformScope("see to rights whose time or whose code ends", Role.RELAY)


# Devices without a network know what is offline_allowed by its codes; of everything else the wallet asks for the next.
LIST_UNCODED = """
    SELECT organization_id, id, valid_from AS at
      FROM entitlements.entitlement
     WHERE status = 'ACTIVE'
       AND offline_allowed
       AND valid_from < $1
       AND valid_until > $2
       AND coded_until < $3
       AND (valid_from, id) > ($4, $5)
     ORDER BY valid_from, id
     LIMIT $6
"""


BEFORE_ALL: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Left(msgspec.Struct, frozen=True):
    """A right that somebody must see to, and where it stands in its list."""

    organization: OrganizationId
    id: EntitlementId
    at: datetime


class After(msgspec.Struct, frozen=True):
    """Where a list goes on."""

    at: datetime = BEFORE_ALL
    id: UUID = UUID(int=0)


async def list_uncoded(tx: PlatformTx, near: timedelta, ahead: timedelta, after: After, limit: int) -> list[Left]:
    """What can be used, or can be soon, and whose code ends soon."""
    rows = await tx.fetch(LIST_UNCODED, tx.now + near, tx.now, tx.now + ahead, after.at, after.id, limit)
    return [_left(row) for row in rows]


def _left(row: Record) -> Left:
    return Left(OrganizationId(row["organization_id"]), EntitlementId(row["id"]), row["at"])

"""Rights over all organisations: the relay's look at those that somebody must see to."""

from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

import msgspec

from admitone.entitlements.model import EntitlementId
from admitone.finance.sources.api import PaymentId
from admitone.kernel.db import PlatformTx, Record
from admitone.kernel.ids import IdentityId, OrganizationId
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


LIST_OVER = """
    SELECT organization_id, id, valid_until AS at
      FROM entitlements.entitlement
     WHERE status IN ('PENDING', 'ACTIVE', 'SUSPENDED')
       AND valid_until < $1
       AND (valid_until, id) > ($2, $3)
     ORDER BY valid_until, id
     LIMIT $4
"""


# In the order of their index, organisation by organisation.
LIST_PAID = """
    SELECT DISTINCT organization_id, payment_id
      FROM entitlements.entitlement
     WHERE payment_id IS NOT NULL
       AND (organization_id, payment_id) > ($1, $2)
     ORDER BY organization_id, payment_id
     LIMIT $3
"""


LIST_OF_OWNER = """
    SELECT organization_id, id, valid_until AS at
      FROM entitlements.entitlement
     WHERE identity_id = $1
       AND (valid_until, id) > ($2, $3)
     ORDER BY valid_until, id
     LIMIT $4
"""


INSERT_CLAIMED = """
    INSERT INTO entitlements.claimed (guest_id, user_id, claimed_at)
    VALUES ($1, $2, $3)
        ON CONFLICT (guest_id) DO NOTHING
"""


BEFORE_ALL: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Left(msgspec.Struct, frozen=True):
    """A right that somebody must see to, and where it stands in its list."""

    organization: OrganizationId
    id: EntitlementId
    at: datetime


class Paid(msgspec.Struct, frozen=True):
    """A payment that rights were granted for."""

    organization: OrganizationId = OrganizationId(UUID(int=0))
    payment: PaymentId = PaymentId(UUID(int=0))


class After(msgspec.Struct, frozen=True):
    """Where a list goes on."""

    at: datetime = BEFORE_ALL
    id: UUID = UUID(int=0)


async def list_uncoded(tx: PlatformTx, near: timedelta, ahead: timedelta, after: After, limit: int) -> list[Left]:
    """What can be used, or can be soon, and whose code ends soon."""
    rows = await tx.fetch(LIST_UNCODED, tx.now + near, tx.now, tx.now + ahead, after.at, after.id, limit)
    return [_left(row) for row in rows]


async def list_over(tx: PlatformTx, after: After, limit: int) -> list[Left]:
    """Whose time is over, and of which that is not written down."""
    return [_left(row) for row in await tx.fetch(LIST_OVER, tx.now, after.at, after.id, limit)]


async def list_paid(tx: PlatformTx, after: Paid, limit: int) -> list[Paid]:
    rows = await tx.fetch(LIST_PAID, after.organization.uuid, after.payment.uuid, limit)
    return [Paid(OrganizationId(row["organization_id"]), PaymentId(row["payment_id"])) for row in rows]


async def list_of_owner(tx: PlatformTx, owner: IdentityId, after: After, limit: int) -> list[Left]:
    return [_left(row) for row in await tx.fetch(LIST_OF_OWNER, owner.uuid, after.at, after.id, limit)]


async def insert_claimed(tx: PlatformTx, guest: IdentityId, user: IdentityId) -> None:
    await tx.execute(INSERT_CLAIMED, guest.uuid, user.uuid, tx.now)


def _left(row: Record) -> Left:
    return Left(OrganizationId(row["organization_id"]), EntitlementId(row["id"]), row["at"])

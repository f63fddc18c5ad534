"""A person's own rights, of all organisations: what the buyer may read."""

from datetime import datetime
from uuid import UUID

from admitone.entitlements.model import Entitlement, EntitlementId
from admitone.entitlements.store.entitlements import COLUMNS, entitlement_of
from admitone.kernel.db import IdentityTx

FIND_OWN = f"""
    SELECT {COLUMNS}
      FROM entitlements.entitlement
     WHERE identity_id = $1
       AND id = $2
"""  # noqa: S608, of constants


LIST_COMING = f"""
    SELECT {COLUMNS}
      FROM entitlements.entitlement
     WHERE identity_id = $1
       AND valid_until >= $2
       AND (valid_until, id) > ($3, $4)
     ORDER BY valid_until, id
     LIMIT $5
"""  # noqa: S608, of constants


LIST_PAST = f"""
    SELECT {COLUMNS}
      FROM entitlements.entitlement
     WHERE identity_id = $1
       AND valid_until < $2
       AND (valid_until, id) < ($3, $4)
     ORDER BY valid_until DESC, id DESC
     LIMIT $5
"""  # noqa: S608, of constants


async def find_own(tx: IdentityTx, own: EntitlementId) -> Entitlement | None:
    row = await tx.find(FIND_OWN, own.uuid)
    return entitlement_of(row) if row else None


async def list_coming(tx: IdentityTx, after: tuple[datetime, UUID], limit: int) -> list[Entitlement]:
    """What is not over, the soonest first."""
    return [entitlement_of(row) for row in await tx.fetch(LIST_COMING, tx.now, *after, limit)]


async def list_past(tx: IdentityTx, before: tuple[datetime, UUID], limit: int) -> list[Entitlement]:
    """What is over, the latest first."""
    return [entitlement_of(row) for row in await tx.fetch(LIST_PAST, tx.now, *before, limit)]

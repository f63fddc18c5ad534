"""What is left over, of all organisations: the relay's look at intents and payments that somebody must see to."""

from datetime import UTC, datetime
from typing import Final
from uuid import UUID

import msgspec

from admitone.finance.payments.model import IntentAction
from admitone.finance.sources.api import PaymentId
from admitone.kernel.db import PlatformTx, Record
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import PlatformScope, Role

SWEEPING: Final = PlatformScope("see to payments that nobody finished", Role.RELAY)


LIST_UNSETTLED = """
    SELECT organization_id, payment_id, action, created_at AS since, id
      FROM payments.gateway_intent
     WHERE state = 'OPEN'
       AND (unanswered < 3 OR fee_minor IS NOT NULL)
       AND created_at < $1
       AND (created_at, id) > ($2, $3)
     ORDER BY created_at, id
     LIMIT $4
"""


LIST_OVERDUE = """
    SELECT organization_id, id AS payment_id, 'OPEN' AS action, expires_at AS since, id
      FROM payments.payment
     WHERE status IN ('CREATED', 'PENDING', 'REQUIRES_ACTION', 'PROCESSING', 'FAILED')
       AND expires_at > '-infinity'
       AND expires_at < $1
       AND (expires_at, id) > ($2, $3)
     ORDER BY expires_at, id
     LIMIT $4
"""


LIST_PENDING_PIX = """
    SELECT organization_id, id AS payment_id, 'OPEN' AS action, expires_at AS since, id
      FROM payments.payment
     WHERE status IN ('CREATED', 'PENDING', 'REQUIRES_ACTION', 'PROCESSING', 'FAILED')
       AND expires_at > '-infinity'
       AND (expires_at, id) > ($1, $2)
       AND method = 'PIX'
     ORDER BY expires_at, id
     LIMIT $3
"""


# Ids are made in the order of time.
LIST_WITHOUT_FEE = """
    SELECT organization_id, id AS payment_id
      FROM payments.payment
     WHERE processor_fees_status = 'PENDING'
       AND captured_minor > 0
       AND id > $1
       AND id < $2
     ORDER BY id DESC
     LIMIT $3
"""


LIST_WITHOUT_FEE_OF = """
    SELECT organization_id, id AS payment_id
      FROM payments.payment
     WHERE processor_fees_status = 'PENDING'
       AND captured_minor > 0
       AND organization_id = $1
       AND id > $2
       AND id < $3
     ORDER BY id DESC
     LIMIT $4
"""


BEFORE_ALL: Final = datetime(1970, 1, 1, tzinfo=UTC)
FIRST: Final = UUID(int=0)


class Left(msgspec.Struct, frozen=True):
    """A payment that somebody must see to."""

    organization: OrganizationId
    payment: PaymentId
    action: IntentAction = IntentAction.OPEN
    since: datetime = BEFORE_ALL
    id: UUID = FIRST
    """With `since`, where it stands in its list."""


AFTER_ALL: Final = UUID(int=2**128 - 1)


async def list_unsettled(tx: PlatformTx, before: datetime, after: Left | None, limit: int) -> list[Left]:
    """Whose provider was asked, and whose answer nobody wrote down."""
    place = (after.since, after.id) if after else (BEFORE_ALL, FIRST)
    return [_placed(row) for row in await tx.fetch(LIST_UNSETTLED, before, *place, limit)]


async def list_overdue(tx: PlatformTx, before: datetime, after: Left | None, limit: int) -> list[Left]:
    place = (after.since, after.id) if after else (BEFORE_ALL, FIRST)
    return [_placed(row) for row in await tx.fetch(LIST_OVERDUE, before, *place, limit)]


async def list_pending_pix(tx: PlatformTx, since: datetime, after: Left | None, limit: int) -> list[Left]:
    """PIX that nobody has paid or closed, of which the time ended after that instant, or has not ended."""
    place = (after.since, after.id) if after else (since, FIRST)
    return [_placed(row) for row in await tx.fetch(LIST_PENDING_PIX, *place, limit)]


async def list_without_fee(
    tx: PlatformTx, since: datetime, only: OrganizationId | None, after: Left | None, limit: int
) -> list[Left]:
    """Those that began since then, the newest first."""
    earliest = UUID(int=int(since.timestamp() * 1000) << 80)
    latest = after.payment.uuid if after else AFTER_ALL
    if only is None:
        return [_left(row) for row in await tx.fetch(LIST_WITHOUT_FEE, earliest, latest, limit)]
    return [_left(row) for row in await tx.fetch(LIST_WITHOUT_FEE_OF, only.uuid, earliest, latest, limit)]


def _placed(row: Record) -> Left:
    left = _left(row)
    return Left(left.organization, left.payment, IntentAction(row["action"]), row["since"], row["id"])


def _left(row: Record) -> Left:
    return Left(OrganizationId(row["organization_id"]), PaymentId(row["payment_id"]))

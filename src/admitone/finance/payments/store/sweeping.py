"""What is left over, of all organisations: the relay's look at intents and payments that somebody must see to."""

from datetime import datetime
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
    SELECT organization_id, payment_id, action
      FROM payments.gateway_intent
     WHERE state = 'OPEN'
       AND created_at < $1
     ORDER BY created_at
     LIMIT $2
"""


LIST_OVERDUE = """
    SELECT organization_id, id AS payment_id
      FROM payments.payment
     WHERE status IN ('CREATED', 'PENDING', 'REQUIRES_ACTION', 'PROCESSING', 'FAILED')
       AND expires_at < $1
     ORDER BY expires_at
     LIMIT $2
"""


LIST_WITHOUT_FEE = """
    SELECT organization_id, id AS payment_id
      FROM payments.payment
     WHERE processor_fees_status = 'PENDING'
       AND captured_minor > 0
       AND (organization_id, id) > ($1, $2)
     ORDER BY organization_id, id
     LIMIT $3
"""


class Left(msgspec.Struct, frozen=True):
    """A payment that somebody must see to."""

    organization: OrganizationId
    payment: PaymentId


class Unsettled(Left, frozen=True):
    """Something that its provider was asked, and what."""

    action: IntentAction


FIRST: Final = PaymentId(UUID(int=0))
"""Before all of them."""


async def list_unsettled(tx: PlatformTx, before: datetime, limit: int) -> list[Unsettled]:
    """Whose provider was asked, and whose answer nobody wrote down."""
    return [
        Unsettled(OrganizationId(row["organization_id"]), PaymentId(row["payment_id"]), IntentAction(row["action"]))
        for row in await tx.fetch(LIST_UNSETTLED, before, limit)
    ]


async def list_overdue(tx: PlatformTx, limit: int) -> list[Left]:
    return [_left(row) for row in await tx.fetch(LIST_OVERDUE, tx.now, limit)]


async def list_without_fee(tx: PlatformTx, after: Left | None, limit: int) -> list[Left]:
    place = (after.organization.uuid, after.payment.uuid) if after else (FIRST.uuid, FIRST.uuid)
    return [_left(row) for row in await tx.fetch(LIST_WITHOUT_FEE, *place, limit)]


def _left(row: Record) -> Left:
    return Left(OrganizationId(row["organization_id"]), PaymentId(row["payment_id"]))

"""The statements of webhooks.

Receipts, payloads and cursors are rows of the platform's own organisation. A receipt becomes another organisation's
when it is known whose event it is; that organisation then settles it, together with the effect. The platform's scope
alone sees them all. The relay's role settles those that died.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from uuid import UUID

from admitone.finance.gateways.api import Provider
from admitone.finance.webhooks.model import OPEN, RECEIPT, Arrival, ReceiptId, ReceiptState
from admitone.kernel.crypto import KEYRING, Place
from admitone.kernel.db import Record, Tx
from admitone.kernel.ids import PLATFORM_ORGANIZATION
from admitone.kernel.statements import Insert

Name = tuple[str, str]
"""Source and the provider's own id."""

# -- Receiving

INSERT_RECEIPTS = Insert(
    "webhooks.receipt",
    {
        "id": "uuid",
        "source": "text",
        "external_id": "text",
        "provider": "text",
        "type": "text",
        "account": "text",
        "provider_created_at": "timestamptz",
        "livemode": "boolean",
        "request_id": "text",
        "correlation_id": "uuid",
        "state": "text",
        "reason": "text",
        "received_at": "timestamptz",
    },
    on_conflict="(external_id, source) DO NOTHING",
    returning="id",
)
INSERT_PAYLOADS = Insert("webhooks.payload", {"receipt_id": "uuid", "sealed": "bytea", "created_at": "timestamptz"})
FIND_BY_NAME = """
    SELECT r.id, r.source, r.external_id, r.state, r.organization_id = $1 AS is_here
      FROM webhooks.receipt AS r
     WHERE r.external_id = ANY($2::text[])
"""


@dataclass(frozen=True, slots=True)
class NewReceipt:
    """A row to insert."""

    id: ReceiptId
    arrival: Arrival
    received_at: datetime
    state: ReceiptState = ReceiptState.RECEIVED
    reason: str | None = None

    @property
    def source(self) -> str:
        return self.arrival.envelope.source

    @property
    def external_id(self) -> str:
        return self.arrival.envelope.id

    @property
    def provider(self) -> Provider:
        return self.arrival.provider

    @property
    def type(self) -> str:
        return self.arrival.envelope.type

    @property
    def account(self) -> str | None:
        return self.arrival.envelope.account

    @property
    def provider_created_at(self) -> datetime:
        return self.arrival.envelope.created

    @property
    def livemode(self) -> bool:
        return self.arrival.envelope.livemode

    @property
    def request_id(self) -> str | None:
        return self.arrival.envelope.request_id

    @property
    def correlation_id(self) -> UUID:
        return self.arrival.caller.correlation_id

    # The payload's own columns.

    @property
    def receipt_id(self) -> ReceiptId:
        return self.id

    @property
    def sealed(self) -> bytes:
        return KEYRING().seal(self.arrival.payload, place_of(self.id.uuid))

    @property
    def created_at(self) -> datetime:
        return self.received_at


def place_of(receipt: UUID) -> Place:
    return Place("webhooks.payload", "sealed", PLATFORM_ORGANIZATION.uuid, receipt)


async def insert_receipts(tx: Tx, receipts: Sequence[NewReceipt]) -> list[NewReceipt]:
    """Those that are new, with their payloads, which are sealed for nobody else."""
    # Sorted, so that two deliveries of the same events cannot deadlock.
    rows = await tx.insert_many(INSERT_RECEIPTS, sorted(receipts, key=attrgetter("external_id", "source")))
    new = {row["id"] for row in rows}
    fresh = [receipt for receipt in receipts if receipt.id.uuid in new]
    await tx.insert_exactly(INSERT_PAYLOADS, fresh)
    return fresh


async def find_by_name(tx: Tx, names: Sequence[Name]) -> dict[Name, Record]:
    """Whoever's they are."""
    wanted = set(names)
    rows = await tx.fetch(FIND_BY_NAME, [external_id for _, external_id in names]) if names else []
    return {name: row for row in rows if (name := (row["source"], row["external_id"])) in wanted}


# -- Resolving and settling

# OFFSET 0 keeps the look at the payload a look-up for each row, whatever the planner believes.
LIST_TO_RESOLVE = """
    SELECT r.id, r.source, r.external_id, r.provider, r.account, r.round, p.sealed
      FROM webhooks.receipt AS r
      LEFT JOIN LATERAL (SELECT l.sealed
                           FROM webhooks.payload AS l
                          WHERE l.organization_id = $1
                            AND l.receipt_id = r.id
                         OFFSET 0) AS p ON true
     WHERE r.id = ANY($2::uuid[])
       AND r.organization_id = $1
       AND r.state = ANY($3::text[])
     LIMIT 1000
"""
SETTLE = """
    UPDATE webhooks.receipt
       SET state = $3, reason = NULL, settled_at = $5
     WHERE id = ANY($2::uuid[])
       AND organization_id = $1
       AND state = ANY($4::text[])
"""


async def list_to_resolve(tx: Tx, receipts: Sequence[ReceiptId]) -> list[Record]:
    """Those that nobody settled and that are still the platform's, with what they said, if that is still kept."""
    return await tx.fetch(LIST_TO_RESOLVE, [each.uuid for each in receipts], list(OPEN))


async def settle(tx: Tx, receipts: Sequence[UUID], to: ReceiptState) -> None:
    await tx.execute_exactly(len(receipts), SETTLE, list(receipts), to, list(RECEIPT.leaving(to)), tx.now)

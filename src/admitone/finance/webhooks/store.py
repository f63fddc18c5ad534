"""The statements of webhooks.

Receipts, payloads and cursors are rows of the platform's own organisation. A receipt becomes another organisation's
when it is known whose event it is; that organisation then settles it, together with the effect. The platform's scope
alone sees them all. The relay's role settles those that died.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Final
from uuid import UUID

from admitone.finance.gateways.api import Provider
from admitone.finance.sources.api import PaymentId
from admitone.finance.webhooks.model import OPEN, RECEIPT, TO_MEND, Arrival, Cursor, Name, ReceiptId, ReceiptState
from admitone.finance.webhooks.policy import Whose
from admitone.kernel.crypto import KEYRING, Place
from admitone.kernel.db import PlatformTx, Record, Tx
from admitone.kernel.ids import PLATFORM_ORGANIZATION, OrganizationId
from admitone.kernel.statements import BothWays, Insert, ListOrder, columns

LONGEST_REASON: Final = 500
MOST_TO_MEND: Final = 1_000

# -- Receiving

# Of whoever they turned out to be; where that is not clear yet, the platform's own.
INSERT_RECEIPTS = """
    INSERT INTO webhooks.receipt (id, organization_id, payment_id, source, external_id, provider, type, account,
                                  provider_created_at, livemode, request_id, correlation_id, state, reason,
                                  received_at, settled_at)
    SELECT v.id, coalesce(v.organization_id, $1::uuid), v.payment_id, v.source, v.external_id, v.provider, v.type,
           v.account, v.provider_created_at, v.livemode, v.request_id, v.correlation_id, v.state, v.reason,
           $2::timestamptz, CASE WHEN v.state <> 'RECEIVED' THEN $2::timestamptz END
      FROM unnest($3::uuid[], $4::uuid[], $5::uuid[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
                  $11::timestamptz[], $12::boolean[], $13::text[], $14::uuid[], $15::text[], $16::text[])
        AS v(id, organization_id, payment_id, source, external_id, provider, type, account, provider_created_at,
             livemode, request_id, correlation_id, state, reason)
     WHERE $1::uuid = '00000000-0000-7000-8000-000000000001'
        ON CONFLICT (external_id, source) DO NOTHING
    RETURNING id
"""
_RECEIPT = (
    *("id", "organization", "payment", "source", "external_id", "provider", "type", "account", "provider_created_at"),
    *("livemode", "request_id", "correlation_id", "state", "reason"),
)
INSERT_PAYLOADS = Insert("webhooks.payload", {"receipt_id": "uuid", "sealed": "bytea", "created_at": "timestamptz"})
FIND_BY_NAME = """
    SELECT r.id, r.source, r.external_id, r.type, r.state, r.round
      FROM webhooks.receipt AS r
     WHERE r.external_id = ANY($2::text[])
       AND $1::uuid = '00000000-0000-7000-8000-000000000001'
"""


@dataclass(frozen=True, slots=True)
class NewReceipt:
    """A row to insert."""

    id: ReceiptId
    arrival: Arrival
    received_at: datetime
    state: ReceiptState = ReceiptState.RECEIVED
    reason: str | None = None
    whose: Whose | None = None
    """If that was clear at once."""

    @property
    def organization(self) -> OrganizationId | None:
        return self.whose.organization if self.whose else None

    @property
    def payment(self) -> PaymentId | None:
        return self.whose.payment if self.whose else None

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
    ordered = sorted(receipts, key=attrgetter("external_id", "source"))
    rows = await tx.fetch(INSERT_RECEIPTS, tx.now, *columns(ordered, *_RECEIPT)) if ordered else []
    new = {row["id"] for row in rows}
    fresh = [receipt for receipt in receipts if receipt.id.uuid in new]
    await tx.insert_exactly(INSERT_PAYLOADS, fresh)
    return fresh


async def find_by_name(tx: Tx, names: Sequence[Name]) -> dict[Name, Record]:
    """Whoever's they are, for the platform, which alone sees them all."""
    wanted = set(names)
    rows = await tx.fetch(FIND_BY_NAME, [external_id for _, external_id in names]) if names else []
    return {name: row for row in rows if (name := (row["source"], row["external_id"])) in wanted}


# -- Resolving and settling

# OFFSET 0 keeps the look at the payload a look-up for each row, whatever the planner believes.
LIST_TO_RESOLVE = """
    SELECT r.id, r.source, r.external_id, r.provider, r.round, p.sealed
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
FIND_OPEN = """
    SELECT id
      FROM webhooks.receipt
     WHERE id = ANY($2::uuid[])
       AND organization_id = $1
       AND state = ANY($3::text[])
"""
HAND_OVER = """
    UPDATE webhooks.receipt AS r
       SET organization_id = v.organization_id, payment_id = v.payment_id,
           state = 'RECEIVED', reason = NULL, settled_at = NULL
      FROM unnest($2::uuid[], $3::uuid[], $4::uuid[]) AS v(id, organization_id, payment_id)
     WHERE r.id = ANY($2::uuid[])
       AND r.id = v.id
       AND r.organization_id = $1
       AND r.state = ANY($5::text[])
"""
SETTLE = """
    UPDATE webhooks.receipt AS r
       SET state = $4, payment_id = v.payment_id, reason = NULL, settled_at = $6
      FROM unnest($2::uuid[], $3::uuid[]) AS v(id, payment_id)
     WHERE r.id = ANY($2::uuid[])
       AND r.id = v.id
       AND r.organization_id = $1
       AND r.state = ANY($5::text[])
"""
# Whose event is not clear goes back to the platform, where it is looked at again.
BURY = """
    UPDATE webhooks.receipt
       SET state = $2, reason = $3, settled_at = $4,
           organization_id = CASE WHEN $2 = 'ORG_UNRESOLVED' THEN $5::uuid ELSE organization_id END
     WHERE id = $1
       AND state = ANY($6::text[])
"""


async def list_to_resolve(tx: Tx, receipts: Sequence[UUID]) -> list[Record]:
    """Those that nobody settled and that are still the platform's, with what they said, if that is still kept."""
    return await tx.fetch(LIST_TO_RESOLVE, list(receipts), list(OPEN))


async def find_open(tx: Tx, receipts: Sequence[UUID]) -> set[UUID]:
    """The organisation's own that are not settled."""
    return {row["id"] for row in await tx.fetch(FIND_OPEN, list(receipts), list(OPEN))}


async def hand_over(tx: Tx, theirs: Mapping[UUID, Whose]) -> None:
    await tx.execute_exactly(
        len(theirs), HAND_OVER, list(theirs), *columns(theirs.values(), "organization", "payment"), list(OPEN)
    )


async def settle(tx: Tx, receipts: Mapping[UUID, PaymentId | None], to: ReceiptState) -> None:
    payments = [payment.uuid if payment else None for payment in receipts.values()]
    await tx.execute_exactly(
        len(receipts), SETTLE, list(receipts), payments, to.value, list(RECEIPT.leaving(to)), tx.now
    )


async def bury(tx: PlatformTx, receipt: ReceiptId, to: ReceiptState, reason: str) -> bool:
    """Whether it was not settled otherwise meanwhile."""
    return await tx.execute(BURY, receipt.uuid, to.value, reason, tx.now, PLATFORM_ORGANIZATION.uuid, list(OPEN)) == 1


# -- What operators see

FIND_RECEIPTS = """
    SELECT r.id, NULLIF(r.organization_id, $1) AS organization_id, r.source, r.external_id, r.type, r.account, r.state,
           r.reason, r.payment_id, r.round, r.correlation_id, r.received_at, r.settled_at
      FROM webhooks.receipt AS r
     WHERE r.id = ANY($2::uuid[])
"""
LIST_RECEIPTS = BothWays("""
    SELECT r.id, NULLIF(r.organization_id, $1) AS organization_id, r.source, r.external_id, r.type, r.account, r.state,
           r.reason, r.payment_id, r.round, r.correlation_id, r.received_at, r.settled_at
      FROM webhooks.receipt AS r
     WHERE r.state = $2
       AND r.id > $3
       AND r.id < $4
     ORDER BY r.id {way}
     LIMIT $5
""")
LIST_TO_MEND = """
    SELECT DISTINCT ON (r.state, r.source, r.account)
           r.id, NULLIF(r.organization_id, $1) AS organization_id, r.source, r.external_id, r.type, r.account, r.state,
           r.reason, r.correlation_id
      FROM webhooks.receipt AS r
     WHERE r.state = ANY($2::text[])
     ORDER BY r.state, r.source, r.account, r.id
     LIMIT $3
"""


async def find_receipts(tx: Tx, receipts: Sequence[UUID]) -> list[Record]:
    return await tx.fetch(FIND_RECEIPTS, list(receipts))


async def list_receipts(
    tx: Tx, state: ReceiptState, place: UUID | None, most: int, order: ListOrder = ListOrder.OLDEST
) -> list[Record]:
    """Usually the oldest first, so that whoever mends begins with who has waited longest."""
    return await tx.fetch(LIST_RECEIPTS.first(order), state.value, *order.ids(place), most)


async def list_to_mend(tx: Tx) -> list[Record]:
    """The oldest of each account."""
    return await tx.fetch(LIST_TO_MEND, list(TO_MEND), MOST_TO_MEND)


# -- Opening again

REOPEN = """
    UPDATE webhooks.receipt
       SET organization_id = $1, state = 'RECEIVED', reason = NULL, settled_at = NULL, round = round + 1
     WHERE id = ANY($2::uuid[])
       AND state = ANY($3::text[])
    RETURNING id, source, external_id, round, correlation_id
"""


async def reopen(tx: Tx, receipts: Sequence[UUID]) -> dict[UUID, Record]:
    """Those that were to be mended; they are the platform's again."""
    rows = await tx.fetch(REOPEN, list(receipts), list(TO_MEND))
    return {row["id"]: row for row in rows}


def key_of(source: str, external_id: str, turn: int) -> str:
    """Of the job that looks at an event, for ever; a replay is another turn."""
    return f"{source}:{external_id}:again:{turn}" if turn else f"{source}:{external_id}"


# -- The poller

FIND_CURSOR = """
    SELECT position, since
      FROM webhooks.cursor
     WHERE organization_id = $1
       AND provider = $2
"""
PUT_CURSOR = """
    INSERT INTO webhooks.cursor AS c (organization_id, provider, position, since)
    VALUES ($1, $2, $3, $4)
        ON CONFLICT (organization_id, provider) DO UPDATE
       SET position = excluded.position, since = excluded.since
"""


async def find_cursor(tx: Tx, provider: Provider) -> Cursor:
    row = await tx.find(FIND_CURSOR, provider.value)
    return Cursor(row["position"], row["since"]) if row else Cursor(None, tx.now - Cursor.BEGINNING)


async def put_cursor(tx: Tx, provider: Provider, cursor: Cursor) -> None:
    await tx.execute(PUT_CURSOR, provider.value, cursor.position, cursor.since)

"""Rights and entries of one event, page by page."""

from collections.abc import Collection, Sequence
from typing import Final
from uuid import UUID

import msgspec

from admitone.entitlements.model import Checkin, Entitlement, Status
from admitone.entitlements.store.doors import CHECKIN_COLUMNS, checkin_of
from admitone.entitlements.store.entitlements import COLUMNS, entitlement_of
from admitone.finance.sources.api import PaymentId
from admitone.kernel.db import Tx
from admitone.kernel.ids import IdentityId
from admitone.kernel.statements import BothWays, ListOrder, plain

FIRST: Final = UUID(int=0)
LAST: Final = UUID(int=2**128 - 1)
MOST_SUMMED: Final = 10_000_000


class Wanted(msgspec.Struct, frozen=True):
    """Which of the rights of an event."""

    event: str
    status: Status | None = None
    session: str | None = None
    used: bool | None = None
    ids: tuple[UUID, UUID] = (FIRST, LAST)
    """Between these, both included."""
    words: str = ""
    """A part of the label, or the source's id."""


class Pieces(msgspec.Struct, frozen=True):
    """How many pieces of a line a payment gave a right to that was not taken back."""

    line_key: str
    payment: PaymentId
    pieces: int


class Entries(msgspec.Struct, frozen=True):
    """Which entries of an event."""

    event: str
    counted_as: str | None = None
    """Admitted, undone, duplicate, denied."""
    gate: str | None = None
    device: str | None = None


# By event and id together, which one index alone has, and by the event, whose predicate it is: of those that look
# equally good, as all do while nobody has counted the rows, the planner would take the key's, and read all of the
# organisation's.
LIST_RIGHTS = BothWays(
    f"""
    SELECT {COLUMNS}
      FROM entitlements.entitlement
     WHERE organization_id = $1
       AND event_id >= $2
       AND (event_id, id) > ($2, $3)
       AND (event_id, id) < ($2, $4)
       AND (event_id, id) >= ($2, $5)
       AND (event_id, id) <= ($2, $6)
       AND ($7::text IS NULL OR status = $7)
       AND ($8::text IS NULL OR session_id = $8)
       AND ($9::boolean IS NULL OR (entries > 0) = $9)
       AND ($10 = '' OR source_id = $10 OR strpos({plain("label")}, {plain("$10")}) > 0)
     ORDER BY event_id {{way}}, id {{way}}
     LIMIT $11
"""  # noqa: S608, of constants
)


# What was not taken back, piece by piece: what has no number is one by itself. In the order of its index, which an
# equal sign would make void: of indexes that look equally good, as all do while nobody has counted the rows, the
# planner would take another, and read all of the organisation's. Hence the limit, which is more than any event has.
SUM_PIECES = """
    SELECT r.line_key, r.payment_id,
           count(DISTINCT COALESCE(r.source_id || ':' || r.piece, r.id::text))::integer AS pieces
      FROM (SELECT id, line_key, payment_id, source_id, piece, status
              FROM entitlements.entitlement
             WHERE organization_id = $1
               AND event_id BETWEEN $2 AND $2
             ORDER BY event_id, id
             LIMIT $3) AS r
     WHERE r.status <> 'REVOKED'
     GROUP BY r.line_key, r.payment_id
"""


LIST_LOG = BothWays(
    f"""
    SELECT {CHECKIN_COLUMNS}
      FROM entitlements.checkin
     WHERE organization_id = $1
       AND event_id >= $2
       AND (event_id, id) > ($2, $3)
       AND (event_id, id) < ($2, $4)
       AND ($5::text IS NULL
            OR $5 = CASE WHEN action = 'UNDO' THEN 'undone'
                         WHEN admitted THEN 'admitted'
                         WHEN reason_code = 'CHECKIN_DUPLICATE' THEN 'duplicate'
                         ELSE 'denied' END)
       AND ($6::text IS NULL OR gate = $6)
       AND ($7::text IS NULL OR device = $7)
     ORDER BY event_id {{way}}, id {{way}}
     LIMIT $8
"""  # noqa: S608, of constants
)


LIST_OWNERS = """
    SELECT id, identity_id
      FROM entitlements.entitlement
     WHERE organization_id = $1
       AND event_id >= $2
       AND (event_id, id) > ($2, $3)
       AND (event_id, id) <= ($2, $4)
     ORDER BY event_id, id
     LIMIT $5
"""


LIST_OF_OWNERS = f"""
    SELECT {COLUMNS}
      FROM entitlements.entitlement
     WHERE organization_id = $1
       AND event_id >= $2
       AND (event_id, id) >= ($2, $4)
       AND (event_id, id) <= ($2, $5)
       AND identity_id = ANY($3::uuid[])
     ORDER BY event_id, id
     LIMIT $6
"""  # noqa: S608, of constants


async def list_rights(
    tx: Tx, wanted: Wanted, place: UUID | None, most: int, order: ListOrder = ListOrder.OLDEST
) -> list[Entitlement]:
    """By when they were granted."""
    stretch = (*order.ids(place), *wanted.ids)
    which = wanted.status.value if wanted.status else None, wanted.session, wanted.used, wanted.words
    rows = await tx.fetch(LIST_RIGHTS.first(order), wanted.event, *stretch, *which, most)
    return [entitlement_of(row) for row in rows]


async def sum_pieces(tx: Tx, event: str) -> list[Pieces]:
    """Of everything that was paid for and was not taken back; of a piece with several rights, one is enough."""
    rows = [row for row in await tx.fetch(SUM_PIECES, event, MOST_SUMMED) if row["payment_id"]]
    return [Pieces(row["line_key"], PaymentId(row["payment_id"]), row["pieces"]) for row in rows]


async def list_log(
    tx: Tx, wanted: Entries, place: UUID | None, most: int, order: ListOrder = ListOrder.NEWEST
) -> list[Checkin]:
    """By when they were written down."""
    values = wanted.counted_as, wanted.gate, wanted.device
    rows = await tx.fetch(LIST_LOG.first(order), wanted.event, *order.ids(place), *values, most)
    return [checkin_of(row) for row in rows]


async def list_owners(tx: Tx, event: str, after: UUID, most: int) -> list[tuple[UUID, IdentityId]]:
    """Each right of an event with whose it is."""
    return [
        (row["id"], IdentityId(row["identity_id"])) for row in await tx.fetch(LIST_OWNERS, event, after, LAST, most)
    ]


async def list_of_owners(tx: Tx, event: str, owners: Collection[IdentityId], most: int) -> Sequence[Entitlement]:
    whose = sorted(each.uuid for each in owners)
    rows = await tx.fetch(LIST_OF_OWNERS, event, whose, FIRST, LAST, most) if owners else []
    return [entitlement_of(row) for row in rows]

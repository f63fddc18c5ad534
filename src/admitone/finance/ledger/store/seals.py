"""Seals, and what is under them."""

from collections.abc import Sequence
from uuid import UUID

from admitone.finance.ledger.model import Transfer
from admitone.finance.ledger.sealing import Seal, SealMember
from admitone.finance.ledger.store.transfers import COLUMNS, transfer_in
from admitone.kernel.db import Overtaken, Tx
from admitone.kernel.statements import Insert

# In the order of its key, for the planner's sake: other indexes have the id too, at their end.
FIND_TRANSFERS = f"""
    SELECT {COLUMNS}
      FROM ledger.transfer AS t
     WHERE t.organization_id = $1
       AND t.id = ANY($2::uuid[])
     ORDER BY t.id
"""  # noqa: S608, of constants


# Numbers begin with one; to say so makes it the index that is walked from its end.
FIND_LAST_SEAL = """
    SELECT number, previous_hash, hash, transfers, total, sealed_at
      FROM ledger.seal
     WHERE organization_id = $1
       AND number > 0
     ORDER BY number DESC
     LIMIT 1
"""


FIND_SEALED = """
    SELECT transfer_id
      FROM ledger.seal_member
     WHERE organization_id = $1
       AND transfer_id = ANY($2::uuid[])
"""


LIST_ABSENT = """
    SELECT DISTINCT v.transfer_id
      FROM ledger.delta AS d
     CROSS JOIN LATERAL unnest(d.transfers) AS v (transfer_id)
     WHERE d.organization_id = $1
       AND v.transfer_id > $2
       AND v.transfer_id <= $3
       AND NOT EXISTS (SELECT 1
                         FROM ledger.transfer AS t
                        WHERE t.organization_id = $1
                          AND t.id = v.transfer_id)
     ORDER BY v.transfer_id
     LIMIT $4
"""


LIST_SEALS = """
    SELECT number, previous_hash, hash, transfers, total, sealed_at
      FROM ledger.seal
     WHERE organization_id = $1
       AND number >= $2
     ORDER BY number
     LIMIT $3
"""


LIST_SEAL_MEMBERS = """
    SELECT seal, ordinal, transfer_id, digest
      FROM ledger.seal_member
     WHERE organization_id = $1
       AND seal = ANY($2::bigint[])
     ORDER BY seal, ordinal
     LIMIT $3
"""


LIST_MEMBERS_UNTIL = """
    SELECT seal, ordinal, transfer_id, digest
      FROM ledger.seal_member
     WHERE organization_id = $1
       AND (seal, ordinal) > ($2::bigint, $3::integer)
       AND seal <= $4
     ORDER BY seal, ordinal
     LIMIT $5
"""


# What is sealed is looked up by the page's ids: an EXISTS would read every member there is for each page.
LIST_WHETHER_SEALED = """
      WITH page AS MATERIALIZED (
            SELECT t.id
              FROM ledger.transfer AS t
             WHERE t.organization_id = $1
               AND t.id > $2
             ORDER BY t.id
             LIMIT $3),
           sealed AS (
            SELECT m.transfer_id
              FROM ledger.seal_member AS m
              JOIN ledger.seal AS s
                ON s.organization_id = m.organization_id
               AND s.number = m.seal
             WHERE m.organization_id = $1
               AND m.transfer_id = ANY(ARRAY(SELECT p.id FROM page AS p))),
           open AS (
            SELECT unnest(d.transfers) AS transfer_id
              FROM ledger.delta AS d
             WHERE d.organization_id = $1)
    SELECT p.id,
           p.id IN (SELECT s.transfer_id FROM sealed AS s) AS sealed,
           p.id IN (SELECT o.transfer_id FROM open AS o) AS open
      FROM page AS p
     ORDER BY p.id
     LIMIT $3
"""


INSERT_SEALS = Insert(
    "ledger.seal",
    {
        "number": "bigint",
        "previous_hash": "bytea",
        "hash": "bytea",
        "transfers": "integer",
        "total": "bigint",
        "sealed_at": "timestamptz",
    },
    on_conflict="DO NOTHING",
)


INSERT_SEAL_MEMBERS = Insert(
    "ledger.seal_member", {"seal": "bigint", "ordinal": "integer", "transfer_id": "uuid", "digest": "bytea"}
)


async def find_transfers(tx: Tx, ids: Sequence[UUID]) -> dict[UUID, Transfer]:
    return {row["id"]: transfer_in(row) for row in await tx.fetch(FIND_TRANSFERS, ids)}


async def find_sealed(tx: Tx, ids: Sequence[UUID]) -> set[UUID]:
    return {row["transfer_id"] for row in await tx.fetch(FIND_SEALED, ids)}


async def list_absent(tx: Tx, after: UUID, until: UUID, limit: int) -> list[UUID]:
    """What open deltas name between these ids, and is not there."""
    return [row["transfer_id"] for row in await tx.fetch(LIST_ABSENT, after, until, limit)]


async def find_last_seal(tx: Tx) -> Seal | None:
    row = await tx.find(FIND_LAST_SEAL)
    return Seal(*row) if row else None


async def insert_seals(tx: Tx, seals: Sequence[Seal], members: Sequence[SealMember]) -> None:
    """If another roller was first, everything here is done again after its seals."""
    if await tx.execute(INSERT_SEALS.sql, *INSERT_SEALS.arguments(seals)) != len(seals):
        raise Overtaken("another roller has sealed meanwhile")
    await tx.insert_exactly(INSERT_SEAL_MEMBERS, members)


async def list_seals(tx: Tx, first: int, limit: int) -> list[Seal]:
    return [Seal(*row) for row in await tx.fetch(LIST_SEALS, first, limit)]


async def list_members(tx: Tx, seals: Sequence[int], limit: int) -> list[SealMember]:
    return [SealMember(*row) for row in await tx.fetch(LIST_SEAL_MEMBERS, seals, limit)]


async def list_members_until(tx: Tx, after: tuple[int, int], end: int, limit: int) -> list[SealMember]:
    """Those after that seal and ordinal, up to the seal with which it ends."""
    return [SealMember(*row) for row in await tx.fetch(LIST_MEMBERS_UNTIL, *after, end, limit)]


async def list_whether_sealed(tx: Tx, after: UUID, limit: int) -> list[tuple[UUID, bool, bool]]:
    """Transfers by their ids: whether each is sealed, and whether it is in an open delta, both at one moment."""
    rows = await tx.fetch(LIST_WHETHER_SEALED, after, limit)
    return [(row["id"], row["sealed"], row["open"]) for row in rows]

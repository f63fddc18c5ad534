"""Deltas to be rolled, and the balances that they go into."""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from admitone.finance.ledger.policy import Delta, Fold
from admitone.kernel.db import PlatformTx, Tx
from admitone.kernel.ids import OrganizationId
from admitone.kernel.statements import Insert

LIST_ORGANIZATIONS = """
      WITH RECURSIVE owner AS (
           (SELECT d.organization_id
              FROM ledger.delta AS d
             WHERE d.organization_id > $1
             ORDER BY d.organization_id
             LIMIT 1)
             UNION ALL
            SELECT (SELECT d.organization_id
                      FROM ledger.delta AS d
                     WHERE d.organization_id > o.organization_id
                     ORDER BY d.organization_id
                     LIMIT 1)
              FROM owner AS o
             WHERE o.organization_id IS NOT NULL)
    SELECT organization_id
      FROM owner
     WHERE organization_id IS NOT NULL
     LIMIT $2
"""


LIST_DELTAS = """
    SELECT id, city_code, day, accounts, payees, currencies, debits, credits, transfers, posted_at
      FROM ledger.delta
     WHERE organization_id = $1
       AND id > $2
     ORDER BY id
     LIMIT $3
"""


LOCK_DELTAS = f"{LIST_DELTAS}       FOR NO KEY UPDATE SKIP LOCKED"


DELETE_DELTAS = """
    DELETE FROM ledger.delta
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
"""


ADD_TO_BALANCES = Insert(
    "ledger.balance AS b",
    {
        "account": "text",
        "payee_id": "uuid",
        "currency": "text",
        "city_code": "text",
        "debits_minor": "bigint",
        "credits_minor": "bigint",
    },
    on_conflict="""(organization_id, account, payee_id, currency, city_code)
        DO UPDATE SET debits_minor = b.debits_minor + excluded.debits_minor,
                      credits_minor = b.credits_minor + excluded.credits_minor""",
)


ADD_TO_BALANCE_DAYS = Insert(
    "ledger.balance_day AS b",
    {
        "account": "text",
        "payee_id": "uuid",
        "currency": "text",
        "day": "date",
        "city_code": "text",
        "debits_minor": "bigint",
        "credits_minor": "bigint",
    },
    on_conflict="""(organization_id, account, payee_id, currency, day, city_code)
        DO UPDATE SET debits_minor = b.debits_minor + excluded.debits_minor,
                      credits_minor = b.credits_minor + excluded.credits_minor""",
)


async def list_organizations(tx: PlatformTx, after: UUID, limit: int) -> list[OrganizationId]:
    """Those of which a delta is open."""
    return [OrganizationId(row["organization_id"]) for row in await tx.fetch(LIST_ORGANIZATIONS, after, limit)]


async def lock_deltas(tx: Tx, after: UUID, limit: int) -> list[Delta]:
    """The oldest of those that nobody else has locked."""
    return [msgspec.convert(dict(row), Delta) for row in await tx.fetch(LOCK_DELTAS, after, limit)]


async def list_deltas(tx: Tx, after: UUID, limit: int) -> list[Delta]:
    return [msgspec.convert(dict(row), Delta) for row in await tx.fetch(LIST_DELTAS, after, limit)]


async def delete_deltas(tx: Tx, deltas: Sequence[Delta]) -> None:
    """Those that this transaction has locked."""
    await tx.execute(DELETE_DELTAS, [delta.id for delta in deltas])


async def add_to_balances(tx: Tx, folds: Sequence[Fold], days: Sequence[Fold]) -> None:
    """Both in their order, so that two rollers cannot deadlock."""
    await tx.insert_exactly(ADD_TO_BALANCES, folds)
    await tx.insert_exactly(ADD_TO_BALANCE_DAYS, days)

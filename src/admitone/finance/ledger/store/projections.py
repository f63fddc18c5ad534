"""The views, read in the order of the transfers behind them."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from admitone.finance.ledger.model import Account, EntryType
from admitone.finance.ledger.projections import Entry, JournalLine
from admitone.finance.sources.api import PaymentId
from admitone.kernel.db import Record, Tx

ENTRY_COLUMNS = """e.id, e.account, e.transaction_id, e.payee_id, e.city_code, e.entry_type, e.amount_signed,
           e.currency, e.payment_id, e.source_type, e.source_id, e.line, e.causation_id, e.correlation_id,
           e.created_at"""


LIST_ENTRIES_OF_PAYMENT = f"""
    SELECT {ENTRY_COLUMNS}
      FROM ledger.ledger_entry AS e
     WHERE e.organization_id = $1
       AND e.payment_id = $2
       AND (e.id, e.account) > ($3::uuid, $4::text)
     ORDER BY e.id, e.account
     LIMIT $5
"""  # noqa: S608, of constants


LIST_ENTRIES = f"""
    SELECT {ENTRY_COLUMNS}
      FROM ledger.ledger_entry AS e
     WHERE e.organization_id = $1
       AND e.id = ANY($2::uuid[])
     ORDER BY e.id, e.account
     LIMIT $3
"""  # noqa: S608, of constants


LIST_JOURNAL_LINES = """
    SELECT j.transfer_id, j.direction, j.entry_id, j.transaction_id, j.booking_id, j.property_id, j.city_code,
           j.entry_type, j.amount, j.account, j.counterparty, j.metadata, j.created_at, j.payee_id, j.payment_id,
           j.causation_id, j.correlation_id, j.currency
      FROM ledger.journal_line AS j
     WHERE j.organization_id = $1
       AND j.transfer_id = ANY($2::uuid[])
     ORDER BY j.transfer_id, j.direction DESC
     LIMIT $3
"""


async def list_entries_of_payment(tx: Tx, payment: PaymentId, after: tuple[UUID, str], limit: int) -> list[Entry]:
    return [_entry(row) for row in await tx.fetch(LIST_ENTRIES_OF_PAYMENT, payment.uuid, *after, limit)]


async def list_entries(tx: Tx, transfers: Sequence[UUID]) -> list[Entry]:
    """Of the two sides of each, those that are on the position."""
    return [_entry(row) for row in await tx.fetch(LIST_ENTRIES, transfers, 2 * len(transfers))]


async def list_journal_lines(tx: Tx, transfers: Sequence[UUID]) -> list[JournalLine]:
    """Both sides of each, the debit first."""
    rows = await tx.fetch(LIST_JOURNAL_LINES, transfers, 2 * len(transfers))
    return [JournalLine(**dict(row)) for row in rows]


def _entry(row: Record) -> Entry:
    found: dict[str, Any] = dict(row)
    found |= {
        "account": Account(row["account"]),
        "entry_type": EntryType(row["entry_type"]),
        "payment_id": PaymentId(row["payment_id"]) if row["payment_id"] else None,
    }
    return Entry(**found)

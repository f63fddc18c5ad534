"""The books as a table: ORYA's entries or the journal of 004, every line of one organisation, oldest first.

Promise: a line of the table is a line of the view, whatever the size of the ledger, a page at a time; and no cell of it
is a formula to whoever opens it.
"""

import csv
import io
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

import msgspec

from admitone.finance.ledger.projections import Entry, JournalLine
from admitone.finance.ledger.store import projections as store
from admitone.kernel.db import Tx

TRANSFERS: Final = 1_000
"""In one page of an export."""
FIRST: Final = UUID(int=0)
FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


class Form(StrEnum):
    ENTRIES = "entries"
    """Signed lines on the position (FIN-041)."""
    JOURNAL = "journal"
    """Debit and credit lines (MOR-002)."""


class ExportPage(msgspec.Struct, frozen=True):
    """Some lines as CSV."""

    text: str
    transfers: int = 0
    """How many are behind them."""
    last: UUID = FIRST


def headings(form: Form) -> str:
    return row_of((Entry if form is Form.ENTRIES else JournalLine).__struct_fields__)


async def export_page(tx: Tx, form: Form, after: UUID) -> ExportPage:
    """The lines of the next transfers after that one; without transfers, it is over."""
    transfers = await store.list_transfer_ids(tx, after, TRANSFERS)
    if not transfers:
        return ExportPage("")
    lines: Sequence[Entry | JournalLine] = (
        await store.list_entries(tx, transfers)
        if form is Form.ENTRIES
        else await store.list_journal_lines(tx, transfers)
    )
    text = "".join(row_of(msgspec.structs.astuple(line)) for line in lines)
    return ExportPage(text, len(transfers), transfers[-1])


def row_of(values: Sequence[Any]) -> str:
    written = io.StringIO()
    csv.writer(written).writerow([_cell(value) for value in values])
    return written.getvalue()


def _cell(value: Any) -> str:
    """A spreadsheet takes text that begins like this for a formula, and would run what somebody chose as a reference;
    a number of ours may begin with a minus."""
    if isinstance(value, int):
        return str(value)
    if isinstance(value, dict):
        return msgspec.json.encode(value).decode()
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(FORMULA) else text

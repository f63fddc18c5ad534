"""The books as a table: ORYA's entries or the journal of 004, every line of one organisation, oldest first.

Promise: a line of the table is a line of the view, whatever the size of the ledger, a page at a time; and no cell of it
is a formula to whoever opens it.
"""

import csv
import io
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

import msgspec

from admitone.finance.ledger.projections import Entry, JournalLine
from admitone.finance.ledger.store import projections as store
from admitone.kernel.db import Tx

ROWS: Final = 1_000
BEGINNING: Final = (UUID(int=0), "")
FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


class Form(StrEnum):
    ENTRIES = "entries"
    """Signed lines on the position (FIN-041)."""
    JOURNAL = "journal"
    """Debit and credit lines (MOR-002)."""


Line = Entry | JournalLine
Reading = Callable[[tuple[UUID, str], int], Awaitable[Sequence[Line]]]


async def list_lines(tx: Tx, form: Form, after: tuple[UUID, str], limit: int) -> Sequence[Line]:
    if form is Form.ENTRIES:
        return await store.list_entries(tx, after, limit)
    return await store.list_journal_lines(tx, after, limit)


async def pages(form: Form, read: Callable[..., Awaitable[Sequence[Line]]]) -> AsyncIterator[tuple[str, int]]:
    """CSV a page at a time, and how many lines of the ledger it has: first the headings, and then all there are.
    `read` is `list_lines` in a transaction of its own."""
    kind = Entry if form is Form.ENTRIES else JournalLine
    yield row_of(kind.__struct_fields__), 0
    after = BEGINNING
    while lines := await read(list_lines, form, after, ROWS):
        after = lines[-1].place
        yield "".join(row_of(msgspec.structs.astuple(line)) for line in lines), len(lines)


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

"""The books as a table: ORYA's entries or the journal of 004, every line of one organisation, oldest first.

Promise: a line of the table is a line of the view, whatever the size of the ledger, a page at a time; and no cell of it
is a formula to whoever opens it. What is exported is everything under the seals that there were at the start, in their
order: a prefix of the ledger (FIN-008), whatever is posted meanwhile. What was posted a moment ago comes with the next.
"""

from collections.abc import Collection
from enum import StrEnum
from typing import Final
from uuid import UUID

import msgspec

from admitone.finance.ledger.model import Account
from admitone.finance.ledger.projections import Entry, JournalLine
from admitone.finance.ledger.store import projections as store
from admitone.finance.ledger.store.seals import find_last_seal, list_members_until
from admitone.kernel.db import Tx
from admitone.kernel.tables import row_of

TRANSFERS: Final = 1_000
"""In one page of an export."""
FIRST: Final = UUID(int=0)
Place = tuple[int, int]
"""Under which seal, and where there."""
BEGINNING: Final[Place] = (0, 0)


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
    last: Place = BEGINNING


def headings(form: Form) -> str:
    return row_of((Entry if form is Form.ENTRIES else JournalLine).__struct_fields__)


class End(msgspec.Struct, frozen=True):
    """Up to which seal, and how many transfers there are until then."""

    number: int
    transfers: int


async def export_end(tx: Tx) -> End:
    last = await find_last_seal(tx)
    return End(last.number, last.total) if last else End(0, 0)


async def export_page(
    tx: Tx, form: Form, after: Place, end: int, accounts: Collection[Account] = frozenset(Account)
) -> ExportPage:
    """The lines on these accounts of the next transfers after that place, until the end; without transfers, it is
    over."""
    members = await list_members_until(tx, after, end, TRANSFERS)
    if not members:
        return ExportPage("")
    order = {member.transfer_id: place for place, member in enumerate(members)}
    lines: list[Entry] | list[JournalLine]
    if form is Form.ENTRIES:
        lines = sorted(await store.list_entries(tx, [*order]), key=lambda line: order[line.id])
    else:
        found = await store.list_journal_lines(tx, [*order])
        shown = (line for line in found if line.metadata["account"] in accounts)
        lines = sorted(shown, key=lambda line: order[line.transfer_id])
    text = "".join(row_of(msgspec.structs.astuple(line)) for line in lines)
    return ExportPage(text, len(members), (members[-1].seal, members[-1].ordinal))

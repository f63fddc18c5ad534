"""Statements on paper: as a table for the accountant, and as a page for the owner.

Promise: both have the same lines and the same totals; no cell of the table is a formula to whoever opens it. What is
too much for a page is gathered by day and kind there, and its sums are the same.
"""

from collections.abc import AsyncIterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Final

import msgspec

from admitone.finance.payouts.statements import Line, Statement
from admitone.kernel.money import Money
from admitone.kernel.tables import row_of
from admitone.kernel.words import Words

if TYPE_CHECKING:
    from fpdf import FPDF

HEADINGS: Final = ("posted_at", "type", "amount_minor", "currency", "payment_id", "source_id", "reference")
MOST_LINES: Final = 500
"""On paper, one by one."""
WIDTHS: Final = (28, 62, 62, 38)


class Row(msgspec.Struct, frozen=True):
    """A line on paper."""

    day: str
    what: str
    reference: str
    amount: str


async def as_csv(statement: Statement) -> AsyncIterator[str]:
    """What was owed before, every line, and what is owed after."""
    week, totals = statement.week, statement.totals
    yield row_of(HEADINGS)
    yield row_of((week.end.isoformat(), "BALANCE_AFTER", totals.after_minor, week.currency, "", "", ""))
    async for line in statement.lines():
        yield row_of(
            (
                line.at.isoformat(),
                line.entry_type.value,
                line.change_minor,
                week.currency,
                str(line.payment) if line.payment else "",
                line.source_id,
                line.reference,
            )
        )
    yield row_of((week.start.isoformat(), "BALANCE_BEFORE", totals.before_minor, week.currency, "", "", ""))


async def gather(statement: Statement, words: Words) -> list[Row]:
    """The lines of a page, the oldest first."""
    lines: list[Line] = []
    sums: dict[tuple[str, str], tuple[int, int]] = {}
    async for line in statement.lines():
        if len(lines) <= MOST_LINES:
            lines.append(line)
        own = words.day(line.at.date()), line.entry_type.value
        count, minor = sums.get(own, (0, 0))
        sums[own] = count + 1, minor + line.change_minor
    currency = statement.week.currency
    if len(lines) > MOST_LINES:
        gathered = [Row(*own, f"x {count}", amount_of(minor, currency, words)) for own, (count, minor) in sums.items()]
        return gathered[::-1]
    return [
        Row(
            words.day(line.at.date()),
            line.entry_type.value,
            (line.source_id or line.reference or "")[:34],
            amount_of(line.change_minor, currency, words),
        )
        for line in reversed(lines)
    ]


def amount_of(minor: int, currency: str, words: Words) -> str:
    """In figures that every printer has."""
    decimal: Decimal = Money(minor, currency).decimal()
    return _plain(f"{words.number(decimal)} {currency}")


def as_pdf(statement: Statement, rows: Sequence[Row], words: Words) -> bytes:
    # It is large, and most who run us never draw a page.
    from fpdf import FPDF

    week, totals = statement.week, statement.totals
    page = FPDF()
    page.set_creation_date(week.end)
    page.set_title(_plain(words.say("Statement of {owner}", owner=str(week.owner))))
    page.add_page()
    page.set_font("Helvetica", "B", 14)
    _text(page, words.say("Statement of {owner}", owner=str(week.owner)))
    page.set_font("Helvetica", size=10)
    last = (week.end).date()
    _text(page, words.say("Week from {start} to {end} (UTC)", start=words.day(week.monday), end=words.day(last)))
    page.ln(4)
    _table(page, rows, words)
    page.ln(4)
    for title, minor in (
        ("Balance before", totals.before_minor),
        ("Movements of the week", totals.moved_minor),
        ("Balance after", totals.after_minor),
    ):
        page.cell(sum(WIDTHS[:3]), 6, _plain(words.say(title)))
        page.cell(WIDTHS[3], 6, amount_of(minor, week.currency, words), align="R", new_x="LMARGIN", new_y="NEXT")
    return bytes(page.output())


def _table(page: "FPDF", rows: Sequence[Row], words: Words) -> None:
    if not rows:
        _text(page, words.say("Nothing moved in this week."))
        return
    page.set_font("Helvetica", "B", 9)
    _cells(page, [words.say(each) for each in ("Day", "What", "Reference", "Amount")])
    page.set_font("Helvetica", size=9)
    for row in rows:
        _cells(page, [row.day, row.what, row.reference, row.amount])


def _cells(page: "FPDF", texts: Sequence[str]) -> None:
    for width, text in zip(WIDTHS[:3], texts, strict=False):
        page.cell(width, 6, _plain(text))
    page.cell(WIDTHS[3], 6, _plain(texts[3]), align="R", new_x="LMARGIN", new_y="NEXT")


def _text(page: "FPDF", text: str) -> None:
    page.cell(0, 8, _plain(text), new_x="LMARGIN", new_y="NEXT")


def _plain(text: str) -> str:
    """What the fonts of every reader have; thin spaces between figures are spaces."""
    return text.replace("\u202f", " ").replace("\xa0", " ").encode("latin-1", "replace").decode("latin-1")

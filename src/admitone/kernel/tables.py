"""Tables to take away, as CSV.

Promise: no cell of a table is a formula to whoever opens it.
"""

import csv
import io
from collections.abc import Sequence
from typing import Any, Final

import msgspec

FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
NOTHING: Final = "-"
"""Where a role or a word would stand; by itself it computes nothing."""


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
    return f"'{text}" if text.startswith(FORMULA) and text != NOTHING else text

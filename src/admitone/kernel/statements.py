"""Statements that need more than a string: locks, inserts of many rows, and lists that are read from either end.

Promise: what differs between servers (plain or sharded) or between patience and impatience is compiled here and
nowhere else; stores declare what they mean, and the checks plan every form that can be sent.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import Enum, StrEnum
from functools import cached_property
from operator import attrgetter
from types import NoneType
from typing import Any, Final, TypeVar
from uuid import UUID

import msgspec

from admitone.kernel.ids import Id, to_text

PLAIN: Final[Mapping[str, type]] = {
    "text": str,
    "smallint": int,
    "integer": int,
    "bigint": int,
    "boolean": bool,
    "timestamptz": datetime,
    "date": date,
}
"""Types whose values both sides read and write as text more quickly than as an array of the driver's, and which values
those are: the server would read others as well, and keep something else."""
FOR_EVER: Final = {
    "timestamptz": {'"0001-01-01T00:00:00Z"': "-infinity", '"9999-12-31T23:59:59.999999Z"': "infinity"},
    "date": {'"0001-01-01"': "-infinity", '"9999-12-31"': "infinity"},
}
"""The first and the last of a calendar are no days to the driver either, but for ever."""

Place = TypeVar("Place", UUID, tuple[datetime, UUID])


class ListOrder(StrEnum):
    """From which end a list is read."""

    NEWEST = "NEWEST"
    OLDEST = "OLDEST"

    def between(self, place: Place | None, first: Place, last: Place) -> tuple[Place, Place]:
        """After which and before which place the rows stand that come next, of all between the first and the last."""
        if place is None:
            return first, last
        return (first, min(place, last)) if self is ListOrder.NEWEST else (max(place, first), last)

    def ids(self, place: UUID | None) -> tuple[UUID, UUID]:
        """The same of a list by ids: after which and before which."""
        return self.between(place, UUID(int=0), UUID(int=2**128 - 1))


@dataclass(frozen=True)
class BothWays:
    """A SELECT of what stands between two places of an index, read from either end: `{way}` follows each column of
    its ORDER BY, which are those of the index, so that nothing is ever sorted."""

    select: str

    @cached_property
    def newest(self) -> str:
        return self.select.replace("{way}", "DESC")

    @cached_property
    def oldest(self) -> str:
        return self.select.replace("{way}", "ASC")

    @property
    def forms(self) -> tuple[str, ...]:
        return (self.newest, self.oldest)

    def first(self, order: ListOrder) -> str:
        return self.newest if order is ListOrder.NEWEST else self.oldest


@dataclass(frozen=True)
class Lock:
    """A SELECT (with ORDER BY, so that two transactions lock in the same order) whose rows are to be locked.

    `key` names the column by which inputs find their row. NO KEY: rows that reference these must not wait.
    """

    select: str
    key: str

    @cached_property
    def skipping(self) -> str:
        return f"{self.select} FOR NO KEY UPDATE SKIP LOCKED"

    @cached_property
    def waiting(self) -> str:
        return f"{self.select} FOR NO KEY UPDATE"

    @property
    def forms(self) -> tuple[str, ...]:
        return (self.select, self.skipping, self.waiting)


@dataclass(frozen=True)
class Insert:
    """INSERT of many rows in one statement, one argument per column.

    `columns` maps each column to its type. The driver writes arrays value by value, which costs more than a server
    takes to read the same as text, but for ids and bytes. `unnest` flattens arrays of arrays and has no arrays of jsonb
    from Python, so those columns travel as JSON text and are unfolded by the statement. A tenant table names its
    organisation by `$1`, which `Tx` binds.
    """

    table: str
    columns: Mapping[str, str]
    tenant: bool = True
    on_conflict: str = ""
    returning: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Where a column's value stands in a row (`source.id`), if not under the column's name."""

    @cached_property
    def sql(self) -> str:
        first = 2 if self.tenant else 1
        arrays = ", ".join(f"${n}::{_travels_as(kind)}" for n, kind in enumerate(self.columns.values(), first))
        names = ", ".join(self.columns)
        values = ", ".join(_unfolded(name, kind) for name, kind in self.columns.items())
        into, chosen = (f"organization_id, {names}", f"$1, {values}") if self.tenant else (names, values)
        parts = [f"INSERT INTO {self.table} ({into}) SELECT {chosen} FROM unnest({arrays}) AS v({names})"]  # noqa: S608
        if self.on_conflict:
            parts.append(f"ON CONFLICT {self.on_conflict}")
        if self.returning:
            parts.append(f"RETURNING {self.returning}")
        return " ".join(parts)

    @property
    def forms(self) -> tuple[str, ...]:
        return (self.sql,)

    def arguments(self, rows: Sequence[object]) -> list[list[Any] | str]:
        """One array or text per column, from the attributes of the rows."""
        arrays = columns(rows, *(self.attributes.get(name, name) for name in self.columns))
        return [_travelling(array, kind) for array, kind in zip(arrays, self.columns.values(), strict=True)]


def plain(text: str) -> str:
    """SQL: this text as people look for it, without capitals and accents."""
    return f"regexp_replace(normalize(lower({text}), NFKD), U&'[\\0300-\\036f]', '', 'g')"


def columns(rows: Iterable[object], *names: str) -> list[list[Any]]:
    """The rows turned on their side: one list per attribute, in the driver's own types."""
    rows = list(rows)
    return [_in_the_drivers_types(list(map(attrgetter(name), rows))) for name in names]


def _in_the_drivers_types(values: list[Any]) -> list[Any]:
    """A column holds values of one type, or nothing, so the first one tells for all."""
    first = next((value for value in values if value is not None), None)
    if isinstance(first, Id):
        return [None if value is None else value.uuid for value in values]
    if isinstance(first, Enum):
        return [None if value is None else value.value for value in values]
    return values


def _is_document(kind: str) -> bool:
    return kind == "jsonb" or kind.endswith("[]")


def _travels_as(kind: str) -> str:
    if _is_document(kind):
        return "text[]"
    return f"text::{kind}[]" if kind in PLAIN else f"{kind}[]"


def _travelling(array: list[Any], kind: str) -> list[Any] | str:
    if _is_document(kind):
        return [None if value is None else _json(value) for value in array]
    return array_as_text(array, kind) if kind in PLAIN else array


def array_as_text(values: Sequence[Any], kind: str) -> str:
    """As PostgreSQL writes it. JSON writes it alike, but for its brackets and where something is escaped."""
    for each in {*map(type, values)} - {PLAIN[kind], NoneType}:
        if not (issubclass(each, Enum) and issubclass(each, PLAIN[kind])):
            raise TypeError(f"{each.__name__} is not what a column of {kind} holds")
    if kind == "timestamptz":  # Whose offsets may be larger and finer than the server's.
        values = [each if each is None or each.tzinfo is UTC else each.astimezone(UTC) for each in values]
    text = _json(values)
    if "\\" in text:
        text = f"[{','.join(map(_quoted, values))}]"
    for written, said in FOR_EVER.get(kind, {}).items():
        text = text.replace(written, said)
    return f"{{{text[1:-1]}}}"


def _quoted(value: str | None) -> str:
    if value is None:
        return "NULL"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _unfolded(name: str, kind: str) -> str:
    if kind == "jsonb":
        return f"v.{name}::jsonb"
    if kind.endswith("[]"):
        return (
            f"CASE WHEN v.{name} IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(v.{name}::jsonb))::{kind} END"
        )
    return f"v.{name}"


def _json(value: Any) -> str:
    return msgspec.json.encode(value, enc_hook=to_text).decode()

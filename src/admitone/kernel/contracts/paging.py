"""Lists, page by page, one way for all of them.

Promise: a page starts right after the last row of the one before, whatever was added or removed in between; a cursor
is opaque, and one that does not have the form of ours, or is of another order, is refused as 422. It is no secret: it
only says where to go on.

    after = request.after(tuple[str, UUID]) or ("", NIL)
    rows = await tx.fetch(LIST_COUNTERS, *after, request.limit + 1)
    return page_of([Counter.of(row) for row in rows], request.limit, key=lambda counter: (counter.name, counter.id))

A list with more than one order says `request.page(rows, key=…)`: its cursors are of that order alone.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Generic, TypeVar, cast, get_args

import msgspec
from msgspec import Meta

from admitone.kernel.contracts.refusals import ValidationFailed
from admitone.kernel.contracts.wire import LARGEST_INTEGER, Wire, from_wire, is_sensible, to_wire

Item = TypeVar("Item")
Key = TypeVar("Key", bound=tuple[Any, ...])
Cursor = Annotated[str, Meta(min_length=1, max_length=512, pattern="^[A-Za-z0-9_-]+$")]

_encode = msgspec.msgpack.Encoder(enc_hook=to_wire).encode


class PageRequest(Wire):
    """What every list takes; filters are added in a subclass, and where there is more than one order a field `order`
    whose default is the usual one."""

    cursor: Cursor | None = None
    limit: Annotated[int, Meta(ge=1, le=100)] = 50

    def after(self, kind: type[Key]) -> Key | None:
        """The sort key of the last row that the caller has seen; `None` at the start."""
        if self.cursor is None:
            return None
        marked: Any = tuple[(*(str for _ in self._mark), *get_args(kind))]  # type: ignore[misc]
        key: tuple[Any, ...] = key_in(self.cursor, marked)
        if key[: len(self._mark)] != self._mark:
            raise _not_ours()
        return cast("Key", key[len(self._mark) :])

    def page(self, rows: Sequence[Item], key: Callable[[Item], tuple[Any, ...]]) -> "Page[Item]":
        """As `page_of`, in this order."""
        return page_of(rows, self.limit, lambda row: (*self._mark, *key(row)))

    def cursor_at(self, key: tuple[Any, ...]) -> str:
        """Goes on after the row with this key, in this order and in no other."""
        return cursor_of((*self._mark, *key))

    @property
    def _mark(self) -> tuple[str, ...]:
        """By which cursors of one order are told from those of another. Those of the usual one have none."""
        order = getattr(self, "order", None)
        return () if order is usual_order(type(self)) else (str(order),)


@cache
def usual_order(kind: type[PageRequest]) -> Any:
    """In which a list is read unless somebody says otherwise; `None`, if there is only one."""
    return next((each.default for each in msgspec.structs.fields(kind) if each.name == "order"), None)


class Page(Wire, Generic[Item]):
    """What every list gives."""

    items: list[Item]
    next_cursor: str | None


def page_of(rows: Sequence[Item], limit: int, key: Callable[[Item], tuple[Any, ...]]) -> Page[Item]:
    """A page of rows that were fetched with `LIMIT limit + 1`: the one too many tells that there is a next page."""
    items = list(rows[:limit])
    more = len(rows) > limit
    return Page(items=items, next_cursor=cursor_of(key(items[-1])) if more else None)


def cursor_of(key: tuple[Any, ...]) -> str:
    return urlsafe_b64encode(_encode(key)).decode().rstrip("=")


def key_in(cursor: str, kind: type[Key]) -> Key:
    try:
        packed = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        key = msgspec.msgpack.decode(packed, type=kind, dec_hook=from_wire)
        # Other spellings of the same key, and what no column of ours can hold, were never made by us.
        ours = all(_fits_postgres(part) for part in key) and cursor_of(key) == cursor
    except (NotBase64, ValueError, OverflowError, RecursionError):
        raise _not_ours() from None
    if not ours:
        raise _not_ours()
    return cast("Key", key)


def _fits_postgres(part: Any) -> bool:
    match part:
        case str():
            return "\0" not in part
        case int():
            return part <= LARGEST_INTEGER
        case datetime():
            return part.tzinfo is not None and is_sensible(part)
        case _:
            return True


def _not_ours() -> ValidationFailed:
    return ValidationFailed.at("$.cursor", "This cursor did not come from a page of this list")

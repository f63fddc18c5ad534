"""A list as people look at it: in an order that they choose, page by page, or as a table to take away.

Promise: everything that a list shows stands in its address, which can be shared. A table has the rows of the list under
the same filter and in the same order, because it is the list: what its contract answers, asked page by page to the end.
An order that there is not is the usual one; a cursor of another order is refused by the contract.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

import msgspec
from msgspec.structs import replace

from admitone.kernel.contracts import Call, Contract, Page, PageRequest, Stream, ValidationFailed, Wire
from admitone.kernel.contracts.wire import to_wire
from admitone.kernel.ids import OrganizationId
from admitone.kernel.tables import row_of
from admitone.web.form import Form, Typed, filled

Asked = TypeVar("Asked", bound=PageRequest)

NEWEST_WORDS: Final[dict[str, str]] = {"NEWEST": "The newest first", "OLDEST": "The oldest first"}
OLDEST_WORDS: Final[dict[str, str]] = {"OLDEST": "The oldest first", "NEWEST": "The newest first"}
"""The orders of a list that is read from either end; the first is the usual one."""
CSV: Final = "csv"
AT_A_TIME: Final = 100
"""Rows of a table that are asked for at once: as many as a list gives."""
NOT_KEPT: Final = {"organizationId", "order", "cursor", "form"}
"""Where it is, which is in its path; and what is of one page, one order or one table alone."""


PLACES: Final = {"tab", "event", "eventId"}
"""What says of what it is a list, and filters nothing."""


class ListPage(Wire):
    """What every page of a list takes; its filters are added in a subclass."""

    order: Typed = ""
    cursor: Typed = ""
    form: Typed = ""
    """`csv`: the whole list, as a table."""

    def order_among(self, orders: Mapping[str, str]) -> str:
        """The one that is asked for, or the usual one, which is the first."""
        return self.order if self.order in orders else next(iter(orders), "")


@dataclass(frozen=True)
class Listing:
    """A list as it stands on a page: where it is, what was asked of it, and what was found."""

    path: str
    kept: Mapping[str, object]
    """Its filters, by their names in the address."""
    orders: Mapping[str, str]
    """What each is called; the first is the usual one."""
    order: str
    next_cursor: str | None

    @classmethod
    def of(
        cls, request: ListPage, path: str, orders: Mapping[str, str], found: Page[Any] | None, *, but: str = ""
    ) -> "Listing":
        """`but` is a field that stands in the path."""
        asked = msgspec.to_builtins(request, enc_hook=to_wire)
        kept = {name: value for name, value in asked.items() if name not in {*NOT_KEPT, but}}
        return cls(path, kept, orders, request.order_among(orders), found.next_cursor if found else None)

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out by what people look for."""
        return not any(value for name, value in self.kept.items() if name not in PLACES)

    @property
    def next_page(self) -> str:
        return self._at(cursor=self.next_cursor) if self.next_cursor else ""

    @property
    def table(self) -> str:
        """The same, to take away."""
        return self._at(form=CSV)

    def in_order(self, order: str) -> str:
        """The same from the beginning, in another order."""
        return link(self.path, **self.kept, order=order)

    def _at(self, **more: object) -> str:
        is_usual = self.order == next(iter(self.orders), "")
        return link(self.path, **self.kept, order="" if is_usual else self.order, **more)


def link(path: str, **query: object) -> str:
    """An address that can be shared; what is empty is left out."""
    asked = {name: str(value) for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(asked)}" if asked else path


@dataclass(frozen=True)
class Source:
    """Whom a list asks, in which orders, and what its table is made of and called."""

    contract: Contract
    orders: Mapping[str, str]
    columns: Sequence[str]
    name: str
    rows: int = 25
    """On a page, which stays light."""

    def asked(self, kind: type[Asked], page: ListPage, /, **filters: object) -> Asked:
        """What the contract is asked: what is looked for, in the order and from the place that the address says."""
        ordered = {"order": page.order_among(self.orders)} if self.orders else {}
        return filled(kind, **filters, **ordered, cursor=page.cursor, limit=str(self.rows))

    async def read(
        self, call: Call, page: ListPage, asked: PageRequest, organization: OrganizationId | None = None
    ) -> Page[Any] | Stream:
        """The page that is asked for, or all that the list has as a table."""
        if page.form == CSV:
            return await self._table(call, asked, organization)
        found: Page[Any] = await call.ask(self.contract, asked, organization=organization)
        return found

    async def look(
        self, call: Call, page: ListPage, asking: Callable[[], PageRequest], organization: OrganizationId
    ) -> tuple[Page[Any] | None, Form] | Stream:
        """The same for whoever typed what is looked for: what it cannot be is said beside the field."""
        try:
            found = await self.read(call, page, asking(), organization)
        except ValidationFailed as refusal:
            return None, Form.refused(page, refusal, call.words)
        return found if isinstance(found, Stream) else (found, Form.of(page))

    async def _table(self, call: Call, asked: PageRequest, organization: OrganizationId | None) -> Stream:
        """From its beginning. Whoever may not ask is refused before the first line leaves."""

        async def page_at(cursor: str | None) -> Page[Any]:
            wanted = replace(asked, cursor=cursor, limit=AT_A_TIME)
            found: Page[Any] = await call.ask(self.contract, wanted, organization=organization)
            return found

        async def lines(page: Page[Any]) -> AsyncIterator[str]:
            yield heading_of(self.columns)
            yield rows_of(page.items, self.columns)
            while page.next_cursor:
                page = await page_at(page.next_cursor)
                yield rows_of(page.items, self.columns)

        return Stream(lines(await page_at(None)), download_name=f"{self.name}.csv")


def short_table(rows: Sequence[object], columns: Sequence[str], *, name: str) -> Stream:
    """Of what stands on one page."""

    async def lines() -> AsyncIterator[str]:
        yield heading_of(columns)
        yield rows_of(rows, columns)

    return Stream(lines(), download_name=f"{name}.csv")


def heading_of(columns: Sequence[str]) -> str:
    return row_of([column.replace(".", "_") for column in columns])


def rows_of(rows: Sequence[object], columns: Sequence[str]) -> str:
    return "".join(row_of([_cell(row, column) for column in columns]) for row in rows)


def _cell(row: object, column: str) -> object:
    """`payment.status` is the status of its payment, if it has one."""
    value: Any = row
    for name in column.split("."):
        value = getattr(value, name) if value is not None else None
    return value.isoformat() if isinstance(value, datetime) else value

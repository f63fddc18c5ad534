"""Stripe lists the newest first; we read the oldest first.

Promise: a place in a list is the id of what was read last, and the next page is what follows it, however much was added
meanwhile. The beginning is found by halving time, so an old and long list costs some thirty calls once, and a short one
none besides its only page.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, Final, Generic, Protocol, TypeVar

import msgspec

from admitone.finance.gateways.model import Trouble, Unknown
from admitone.finance.gateways.stripe.objects import Page
from admitone.finance.gateways.stripe.way import Seen, Way
from admitone.kernel.scope import Caller

PAGE: Final = 100
"""The most that Stripe gives at once."""


class Row(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def created(self) -> int: ...


Each = TypeVar("Each", bound=Row)
Fetch = Callable[[dict[str, Any]], Awaitable[Page[Each] | Trouble]]
"""Asks for a page by `created`, `starting_after` and `ending_before`."""


class Forward(msgspec.Struct, Generic[Each], frozen=True):
    """The oldest first."""

    rows: tuple[Each, ...]
    next_cursor: str | None


class Told(msgspec.Struct, frozen=True):
    """An event in a list, to the letter."""

    id: str
    created: int
    payload: bytes = b""


def listed(way: Way, caller: Caller, call: Any, kind: type[Each], **asked: Any) -> Fetch[Each]:
    async def fetch(place: dict[str, Any]) -> Page[Each] | Trouble:
        page = await way.hear(caller, call({**asked, **place}), Page[kind])  # type: ignore[valid-type]
        return page.it if isinstance(page, Seen) else page

    return fetch


def listed_events(way: Way, caller: Caller) -> Fetch[Told]:
    async def fetch(place: dict[str, Any]) -> Page[Told] | Trouble:
        page = await way.hear(caller, way.v1.events.list_async(place), Page[msgspec.Raw])  # type: ignore[arg-type]
        if not isinstance(page, Seen):
            return page
        try:
            told = [_told(row) for row in page.it.data]
        except msgspec.DecodeError:
            return Unknown("answered what cannot be read")
        return Page(data=told, has_more=page.it.has_more)

    return fetch


def _told(row: msgspec.Raw) -> Told:
    return msgspec.structs.replace(msgspec.json.decode(row, type=Told), payload=bytes(row))


async def read_forward(fetch: Fetch[Each], cursor: str | None, since: datetime | None) -> Forward[Each] | Trouble:
    if cursor is not None:
        page = await fetch({"limit": PAGE, "ending_before": cursor})
        return _forward(page, more=page.has_more) if isinstance(page, Page) else page
    low = max(0, int(since.timestamp())) if since else 0
    page = await fetch({"limit": PAGE, "created": {"gte": low}})
    if not isinstance(page, Page):
        return page
    if not page.has_more:
        return _forward(page, more=False)
    first = await _oldest(fetch, low, page)
    return _forward(first, more=True) if isinstance(first, Page) else first


async def _oldest(fetch: Fetch[Each], low: int, page: Page[Each]) -> Page[Each] | Trouble:
    """The first page of what was created from `low` on, of which a later one is known."""
    high = page.data[0].created + 1
    while page.has_more and high - low > 1:
        middle = (low + high) // 2
        earlier = await fetch({"limit": PAGE, "created": {"gte": low, "lt": middle}})
        if not isinstance(earlier, Page):
            return earlier
        if earlier.data:
            page, high = earlier, middle
        else:
            low = middle
    while page.has_more:  # More than a page in one second.
        last = page.data[-1].id
        earlier = await fetch({"limit": PAGE, "created": {"gte": low, "lt": high}, "starting_after": last})
        if not isinstance(earlier, Page):
            return earlier
        page = earlier
    return page


def _forward(page: Page[Each], *, more: bool) -> Forward[Each]:
    newest = page.data[0].id if page.data and more else None
    return Forward(tuple(reversed(page.data)), newest)


async def read_all(fetch: Fetch[Each]) -> list[Each] | Trouble:
    """A list that is short by its nature: the refunds of a charge, its attempts. The oldest first."""
    rows: list[Each] = []
    asked: dict[str, Any] = {"limit": PAGE}
    while True:
        page = await fetch(asked)
        if not isinstance(page, Page):
            return page
        rows += page.data
        if not page.has_more or not page.data:
            return rows[::-1]
        asked = {"limit": PAGE, "starting_after": page.data[-1].id}

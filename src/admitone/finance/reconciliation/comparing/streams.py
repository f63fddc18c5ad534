"""Pages of either side, each in a read or a call of its own, so that no transaction lasts and nothing piles up."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from admitone.finance.gateways.api import Movement, MovementPage
from admitone.finance.gateways.port import Gateway
from admitone.finance.ledger import api as ledger
from admitone.finance.ledger.api import PlacedPage, Span, Weighing
from admitone.finance.webhooks import api as webhooks
from admitone.kernel.db import Tx
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Caller

LONGEST_UNRESOLVED: Final = timedelta(hours=1)
"""However long an event waits of which nobody knows whose it is: it excuses every organisation, and so not for long."""
OUT_OF_TURN: Final = timedelta(days=1)
"""A journal is in the order in which its provider wrote it, which is that of time but for this."""
WAITING: Final = 1_000
TRIES: Final = 5
PAUSE: Final = timedelta(milliseconds=200)


class NotTold(Exception):
    """A provider did not show its journal."""


def _silent(looked_at: int) -> None: ...


@dataclass(frozen=True)
class Look:
    """One look at one organisation's books, here and there."""

    organization: OrganizationId
    caller: Caller
    read: Callable[..., Awaitable[Any]]
    """`read(query, *args)`, in the organisation's own scope; or in another, if it is named."""
    tell: Callable[[int], None] = _silent
    """How far it is: so many rows more."""


async def movements(look: Look, gateways: Sequence[Gateway], span: Span) -> AsyncIterator[Sequence[Movement]]:
    """What providers moved, of a span and a little around it, in pages."""
    over = span.until + OUT_OF_TURN if span.until else None
    for gateway in gateways:
        cursor: str | None = None
        while True:
            page = await _page(look, gateway, cursor, span.since)
            yield page.movements
            look.tell(len(page.movements))
            if page.next_cursor is None or (over and page.movements and page.movements[-1].at > over):
                break
            cursor = page.next_cursor


async def _page(look: Look, gateway: Gateway, cursor: str | None, since: datetime | None) -> MovementPage:
    for attempt in range(1, TRIES + 1):
        said = await gateway.list_movements(look.caller, look.organization, cursor, since)
        if isinstance(said, MovementPage):
            return said
        await asyncio.sleep((PAUSE * attempt).total_seconds())
    raise NotTold(f"{gateway.provider} does not show its journal.")


async def weighed(look: Look, weighing: Weighing) -> AsyncIterator[tuple[ledger.Weighed, ...]]:
    """What the ledger says that they moved, as sums."""
    after, _ = weighing.span.ids
    while (page := await look.read(ledger.weigh, weighing, after)).looked_at:
        yield page.sums
        look.tell(page.looked_at)
        after = page.last


async def placed(look: Look, weighing: Weighing, buckets: Collection[int]) -> AsyncIterator[tuple[ledger.Placed, ...]]:
    """The same, transfer by transfer, of some buckets."""
    after, end = weighing.span.ids
    while after < end:
        page: PlacedPage = await look.read(ledger.list_placed, weighing, buckets, after)
        if not page.looked_at:
            return
        yield page.transfers
        look.tell(page.looked_at)
        after = page.last


async def excused_since(tx: Tx, organization: OrganizationId) -> datetime:
    """When the first event came that is this organisation's, or may be, and has had no effect yet; else now."""
    since: datetime = tx.now
    after: UUID | None = None
    while page := await webhooks.list_receipts(tx, webhooks.ReceiptState.RECEIVED, after, WAITING):
        for row in page:
            if row["organization_id"] == organization.uuid:
                ours: datetime = row["received_at"]
                return min(since, ours)
            if row["organization_id"] is None:
                since = min(since, max(row["received_at"], tx.now - LONGEST_UNRESOLVED))
        after = page[-1]["id"]
    return since


async def now(tx: Tx) -> datetime:
    return tx.now

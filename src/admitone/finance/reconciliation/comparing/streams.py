"""Pages of either side, each in a read or a call of its own, so that no transaction lasts and nothing piles up."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from admitone.finance.gateways.api import Ability, Movement, MovementPage, Provider
from admitone.finance.gateways.port import Gateway
from admitone.finance.ledger import api as ledger
from admitone.finance.ledger.api import PlacedPage, Span, Weighing
from admitone.finance.payments import api as payments
from admitone.finance.sources.api import PaymentId
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


@dataclass(frozen=True)
class Journals:
    """Whose there are: those that are shown are compared, and what went through others is compared with nothing."""

    shown: tuple[Gateway, ...]
    silent: frozenset[Provider]

    @classmethod
    def of(cls, gateways: Sequence[Gateway]) -> "Journals":
        shown = tuple(each for each in gateways if Ability.MOVEMENTS in each.abilities)
        return cls(shown, frozenset(each.provider for each in gateways) - {each.provider for each in shown})


async def movements(look: Look, journals: Journals, span: Span) -> AsyncIterator[Sequence[Movement]]:
    """What providers moved, of a span and a little around it, in pages."""
    over = span.until + OUT_OF_TURN if span.until else None
    for gateway in journals.shown:
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


async def placed(
    look: Look, weighing: Weighing, buckets: Collection[int] | None, silent: Collection[Provider]
) -> AsyncIterator[tuple[list[ledger.Placed], int]]:
    """The same, transfer by transfer, of some buckets or of all; without those of payments through silent providers,
    of which it is said how many they were."""
    after, end = weighing.span.ids
    while after < end:
        page: PlacedPage = await look.read(ledger.list_placed, weighing, buckets, after)
        if not page.looked_at:
            return
        unseen = await _paid_through(look, silent, page.transfers) if silent else set()
        shown = [each for each in page.transfers if each.payment not in unseen]
        yield shown, len(page.transfers) - len(shown)
        look.tell(page.looked_at)
        after = page.last


async def _paid_through(
    look: Look, silent: Collection[Provider], transfers: Sequence[ledger.Placed]
) -> set[PaymentId | None]:
    named = sorted({each.payment for each in transfers if each.payment})
    return set(await look.read(payments.find_through, named, silent)) if named else set()


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

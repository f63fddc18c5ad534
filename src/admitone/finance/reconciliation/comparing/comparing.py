"""A comparison: both sides are summed up, and only where the sums differ are they read once more.

Promise: memory does not grow with the number of rows, on either side. What moved a moment ago may be known on one side
only: it is in flight, and no difference. What moved after the look began is left for the next one, on both sides, so
that a long look is about the same moment as a short one. A window is an economy and no blinker: what it shows on one
side only is looked for before it, on both sides, until it is found or everything was read.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, TypeVar

from admitone.finance.gateways.port import GATEWAYS
from admitone.finance.ledger.api import Span
from admitone.finance.reconciliation.comparing import streams
from admitone.finance.reconciliation.comparing.likeness import NOT_COMPARED
from admitone.finance.reconciliation.comparing.streams import Journals, Look, NotTold
from admitone.finance.reconciliation.comparing.sums import LONGEST_WAIT, Object, Sums
from admitone.finance.reconciliation.comparing.suspects import Seen, Suspects
from admitone.finance.webhooks import api as webhooks
from admitone.kernel.ports import Unwired

IN_FLIGHT: Final = timedelta(minutes=15)
"""Longer than a webhook, or the sweep that makes up for a lost one, takes."""
TICK: Final = timedelta(microseconds=1)
Page = TypeVar("Page")
ROUNDS: Final = 5
"""How often the sides are read again because not everything that differs fitted."""


@dataclass
class Comparison:
    """What came of it."""

    sums: Sums
    differing: dict[Object, Seen] = field(default_factory=dict)
    """What is not the same, and not explained by its time."""
    timing: dict[Object, Seen] = field(default_factory=dict)
    """In flight, or at the edge of the window."""
    left_out: int = 0
    """Buckets that differ and were not looked into: so many differences at least."""
    not_compared: int = 0
    """Transfers of payments through a provider that shows no journal."""
    matched: int = 0
    """Movements that the ledger has as they are."""
    untold: str | None = None
    """Why it could not be made."""


async def compare(look: Look, since: datetime | None = None, rounds: int = ROUNDS) -> Comparison:
    """Everything that moved since then, or ever."""
    began: datetime = await look.read(streams.now)
    excused: datetime = await look.read(streams.excused_since, look.organization, scope=webhooks.PLATFORM)
    sums = Sums(since, max(min(began, excused) - IN_FLIGHT, began - LONGEST_WAIT), began)
    comparison = Comparison(sums)
    try:
        comparing = _Comparing(look, Journals.of(GATEWAYS().all()), comparison)
        await comparing.sum_up()
        await comparing.name_flying()
        await comparing.name_differing(rounds)
        await comparing.look_back()
    except (NotTold, Unwired) as untold:
        comparison.untold = str(untold)
    return comparison


class _Comparing:
    def __init__(self, look: Look, journals: Journals, comparison: Comparison) -> None:
        self._look = look
        self._journals = journals
        self._sums = comparison.sums
        self._comparison = comparison
        self._failed = False

    async def sum_up(self) -> None:
        async def there() -> None:
            async for page in self._until_failed(streams.movements(self._look, self._journals, self._sums.span)):
                self._sums.add_there(page)

        async def here() -> None:
            async for page in self._until_failed(streams.weighed(self._look, self._sums.weighing())):
                self._sums.add_here(page)

        await self._together(there(), self._sum_up_shown() if self._journals.silent else here())

    async def _sum_up_shown(self) -> None:
        """Whose provider a transfer went through, its payment knows: where some are silent, each is looked at."""
        placed = streams.placed(self._look, self._sums.weighing(), None, self._journals.silent)
        async for page, unseen in self._until_failed(placed):
            self._sums.add_here(self._sums.weighed(page))
            self._comparison.not_compared += unseen

    async def name_flying(self) -> None:
        """What differs by nothing but what moved a moment ago: only that is read again."""
        if buckets := self._sums.flying():
            suspects = Suspects(buckets)
            await self._see(suspects, Span(self._sums.young + TICK, self._sums.began))
            self._comparison.timing.update(suspects.differing())

    async def name_differing(self, rounds: int) -> None:
        buckets = self._sums.unexplained()
        for _ in range(rounds):
            if not buckets:
                break
            suspects = Suspects(buckets)
            await self._see(suspects, self._sums.span)
            for about, each in suspects.differing():
                found = self._comparison.timing if self._sums.is_young(each.last) else self._comparison.differing
                found[about] = each
            buckets = suspects.left_out
        self._comparison.left_out = len(buckets)
        others = (*self._comparison.differing.values(), *self._comparison.timing.values())
        self._comparison.matched = self._sums.objects - sum(each.movements for each in others)

    async def look_back(self) -> None:
        """An object is compared whole: what one side moved or posted before the window belongs to it."""
        differing = self._comparison.differing
        for span in _before(self._sums.since) if self._sums.since else ():
            if not differing:
                return
            known = Suspects({each.bucket for each in differing.values()}, dict(differing))
            await self._see(known, span, only_known=True)
            for about in [about for about, each in differing.items() if not each.differs]:
                self._comparison.timing[about] = differing.pop(about)

    async def _see(self, suspects: Suspects, span: Span, *, only_known: bool = False) -> None:
        known = frozenset(suspects.seen) if only_known else None

        async def there() -> None:
            async for page in self._until_failed(streams.movements(self._look, self._journals, span)):
                for movement in page:
                    if movement.kind not in NOT_COMPARED and movement.at in span:
                        suspects.see_there(movement, self._sums.bucket_of(movement), known)

        async def here() -> None:
            weighing, silent = self._sums.weighing(span), self._journals.silent
            placed = streams.placed(self._look, weighing, suspects.buckets, silent)
            async for page, _ in self._until_failed(placed):
                suspects.see_here(page, known)

        await self._together(there(), here())

    async def _together(self, *works: Awaitable[None]) -> None:
        """Both sides at once: while the database adds up, we read what the provider says."""

        async def one(work: Awaitable[None]) -> None:
            try:
                await work
            except BaseException:
                self._failed = True
                raise

        for outcome in await asyncio.gather(*map(one, works), return_exceptions=True):
            if isinstance(outcome, BaseException):
                raise outcome

    async def _until_failed(self, pages: AsyncIterator[Page]) -> AsyncIterator[Page]:
        """When the other side has failed this one ends with its page, and not in the middle of a statement."""
        async for page in pages:
            if self._failed:
                return
            yield page


def _before(since: datetime) -> Iterator[Span]:
    """A little first: most of what a window cuts through, it cuts by hours."""
    yield Span(since - LONGEST_WAIT, since - TICK)
    yield Span(last=since - LONGEST_WAIT - TICK)

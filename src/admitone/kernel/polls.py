"""Polls: what queries say, followed for as long as somebody listens.

Promise: whoever follows the same query in the same process shares the asking: the database is asked once for all of
them, about every second, and by nobody when nobody listens. A listener hears what its queries say as soon as all have
spoken, and then whenever one says something else; one who is slow misses what was in between, and holds up nobody. What
takes long is asked less often: never more than a twentieth of the time is spent asking. A database that is away ends no
following.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from contextlib import suppress
from contextvars import Context
from time import monotonic
from typing import Any, Final

from admitone.kernel.db import Database
from admitone.kernel.errors import Unavailable
from admitone.kernel.scope import IdentityScope, Scope
from admitone.kernel.telemetry import logger

EVERY_SECONDS: Final = 1.0
SHARE: Final = 20
"""Of the time, one in so many parts goes into asking."""
FOLLOWED_SECONDS: Final = 60.0
"""After that a listener must come again, and be asked again whether it may."""

Query = Callable[..., Awaitable[Any]]
Question = tuple[Any, ...]
"""A query, and what it takes besides the transaction."""


class Bell:
    """Rings for everybody who waits."""

    def __init__(self) -> None:
        self._ringing = asyncio.Event()

    def ring(self) -> None:
        ringing, self._ringing = self._ringing, asyncio.Event()
        ringing.set()

    async def heard(self) -> None:
        await self._ringing.wait()


class Poll:
    """One query, and what it said last."""

    def __init__(self, ask: Callable[[], Awaitable[Any]], bell: Bell) -> None:
        self.listeners = 0
        self.said: Any = None
        self.times = 0
        """How often it said something new."""
        self.failure: BaseException | None = None
        self._ask = ask
        self._bell = bell
        # Of nobody's request: what is logged here is not about the first who came.
        self._asking = asyncio.get_running_loop().create_task(self._ask_again_and_again(), context=Context())

    async def stop(self) -> None:
        self._asking.cancel()
        with suppress(asyncio.CancelledError):
            await self._asking

    async def _ask_again_and_again(self) -> None:
        while True:
            began = monotonic()
            try:
                self._hear(await self._ask())
            except Unavailable:
                logger().warning("poll.database_away")
            except Exception as bug:  # noqa: BLE001  It is raised to everybody who listens.
                self.failure = bug
                self._bell.ring()
                return
            await asyncio.sleep(max(EVERY_SECONDS, SHARE * (monotonic() - began)))

    def _hear(self, said: Any) -> None:
        if self.times and said == self.said:
            return
        self.said = said
        self.times += 1
        self._bell.ring()


class Polls:
    """Those of one process."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._bell = Bell()
        self._polls: dict[Hashable, Poll] = {}

    def __len__(self) -> int:
        return len(self._polls)

    async def follow(self, scope: Scope | IdentityScope, *questions: Question) -> AsyncIterator[tuple[Any, ...]]:
        """What each of them says, and says next, for a while."""
        polls = [self._begin(scope, question) for question in questions]
        until, seen = monotonic() + FOLLOWED_SECONDS, [0]
        try:
            while monotonic() < until:
                times = [poll.times for poll in polls]
                if failure := next((poll.failure for poll in polls if poll.failure), None):
                    raise failure
                if all(times) and times != seen:
                    seen = times
                    yield tuple(poll.said for poll in polls)
                    continue
                try:
                    async with asyncio.timeout(until - monotonic()):
                        await self._bell.heard()
                except TimeoutError:
                    return
        finally:
            for question in questions:
                await self._leave(scope, question)

    def _begin(self, scope: Scope | IdentityScope, question: Question) -> Poll:
        poll = self._polls.get((scope, question))
        if poll is None:
            query, *args = question
            poll = Poll(lambda: self._database.read(scope, query, *args), self._bell)
            self._polls[scope, question] = poll
        poll.listeners += 1
        return poll

    async def _leave(self, scope: Scope | IdentityScope, question: Question) -> None:
        poll = self._polls[scope, question]
        poll.listeners -= 1
        if not poll.listeners:
            del self._polls[scope, question]
            await poll.stop()

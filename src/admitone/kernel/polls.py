"""Polls: what a query says, followed for as long as somebody listens.

Promise: whoever follows the same query in the same process shares the asking: the database is asked once for all of
them, about every second, and by nobody when nobody listens. A listener hears what it says at once, and then whenever it
says something else; one who is slow misses what was in between, and holds up nobody. What takes long is asked less
often: never more than a twentieth of the time is spent asking. A database that is away ends no following.
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


class Poll:
    """One query, and what it said last."""

    def __init__(self, ask: Callable[[], Awaitable[Any]]) -> None:
        self.listeners = 0
        self._ask = ask
        self._said: Any = None
        self._times = 0
        """How often it said something new."""
        self._failure: BaseException | None = None
        self._changed = asyncio.Event()
        # Of nobody's request: what is logged here is not about the first who came.
        self._asking = asyncio.get_running_loop().create_task(self._ask_again_and_again(), context=Context())

    async def next_after(self, times: int) -> tuple[int, Any]:
        """What it says, once it has said something new more often than that."""
        while self._times <= times and self._failure is None:
            await self._changed.wait()
        if self._failure is not None:
            raise self._failure
        return self._times, self._said

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
                self._failure = bug
                self._changed.set()
                return
            await asyncio.sleep(max(EVERY_SECONDS, SHARE * (monotonic() - began)))

    def _hear(self, said: Any) -> None:
        if self._times and said == self._said:
            return
        self._said = said
        self._times += 1
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


class Polls:
    """Those of one process."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._polls: dict[Hashable, Poll] = {}

    def __len__(self) -> int:
        return len(self._polls)

    async def follow(self, scope: Scope | IdentityScope, query: Query, *args: Any) -> AsyncIterator[Any]:
        """What the query says, and says next, for a while."""
        name = (scope, query, args)
        poll = self._polls.get(name)
        if poll is None:
            poll = self._polls[name] = Poll(lambda: self._database.read(scope, query, *args))
        poll.listeners += 1
        until, times = monotonic() + FOLLOWED_SECONDS, 0
        try:
            while True:
                try:
                    async with asyncio.timeout(until - monotonic()):
                        times, said = await poll.next_after(times)
                except TimeoutError:
                    return
                yield said
        finally:
            poll.listeners -= 1
            if not poll.listeners and self._polls.get(name) is poll:
                del self._polls[name]
                await poll.stop()

"""Answers that take a while: streams of bytes and server-sent events.

Promise: an open stream ends when its source ends, its client leaves or the server stops; its source is closed in each
case, so that no query and no subscription outlives its listener. A stream that was cut never looks complete.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any, Final, cast

from admitone.kernel.contracts.wire import to_json

KEEP_ALIVE_SECONDS: Final = 15.0
"""Shorter than the idle time-out of any proxy that we know of."""

Send = Callable[[dict[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Event:
    """One server-sent event; data goes out as one line of JSON."""

    name: str
    data: Any
    id: str | None = None

    def __post_init__(self) -> None:
        if any(sign in self.name + (self.id or "") for sign in "\r\n\0"):
            raise ValueError("an event's name and id are one line")

    def encode(self) -> bytes:
        head = f"event: {self.name}\n" + (f"id: {self.id}\n" if self.id is not None else "")
        return head.encode() + b"data: " + to_json(self.data) + b"\n\n"


async def stream_as_bytes(chunks: AsyncIterator[bytes | str]) -> AsyncIterator[bytes]:
    async with _closing(chunks):
        async for chunk in chunks:
            yield chunk.encode() if isinstance(chunk, str) else chunk


async def events_as_bytes(events: AsyncIterator[Event]) -> AsyncIterator[bytes]:
    """Each event as it comes, and a comment whenever nothing came for a while, so that nobody hangs up on us."""
    yield b": hello\n\n"
    async with _closing(events):
        coming = _next_of(events)
        try:
            while True:
                await asyncio.wait({coming}, timeout=KEEP_ALIVE_SECONDS)
                if not coming.done():
                    yield b": still here\n\n"
                    continue
                try:
                    event = coming.result()
                except StopAsyncIteration:
                    return
                yield event.encode()
                coming = _next_of(events)
        finally:
            coming.cancel()
            with suppress(asyncio.CancelledError, StopAsyncIteration):
                await coming


def _next_of(events: AsyncIterator[Event]) -> asyncio.Task[Event]:
    async def next_event() -> Event:
        return await anext(events)

    return asyncio.create_task(next_event())


def _closing(source: AsyncIterator[Any]) -> Any:
    return aclosing(cast("Any", source)) if hasattr(source, "aclose") else _Open()


class _Open:
    """A source that needs no closing."""

    async def __aenter__(self) -> None: ...

    async def __aexit__(self, *exception: object) -> None: ...


class OpenStreams:
    """The streams that are open now, so that a stopping server can end them."""

    def __init__(self) -> None:
        self._pouring: set[asyncio.Task[None]] = set()
        self._stopping = False

    def __len__(self) -> int:
        return len(self._pouring)

    async def pour(self, chunks: AsyncIterator[bytes], receive: Receive, send: Send, *, may_end_early: bool) -> bool:
        """Send chunk after chunk; whether the client was told that this is all."""
        pouring = asyncio.create_task(_pour(chunks, send))
        leaving = asyncio.create_task(_until_client_leaves(receive))
        self._pouring.add(pouring)
        if self._stopping:
            pouring.cancel()
        try:
            await asyncio.wait({pouring, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not pouring.done():
                pouring.cancel()
            with suppress(asyncio.CancelledError):
                await pouring
        finally:
            self._pouring.discard(pouring)
            leaving.cancel()
            await _settled(pouring)
        complete = not pouring.cancelled() or (may_end_early and self._stopping)
        if complete:
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        return complete

    async def stop(self) -> None:
        """End them all, and wait until their sources are closed."""
        self._stopping = True
        pouring = list(self._pouring)
        for task in pouring:
            task.cancel()
        if pouring:
            await asyncio.wait(pouring)


async def _settled(task: asyncio.Task[None]) -> None:
    """Make sure that it ended, whatever ended us."""
    if not task.done():
        task.cancel()
        await asyncio.wait({task})


async def _pour(chunks: AsyncIterator[bytes], send: Send) -> None:
    async with _closing(chunks):
        async for chunk in chunks:
            if chunk:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})


async def _until_client_leaves(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass

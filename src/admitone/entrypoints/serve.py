"""The API in the foreground: Granian, in one process and one event loop.

Promise: SIGTERM or SIGINT ends it within `GRACE_SECONDS` and a little: nobody new is let in, event streams are ended
at once, other requests may finish, and what is still running then is cancelled. A port that somebody else listens on
is refused before anything starts.

One process of this kind is as fast as a worker of Granian's own multi-process server, and leaves the event loop to us.
To grow, run more of it, on other ports, behind a proxy.
"""

import asyncio
import signal
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, cast

import uvloop
from granian.constants import Interfaces
from granian.errors import FatalError
from granian.server.embed import Server

from admitone.entrypoints import http
from admitone.kernel import telemetry
from admitone.kernel.config import Config

GRACE_SECONDS = 1.5

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]


class PortTaken(Exception):
    """Somebody else listens there."""


class StartRefused(Exception):
    """The application looked around and would not start; the text says why."""


def require_free_port(host: str, port: int) -> None:
    """Granian would share the port with another server of the same user, and each would get half of the calls."""
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # What a former server left behind is no obstacle.
        try:
            probe.bind(address)
        except OSError as problem:
            raise PortTaken(
                f"Port {port} on {host} cannot be used ({problem.strerror}). Choose another: make run PORT={port + 1}"
            ) from problem


def serve(config: Config) -> None:
    require_free_port(config.host, config.port)
    telemetry.configure()
    uvloop.run(_serve(config))


async def _serve(config: Config) -> None:
    door = Door(http.build(config))
    server = Server(
        door,
        address=config.host,
        port=config.port,
        interface=Interfaces.ASGI,
        websockets=False,
        log_enabled=False,
        backlog=1024,
    )
    closing: list[asyncio.Task[None]] = []

    def stop() -> None:
        server.stop()  # type: ignore[no-untyped-call]
        closing.append(asyncio.create_task(door.close(GRACE_SECONDS)))

    loop = asyncio.get_running_loop()
    for order in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(order, stop)
    try:
        await server.serve()
    except FatalError as problem:
        raise StartRefused(door.complaint) from problem


class Door:
    """Knows who is inside. Granian waits for all of them, and an event stream never ends by itself."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._inside: set[asyncio.Task[Any]] = set()
        self._streams: set[asyncio.Task[Any]] = set()
        self._closed = False
        self.complaint = "The application did not start."

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._let_in(scope, receive, send)
        else:
            await self._application(scope, receive, self._overhear(send))

    def _overhear(self, send: Send) -> Send:
        async def overheard(message: Message) -> None:
            if message["type"] == "lifespan.startup.failed":
                self.complaint = message.get("message") or self.complaint
            await send(message)

        return overheard

    async def _let_in(self, scope: Message, receive: Receive, send: Send) -> None:
        task = cast("asyncio.Task[Any]", asyncio.current_task())

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_event_stream(message):
                self._streams.add(task)
                if self._closed:
                    task.cancel()
            await send(message)

        self._inside.add(task)
        try:
            await self._application(scope, receive, watched)
        finally:
            self._inside.discard(task)
            self._streams.discard(task)

    async def close(self, grace_seconds: float) -> None:
        self._closed = True
        for task in self._streams:
            task.cancel()
        if self._inside:
            _, late = await asyncio.wait(self._inside, timeout=grace_seconds)
            for task in late:
                task.cancel()


def _is_event_stream(message: Message) -> bool:
    return any(
        name.lower() == b"content-type" and value.startswith(b"text/event-stream") for name, value in message["headers"]
    )

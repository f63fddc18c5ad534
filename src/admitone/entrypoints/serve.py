"""The API in the foreground: Granian, in one process and one event loop.

Promise: SIGTERM or SIGINT ends it within `GRACE_SECONDS` and a little: nobody new is let in, streams are ended at
once, other requests may finish, and what is still running then is cancelled. A port that somebody else listens on
is refused before anything starts.

One process of this kind is as fast as a worker of Granian's own multi-process server, and leaves the event loop to us.
To grow, run more of it: beside each other on one port, among which the system divides the connections, or on other
ports behind a proxy.
"""

import asyncio
import signal
import socket
from typing import Any, cast

import uvloop
from granian.constants import HTTPModes, Interfaces
from granian.server.embed import Server

from admitone.entrypoints.http import Application
from admitone.entrypoints.memory import spare_the_garbage_collector
from admitone.kernel import telemetry
from admitone.kernel.contracts import Edge

GRACE_SECONDS = 1.1


class PortTaken(Exception):
    """Somebody else listens there."""


def require_free_port(host: str, port: int) -> None:
    """Granian would share the port with another server of the same user, and each would get half of the calls."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as problem:
        raise PortTaken(f"{host!r} is no address of this machine ({problem.strerror}).") from problem
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # What a former server left behind is no obstacle.
        try:
            probe.bind(address)
        except OSError as problem:
            raise PortTaken(
                f"Port {port} on {host} cannot be used ({problem.strerror}). Choose another: make run PORT={port + 1}"
            ) from problem


def serve(application: Application, host: str, port: int, *, beside: bool = False) -> None:
    """`beside` others of ours on the same port."""
    if not beside:
        require_free_port(host, port)
    telemetry.configure()
    uvloop.run(_serve(application, host, port))


async def _serve(application: Application, host: str, port: int) -> None:
    await application.start()
    try:
        spare_the_garbage_collector()
        async with application.watch:
            await _until_told(application.edge, host, port)
    finally:
        await application.close()


async def _until_told(edge: Edge, host: str, port: int) -> None:
    door = Door(edge)
    server = Server(
        door,
        address=host,
        port=port,
        interface=Interfaces.ASGINL,
        http=HTTPModes.http1,  # Version 2 is the proxy's business, where there is TLS.
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
    await server.serve()
    await asyncio.gather(*closing)


class Door:
    """Knows who is inside. Granian waits for all of them, and an event stream never ends by itself."""

    def __init__(self, edge: Edge) -> None:
        self._edge = edge
        self._inside: set[asyncio.Task[Any]] = set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        task = cast("asyncio.Task[Any]", asyncio.current_task())
        self._inside.add(task)
        try:
            await self._edge(scope, receive, send)
        finally:
            self._inside.discard(task)

    async def close(self, grace_seconds: float) -> None:
        await self._edge.streams.stop()
        if self._inside:
            _, late = await asyncio.wait(self._inside, timeout=grace_seconds)
            for task in late:
                task.cancel()

"""A gateway between a browser and the running Admit One, that can be told to fail as gateways do.

async with a_gateway(running.port) as gateway:
    page = await Visits(chromium, gateway.address)("/sign-in")
    gateway.mood = Mood.HANGING
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import Enum, auto
from typing import Final

DOWN: Final = b"HTTP/1.1 502 Bad Gateway\r\ncontent-type: text/html\r\ncontent-length: 12\r\nconnection: close\r\n\r\n<h1>502</h1>"


class Mood(Enum):
    OPEN = auto()
    DOWN = auto()
    """Its house is down, and it says so."""
    HANGING = auto()
    """It takes what it is given, and says nothing."""


class Gateway:
    def __init__(self, behind: int) -> None:
        self._behind = behind
        self._mood = Mood.OPEN
        self._open: set[asyncio.StreamWriter] = set()
        self.address = ""

    @property
    def mood(self) -> Mood:
        return self._mood

    @mood.setter
    def mood(self, mood: Mood) -> None:
        """For connections that are open, too: they end."""
        self._mood = mood
        self.close()

    def close(self) -> None:
        for writer in self._open:
            writer.close()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            match self._mood:
                case Mood.OPEN:
                    await self._pass_on(reader, writer)
                case Mood.DOWN:
                    await reader.readuntil(b"\r\n\r\n")
                    writer.write(DOWN)
                    await writer.drain()
                case Mood.HANGING:
                    await reader.read()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._open.discard(writer)
            writer.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        theirs, to_them = await asyncio.open_connection("127.0.0.1", self._behind)
        ways = [asyncio.ensure_future(_pour(reader, to_them)), asyncio.ensure_future(_pour(theirs, writer))]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        to_them.close()


async def _pour(source: asyncio.StreamReader, into: asyncio.StreamWriter) -> None:
    while some := await source.read(65_536):
        into.write(some)
        await into.drain()


@asynccontextmanager
async def a_gateway(behind: int) -> AsyncIterator[Gateway]:
    gateway = Gateway(behind)
    server = await asyncio.start_server(gateway.serve, "127.0.0.1", 0)
    gateway.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield gateway
    finally:
        server.close()
        gateway.close()

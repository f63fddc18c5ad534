"""A wire between us and PostgreSQL that a test can cut at the worst moment."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from enum import Enum
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit, urlunsplit

COMMIT = b"COMMIT\0"


class Cut(Enum):
    """When to cut, once COMMIT comes by."""

    NEVER = "never"
    BEFORE_COMMIT = "before the server hears it"
    AFTER_COMMIT = "after the server did it, before we hear of it"


class Wire:
    def __init__(self, server_socket: Path) -> None:
        self._server_socket = server_socket
        self.cut = Cut.NEVER
        self.cuts = 0
        self.refuse = False
        self._pumps: set[asyncio.Task[None]] = set()
        self._ends: set[asyncio.StreamWriter] = set()

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.refuse:
            writer.close()
            return
        try:
            server_reader, server_writer = await asyncio.open_unix_connection(str(self._server_socket))
        except OSError:
            writer.close()
            return
        self._ends |= {writer, server_writer}
        there = asyncio.create_task(self._forward(reader, server_writer, writer))
        back = asyncio.create_task(self._pump(server_reader, writer))
        for pump in (there, back):
            self._pumps.add(pump)
            pump.add_done_callback(self._pumps.discard)

    def sever(self) -> None:
        """Cut everything that goes through, now."""
        for end in self._ends:
            end.transport.abort()
        self._ends.clear()

    async def _forward(self, reader, server_writer, writer) -> None:
        with suppress(OSError):
            await self._forward_until_cut(reader, server_writer, writer)
        server_writer.close()
        self._ends -= {writer, server_writer}

    async def _forward_until_cut(self, reader, server_writer, writer) -> None:
        while chunk := await reader.read(65536):
            if COMMIT in chunk and self.cut is not Cut.NEVER:
                cut, self.cut = self.cut, Cut.NEVER
                self.cuts += 1
                writer.transport.abort()
                if cut is Cut.AFTER_COMMIT:
                    server_writer.write(chunk)
                    await server_writer.drain()
                    await asyncio.sleep(0.05)  # let the server finish before it sees us gone
                server_writer.transport.abort()
                return
            server_writer.write(chunk)
            await server_writer.drain()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while chunk := await reader.read(65536):
                writer.write(chunk)
                await writer.drain()
        except OSError:
            pass
        writer.close()

    async def close(self) -> None:
        for pump in self._pumps:
            pump.cancel()
        await asyncio.gather(*self._pumps, return_exceptions=True)
        self.sever()
        await asyncio.sleep(0)


@asynccontextmanager
async def a_wire(url: str) -> AsyncIterator[tuple[Wire, str]]:
    """The wire, and the address of the database through it."""
    parts = urlsplit(url)
    query = parse_qs(parts.query)
    port = query.get("port", ["5432"])[0]
    wire = Wire(Path(query["host"][0]) / f".s.PGSQL.{port}")
    with tempfile.TemporaryDirectory(prefix="wire-") as folder:
        server = await asyncio.start_unix_server(wire.connect, path=f"{folder}/.s.PGSQL.{port}")
        through = urlunsplit(parts._replace(query=f"host={quote(folder)}&port={port}"))
        try:
            yield wire, through
        finally:
            server.close()
            await wire.close()

"""A real HTTP server on 127.0.0.1 that behaves as badly as the path asks for."""

import asyncio
import gzip
import json
import ssl
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

FOREVER = 3600


@dataclass(frozen=True)
class Received:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Peer:
    port: int = 0
    received: list[Received] = field(default_factory=list)
    connections: int = 0
    before_answering: Callable[[], Awaitable[None]] | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def url(self, path: str = "/ok", scheme: str = "http", host: str = "127.0.0.1") -> str:
        return f"{scheme}://{host}:{self.port}{path}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        try:
            while request := await read_request(reader):
                self.received.append(request)
                if self.before_answering:
                    await self.before_answering()
                behave = BEHAVIOURS.get(request.path.partition("?")[0], status)
                if not await behave(request, writer):
                    return
        except (OSError, asyncio.CancelledError):
            pass  # The other side left, or the test is over.
        finally:
            self._tasks.discard(task)
            writer.close()

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def a_peer(tls: ssl.SSLContext | None = None) -> AsyncIterator[Peer]:
    peer = Peer()
    server = await asyncio.start_server(peer.serve, "127.0.0.1", 0, ssl=tls)
    peer.port = server.sockets[0].getsockname()[1]
    try:
        yield peer
    finally:
        server.close()
        await peer.close()


async def read_request(reader: asyncio.StreamReader) -> Received | None:
    with suppress(asyncio.IncompleteReadError, ConnectionError):
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        return Received(method, path, headers, body)
    return None


def head_of(status: int = 200, *lines: str) -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status} Whatever", *lines, "", ""]).encode("latin-1")


async def send(writer: asyncio.StreamWriter, body: bytes, *lines: str, status: int = 200) -> bool:
    writer.write(head_of(status, f"Content-Length: {len(body)}", *lines) + body)
    await writer.drain()
    return True


async def ok(request: Received, writer: asyncio.StreamWriter) -> bool:
    return await send(writer, json.dumps({"got": len(request.body)}).encode(), "X-Two: a", "x-two: b")


async def status(request: Received, writer: asyncio.StreamWriter) -> bool:
    """`/402`; a path that is no status is not found."""
    wanted = request.path.partition("?")[0].strip("/")
    return await send(writer, b"", status=int(wanted) if wanted.isdigit() else 404)


async def hang(request: Received, writer: asyncio.StreamWriter) -> bool:
    await asyncio.sleep(FOREVER)
    return False


async def reset(request: Received, writer: asyncio.StreamWriter) -> bool:
    writer.transport.abort()
    return False


async def leave(request: Received, writer: asyncio.StreamWriter) -> bool:
    return False


async def reset_midway(request: Received, writer: asyncio.StreamWriter) -> bool:
    writer.write(head_of(200, "Content-Length: 1000") + b"half")
    await writer.drain()
    await asyncio.sleep(0.05)
    writer.transport.abort()
    return False


async def leave_midway(request: Received, writer: asyncio.StreamWriter) -> bool:
    writer.write(head_of(200, "Content-Length: 1000") + b"half")
    return False


async def drip(request: Received, writer: asyncio.StreamWriter) -> bool:
    """Never silent for long, never done."""
    writer.write(head_of(200, "Content-Length: 1000000"))
    while True:
        writer.write(b".")
        await writer.drain()
        await asyncio.sleep(0.02)


async def drip_headers(request: Received, writer: asyncio.StreamWriter) -> bool:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"X: y\r\n")
        await writer.drain()
        await asyncio.sleep(0.02)


async def endless_headers(request: Received, writer: asyncio.StreamWriter) -> bool:
    writer.write(b"HTTP/1.1 200 OK\r\nX: ")
    while True:
        writer.write(b"y" * 65536)
        await writer.drain()


async def junk(request: Received, writer: asyncio.StreamWriter) -> bool:
    writer.write(b"220 mail.example ESMTP\r\n\r\n")
    return False


async def large(request: Received, writer: asyncio.StreamWriter) -> bool:
    return await send(writer, b"x" * 200_000)


async def endless(request: Received, writer: asyncio.StreamWriter) -> bool:
    writer.write(head_of(200, "Transfer-Encoding: chunked"))
    while True:
        writer.write(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
        await writer.drain()


def bomb_of(megabytes: int) -> bytes:
    packing = zlib.compressobj(9, wbits=zlib.MAX_WBITS | 16)
    return b"".join([*(packing.compress(bytes(2**20)) for _ in range(megabytes)), packing.flush()])


async def bomb(request: Received, writer: asyncio.StreamWriter) -> bool:
    """A fiftieth of a megabyte that unpacks to twenty."""
    return await send(writer, bomb_of(20), "Content-Encoding: gzip")


async def packed(request: Received, writer: asyncio.StreamWriter) -> bool:
    return await send(writer, gzip.compress(b"unpacked"), "Content-Encoding: gzip")


async def packed_in_half(request: Received, writer: asyncio.StreamWriter) -> bool:
    return await send(writer, gzip.compress(b"unpacked")[:-9], "Content-Encoding: gzip")


async def packed_and_more(request: Received, writer: asyncio.StreamWriter) -> bool:
    return await send(writer, gzip.compress(b"un") + gzip.compress(b"packed"), "Content-Encoding: gzip")


async def packed_badly(request: Received, writer: asyncio.StreamWriter) -> bool:
    return await send(writer, b"not packed at all", "Content-Encoding: gzip")


async def packed_strangely(request: Received, writer: asyncio.StreamWriter) -> bool:
    return await send(writer, b"whatever", "Content-Encoding: br")


async def redirect(request: Received, writer: asyncio.StreamWriter) -> bool:
    return await send(writer, b"", f"Location: http://{request.headers['host']}/ok", status=307)


async def cookie(request: Received, writer: asyncio.StreamWriter) -> bool:
    return await send(writer, b"", "Set-Cookie: session=s3cret; Path=/")


BEHAVIOURS: dict[str, Callable[[Received, asyncio.StreamWriter], Awaitable[bool]]] = {
    f"/{behave.__name__.replace('_', '-')}": behave
    for behave in (
        *(ok, hang, reset, leave, reset_midway, leave_midway, drip, drip_headers, endless_headers, junk, large),
        *(endless, bomb, packed, packed_in_half, packed_and_more, packed_badly, packed_strangely, redirect, cookie),
    )
}
"""By path; any other path is the status to answer with."""

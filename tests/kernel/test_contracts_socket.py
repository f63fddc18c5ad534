"""The edge behind a real server on a real socket: large bodies, open streams, Ctrl-C."""

import asyncio
import json
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext, suppress
from pathlib import Path

import httpx
import pytest

from tests.kernel.contract_desk import assert_envelope

MEBIBYTE = 1024 * 1024
ROOT = Path(__file__).parents[2]


class Server:
    def __init__(self, process: asyncio.subprocess.Process, port: int) -> None:
        self.process = process
        self.port = port
        self.url = f"http://127.0.0.1:{port}"

    async def stop(self) -> tuple[float, str]:
        """How long it took, and the last words."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        said, _ = await asyncio.wait_for(self.process.communicate(), 10)
        return time.monotonic() - began, said.decode()


@asynccontextmanager
async def a_server(beside: int = 0) -> AsyncIterator[Server]:
    """On a port of its own, or beside who listens on that one."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = beside or probe.getsockname()[1]
    module = ("-m", "tests.kernel.contract_socket", str(port), *(["beside"] if beside else []))
    process = await asyncio.create_subprocess_exec(sys.executable, *module, stdout=asyncio.subprocess.PIPE, cwd=ROOT)
    server = Server(process, port)
    try:
        async with httpx.AsyncClient(base_url=server.url) as client:
            for _ in range(100):
                try:
                    await client.get("/health/live")
                    break
                except httpx.ConnectError:
                    await asyncio.sleep(0.1)
        yield server
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@pytest.fixture(scope="module")
async def server():
    async with a_server() as server:
        yield server


@pytest.fixture
async def client(server):
    async with httpx.AsyncClient(base_url=server.url) as client:
        yield client


async def open_streams(client) -> int:
    return (await client.get("/api/open")).json()["size"]


async def eventually(number, ask):
    for _ in range(100):
        if await ask() == number:
            return
        await asyncio.sleep(0.05)
    assert await ask() == number


async def test_a_hundred_megabytes_are_refused_before_they_are_read(server):
    """The answer comes although the body never does, and the connection is closed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(
        b"POST /api/hook HTTP/1.1\r\nhost: x\r\ncontent-length: 104857600\r\n\r\n" + b"x" * 1000
    )  # fmt: skip
    answer = await asyncio.wait_for(reader.read(), 5)
    writer.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 413") and b"connection: close" in head
    assert json.loads(body)["errorCode"] == "REQUEST_TOO_LARGE"


async def test_a_hundred_megabytes_in_chunks_are_not_held(server, client):
    sent = 0

    async def chunks():
        nonlocal sent
        for _ in range(100):
            sent += MEBIBYTE
            yield b"x" * MEBIBYTE

    # The server may hang up while we still send; what counts is that it did not take it all.
    with suppress(httpx.WriteError, httpx.ReadError):
        assert_envelope(await client.post("/api/hook", content=chunks()), 413, "REQUEST_TOO_LARGE")
    assert sent < 50 * MEBIBYTE
    assert (await client.get("/health/live")).status_code == 200


async def test_no_version_of_the_server_is_told(client):
    response = await client.get("/health/live")
    assert not any(sign.isdigit() for sign in response.headers.get("server", ""))


@pytest.mark.parametrize(
    "path", ["/%ff", "/%00", "/api/parcels?words=%ff", "/api/table.csv?kind=%00", "/" + "a" * 5000]
)
async def test_strange_bytes_in_an_address_are_a_clear_no(client, path):
    response = await client.get(path)
    assert 400 <= response.status_code < 500 and response.json()["errorCode"]


@pytest.mark.parametrize("path", ["/api/table.csv", "/api/news"])
async def test_a_client_who_hangs_up_ends_its_stream(client, path):
    async with client.stream("GET", path, params={"kind": "endless"}) as response:
        assert response.status_code == 200
        async for _ in response.aiter_bytes():
            break
        assert await open_streams(client) == 1
    await eventually(0, lambda: open_streams(client))


async def test_a_stream_that_breaks_is_cut_and_not_finished(client):
    with pytest.raises(httpx.RemoteProtocolError):
        await client.get("/api/table.csv", params={"kind": "breaking"})


@pytest.mark.parametrize(("path", "looks_complete"), [("/api/news", True), ("/api/table.csv", False)])
async def test_an_open_stream_does_not_survive_ctrl_c(path, looks_complete):
    async with a_server() as server, httpx.AsyncClient(base_url=server.url) as client:
        async with client.stream("GET", path, params={"kind": "endless"}) as response:
            chunks = response.aiter_bytes()
            await anext(chunks)
            stopping = asyncio.create_task(server.stop())
            with nullcontext() if looks_complete else pytest.raises(httpx.RemoteProtocolError):
                async for _ in chunks:
                    pass
        seconds, said = await stopping
        assert seconds < 5
        assert "stopped with 0 open" in said

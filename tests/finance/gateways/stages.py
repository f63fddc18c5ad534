"""The sandbox as a stage of the conformance suite: in this process, and as a process of its own over real HTTP."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from admitone.finance.gateways.sandbox.gateway import SandboxGateway
from admitone.finance.gateways.sandbox.keys import Keys
from admitone.kernel.outbound import Outbound
from tests.desk import clean_environment, free_port
from tests.finance.gateways.builders import a_sandbox
from tests.finance.gateways.stage import EVERYTHING, Webhook
from tests.peer import read_request, send

SECRET = "the secret of the sandbox over HTTP, long enough"
HTTP_KEYS = Keys.of(SECRET)
PATIENCE_SECONDS = 30


def a_client(port: int) -> httpx.AsyncClient:
    """Somebody who has the key of the API."""
    headers = {"authorization": f"Bearer {HTTP_KEYS.api}"}
    return httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=PATIENCE_SECONDS)


class InProcessStage:
    """A simulator in memory."""

    signs = EVERYTHING
    keeps_cancelled = True

    def __init__(self) -> None:
        self.simulator, self.gateway = a_sandbox()
        self._sent: list[Webhook] = []

    async def do(self, deed: str, thing: str, **options: Any) -> None:
        self.simulator.act(deed, thing, **options)

    async def webhooks(self) -> list[Webhook]:
        while due := self.simulator.due_deliveries():
            self._sent += [Webhook(each.path, each.headers, each.body) for each in due]
            self.simulator.delivered(*due)
        return list(self._sent)


class HttpStage:
    """`admitone sandbox`, and somebody who listens to it."""

    signs = EVERYTHING
    keeps_cancelled = True

    def __init__(self, client: httpx.AsyncClient, outbound: Outbound, sent: list[Webhook]) -> None:
        self.gateway = SandboxGateway.over_http(HTTP_KEYS, str(client.base_url), outbound)
        self._client = client
        self._sent = sent

    async def do(self, deed: str, thing: str, **options: Any) -> None:
        answer = await self._client.post(f"/v1/test_helpers/{thing}/{deed}", json=options)
        assert answer.status_code == 200, answer.text

    async def webhooks(self) -> list[Webhook]:
        """The page says how many are still on their way."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while " 0 events wait to be told" not in (await self._client.get("/")).text:  # noqa: ASYNC110  Elsewhere.
                await asyncio.sleep(0.02)
        return list(self._sent)


@asynccontextmanager
async def a_listener() -> AsyncIterator[tuple[int, list[Webhook]]]:
    """Answers 200 to everything, and remembers it."""
    sent: list[Webhook] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while request := await read_request(reader):
            sent.append(Webhook(request.path, request.headers, request.body))
            await send(writer, b"{}")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], sent
    finally:
        server.close()


@asynccontextmanager
async def a_sandbox_process(
    home: Path, *options: str, listener: int
) -> AsyncIterator[tuple[int, subprocess.Popen[bytes]]]:
    """`admitone sandbox`, until the block ends."""
    port = free_port()
    told = ["--port", str(port), "--listener", f"http://127.0.0.1:{listener}", "--data", str(home), *options]
    command = [sys.executable, "-m", "admitone.entrypoints.cli", "sandbox", *told]
    environ = clean_environment(ADMITONE_SANDBOX_SECRET=SECRET)
    with (home.parent / f"said-{port}").open("wb") as said:
        process = subprocess.Popen(command, env=environ, stdout=said, stderr=said)  # noqa: ASYNC220
    try:
        async with asyncio.timeout(PATIENCE_SECONDS), httpx.AsyncClient() as client:
            while True:
                assert process.poll() is None, (home.parent / f"said-{port}").read_text()
                try:
                    if (await client.get(f"http://127.0.0.1:{port}/health")).status_code == 200:
                        break
                except httpx.TransportError:
                    await asyncio.sleep(0.05)
        yield port, process
    finally:
        if process.poll() is None:
            os.kill(process.pid, signal.SIGTERM)
        process.wait(PATIENCE_SECONDS)

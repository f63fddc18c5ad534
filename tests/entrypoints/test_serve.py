"""Closing time: who may finish, who is sent home, and how long it takes."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from admitone.entrypoints.serve import PortTaken, require_free_port
from tests.stories.test_two_commands import free_port, until

# The real server around an application that only waits.
SERVER = """
import asyncio, sys
from pathlib import Path
from admitone.entrypoints import http, serve
from admitone.kernel.config import Config

async def application(scope, receive, send):
    if scope["type"] == "lifespan":
        if "refuse" in sys.argv:
            return await send({"type": "lifespan.startup.failed", "message": "The login is too strong."})
        for _ in range(2):
            message = await receive()
            print(message["type"], flush=True)
            await send({"type": message["type"] + ".complete"})
        return
    kind = b"text/event-stream" if scope["path"] == "/stream" else b"text/plain"
    if scope["path"] != "/never":
        await asyncio.sleep(0.5 if scope["path"] == "/slow" else 0)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"Content-Type", kind)]})
        await send({"type": "http.response.body", "body": b"done", "more_body": scope["path"] == "/stream"})
    if scope["path"] in ("/stream", "/never"):
        try:
            await asyncio.sleep(600)
        finally:
            print("cancelled", scope["path"], flush=True)

http.build = lambda config: application
serve.serve(Config.load({"PORT": sys.argv[1], "ADMITONE_DATA": sys.argv[2]}))
"""


class Served:
    def __init__(self, port: int, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.url = f"http://127.0.0.1:{port}"
        self.answers: dict[str, str] = {}

    def visit(self, path: str) -> threading.Thread:
        def visit() -> None:
            try:
                self.answers[path] = httpx.get(self.url + path, timeout=20).text
            except httpx.HTTPError as problem:
                self.answers[path] = type(problem).__name__

        thread = threading.Thread(target=visit)
        thread.start()
        time.sleep(0.2)
        return thread

    def close(self) -> tuple[float, str]:
        began = time.monotonic()
        self.process.terminate()
        said, _ = self.process.communicate(timeout=10)
        return time.monotonic() - began, said


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(port), tmp_path / "home"], stdout=subprocess.PIPE, text=True
    )
    served = Served(port, process)
    until(lambda: answers(served.url))
    yield served
    process.kill()
    process.communicate()


def answers(url: str) -> bool:
    try:
        return httpx.get(url).status_code == 200
    except httpx.TransportError:
        return False


def test_an_open_event_stream_does_not_delay_the_end(served):
    visitor = served.visit("/stream")
    seconds, said = served.close()
    visitor.join()
    assert seconds < 1.2
    assert said.splitlines() == ["lifespan.startup", "cancelled /stream", "lifespan.shutdown"]


def test_a_request_that_is_almost_done_may_finish(served):
    visitor = served.visit("/slow")
    seconds, _ = served.close()
    visitor.join()
    assert seconds < 1.2
    assert served.answers["/slow"] == "done"


def test_a_request_that_never_ends_is_cancelled_when_patience_is_over(served):
    visitor = served.visit("/never")
    seconds, said = served.close()
    visitor.join()
    assert 1.0 < seconds < 3
    assert "cancelled /never" in said
    assert "lifespan.shutdown" in said


def test_a_port_that_somebody_listens_on_is_not_shared(served):
    with pytest.raises(PortTaken, match="Choose another"):
        require_free_port("127.0.0.1", int(served.url.rpartition(":")[2]))


def test_an_application_that_will_not_start_says_why(tmp_path):
    command = [sys.executable, "-c", SERVER, str(free_port()), tmp_path / "home", "refuse"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.endswith("StartRefused: The login is too strong.\n")

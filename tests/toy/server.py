"""The toy as a process of its own, so that it can be killed: `python -m tests.toy.server PORT`.

Stories start it with `a_toy_server`; what the process reads from its surroundings is what `admitone serve` reads, and
`TOY_BODY_SECONDS`, because nobody wants to wait as long for a slow body as a phone may need.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from admitone.entrypoints.http import assemble
from admitone.entrypoints.serve import serve
from admitone.kernel.config import Config
from admitone.kernel.contracts import incoming
from admitone.kernel.embedded import spawn
from tests.toy.authority import ToyAuthority
from tests.toy.module import MODULE

ROOT = Path(__file__).parents[2]
READY_SECONDS = 20


class ToyServer:
    """One process that serves the toy; it can be started again on its port."""

    def __init__(self, database_url: str, home: Path) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.said = home / f"toy-{self.port}.log"
        self._database_url = database_url
        self._home = home
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, **environ: str) -> None:
        surroundings = {
            "PATH": os.environ["PATH"],
            "DATABASE_URL": self._database_url,
            "ADMITONE_DATA": str(self._home),
            **environ,
        }
        command = [sys.executable, "-m", "tests.toy.server", str(self.port)]
        with self.said.open("ab") as said:
            self._process = spawn(
                command, last_wish=signal.SIGKILL, cwd=ROOT, env=surroundings, stdout=said, stderr=said
            )
        deadline = time.monotonic() + READY_SECONDS
        while not self.is_ready():
            assert self.lives and time.monotonic() < deadline, self.said.read_text()[-4000:]
            time.sleep(0.05)

    @property
    def lives(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def is_ready(self) -> bool:
        try:
            return httpx.get(f"{self.url}/health/ready", timeout=5).status_code == 200
        except httpx.TransportError:
            return False

    def words_about(self, correlation_id: str) -> str:
        """What the process wrote about one call."""
        return "\n".join(line for line in self.said.read_text().splitlines() if correlation_id in line)

    def send(self, order: signal.Signals) -> None:
        assert self._process
        self._process.send_signal(order)

    def end(self) -> int:
        """The status. Politely first."""
        assert self._process
        self._process.send_signal(signal.SIGCONT)
        self._process.terminate()
        try:
            return self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


@contextmanager
def a_toy_server(database_url: str, home: Path, **environ: str) -> Iterator[ToyServer]:
    server = ToyServer(database_url, home)
    try:
        server.start(**environ)
        yield server
    finally:
        if server.lives:
            server.end()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    incoming.BODY_SECONDS = float(os.environ.get("TOY_BODY_SECONDS", incoming.BODY_SECONDS))
    application = assemble(Config.load(os.environ), [MODULE], ToyAuthority())
    serve(application, "127.0.0.1", int(sys.argv[1]))

"""The toy as a process of its own, so that it can be killed: `python -m tests.toy.server PORT`.

Stories start it with `a_toy_server`; what the process reads from its surroundings is what `admitone serve` reads, and
`TOY_BODY_SECONDS`, because nobody wants to wait as long for a slow body as a phone may need, and `TOY_PLANT`, a bug.
"""

import os
import socket
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
from admitone.kernel.module import MODULE as KERNEL
from tests.toy.authority import ToyAuthority
from tests.toy.module import MODULE
from tests.toy.plants import plant
from tests.toy.process import ToyProcess

READY_SECONDS = 20


class ToyServer(ToyProcess):
    """One process that serves the toy; it can be started again on its port."""

    def __init__(self, database_url: str, home: Path) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        super().__init__(database_url, home, f"toy-{self.port}", "tests.toy.server", str(self.port))

    def start(self, **environ: str) -> None:
        """Returns when it is ready."""
        self.launch(**environ)
        deadline = time.monotonic() + READY_SECONDS
        while not self.is_ready():
            assert self.lives and time.monotonic() < deadline, self.said.read_text()[-4000:]
            time.sleep(0.05)

    def is_ready(self) -> bool:
        try:
            return httpx.get(f"{self.url}/health/ready", timeout=5).status_code == 200
        except httpx.TransportError:
            return False


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
    plant(os.environ.get("TOY_PLANT", ""))
    incoming.BODY_SECONDS = float(os.environ.get("TOY_BODY_SECONDS", incoming.BODY_SECONDS))
    application = assemble(Config.load(os.environ), [KERNEL, MODULE], ToyAuthority())
    serve(application, "127.0.0.1", int(sys.argv[1]))

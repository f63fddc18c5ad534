"""Starts the server under load as a process of its own, and ends it."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.ground import Ground

ROOT = Path(__file__).parent.parent
LISTENS = "0A"


def a_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def a_server(
    ground: Ground, *flags: str, module: str = "bench.serve", beside: int = 0, **surroundings: str
) -> Iterator[int]:
    """The port on which the toy, or what else the module serves, is served from this ground, by so many more."""
    port = a_free_port()
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("wb") as log:
        environment = {**os.environ, "DATABASE_URL": ground.url, "ADMITONE_DATA": folder, **surroundings}
        command = [sys.executable, "-m", module, str(port), *flags]
        servers: list[subprocess.Popen[bytes]] = []
        try:
            for number in range(1 + beside):
                more = ["--beside"] if number else []
                servers.append(subprocess.Popen([*command, *more], cwd=ROOT, env=environment, stdout=log, stderr=log))
                _wait(port, servers, Path(log.name))
            yield port
        finally:
            for server in servers:
                server.send_signal(signal.SIGTERM)
            for server in servers:
                server.wait(10)


def _wait(port: int, servers: Sequence[subprocess.Popen[bytes]], log: Path) -> None:
    for _ in range(300):
        if any(server.poll() is not None for server in servers):
            raise RuntimeError(f"the server did not start:\n{log.read_text()[-2000:]}")
        if _listeners(port) >= len(servers):
            return
        time.sleep(0.05)
    raise RuntimeError("the server does not listen")


def _listeners(port: int) -> int:
    """As the system counts them: several may listen on one port."""
    rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(own == f"0100007F:{port:04X}" and state == LISTENS for _, own, _, state, *_ in rows)

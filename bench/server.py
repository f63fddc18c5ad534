"""Starts the server under load as a process of its own, and ends it."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.ground import Ground

ROOT = Path(__file__).parent.parent


def a_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def a_server(ground: Ground, *flags: str, module: str = "bench.serve", **surroundings: str) -> Iterator[int]:
    """The port on which the toy, or what else the module serves, is served from this ground."""
    port = a_free_port()
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("wb") as log:
        environment = {**os.environ, "DATABASE_URL": ground.url, "ADMITONE_DATA": folder, **surroundings}
        command = [sys.executable, "-m", module, str(port), *flags]
        server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        try:
            _wait(port, server, Path(log.name))
            yield port
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(10)


def _wait(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(300):
        if server.poll() is not None:
            raise RuntimeError(f"the server did not start:\n{log.read_text()[-2000:]}")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError("the server does not listen")

"""A desk: where somebody starts Admit One, in processes of its own, and ends it."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx

from admitone.kernel.embedded import Cluster

ADMITONE = [sys.executable, "-m", "admitone.entrypoints.cli"]


def free_port() -> int:
    """One whose neighbour is free too: the sandbox listens there."""
    while True:
        with socket.socket() as probe, socket.socket() as neighbour:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
            with suppress(OSError, OverflowError):
                neighbour.bind(("127.0.0.1", port + 1))
                return port


def until(happened: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=5).status_code == 200
    except httpx.TransportError:
        return False


def clean_environment(**more: str) -> dict[str, str]:
    """A shell in which nobody exported anything, and no `.env` of the developer."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "PYTHONPATH") if name in os.environ}
    return {**kept, "ADMITONE_ENV_FILE": os.devnull, **more}


class Desk:
    """Where somebody starts Admit One, again and again, on one data folder."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.port = free_port()
        self.said = home.parent / "said"
        self.running: subprocess.Popen[bytes] | None = None

    def run(self, command: list[str] | None = None, **environ: str) -> subprocess.Popen[bytes]:
        chosen = command or [*ADMITONE, "run", "--port", str(self.port), "--data", str(self.home)]
        with self.said.open("wb") as said:
            self.running = subprocess.Popen(
                chosen, stdout=said, stderr=said, env=clean_environment(**environ), start_new_session=True
            )
        until(lambda: "Ctrl-C stops everything" in self.words or self.running.poll() is not None, 180)
        assert self.running.poll() is None, self.words
        return self.running

    @property
    def words(self) -> str:
        return self.said.read_text()

    def health(self, name: str) -> int:
        try:
            return httpx.get(f"http://127.0.0.1:{self.port}/health/{name}", timeout=5).status_code
        except httpx.TransportError:
            return 0

    def ctrl_c(self) -> int:
        """As a terminal does it: to the whole group. Returns the status."""
        assert self.running
        os.killpg(self.running.pid, signal.SIGINT)
        return self.running.wait(5)

    def processes(self) -> list[int]:
        """Everything that still has to do with this folder."""
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and self._concerns(entry):
                    found.append(int(entry.name))
            except OSError:
                continue
        return found

    def _concerns(self, process: Path) -> bool:
        mine = str(self.home.parent).encode()
        return any(mine in (process / part).read_bytes() for part in ("cmdline", "environ")) or mine in bytes(
            (process / "cwd").readlink()
        )

    def kill_everything(self) -> None:
        if self.running and self.running.poll() is None:
            os.kill(self.running.pid, signal.SIGSTOP)  # It would start again what we kill.
        for pid in self.processes():
            with suppress(ProcessLookupError):  # Some follow their parent before their turn comes.
                os.kill(pid, signal.SIGKILL)
        if self.running:
            self.running.wait(5)
        until(lambda: not self.processes())


@contextmanager
def a_desk() -> Iterator[Desk]:
    """In a folder that the database's own user can reach; nothing is left of it."""
    folder = Path(tempfile.mkdtemp(prefix="admitone-story-"))
    folder.chmod(0o711)
    desk = Desk(folder / "data")
    try:
        yield desk
    finally:
        desk.kill_everything()
        Cluster(desk.home).remove()
        shutil.rmtree(folder)

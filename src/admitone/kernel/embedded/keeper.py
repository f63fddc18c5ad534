"""Starts the server, starts it again when it dies, and stops it."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from admitone.kernel.embedded.binaries import Account
from admitone.kernel.embedded.problems import EmbeddedProblem
from admitone.kernel.embedded.processes import Command, bare_environment, spawn
from admitone.kernel.embedded.server import Server, find_ready, living, noted_pid

Tell = Callable[[str], None]

_LOG_KEPT_BYTES = 10_000_000
_EARLY_EXITS = 4
_SETTLED_SECONDS = 10.0


class Keeper:
    """Keeps one server running.

    All from one thread that lives as long as the server, because the kernel ties a child to the thread that made it.
    """

    def __init__(self, command: Command, data: Path, log_file: Path, account: Account | None, tell: Tell) -> None:
        self._command = command
        self._data = data
        self._log_file = log_file
        self._account = account
        self._tell = tell
        self._process: subprocess.Popen[bytes] | None = None
        self._problem: BaseException | None = None
        self._was_ready = False
        self._stopping = threading.Event()
        self._spawning = threading.Lock()
        self._thread = threading.Thread(target=self._keep, name="postgres-keeper", daemon=True)

    def start(self, patience: float) -> Server:
        """Returns when the server is ready, or says why it will not be."""
        _shorten(self._log_file)
        self._thread.start()
        began = time.monotonic()
        next_word = 5.0
        while (waited := time.monotonic() - began) < patience:
            server = find_ready(self._data)
            if server and self._process and server.pid == self._process.pid:
                self._was_ready = True
                return server
            if not self._thread.is_alive():
                raise EmbeddedProblem(self._why()) from self._problem
            if waited > next_word:
                self._tell(f"PostgreSQL is recovering since {waited:.0f} s; after a crash this can take minutes.")
                next_word *= 2
            time.sleep(0.02)
        raise EmbeddedProblem(f"PostgreSQL is not ready after {patience:.0f} s. {self._why()}")

    def stop(self, patience: float) -> None:
        with self._spawning:
            self._stopping.set()
        # First roll back and write everything; then leave it to recovery; both lose nothing that was committed.
        for order, seconds in ((signal.SIGINT, patience), (signal.SIGQUIT, 0.6), (signal.SIGKILL, 0.6)):
            if self._process is not None:
                self._process.send_signal(order)
            if self._thread.ident is not None:
                self._thread.join(seconds)
            if not self._thread.is_alive():
                break

    def _why(self) -> str:
        if isinstance(self._problem, EmbeddedProblem):
            return str(self._problem)
        try:
            said = self._log_file.read_text(errors="replace").splitlines()[-10:]
        except OSError:
            said = []
        return "\n  ".join([f"PostgreSQL did not start; the end of {self._log_file}:", *said])

    def _keep(self) -> None:
        try:
            self._keep_running()
        except BaseException as problem:  # noqa: BLE001  # Told by the thread that waits for us.
            self._problem = problem

    def _keep_running(self) -> None:
        early_exits = 0
        while True:
            self._outlast_the_former()
            with self._spawning:
                if self._stopping.is_set():
                    return
                born = time.monotonic()
                self._process = self._spawn()
            status = self._process.wait()
            if self._stopping.is_set():
                return
            early_exits = early_exits + 1 if time.monotonic() - born < _SETTLED_SECONDS else 0
            if early_exits >= _EARLY_EXITS and not self._was_ready:
                return
            if self._was_ready:
                self._tell(f"PostgreSQL ended unexpectedly (status {status}); starting it again.")
            self._stopping.wait(min(30.0, 0.1 * 2**early_exits))

    def _spawn(self) -> subprocess.Popen[bytes]:
        with self._log_file.open("ab") as said:
            return spawn(
                self._command,
                last_wish=signal.SIGINT,
                account=self._account,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                cwd=self._data,
                env=bare_environment(),
                umask=0o077,
            )

    def _outlast_the_former(self) -> None:
        """We hold the folder, so whoever still runs here lost its parent and was told to end."""
        for order, seconds in ((None, 3.0), (signal.SIGINT, 30.0), (signal.SIGQUIT, 10.0), (signal.SIGKILL, 5.0)):
            if order is not None:
                self._send_the_former(order)
            gone = self._gone_within(seconds)
            if self._stopping.is_set():
                return
            if gone:
                self._forget_the_former()
                return
        raise EmbeddedProblem(f"An earlier PostgreSQL still runs on {self._data} and does not end.")

    def _send_the_former(self, order: signal.Signals) -> None:
        left = living(self._data)
        # The first process tells its children; where it is gone, they must be told.
        head = noted_pid(self._data)
        for pid in [head] if head in left else left:
            self._tell(f"An earlier PostgreSQL (process {pid}) is still ending; sending it {order.name}.")
            with suppress(ProcessLookupError):
                os.kill(pid, order)

    def _forget_the_former(self) -> None:
        """The notes it left must not be believed: its number may be a process's that nobody buried, or another's."""
        (self._data / "postmaster.pid").unlink(missing_ok=True)
        for note in (self._data.parent / "socket").glob(".s.PGSQL.*"):
            note.unlink()

    def _gone_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while living(self._data):
            if time.monotonic() > deadline or self._stopping.wait(0.05):
                return False
        return True


def _shorten(log_file: Path) -> None:
    if log_file.exists() and log_file.stat().st_size > _LOG_KEPT_BYTES:
        log_file.replace(log_file.with_suffix(".log.1"))

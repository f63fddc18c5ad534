"""A toy that runs as a process of its own, so that it can be killed, paused and started again."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from admitone.kernel.embedded import spawn

ROOT = Path(__file__).parents[2]


class ToyProcess:
    """What it reads from its surroundings is what our own commands read; each life can be given more."""

    def __init__(self, database_url: str, home: Path, name: str, *words: str, **environ: str) -> None:
        self.said = home / f"{name}.log"
        self._environ = environ
        self._database_url = database_url
        self._home = home
        self._command = [sys.executable, "-m", *words]
        self._process: subprocess.Popen[bytes] | None = None

    def launch(self, **environ: str) -> None:
        """Begin a life, from a thread that lives longer than it; does not wait until it is ready."""
        surroundings = {
            "PATH": os.environ["PATH"],
            "DATABASE_URL": self._database_url,
            "ADMITONE_DATA": str(self._home),
            **self._environ,
            **environ,
        }
        with self.said.open("ab") as said:
            self._process = spawn(
                self._command, last_wish=signal.SIGKILL, cwd=ROOT, env=surroundings, stdout=said, stderr=said
            )

    @property
    def lives(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def was_killed(self) -> bool:
        """As if the power went: not by a word from anybody, and not by an error of its own."""
        return self._process is not None and self._process.returncode == -signal.SIGKILL

    def words_about(self, word: str) -> str:
        """What the process wrote about one call, or one thing."""
        return "\n".join(line for line in self.said.read_text().splitlines() if word in line)

    def send(self, order: signal.Signals) -> None:
        assert self._process
        self._process.send_signal(order)

    def kill(self) -> None:
        """As if the power went. Returns when it is gone."""
        self.send(signal.SIGKILL)
        assert self._process
        self._process.wait()

    def pause(self) -> None:
        self.send(signal.SIGSTOP)

    def resume(self) -> None:
        self.send(signal.SIGCONT)

    def end(self) -> int:
        """The status. Politely first."""
        assert self._process
        self.resume()
        self._process.terminate()
        try:
            return self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

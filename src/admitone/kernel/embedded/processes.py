"""Children that only we signal, and that do not outlive us."""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from admitone.kernel.embedded.binaries import Account
from admitone.kernel.embedded.problems import EmbeddedProblem

Command = Sequence[str | Path]

_PR_SET_PDEATHSIG = 1


def spawn(
    command: Command, *, last_wish: signal.Signals, account: Account | None = None, **how: Any
) -> subprocess.Popen[bytes]:
    """Start a child that only we signal: in a session of its own, and told by the kernel when we die.

    The kernel watches the *thread* that calls this, so it must live as long as the child.
    """
    return subprocess.Popen(
        command,
        start_new_session=True,
        preexec_fn=_tie_to_parent(last_wish),  # Runs after the change of user, which would undo it.
        **run_as(account),
        **how,
    )


def _tie_to_parent(last_wish: signal.Signals) -> Callable[[], None] | None:
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl  # Looked up before the fork: after it, as little as possible may run.
    parent = os.getpid()

    def tie() -> None:
        prctl(_PR_SET_PDEATHSIG, int(last_wish), 0, 0, 0)
        if os.getppid() != parent:  # We died before the kernel was told to watch.
            os.kill(os.getpid(), signal.SIGKILL)

    return tie


def run_as(account: Account | None) -> dict[str, Any]:
    if account is None:
        return {}
    return {"user": account.uid, "group": account.gid, "extra_groups": []}


def run_to_end(
    command: Command, *, account: Account | None = None, cwd: Path = Path("/"), said_to_it: str = ""
) -> None:
    """Run a program to its end; if it fails, what it answered is the problem."""
    done = subprocess.run(
        command,
        input=said_to_it,
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env=bare_environment(),
        umask=0o077,
        **run_as(account),
    )
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip()
        raise EmbeddedProblem(f"{Path(command[0]).name} failed with status {done.returncode}: {said}")


def bare_environment() -> dict[str, str]:
    """Nothing of ours: a PGPORT or PGOPTIONS of the person at the keyboard must not reach the server."""
    return {"PATH": os.defpath, "LC_ALL": "C"}

"""Failpoints: named places where a test can make the world break.

Promise: a failpoint that nobody armed costs one look at an empty dict and does nothing. Armed in process by tests,
or for a whole process by `ADMITONE_FAILPOINTS="commit.before=kill,commit.after=cut@3"`; never by a request, and never
in production.
"""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

Action = Callable[[], None]

_armed: dict[str, Action] = {}


def reach(name: str) -> None:
    """Say that execution stands at this point; whatever was armed for it happens now."""
    if _armed and (action := _armed.get(name)):
        action()


def kill() -> None:
    """The process dies as if the power went: no clean-up, no goodbye."""
    os.kill(os.getpid(), signal.SIGKILL)


def cut() -> None:
    """The network breaks here."""
    raise ConnectionResetError("failpoint: the connection was cut")


ACTIONS: dict[str, Action] = {"kill": kill, "cut": cut}


@contextmanager
def armed(name: str, action: Action) -> Iterator[None]:
    _armed[name] = action
    try:
        yield
    finally:
        del _armed[name]


def arm(plan: str) -> None:
    """Arm a process for as long as it lives: `commit.before=kill`, several by comma, `=kill@3` for the third time."""
    _armed.update(parse(plan))


def parse(plan: str) -> dict[str, Action]:
    armed = {}
    for pair in filter(None, plan.split(",")):
        name, _, deed = pair.partition("=")
        action, _, turn = deed.partition("@")
        if action not in ACTIONS:
            raise ValueError(f"a failpoint does one of {', '.join(ACTIONS)}, not {action!r}")
        armed[name] = _at_turn(int(turn or 1), ACTIONS[action])
    return armed


def _at_turn(turn: int, action: Action) -> Action:
    passed = count(1)

    def act() -> None:
        if next(passed) == turn:
            action()

    return act

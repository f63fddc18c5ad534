"""Failpoints: named places where a test can make the world break.

Promise: a failpoint that nobody armed costs one look at an empty dict and does nothing. Armed in process by tests,
or for a whole process by `ADMITONE_FAILPOINTS="commit.before=kill,commit.after=cut"`; never by a request.
"""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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


def arm_from(environment: str) -> None:
    """Arm what the environment names; an unknown action is a mistake worth stopping for."""
    for pair in filter(None, environment.split(",")):
        name, _, action = pair.partition("=")
        _armed[name] = ACTIONS[action]

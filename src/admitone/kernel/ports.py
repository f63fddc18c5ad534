"""Ports: how a package asks one above it without knowing it.

Promise: the lower package says what it needs (a Protocol), the entry point says who gives it, and a program with an
unwired port does not start.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

Needed = TypeVar("Needed")


class Unwired(Exception):
    """A package needs something that nobody gives it."""


class Port(Generic[Needed]):
    """A need with a name. `wire` once at start; call it to get what was wired."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._given: Needed | None = None

    def wire(self, given: Needed) -> None:
        if self._given is not None:
            raise Unwired(f"port {self.name} is wired twice")
        self._given = given

    @contextmanager
    def wired(self, given: Needed) -> Iterator[None]:
        """For the length of a test."""
        before, self._given = self._given, given
        try:
            yield
        finally:
            self._given = before

    def __call__(self) -> Needed:
        if self._given is None:
            raise Unwired(f"port {self.name} is not wired")
        return self._given


def check_wired(ports: Iterable[Port[Any]]) -> None:
    """Name every port that nobody wired, or return."""
    unwired = []
    for port in ports:
        try:
            port()
        except Unwired:
            unwired.append(port.name)
    if unwired:
        raise Unwired(f"not wired: {', '.join(sorted(unwired))}")

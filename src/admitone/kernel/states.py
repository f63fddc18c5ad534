"""Lifecycles: every state machine is a table of allowed moves, kept as data.

Promise: what is not in the table cannot happen, every state can be reached, and the picture in `docs/states/` is
drawn from the very table that the code obeys. A move in the database is one UPDATE whose WHERE names the states it
may leave, so two of them cannot both succeed.

    PAYMENT = Lifecycle("payment", initial=State.CREATED, moves={State.CREATED: (State.PAID, State.FAILED)})
    PAYMENT.check(payment.state, State.PAID)             else IllegalMove
    ... WHERE status = ANY($3)                           with PAYMENT.leaving(State.PAID)
    CHECK (status IN ('CREATED', 'PAID', 'FAILED'))      says PAYMENT.constraint()
"""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Generic, TypeVar

from admitone.kernel.errors import Conflict

State = TypeVar("State", bound=StrEnum)

# States stand unquoted in diagrams and quoted in SQL: plain words are safe in both.
_PLAIN_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}")


class IllegalMove(Conflict):
    """This cannot be done in the present state."""

    code = "ILLEGAL_MOVE"
    lifecycle: str
    from_state: str
    to_state: str


class Lifecycle(Generic[State]):
    """The states of one thing and the moves between them. A state without moves is final."""

    def __init__(self, name: str, *, initial: State, moves: Mapping[State, tuple[State, ...]]) -> None:
        self.name = name
        self.initial = initial
        self.states: tuple[State, ...] = tuple(type(initial))
        self._moves = {state: tuple(moves.get(state, ())) for state in self.states}
        self._refuse_odd_words()
        self._refuse_strangers(moves)
        self._refuse_unreachable()

    def may(self, state: State, to: State) -> bool:
        return to in self._moves[state]

    def check(self, state: State, to: State) -> None:
        if not self.may(state, to):
            raise IllegalMove(lifecycle=self.name, from_state=state.value, to_state=to.value)

    def leaving(self, to: State) -> tuple[State, ...]:
        """The states from which `to` may be entered, for the WHERE of the move."""
        return tuple(state for state in self.states if to in self._moves[state])

    def moves(self) -> tuple[tuple[State, State], ...]:
        """Every allowed move."""
        return tuple((state, to) for state in self.states for to in self._moves[state])

    def terminal(self) -> tuple[State, ...]:
        """The states that nothing leaves."""
        return tuple(state for state in self.states if not self._moves[state])

    def constraint(self, column: str = "status") -> str:
        """The body of the CHECK that keeps any other word out of the column."""
        quoted = ", ".join(f"'{state.value}'" for state in self.states)
        return f"{column} IN ({quoted})"

    def __repr__(self) -> str:
        return f"Lifecycle({self.name}: {len(self.states)} states)"

    def _refuse_odd_words(self) -> None:
        odd = [word for word in (self.name, *(state.value for state in self.states)) if not _PLAIN_WORD.fullmatch(word)]
        if odd:
            raise ValueError(f"lifecycle {self.name}: {odd} are not plain words")

    def _refuse_strangers(self, moves: Mapping[State, tuple[State, ...]]) -> None:
        mentioned = {*moves, *(to for targets in moves.values() for to in targets)}
        strangers = sorted(repr(state) for state in mentioned if type(state) is not type(self.initial))
        if strangers:
            raise ValueError(f"lifecycle {self.name}: {strangers} are no states of it")

    def _refuse_unreachable(self) -> None:
        reached, frontier = {self.initial}, [self.initial]
        while frontier:
            fresh = set(self._moves[frontier.pop()]) - reached
            reached |= fresh
            frontier += fresh
        lost = [state.value for state in self.states if state not in reached]
        if lost:
            raise ValueError(f"lifecycle {self.name}: no way leads to {lost}")


def diagram(lifecycle: Lifecycle[State]) -> str:
    """The lifecycle as a Mermaid state diagram."""
    arrows = [
        f"[*] --> {lifecycle.initial.value}",
        *(f"{state.value} --> {to.value}" for state, to in lifecycle.moves()),
        *(f"{state.value} --> [*]" for state in lifecycle.terminal()),
    ]
    return "\n".join(["stateDiagram-v2", *(f"    {arrow}" for arrow in arrows)])


def page(lifecycle: Lifecycle[State]) -> str:
    """The page about it in `docs/states/`."""
    return f"# {lifecycle.name}\n\nGenerated from the code; do not edit.\n\n```mermaid\n{diagram(lifecycle)}\n```\n"


def render_all(lifecycles: Iterable[Lifecycle[State]]) -> dict[str, str]:
    """Every page under its file name, to write, or to compare with what was written."""
    pages: dict[str, str] = {}
    for lifecycle in lifecycles:
        if pages.setdefault(f"{lifecycle.name}.md", page(lifecycle)) != page(lifecycle):
            raise ValueError(f"two lifecycles are called {lifecycle.name}")
    return pages


def write_all(lifecycles: Iterable[Lifecycle[State]], folder: Path) -> None:
    """Write every page, and remove the pages of lifecycles that are gone."""
    pages = render_all(lifecycles)
    folder.mkdir(parents=True, exist_ok=True)
    for stale in {path.name for path in folder.glob("*.md")} - pages.keys():
        (folder / stale).unlink()
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")

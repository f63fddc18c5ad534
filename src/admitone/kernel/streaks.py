"""Streaks: who failed too often in a row, or too often in a while, proves who they are before they go on (step-up).

Promise: outcomes of all callers that arrived together are folded in order into one row per subject, in a transaction
of its own that does not wait for the disk. "Three within ten minutes" means any ten minutes: the instants of the latest
failures are kept, never more than the streak is long. What a streak asks for stands until it is given (`PASSED`) or a
day has passed; a pause ends by itself, and neither knocking nor passing the step-up changes its end. Subjects are
digests. What cannot be looked up is not let through.

    mark = Mark(figures.DENIED_IN_A_ROW, by_device(organization, device))
    await batcher.submit(streaks.check, streaks.SCOPE, (mark,))                             before: raises what it must
    await batcher.submit(streaks.record, streaks.SCOPE, (Outcome(mark, Result.FAILED),))    after
    await batcher.submit(streaks.record, streaks.SCOPE, (Outcome(mark, Result.PASSED),))    the step-up was passed
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, Final

import msgspec

from admitone.kernel.commands import command
from admitone.kernel.db import Overtaken, PlatformTx
from admitone.kernel.errors import Forbidden, Refusal
from admitone.kernel.limits import key_of, throttled
from admitone.kernel.scope import PlatformScope, Role
from admitone.kernel.statements import Insert

SCOPE: Final = PlatformScope("remember who failed too often", Role.AUTHORITY)
STEP_UP_STANDS: Final = timedelta(hours=24)
"""A step-up that nobody passes is asked for no longer: the shift, or the basket, is long gone."""


class StepUpRequired(Forbidden):
    """Confirm that it is you before you go on."""

    code = "STEP_UP_REQUIRED"
    next_step = "Pass the check that you are shown, then try again."


@dataclass(frozen=True, slots=True)
class Streak:
    """`count` failures of one subject within `seconds` ask for a step-up, close the door for a pause, or both."""

    name: str
    count: int
    seconds: int
    in_a_row: bool = False
    """Whether a success makes up for the failures before it."""
    step_up: bool = True
    pause: timedelta = timedelta()

    def __post_init__(self) -> None:
        if self.count < 1 or self.seconds < 1 or self.pause > STEP_UP_STANDS:
            raise TypeError(f"streak {self.name}: has a figure that nothing can meet")
        if not self.step_up and not self.pause:
            raise TypeError(f"streak {self.name}: leads to nothing")

    @property
    def window(self) -> timedelta:
        return timedelta(seconds=self.seconds)


class Mark(msgspec.Struct, frozen=True):
    """One subject of one streak."""

    streak: Streak
    subject: str

    @property
    def key(self) -> bytes:
        return key_of(self.streak.name, self.subject)


class Result(Enum):
    FAILED = "failed"
    SUCCEEDED = "succeeded"
    PASSED = "the step-up was passed"


class Outcome(msgspec.Struct, frozen=True):
    mark: Mark
    result: Result


class State(msgspec.Struct, frozen=True):
    """What we know of one mark."""

    key: bytes
    failed_at: tuple[datetime, ...]
    step_up: bool
    closed_until: datetime | None
    ends_at: datetime
    turn: int

    def verdict(self, now: datetime) -> Refusal | None:
        """The step-up first: it can be passed during the pause."""
        if self.step_up and self.ends_at > now:
            return StepUpRequired()
        if self.closed_until and self.closed_until > now:
            return throttled(until=self.closed_until, now=now)
        return None


def after(state: State, streak: Streak, result: Result, now: datetime) -> State:
    """What one outcome makes of it. What comes while the door is closed was let in before, and changes nothing."""
    if result is Result.PASSED:
        still_closed = state.closed_until if state.closed_until and state.closed_until > now else None
        return _changed(state, closed_until=still_closed, ends_at=still_closed or now)
    if state.verdict(now):
        return state
    recent = tuple(at for at in state.failed_at if at > now - streak.window)
    if result is Result.SUCCEEDED:
        return _changed(state, ends_at=now) if streak.in_a_row and recent else state
    recent = (*recent, now)
    if len(recent) < streak.count:
        return _changed(state, failed_at=recent, ends_at=now + streak.window)
    closed_until = now + streak.pause if streak.pause else None
    stands = STEP_UP_STANDS if streak.step_up else streak.pause
    return _changed(state, step_up=streak.step_up, closed_until=closed_until, ends_at=now + stands)


def _changed(
    state: State,
    *,
    ends_at: datetime,
    failed_at: tuple[datetime, ...] = (),
    step_up: bool = False,
    closed_until: datetime | None = None,
) -> State:
    return State(state.key, failed_at, step_up, closed_until, ends_at, state.turn)


FIND_STREAKS = """
    SELECT key, failed_at, step_up, closed_until, ends_at, turn
      FROM kernel.streak
     WHERE key = ANY($1::bytea[]) AND ends_at > $2
"""

LOCK_STREAKS = """
    SELECT key, failed_at, step_up, closed_until, ends_at, turn
      FROM kernel.streak
     WHERE key = ANY($1::bytea[])
     ORDER BY key
       FOR NO KEY UPDATE
"""

KEEP = Insert(
    "kernel.streak",
    {
        "key": "bytea",
        "failed_at": "timestamptz[]",
        "step_up": "boolean",
        "closed_until": "timestamptz",
        "ends_at": "timestamptz",
        "turn": "bigint",
    },
    tenant=False,
    on_conflict="(key) DO UPDATE SET failed_at = EXCLUDED.failed_at, step_up = EXCLUDED.step_up,"
    " closed_until = EXCLUDED.closed_until, ends_at = EXCLUDED.ends_at, turn = EXCLUDED.turn"
    " WHERE streak.turn = EXCLUDED.turn - 1",
)


@command()
async def check(tx: PlatformTx, asked: Sequence[tuple[Mark, ...]]) -> list[bool | Refusal]:
    """For each caller the first reason why it may not go on, if there is one; else whether anything is remembered that
    a success would make up for. Where nothing is, nobody need tell of one."""
    rows = await tx.fetch(FIND_STREAKS, sorted({mark.key for marks in asked for mark in marks}), tx.now)
    states = {row["key"]: _state(**row) for row in rows}
    return [_first_reason(marks, states, tx.now) or any(mark.key in states for mark in marks) for marks in asked]


def _first_reason(marks: Sequence[Mark], states: dict[bytes, State], now: datetime) -> Refusal | None:
    reasons = [state.verdict(now) for mark in marks if (state := states.get(mark.key))]
    return next((reason for reason in reasons if reason), None)


@command()
async def record(tx: PlatformTx, told: Sequence[tuple[Outcome, ...]]) -> list[None]:
    """Remember the outcomes, each subject's in the order in which they are told."""
    outcomes = [(outcome.mark.key, outcome) for each in told for outcome in each]
    keys = sorted({key for key, _ in outcomes})
    known = {row["key"]: _state(**row) for row in await tx.fetch(LOCK_STREAKS, keys)}
    before = {key: known.get(key) or State(key, (), False, None, tx.now, 0) for key in keys}
    states = dict(before)
    for key, outcome in outcomes:
        states[key] = after(states[key], outcome.mark.streak, outcome.result, tx.now)
    changed = [_next_turn(states[key]) for key in keys if states[key] != before[key]]
    # Rows that we found are locked. One that was not there may be by now, and counts what we do not know of.
    if changed and await tx.execute(KEEP.sql, *KEEP.arguments(changed)) != len(changed):
        raise Overtaken("somebody else began the same streak")
    return [None] * len(told)


def _state(key: bytes, failed_at: list[datetime], **rest: Any) -> State:
    return State(key, tuple(failed_at), **rest)


def _next_turn(state: State) -> State:
    return msgspec.structs.replace(state, turn=state.turn + 1)

"""What follows from a failure. Pure.

Promise (FUN-040, FUN-041, FUN-046): what can never succeed is buried at once; what may succeed later is tried again
as its kind says, and then buried; what is not the job's fault (the database is away, a row is busy, a breaker is open)
waits without spending an attempt. A job that its workers did not survive is buried after its crash limit.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

import asyncpg
import msgspec

from admitone.kernel.breaker import DependencyUnavailable
from admitone.kernel.db import RowBusy
from admitone.kernel.driver import ConnectionLost, DatabaseUnavailable
from admitone.kernel.errors import OutcomeUnknown, Refusal
from admitone.kernel.jobs.model import Claimed, Kind
from admitone.kernel.redaction import redact_text, words_of

LONGEST_ERROR: Final = 2_000
NOT_ITS_FAULT: Final = (
    DatabaseUnavailable,
    ConnectionLost,
    OutcomeUnknown,
    RowBusy,
    asyncpg.LockNotAvailableError,
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
)
WAIT_SECONDS: Final = 1


class LostTooOften(Exception):
    """The workers that ran it died, or stalled past their lease, too often."""

    def __init__(self, crashes: int) -> None:
        super().__init__(f"{crashes} workers were lost while they ran it")


class Reason(StrEnum):
    """Why a job is dead."""

    RETRIES_EXHAUSTED = "RETRIES_EXHAUSTED"
    NOT_RETRYABLE = "NOT_RETRYABLE"
    CRASH_LIMIT = "CRASH_LIMIT"


@dataclass(frozen=True, slots=True)
class Again:
    """Run it again at this instant; `spends` an attempt or not."""

    run_at: datetime
    spends: bool


@dataclass(frozen=True, slots=True)
class Bury:
    reason: Reason


def after_failure(
    kind: Kind[Any], job: Claimed, error: BaseException, now: datetime, chance: Callable[[], float] = random.random
) -> Again | Bury:
    if isinstance(error, DependencyUnavailable):
        return Again(now + timedelta(seconds=error.retry_after_seconds * (0.5 + chance())), spends=False)
    if is_not_its_fault(error):
        return Again(now + timedelta(seconds=WAIT_SECONDS * (0.5 + chance())), spends=False)
    if isinstance(error, LostTooOften):
        return Bury(Reason.CRASH_LIMIT)
    if is_final(error):
        return Bury(Reason.NOT_RETRYABLE)
    if job.attempts + 1 >= kind.retry.executions:
        return Bury(Reason.RETRIES_EXHAUSTED)
    return Again(now + timedelta(seconds=kind.retry.delay(job.attempts, chance)), spends=True)


def is_not_its_fault(error: BaseException) -> bool:
    # A statement that took too long sounds like a database that is away; but then it is the job that is slow.
    return isinstance(error, NOT_ITS_FAULT) and not isinstance(error.__cause__, asyncpg.QueryCanceledError)


def is_final(error: BaseException) -> bool:
    """Whether trying again cannot help: it is malformed, forbidden, missing, or contradicts what is so."""
    if isinstance(error, Refusal):
        return not error.retryable
    return isinstance(error, msgspec.ValidationError | msgspec.DecodeError)


def words_for(error: BaseException) -> str:
    """What is kept of an error: its type and what it says, fit to be shown."""
    said = f"{type(error).__name__}: {words_of(error)}".replace("\0", "")  # Which PostgreSQL does not take.
    return redact_text(said.encode("utf-8", "replace").decode(), LONGEST_ERROR)

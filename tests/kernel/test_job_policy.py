"""What follows from a failure: the retry matrix, and who is to blame."""

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import asyncpg
import msgspec
import pytest

from admitone.kernel.breaker import DependencyUnavailable
from admitone.kernel.db import RowBusy
from admitone.kernel.driver import ConnectionLost, DatabaseUnavailable
from admitone.kernel.errors import Conflict, Forbidden, Invalid, OutcomeUnknown, Throttled, Unauthenticated, Unavailable
from admitone.kernel.idempotency import KeyReused
from admitone.kernel.jobs import HOST_CALLS, NOTIFICATIONS, REFUNDS, WEBHOOKS, WORK, Kind, Lane, Retry
from admitone.kernel.jobs.model import READS, WRITES, Claimed, groups_of
from admitone.kernel.jobs.policy import Again, Bury, LostTooOften, Reason, after_failure, words_for
from tests.toy.handlers import perform

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


def a_claimed_job(**said: Any) -> Claimed:
    given = {
        "id": uuid4(), "organization_id": uuid4(), "kind": "toy.perform", "attempts": 0, "crashes": 0, "key": "k",
        "payload": "{}", "event_id": None, "actor_id": None, "causation_id": uuid4(), "correlation_id": uuid4(),
        "run_at": NOW, "created_at": NOW, "worker": uuid4(),
    }  # fmt: skip
    return Claimed(**given | said)


def a_kind(retry: Retry) -> Kind[Any]:
    return Kind("toy.other", dict, perform.work, outside=False, retry=retry)


@pytest.mark.covers("FUN-030")
def test_the_wait_doubles_up_to_its_cap():
    plain = Retry(executions=8, base_seconds=1, jitter=False)
    assert [plain.delay(retry) for retry in range(7)] == [1, 2, 4, 8, 16, 30, 30]


@pytest.mark.covers("FUN-031")
def test_jitter_comes_after_the_cap():
    chance = random.Random(7).random
    retry = Retry(executions=8, base_seconds=1)
    for number, seconds in enumerate((1, 2, 4, 8, 16, 30, 30)):
        samples = [retry.delay(number, chance) for _ in range(10_000)]
        assert all(0.5 * seconds <= sample < 1.5 * seconds for sample in samples)
        assert min(samples) < 0.51 * seconds and max(samples) > 1.49 * seconds


@pytest.mark.covers("FUN-032", "FUN-033", "FUN-034", "FUN-035", "FUN-036", "FUN-037")
@pytest.mark.parametrize(
    ("retry", "executions", "base", "jitter"),
    [
        (WEBHOOKS, 5, 2, True),
        (HOST_CALLS, 3, 1, True),
        (REFUNDS, 3, 5, False),
        (NOTIFICATIONS, 3, 2, True),
        (READS, 1 + 1, 0, False),  # Synchronous calls count the executions after the first (U-41).
        (WRITES, 1 + 0, 0, False),
    ],
)
def test_the_matrix_is_the_specifications(retry: Retry, executions: int, base: float, jitter: bool):
    assert (retry.executions, retry.base_seconds, retry.jitter, retry.most_seconds) == (executions, base, jitter, 30)


@pytest.mark.covers("FUN-034")
def test_refunds_wait_exactly_five_and_ten_seconds():
    waits = []
    job = a_claimed_job()
    while isinstance(next_ := after_failure(a_kind(REFUNDS), job, RuntimeError(), NOW), Again):
        waits.append((next_.run_at - NOW).total_seconds())
        job = replace(job, attempts=job.attempts + 1)
    assert waits == [5, 10]
    assert next_ == Bury(Reason.RETRIES_EXHAUSTED)


@pytest.mark.covers("FUN-040")
@pytest.mark.parametrize(
    "error",
    [
        Invalid(),
        Unauthenticated(),
        Forbidden(),
        Conflict(),
        KeyReused(),
        msgspec.ValidationError("no"),
        msgspec.DecodeError("no"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_can_never_succeed_is_not_tried_again(error: Exception):
    assert after_failure(perform, a_claimed_job(), error, NOW) == Bury(Reason.NOT_RETRYABLE)


@pytest.mark.covers("FUN-041")
@pytest.mark.parametrize(
    "error",
    [OSError(), TimeoutError(), ConnectionResetError(), Unavailable(), Throttled(retry_after_seconds=1), ValueError()],
)
def test_what_may_pass_is_tried_again(error: Exception):
    follows = after_failure(a_kind(WEBHOOKS), a_claimed_job(), error, NOW)
    assert isinstance(follows, Again) and follows.spends


@pytest.mark.covers("FUN-046")
def test_an_open_breaker_defers_without_spending_an_attempt():
    error = DependencyUnavailable(retry_after_seconds=30, dependency="stripe")
    for attempts in (0, 2, 4):
        follows = after_failure(perform, a_claimed_job(attempts=attempts), error, NOW)
        assert isinstance(follows, Again) and not follows.spends
        assert timedelta(seconds=15) <= follows.run_at - NOW < timedelta(seconds=45)


@pytest.mark.parametrize(
    "error",
    [
        DatabaseUnavailable(),
        ConnectionLost(),
        OutcomeUnknown(),
        RowBusy(),
        asyncpg.LockNotAvailableError(),
        asyncpg.DeadlockDetectedError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_is_not_the_jobs_fault_spends_no_attempt(error: Exception):
    follows = after_failure(perform, a_claimed_job(attempts=2), error, NOW)
    assert isinstance(follows, Again) and not follows.spends


def test_a_statement_that_took_too_long_is_the_jobs_fault():
    slow = DatabaseUnavailable()
    slow.__cause__ = asyncpg.QueryCanceledError("statement timeout")
    assert after_failure(perform, a_claimed_job(attempts=2), slow, NOW) == Bury(Reason.RETRIES_EXHAUSTED)


def test_a_job_that_its_workers_did_not_survive_is_buried():
    assert after_failure(perform, a_claimed_job(crashes=3), LostTooOften(3), NOW) == Bury(Reason.CRASH_LIMIT)
    assert "3 workers" in words_for(LostTooOften(3))


def test_what_is_kept_of_an_error_names_nobody():
    assert words_for(ValueError("no account for ana@example.org")) == "ValueError: no account for [redacted]"
    assert len(words_for(ValueError("x" * 10_000))) <= 2_100


def test_jobs_go_together_by_kind_and_organisation_and_suspects_alone():
    one, two = uuid4(), uuid4()
    fresh = [a_claimed_job(organization_id=one) for _ in range(5)]
    other = [a_claimed_job(organization_id=two), a_claimed_job(organization_id=one, kind="toy.hear")]
    again = [a_claimed_job(organization_id=one, attempts=1)]
    suspects = [a_claimed_job(organization_id=one, crashes=1) for _ in range(2)]
    groups = groups_of([*fresh, *other, *again, *suspects], most=lambda _: 3)
    assert sorted(map(len, groups)) == [1, 1, 1, 1, 1, 2, 3]


def test_errands_do_not_share_the_lane_of_handlers():
    async def work(desk: object, each: object) -> None: ...

    for kind in (
        lambda: Kind("toy.x", dict, work, outside=True, lane=WORK),
        lambda: Kind("toy.x", dict, work, outside=False, lane=Lane("http", 1)),
        lambda: Kind("X", dict, work, outside=False),
    ):
        with pytest.raises(TypeError):
            kind()

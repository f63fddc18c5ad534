"""Coalescing: every input runs exactly as if it were alone, and nobody pays for another."""

import asyncio
import gc
import weakref
from collections.abc import Sequence

import asyncpg
import pytest

from admitone.kernel.batch import BATCH_LIMIT, Answered, Batcher, Overloaded
from admitone.kernel.commands import Command, command
from admitone.kernel.db import Busy, Database, RowBusy, Tx
from admitone.kernel.driver import DatabaseUnavailable
from admitone.kernel.errors import Refusal
from admitone.kernel.idempotency import AnswerOutdated, Keyed, KeyReused
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import PlatformScope, Role, Scope
from tests.builders import an_increment, an_organization, rows_of, value_of
from tests.toy import commands, store
from tests.toy.errors import CounterFull, CounterNotFound
from tests.toy.model import Counter, Increment


class Log:
    """What flew, in order."""

    def __init__(self) -> None:
        self.flights: list[tuple[str, int]] = []

    def flew(self, command: str, size: int, waited_seconds: float) -> None:
        self.flights.append((command, size))


def keyed(key: str, increment: Increment) -> Keyed:
    return keyed_for("somebody", key, increment)


def keyed_for(caller: str, key: str, increment: Increment) -> Keyed:
    body = f"{increment.counter}:{increment.amount}".encode()
    return Keyed.of(contract="toy:increment", caller=caller, key=key, request=body)


async def test_calls_that_come_together_fly_together(database: Database) -> None:
    log = Log()
    batcher = Batcher(database, observed=log)
    scope = await an_organization(database)
    answers = await asyncio.gather(*(batcher.submit(commands.increment, scope, an_increment()) for _ in range(600)))
    assert sorted(answer.outcome.value for answer in answers) == list(range(1, 601))
    assert [size for _, size in log.flights] == [256, 256, 88]
    assert await value_of(database, scope) == 600


async def test_a_call_that_comes_alone_flies_at_once(database: Database) -> None:
    log = Log()
    batcher = Batcher(database, observed=log)
    scope = await an_organization(database)
    for _ in range(3):
        await batcher.submit(commands.increment, scope, an_increment())
    assert [size for _, size in log.flights] == [1, 1, 1]


async def test_coalescing_can_be_switched_off(database: Database) -> None:
    log = Log()
    batcher = Batcher(database, observed=log, coalesce=False)
    scope = await an_organization(database)
    await asyncio.gather(*(batcher.submit(commands.increment, scope, an_increment()) for _ in range(20)))
    assert [size for _, size in log.flights] == [1] * 20
    assert await value_of(database, scope) == 20


async def test_each_input_gets_its_own_refusal(batcher: Batcher, database: Database) -> None:
    scope = await an_organization(database, "small", "big", ceiling=5)
    wanted = [an_increment("small", 4), an_increment("nowhere"), an_increment("small", 4), an_increment("big", 5)]
    outcomes = await asyncio.gather(
        *(batcher.submit(commands.increment, scope, each) for each in wanted), return_exceptions=True
    )
    assert outcomes[0].outcome.value == 4
    assert outcomes[1] == CounterNotFound()
    assert outcomes[2] == CounterFull(left=1)
    assert outcomes[3].outcome.value == 5


async def test_a_refused_call_leaves_no_circle_behind(batcher: Batcher, database: Database) -> None:
    """In a rush most calls are refused; circles of theirs took an eighth of a server, and stopped it again and again."""
    scope = await an_organization(database)

    async def refused() -> weakref.ref[Refusal]:
        try:
            await batcher.submit(commands.increment, scope, an_increment("nowhere"))
        except CounterNotFound as refusal:
            return weakref.ref(refusal)
        raise AssertionError("it was not refused")

    gc.disable()
    try:
        left = await refused()
        await asyncio.sleep(0.05)  # The flight ends, too.
        assert left() is None
    finally:
        gc.enable()


@pytest.mark.covers("INV-I06", "CON-004")
async def test_the_same_key_twice_counts_once_and_answers_the_same(batcher: Batcher, database: Database) -> None:
    scope = await an_organization(database)
    each = an_increment(amount=7)
    first = await batcher.submit(commands.increment, scope, each, keyed("k", each))
    again = await batcher.submit(commands.increment, scope, each, keyed("k", each))
    assert (first.replayed, again.replayed) == (False, True)
    assert first.outcome == again.outcome
    assert await value_of(database, scope) == 7


@pytest.mark.covers("INV-I06")
async def test_the_same_key_for_something_else_is_refused(batcher: Batcher, database: Database) -> None:
    scope = await an_organization(database)
    one, other = an_increment(amount=1), an_increment(amount=2)
    await batcher.submit(commands.increment, scope, one, keyed("k", one))
    with pytest.raises(KeyReused):
        await batcher.submit(commands.increment, scope, other, keyed("k", other))
    assert await value_of(database, scope) == 1


@pytest.mark.covers("INV-I06")
async def test_keys_repeated_within_one_batch(batcher: Batcher, database: Database) -> None:
    scope = await an_organization(database)
    one, other = an_increment(amount=1), an_increment(amount=2)
    outcomes = await asyncio.gather(
        batcher.submit(commands.increment, scope, one, keyed("k", one)),
        batcher.submit(commands.increment, scope, one, keyed("k", one)),
        batcher.submit(commands.increment, scope, other, keyed("k", other)),
        batcher.submit(commands.increment, scope, other, keyed("k2", other)),
        return_exceptions=True,
    )
    assert [getattr(o, "replayed", o) for o in outcomes] == [False, True, KeyReused(), False]
    assert outcomes[0].outcome == outcomes[1].outcome
    assert await value_of(database, scope) == 3


@pytest.mark.covers("INV-I06", "CON-004")
async def test_the_same_key_in_two_processes_at_once_counts_once(database: Database) -> None:
    scope = await an_organization(database)
    for attempt in range(20):
        each = an_increment()
        batchers = [Batcher(database) for _ in range(4)]
        answers = await asyncio.gather(
            *(b.submit(commands.increment, scope, each, keyed(f"k{attempt}", each)) for b in batchers)
        )
        assert len({answer.outcome.id for answer in answers}) == 1
        assert sum(not answer.replayed for answer in answers) == 1
    assert await value_of(database, scope) == 20


async def test_a_key_means_nothing_to_another_organisation_or_caller(batcher: Batcher, database: Database) -> None:
    ours, theirs = await an_organization(database), await an_organization(database)
    each = an_increment()
    stranger = keyed_for("stranger", "k", each)
    answers = [
        await batcher.submit(commands.increment, ours, each, keyed("k", each)),
        await batcher.submit(commands.increment, theirs, each, keyed("k", each)),
        await batcher.submit(commands.increment, ours, each, stranger),
    ]
    assert [answer.replayed for answer in answers] == [False, False, False]


async def test_a_refusal_is_not_stored_so_it_may_be_tried_again(batcher: Batcher, database: Database) -> None:
    scope = await an_organization(database)
    each = an_increment("later")
    with pytest.raises(CounterNotFound):
        await batcher.submit(commands.increment, scope, each, keyed("k", each))
    assert await rows_of(database, scope, "kernel.idempotency_key") == 0
    await batcher.submit(commands.create, scope, Counter("later", 0, 10))
    answer = await batcher.submit(commands.increment, scope, each, keyed("k", each))
    assert answer.outcome.value == 1


@pytest.mark.parametrize("poison", [an_increment("nul\0"), an_increment(amount=2**63), an_increment(amount=-1)])
async def test_one_poisoned_input_hurts_none_of_255(batcher: Batcher, database: Database, poison: Increment) -> None:
    scope = await an_organization(database, ceiling=2**63 - 1)
    inputs = [an_increment() for _ in range(BATCH_LIMIT - 1)]
    inputs.insert(100, poison)
    outcomes = await asyncio.gather(
        *(batcher.submit(commands.increment, scope, each) for each in inputs), return_exceptions=True
    )
    assert sum(isinstance(outcome, Answered) for outcome in outcomes) == BATCH_LIMIT - 1
    assert isinstance(outcomes[100], Exception)
    assert await value_of(database, scope) == BATCH_LIMIT - 1


async def test_a_locked_row_delays_nobody_else_and_is_not_missing(
    batcher: Batcher, database: Database, superuser: asyncpg.Connection
) -> None:
    scope = await an_organization(database, "slow", "swift")
    async with superuser.transaction():
        await superuser.execute(
            "SELECT 1 FROM toy.counter WHERE organization_id = $1 AND name = 'slow' FOR UPDATE", scope.organization.uuid
        )
        slow = [asyncio.create_task(batcher.submit(commands.increment, scope, an_increment("slow"))) for _ in range(5)]
        swift = [batcher.submit(commands.increment, scope, an_increment("swift")) for _ in range(50)]
        await asyncio.gather(*swift)
        assert not any(task.done() for task in slow)
    assert sorted(a.outcome.value for a in await asyncio.gather(*slow)) == [1, 2, 3, 4, 5]


async def test_a_row_that_stays_locked_is_busy_and_can_be_tried_again(
    batcher: Batcher, database: Database, superuser: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("admitone.kernel.db.PATIENT_LOCK_TIMEOUT_MS", 150)
    scope = await an_organization(database)
    async with superuser.transaction():
        await superuser.execute(
            "SELECT 1 FROM toy.counter WHERE organization_id = $1 FOR UPDATE", scope.organization.uuid
        )
        with pytest.raises(RowBusy):
            await batcher.submit(commands.increment, scope, an_increment())
    await batcher.submit(commands.increment, scope, an_increment())
    assert await value_of(database, scope) == 1


async def test_a_key_held_by_another_process_delays_nobody_else(
    batcher: Batcher, database: Database, superuser: asyncpg.Connection
) -> None:
    scope = await an_organization(database)
    each = an_increment()
    async with superuser.transaction():
        await superuser.execute(
            "INSERT INTO kernel.idempotency_key SELECT $1, $2, $3, 'x', now()",
            scope.organization.uuid,
            keyed("held", each).name,
            keyed("held", each).hash,
        )
        held = asyncio.create_task(batcher.submit(commands.increment, scope, each, keyed("held", each)))
        others = [batcher.submit(commands.increment, scope, an_increment()) for _ in range(20)]
        await asyncio.wait_for(asyncio.gather(*others), 5)
        assert not held.done()
        await superuser.execute("DELETE FROM kernel.idempotency_key WHERE name = $1", keyed("held", each).name)
    assert (await held).replayed is False
    assert await value_of(database, scope) == 21


async def test_a_caller_who_leaves_changes_nothing(batcher: Batcher, database: Database) -> None:
    scope = await an_organization(database)
    each = an_increment()
    caller = asyncio.create_task(batcher.submit(commands.increment, scope, each, keyed("k", each)))
    await asyncio.sleep(0)
    caller.cancel()
    await batcher.drain()
    again = await batcher.submit(commands.increment, scope, each, keyed("k", each))
    assert again.replayed
    assert await value_of(database, scope) == 1


async def test_over_the_bound_callers_are_told_to_come_back(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("admitone.kernel.batch.QUEUE_LIMIT", 10)
    batcher = Batcher(database)
    scope = await an_organization(database)
    outcomes = await asyncio.gather(
        *(batcher.submit(commands.increment, scope, an_increment()) for _ in range(30)), return_exceptions=True
    )
    assert sum(isinstance(outcome, Overloaded) for outcome in outcomes) == 20
    assert await value_of(database, scope) == 10


async def test_one_organisation_cannot_fill_the_queue_of_all(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("admitone.kernel.batch.ORGANIZATION_LIMIT", 10)
    batcher = Batcher(database)
    greedy, modest = await an_organization(database), await an_organization(database)
    outcomes = await asyncio.gather(
        *(batcher.submit(commands.increment, greedy, an_increment()) for _ in range(30)),
        batcher.submit(commands.increment, modest, an_increment()),
        return_exceptions=True,
    )
    assert sum(isinstance(outcome, Overloaded) for outcome in outcomes) == 20
    assert isinstance(outcomes[-1], Answered)


async def test_organisations_take_turns(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("admitone.kernel.batch.FLIGHTS", dict.fromkeys(Role, 1))
    order: list[OrganizationId] = []

    @command(keyed_by=lambda each: each)
    async def note(tx: Tx, numbers: Sequence[int]) -> list[int | Refusal]:
        order.extend(tx.scope.organization for _ in numbers)
        return list(numbers)

    batcher = Batcher(database)
    busy, quiet = await an_organization(database), await an_organization(database)
    await asyncio.gather(*(batcher.submit(note, busy, number) for number in range(40)), batcher.submit(note, quiet, 1))
    assert order.index(quiet.organization) <= 1


async def test_a_database_that_is_away_answers_everybody() -> None:
    async with Database("postgresql://nobody@/nothing?host=/nowhere") as away:
        batcher = Batcher(away)
        outcomes = await asyncio.gather(
            *(batcher.submit(commands.increment, Scope(OrganizationId.new()), an_increment()) for _ in range(20)),
            return_exceptions=True,
        )
    assert all(isinstance(outcome, DatabaseUnavailable) for outcome in outcomes)


async def test_a_command_that_forgets_an_outcome_is_a_bug(batcher: Batcher, database: Database) -> None:
    async def forgetful(tx: Tx, inputs: Sequence[int]) -> list[int | Refusal]:
        return []

    scope = await an_organization(database)
    with pytest.raises(AssertionError, match="0 outcomes for 1"):
        await batcher.submit(Command(forgetful, name="toy.forgetful"), scope, 1)


async def test_inputs_whose_parts_are_locked_go_alone_and_hurt_nobody(
    batcher: Batcher, database: Database, superuser: asyncpg.Connection
) -> None:
    """An order locks its lines: the command is busy with things that are not its inputs."""
    scope = await an_organization(database, "slow", *(f"swift{n}" for n in range(19)))

    async def order(tx: Tx, orders: Sequence[str]) -> list[str | Refusal]:
        lines = [an_increment(counter) for counter in orders]
        await store.lock_counters(tx, lines)
        return list(orders)

    command = Command(order, name="toy.order")
    names = ["slow", *(f"swift{n}" for n in range(19))]
    async with superuser.transaction():
        await superuser.execute(
            "SELECT 1 FROM toy.counter WHERE organization_id = $1 AND name = 'slow' FOR UPDATE", scope.organization.uuid
        )
        slow, *swift = [asyncio.create_task(batcher.submit(command, scope, name)) for name in names]
        await asyncio.wait_for(asyncio.gather(*swift), 5)
        assert not slow.done()
    assert (await slow).outcome == "slow"


async def test_commands_of_one_name_do_not_run_each_others_inputs(batcher: Batcher, database: Database) -> None:
    async def one(tx: Tx, inputs: Sequence[int]) -> list[str | Refusal]:
        return ["one"] * len(inputs)

    async def two(tx: Tx, inputs: Sequence[int]) -> list[str | Refusal]:
        return ["two"] * len(inputs)

    scope = await an_organization(database)
    both = [Command(work, name="toy.same") for work in (one, two)]
    answers = await asyncio.gather(*(batcher.submit(command, scope, 1) for command in both))
    assert [answer.outcome for answer in answers] == ["one", "two"]


async def test_a_hot_key_that_fails_leaves_nothing_behind(batcher: Batcher, database: Database) -> None:
    scope = await an_organization(database)
    each = an_increment()
    broken = Command(commands.increment, name="toy.broken", keyed_by=lambda increment: increment.nothing)
    with pytest.raises(AttributeError):
        await batcher.submit(broken, scope, each, keyed("k", each))
    answer = await batcher.submit(commands.increment, scope, each, keyed("k", each))
    assert answer.replayed is False


async def test_keys_of_the_platform_are_refused_rather_than_ignored(batcher: Batcher) -> None:
    async def nothing(tx: object, inputs: Sequence[int]) -> list[int | Refusal]:
        return list(inputs)

    scope = PlatformScope("test", Role.RELAY)
    with pytest.raises(TypeError, match="per organisation"):
        await batcher.submit(Command(nothing, name="toy.nothing"), scope, 1, keyed("k", an_increment()))


@pytest.mark.parametrize("role", [Role.RELAY, Role.MAINTENANCE, Role.AUTHORITY])
async def test_every_role_that_writes_can_submit(batcher: Batcher, role: Role) -> None:
    async def nothing(tx: object, inputs: Sequence[int]) -> list[int | Refusal]:
        return list(inputs)

    answer = await batcher.submit(Command(nothing, name="toy.nothing"), PlatformScope("test", role), 1)
    assert answer.outcome == 1


async def test_calls_that_run_alone_are_admitted_like_all_others(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("admitone.kernel.batch.QUEUE_LIMIT", 10)
    batcher = Batcher(database)
    scope = await an_organization(database)
    outcomes = await asyncio.gather(
        *(batcher.run_one(commands.increment, scope, an_increment()) for _ in range(30)), return_exceptions=True
    )
    assert sum(isinstance(outcome, Overloaded) for outcome in outcomes) == 20


async def test_slow_lanes_of_one_organisation_leave_a_place_for_another(database: Database) -> None:
    batcher = Batcher(database)
    slow, quick = await an_organization(database), await an_organization(database)

    async def sleep(tx: Tx, seconds: Sequence[float]) -> list[float | Refusal]:
        await tx.fetch("SELECT pg_sleep($2) WHERE $1::uuid IS NOT NULL", max(seconds))
        return list(seconds)

    command = Command(sleep, name="toy.sleep", keyed_by=lambda seconds: seconds)
    sleeping = [asyncio.create_task(batcher.submit(command, slow, 2 + n / 1000)) for n in range(6)]
    await asyncio.sleep(0.1)
    await asyncio.wait_for(batcher.submit(commands.increment, quick, an_increment()), 1.8)
    await asyncio.gather(*sleeping)


async def test_an_answer_of_another_form_is_not_invented(
    batcher: Batcher, database: Database, superuser: asyncpg.Connection
) -> None:
    scope = await an_organization(database)
    each = an_increment()
    await batcher.submit(commands.increment, scope, each, keyed("k", each))
    await superuser.execute("UPDATE kernel.idempotency_key SET answer = '{}' WHERE name = $1", keyed("k", each).name)
    with pytest.raises(AnswerOutdated):
        await batcher.submit(commands.increment, scope, each, keyed("k", each))


async def test_many_rows_that_are_locked_one_after_another_are_all_set_aside(
    batcher: Batcher, database: Database
) -> None:
    """Each run of the batch finds another row held; nobody is lost on the way."""
    found: set[int] = set()

    async def stumbling(tx: Tx, inputs: Sequence[int]) -> list[int | Refusal]:
        new = [each for each in inputs if each not in found]
        if new and not tx.patient:
            found.add(new[0])
            raise Busy({new[0]: [new[0]]})
        return list(inputs)

    scope = await an_organization(database)
    numbers = [10**6 + number for number in range(BATCH_LIMIT)]  # not small, so that each is an object of its own
    command = Command(stumbling, name="toy.stumbling")
    answers = await asyncio.gather(*(batcher.submit(command, scope, number) for number in numbers))
    assert [answer.outcome for answer in answers] == numbers


async def test_a_call_that_is_turned_away_leaves_no_lane_behind(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hot keys are the callers' words: whoever sends ever new ones must not fill the memory."""
    monkeypatch.setattr("admitone.kernel.batch.QUEUE_LIMIT", 1)
    batcher = Batcher(database)
    scope = await an_organization(database)

    async def echo(tx: Tx, inputs: Sequence[int]) -> list[int | Refusal]:
        return list(inputs)

    command = Command(echo, name="toy.echo", keyed_by=lambda number: number)
    outcomes = await asyncio.gather(
        *(batcher.submit(command, scope, number) for number in range(50)), return_exceptions=True
    )
    assert sum(isinstance(outcome, Overloaded) for outcome in outcomes) == 49
    await batcher.drain()
    assert batcher._queues == {}


async def test_draining_waits_also_for_what_has_not_taken_off_yet(batcher: Batcher, database: Database) -> None:
    scope = await an_organization(database)
    caller = asyncio.create_task(batcher.submit(commands.increment, scope, an_increment()))
    await asyncio.sleep(0)
    await batcher.drain()
    assert await value_of(database, scope) == 1
    await caller

"""Bugs to plant in a toy's process, each of which somebody must notice (`TOY_PLANT=name`).

What nobody notices is either protected twice, which is said here, or not tested.
"""

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from admitone.kernel import batch, db, event_log
from admitone.kernel.driver import Connection, say
from admitone.kernel.jobs import execution, leases, relay, store
from admitone.kernel.jobs.execution import Execution
from admitone.kernel.scope import Scope

PLANTS: dict[str, Callable[[], None]] = {}


def plant(name: str) -> None:
    if name:
        PLANTS[name]()


def _plant(sow: Callable[[], None]) -> Callable[[], None]:
    PLANTS[sow.__name__] = sow
    return sow


# -- In the API


@_plant
def acknowledge_without_commit() -> None:
    """Every twentieth COMMIT is none."""
    turns = count(1)
    commit = db._commit

    async def forgetful(connection: Connection) -> None:
        if next(turns) % 20:
            await commit(connection)
        else:
            await say(connection, "ROLLBACK")

    db._commit = forgetful


@_plant
def forget_answers() -> None:
    """What is repeated under its key is done again."""

    async def forget(*_: Any) -> None:
        return None

    batch.keep_answers = forget


@_plant
def put_facts_off_for_ever() -> None:
    """A fact that is logged and told to nobody."""
    event_log.WRITE_FACTS = event_log.WRITE_FACTS.replace("told.id, $12, $12", "told.id, $12, 'infinity'")


# -- In the worker


@_plant
def end_before_work() -> None:
    """The job ends in a transaction of its own, before its effect."""

    async def together(self: Execution, tx: Any, kind: Any, jobs: Sequence[Any]) -> None:
        scope = Scope(jobs[0][1].organization, "too early")
        await self._desk.database.run(scope, lambda own: execution._end(own, [job for job, _ in jobs]))
        await kind.work(tx, [delivered for _, delivered in jobs])

    Execution._together = together


@_plant
def end_whatever_happened() -> None:
    """Nobody looks whether the job was still ours when it ended."""

    async def end(tx: Any, worker: Any, jobs: Sequence[Any]) -> bool:
        await tx.execute(store.END, [job.id for job in jobs], worker, tx.now)
        return True

    store.end = end


@_plant
def bury_without_fence() -> None:
    """A zombie may bury what another runs."""
    store.BURY = store.BURY.replace("AND j.worker = v.worker", "AND v.worker IS NOT NULL")


@_plant
def end_without_fence() -> None:
    """Protected twice: whoever deletes the row has the effect, and only one can."""
    store.END = store.END.replace("AND worker = $3", "AND $3::uuid IS NOT NULL")


@_plant
def publish_without_jobs() -> None:
    """The outbox is marked, and nobody is told."""

    async def enqueue(*_: Any) -> int:
        return 0

    relay.enqueue = enqueue


@_plant
def keys_that_do_not_last() -> None:
    """Protected twice: the inbox knows what had its effect."""

    async def take(tx: Any, jobs: Sequence[Any]) -> set[Any]:
        await tx.insert_many(store.RELAY_TAKE_KEYS, store._ordered(jobs))
        return {(job.organization_id, job.key) for job in jobs}

    store.take_keys_of_many = take


@_plant
def no_inbox() -> None:
    """The end is not noted."""

    async def end(tx: Any, worker: Any, jobs: Sequence[Any]) -> bool:
        return bool(await tx.execute(store.DROP_DONE, [job.id for job in jobs], worker) == len(jobs))

    store.end = end


@_plant
def neither_keys_nor_inbox() -> None:
    keys_that_do_not_last()
    no_inbox()


@_plant
def orphans_stay() -> None:
    """What a dead worker held is held for ever."""

    async def free(*_: Any) -> int:
        return 0

    leases.free_orphans = free

"""Dead letters: jobs that will not run again unless somebody says so.

Promise: each is shown with its whole story (the fact, every attempt, the errors, the correlation); a replay says who,
when and why in the audit trail and runs once, also when two say so at once. The same for calls: everything that a
correlation id led to, in the order in which it happened.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from admitone.kernel import audit
from admitone.kernel.commands import command
from admitone.kernel.db import PlatformTx, Record, Tx
from admitone.kernel.errors import Conflict, NotFound, Refusal
from admitone.kernel.ids import Id, OrganizationId
from admitone.kernel.jobs.model import EventId, JobId
from admitone.kernel.jobs.relay import Subscriptions
from admitone.kernel.scope import Caller, PlatformScope, Role, Scope
from admitone.kernel.statements import BothWays, ListOrder

SCOPE: Final = PlatformScope("look at dead letters and timelines", Role.RELAY)
REPLAY_CODE: Final = "REPLAY"
"""In the audit trail, of those who are not asked for a code: the command line, and whoever has the internal secret."""


class DeadLetterId(Id, prefix="dead"):
    """One dead letter."""


class DeadLetterNotFound(NotFound):
    """There is no dead letter of that id."""

    code = "DEAD_LETTER_NOT_FOUND"


class DeadLetterReplayed(Conflict):
    """This dead letter has already been replayed."""

    code = "DEAD_LETTER_REPLAYED"
    next_step = "See what became of the replay in its timeline."


LIST_DEAD = BothWays("""
    SELECT d.id, d.organization_id, d.kind, d.lane, d.priority, d.attempts, d.crashes, d.key, d.event_id,
           d.correlation_id, d.created_at, d.died_at, d.reason, d.error, d.replayed_at, d.replayed_by, d.replay_reason
      FROM kernel.dead_letter AS d
     WHERE d.replayed_at IS NULL
       AND d.id > $1
       AND d.id < $2
       AND ($3::text IS NULL OR d.kind = $3)
       AND ($4::uuid IS NULL OR d.organization_id = $4)
     ORDER BY d.id {way}
     LIMIT $5
""")
FIND_DEAD = """
    SELECT d.id, d.organization_id, d.kind, d.lane, d.priority, d.attempts, d.crashes, d.key, d.event_id,
           d.correlation_id, d.created_at, d.died_at, d.reason, d.error, d.replayed_at, d.replayed_by, d.replay_reason,
           d.payload::text AS payload
      FROM kernel.dead_letter AS d
     WHERE d.id = ANY($1::uuid[])
"""
LIST_ATTEMPTS = """
    SELECT a.number, a.at, a.error, a.worker, a.kind, a.key
      FROM kernel.job_attempt AS a
     WHERE a.organization_id = $1
       AND a.key = ANY($2::text[])
     ORDER BY a.at, a.number
     LIMIT 1000
"""
FIND_FACT = """
    SELECT e.id, e.type, e.version, e.subject_type, e.subject_id, e.created_at, e.payload::text AS payload
      FROM kernel.event_log AS e
     WHERE e.organization_id = $1
       AND e.id = $2
"""
# A replay is a job anew: the same key, which is taken for ever, and an id of its own.
REPLAY = """
    WITH raised AS (
        UPDATE kernel.dead_letter AS d
           SET replayed_at = $6, replayed_by = v.by, replay_reason = v.reason
          FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[]) AS v(id, job_id, by, reason)
         WHERE d.organization_id = $1
           AND d.id = ANY($2::uuid[])
           AND d.id = v.id
           AND d.replayed_at IS NULL
        RETURNING d.id, v.job_id, d.kind, d.lane, d.priority, d.key, d.payload, d.event_id, d.actor_id, d.causation_id,
                  d.correlation_id
    ), enqueued AS (
        INSERT INTO kernel.job (organization_id, id, kind, lane, priority, run_at, key, payload, event_id, actor_id,
                                causation_id, correlation_id, created_at)
        SELECT $1, r.job_id, r.kind, r.lane, r.priority, $6, r.key, r.payload, r.event_id, r.actor_id,
               r.causation_id, r.correlation_id, $6
          FROM raised AS r
    )
    SELECT r.id
      FROM raised AS r
"""
PUT_AWAY = """
    UPDATE kernel.dead_letter AS d
       SET replayed_at = $5, replayed_by = v.by, replay_reason = v.reason
      FROM unnest($2::uuid[], $3::text[], $4::text[]) AS v(id, by, reason)
     WHERE d.organization_id = $1
       AND d.id = ANY($2::uuid[])
       AND d.id = v.id
       AND d.replayed_at IS NULL
    RETURNING d.id
"""
FIND_REPLAYED = """
    SELECT d.id
      FROM kernel.dead_letter AS d
     WHERE d.organization_id = $1
       AND d.id = ANY($2::uuid[])
       AND d.replayed_at IS NOT NULL
"""
LIST_FACTS = """
    SELECT e.organization_id, e.id, e.type, e.subject_type, e.subject_id, e.created_at, e.causation_id, o.published_at
      FROM kernel.event_log AS e
      LEFT JOIN LATERAL (SELECT published_at
                           FROM kernel.outbox
                          WHERE organization_id = e.organization_id
                            AND event_id = e.id
                         OFFSET 0) AS o ON true
     WHERE e.correlation_id = $1
     ORDER BY e.id
     LIMIT 1000
"""
LIST_JOBS = """
    SELECT j.organization_id, j.id, j.kind, j.key, j.run_at, j.worker, j.attempts, j.crashes, j.created_at
      FROM kernel.job AS j
     WHERE j.correlation_id = $1
     ORDER BY j.id
     LIMIT 1000
"""
LIST_DEAD_OF_CALL = """
    SELECT d.organization_id, d.id, d.kind, d.key, d.died_at, d.reason, d.error, d.replayed_at, d.replayed_by
      FROM kernel.dead_letter AS d
     WHERE d.correlation_id = $1
     ORDER BY d.id
     LIMIT 1000
"""
LIST_DONE = """
    SELECT i.key, i.done_at
      FROM kernel.inbox AS i
     WHERE i.organization_id = $1
       AND i.key = ANY($2::text[])
     ORDER BY i.done_at
     LIMIT 1000
"""


@dataclass(frozen=True, slots=True)
class Story:
    """A dead letter, what was told, and every time it was tried."""

    letter: Record
    fact: Record | None
    attempts: Sequence[Record]


async def list_dead(
    tx: PlatformTx,
    place: UUID | None,
    kind: str | None,
    organization: OrganizationId | None,
    most: int,
    order: ListOrder = ListOrder.OLDEST,
) -> list[Record]:
    """Those that nobody replayed."""
    wanted = kind, organization.uuid if organization else None
    return await tx.fetch(LIST_DEAD.first(order), *order.ids(place), *wanted, most)


async def find_dead(tx: PlatformTx, ids: Sequence[DeadLetterId]) -> dict[DeadLetterId, Record]:
    rows = await tx.fetch(FIND_DEAD, [each.uuid for each in ids])
    return {DeadLetterId(row["id"]): row for row in rows}


async def tell(tx: PlatformTx, id: DeadLetterId) -> Story:  # noqa: A002  The one id there is.
    letter = (await find_dead(tx, [id])).get(id)
    if letter is None:
        raise DeadLetterNotFound
    whose = letter["organization_id"]
    fact = await tx.find(FIND_FACT, whose, letter["event_id"]) if letter["event_id"] else None
    return Story(letter, fact, await tx.fetch(LIST_ATTEMPTS, whose, [letter["key"]]))


# -- Replaying


class Replay(msgspec.Struct, frozen=True):
    """What is asked: run it again, because somebody says so."""

    caller: Caller
    id: DeadLetterId
    by: str
    reason: str
    reason_code: str = REPLAY_CODE


class Replayed(msgspec.Struct, frozen=True):
    id: DeadLetterId
    job: JobId


@command()
async def replay(tx: Tx, replays: Sequence[Replay]) -> list[Replayed | Refusal]:
    """Run dead letters again, each once."""
    first = {each.id: each for each in reversed(replays)}
    jobs = {each: JobId.new() for each in first}
    ids, chosen = [each.uuid for each in first], list(first.values())
    columns = [[job.uuid for job in jobs.values()], [each.by for each in chosen], [each.reason for each in chosen]]
    raised = {DeadLetterId(row["id"]) for row in await tx.fetch(REPLAY, ids, *columns, tx.now)}
    known = {DeadLetterId(row["id"]) for row in await tx.fetch(FIND_REPLAYED, ids)} - raised
    await audit.record(tx, [_entry(each) for each in chosen if each.id in raised])
    return [_outcome(each, first, jobs, raised, known) for each in replays]


def _outcome(
    each: Replay,
    first: dict[DeadLetterId, Replay],
    jobs: dict[DeadLetterId, JobId],
    raised: set[DeadLetterId],
    known: set[DeadLetterId],
) -> Replayed | Refusal:
    if each.id in raised and first[each.id] is each:
        return Replayed(each.id, jobs[each.id])
    return DeadLetterReplayed() if each.id in raised | known else DeadLetterNotFound()


def _entry(each: Replay, action: str = "kernel.replay_dead_letter") -> audit.Entry:
    after = {"by": each.by, "why": each.reason}
    return audit.Entry(each.caller, action, str(each.id), each.reason_code, after=after)


@command()
async def put_away(tx: Tx, letters: Sequence[Replay]) -> list[bool]:
    """Whether each was still there: whoever brings about its effect in another way leaves nobody to replay it."""
    first = {each.id: each for each in reversed(letters)}
    said = [[each.by for each in first.values()], [each.reason for each in first.values()]]
    rows = await tx.fetch(PUT_AWAY, [each.uuid for each in first], *said, tx.now)
    gone = {DeadLetterId(row["id"]) for row in rows}
    await audit.record(tx, [_entry(first[each], "kernel.put_away_dead_letter") for each in gone])
    return [each.id in gone for each in letters]


Submit = Callable[[Scope, Replay], Awaitable[Replayed]]


async def replay_each(
    submit: Submit, letters: Mapping[DeadLetterId, Record], replays: Sequence[Replay]
) -> list[Replayed | Refusal]:
    """Each in the organisation of its letter; its outcome or its refusal."""

    async def one(each: Replay) -> Replayed | Refusal:
        letter = letters.get(each.id)
        if letter is None:
            return DeadLetterNotFound()
        try:
            return await submit(Scope(OrganizationId(letter["organization_id"]), "replay a dead letter"), each)
        except Refusal as refusal:
            return refusal

    return await asyncio.gather(*map(one, replays))


# -- Timelines


class Moment(msgspec.Struct, frozen=True):
    """One thing that happened, or waits to."""

    at: datetime
    what: str
    organization: OrganizationId
    subject: str
    detail: str
    keys: tuple[str, ...] = ()
    """Of the jobs that it led to."""


async def list_dead_of_call(tx: PlatformTx, correlation: UUID) -> list[Record]:
    return await tx.fetch(LIST_DEAD_OF_CALL, correlation)


async def list_moments(tx: PlatformTx, correlation: UUID, subscriptions: Subscriptions) -> list[Moment]:
    """Facts, jobs that wait or run, failed attempts and dead letters of one call, in their order."""
    facts = await tx.fetch(LIST_FACTS, correlation)
    jobs = await tx.fetch(LIST_JOBS, correlation)
    dead = await list_dead_of_call(tx, correlation)
    moments = [*(_told(row, subscriptions) for row in facts), *map(_waits, jobs), *map(_died, dead)]
    for whose in {row["organization_id"] for row in (*jobs, *dead)}:
        keys = [row["key"] for row in (*jobs, *dead) if row["organization_id"] == whose]
        moments += [_failed(whose, row) for row in await tx.fetch(LIST_ATTEMPTS, whose, keys)]
    return sorted(moments, key=lambda moment: moment.at)


async def list_effects(tx: Tx, keys: Sequence[str]) -> list[Moment]:
    """When the organisation's jobs under these keys had their effect."""
    return [
        Moment(row["done_at"], "job.done", tx.scope.organization, row["key"], "")
        for row in await tx.fetch(LIST_DONE, list(keys))
    ]


def _told(row: Record, subscriptions: Subscriptions) -> Moment:
    published = f"published {row['published_at']:%Y-%m-%d %H:%M:%S}" if row["published_at"] else "not yet published"
    what = f"{row['subject_type']} {row['subject_id']}, {published}"
    event, whose = str(EventId(row["id"])), OrganizationId(row["organization_id"])
    keys = tuple(each.key_of(row["id"]) for each in subscriptions.by_fact.get(row["type"], ()))
    return Moment(row["created_at"], f"fact {row['type']}", whose, event, what, keys)


def _waits(row: Record) -> Moment:
    state = "runs" if row["worker"] else f"waits, attempts {row['attempts']}, crashes {row['crashes']}"
    whose = OrganizationId(row["organization_id"])
    return Moment(row["run_at"], f"job {row['kind']}", whose, row["key"], state, (row["key"],))


def _died(row: Record) -> Moment:
    replayed = f", replayed by {row['replayed_by']}" if row["replayed_at"] else ""
    what = f"{row['reason']}: {row['error']}{replayed}"
    whose = OrganizationId(row["organization_id"])
    return Moment(row["died_at"], f"dead {row['kind']}", whose, row["key"], what, (row["key"],))


def _failed(whose: UUID, row: Record) -> Moment:
    what = f"attempt {row['number']} of {row['kind']}"
    return Moment(row["at"], what, OrganizationId(whose), row["key"], row["error"])

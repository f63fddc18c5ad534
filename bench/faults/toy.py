"""The toy under faults: clients increment counters of several organisations, and every increment is heard of once."""

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import asyncpg
import httpx
from tests.builders import a_credential, an_organization
from tests.toy.errors import CounterFull
from tests.toy.routes import INCREMENT

from admitone.kernel.db import Database
from admitone.kernel.ids import OrganizationId
from bench.faults.invariants import Evidence, Invariant, invariant
from bench.faults.journal import Outcome, Request, Story
from bench.faults.load import judge_as_the_edge_speaks
from bench.faults.world import World

WIDE, NARROW = "wide", "narrow"
CEILINGS = {WIDE: 10**15, NARROW: 2_000}
"""The narrow one is soon full, and must never be more than full."""
TIMES = {Outcome.OK: {1}, Outcome.FAILED: {0}, Outcome.UNKNOWN: {0, 1}, Outcome.WRONG: {0, 1}}


@dataclass(frozen=True)
class Member:
    organization: OrganizationId
    credential: str


class Increments:
    """No two requests have the same amount, so a row tells which request made it."""

    def __init__(self, members: Sequence[Member]) -> None:
        self.members = members

    def request(self, number: int, chance: random.Random) -> Request:
        member = chance.choice(self.members)
        counter = chance.choices([WIDE, NARROW], [9, 1])[0]
        headers = {
            "authorization": f"Bearer {member.credential}",
            "x-orya-org-id": str(member.organization),
            "x-device-id": f"device-{number}",
        }
        body = {"counter": counter, "amount": number, "idempotencyKey": f"key-{number}"}
        return Request(f"key-{number}", "/api/toy/increments", body, headers)

    def judge(self, response: httpx.Response) -> Outcome:
        return judge_as_the_edge_speaks(response, CounterFull.code)


async def some_members(world: World, organizations: int = 3) -> list[Member]:
    members = []
    async with Database(world.url()) as database, world.books() as books:
        for _ in range(organizations):
            scope = await an_organization(database, WIDE, ceiling=CEILINGS[WIDE])
            await books.execute(
                "INSERT INTO toy.counter (organization_id, name, ceiling) VALUES ($1, $2, $3)",
                scope.organization.uuid,
                NARROW,
                CEILINGS[NARROW],
            )
            credential = await a_credential(books, scope, INCREMENT)
            members.append(Member(scope.organization, credential.text))
    return members


ENQUEUE = """
    WITH wanted AS (
        SELECT (($1::uuid[])[1 + n % cardinality($1)]) AS organization_id, $2 || n AS key, n,
               clock_timestamp() AS at, gen_random_uuid() AS id
          FROM generate_series(1, $3) AS n
    ), keys AS (
        INSERT INTO kernel.job_key (organization_id, key, created_at)
        SELECT organization_id, key, at FROM wanted
    )
    INSERT INTO kernel.job (organization_id, id, kind, lane, priority, run_at, key, payload, causation_id,
                            correlation_id, created_at)
    SELECT organization_id, id, 'toy.perform', 'work', 1, at, key,
           jsonb_build_object('act', CASE WHEN $5 > 0 AND n % $5 = 0 THEN 'linger' ELSE $4 END, 'number', n), id, id, at
      FROM wanted
"""


async def enqueue(
    books: asyncpg.Connection,
    members: Sequence[Member],
    count: int,
    *,
    name: str = "job",
    act: str = "work",
    lingering: int = 0,
) -> list[str]:
    """So many jobs, by the keys `name-1`...; every so many of them `lingering`."""
    organizations = [member.organization.uuid for member in members]
    await books.execute(ENQUEUE, organizations, f"{name}-", count, act, lingering)
    return [f"{name}-{number}" for number in range(1, count + 1)]


# -- What must hold


@invariant("what was acknowledged is counted once, what failed is not, and nothing else is (11)")
async def counted_as_told(evidence: Evidence) -> list[str]:
    rows = await evidence.books.fetch("SELECT organization_id, counter, amount FROM toy.increment")
    times = Counter((row["organization_id"], row["counter"], row["amount"]) for row in rows)
    stories = {_row_of(story): story for story in evidence.stories().values()}
    wrong = [
        f"{story.request.key} was {story.outcome} and is counted {times[row]} times"
        for row, story in stories.items()
        if times[row] not in TIMES[story.outcome]
    ]
    return wrong + [f"{row} is counted and was never sent" for row in times if row not in stories]


def _row_of(story: Story) -> tuple[UUID, str, int]:
    organization = OrganizationId.parse(story.request.headers["x-orya-org-id"])
    return organization.uuid, story.request.body["counter"], story.request.body["amount"]


@invariant("a counter is the sum of its increments and never above its ceiling")
async def counters_add_up(evidence: Evidence) -> list[str]:
    return await evidence.each(
        "{name}: {value} of {ceiling}, increments {total}",
        """
        SELECT c.name, c.value, c.ceiling, COALESCE(sum(i.amount), 0) AS total
          FROM toy.counter AS c
          LEFT JOIN toy.increment AS i ON i.organization_id = c.organization_id AND i.counter = c.name
         GROUP BY c.organization_id, c.name
        HAVING c.value <> COALESCE(sum(i.amount), 0) OR c.value > c.ceiling
        """,
    )


@invariant("all answers fit one order of events")
async def answers_are_in_order(evidence: Evidence) -> list[str]:
    """Where every increment of a counter was acknowledged, each value follows from the one before it."""
    by_counter = defaultdict(list)
    for story in evidence.stories().values():
        if story.outcome is Outcome.OK:
            by_counter[_row_of(story)[:2]].append((story.answers[0]["value"], story.request.body["amount"]))
    wrong = []
    for (_, name), steps in by_counter.items():
        before = 0
        for value, amount in sorted(steps):
            if value < before + amount:
                wrong.append(f"{name}: {before} and {amount} are more than {value}")
            before = value
    return wrong


@invariant("every fact is heard of once, and every deed done once (13)")
async def heard_once(evidence: Evidence) -> list[str]:
    return await evidence.each(
        "{key} is heard {times} times",
        """
        WITH meant AS (
            SELECT organization_id, 'toy.hear:' || id AS key FROM kernel.event_log WHERE type LIKE 'toy.%'
             UNION
            SELECT organization_id, key FROM kernel.job_key WHERE key NOT LIKE 'ops.%' AND key NOT LIKE 'cron:%'
        ), heard AS (
            SELECT organization_id, key, count(*) AS times FROM toy.heard GROUP BY organization_id, key
        ), dead AS (
            SELECT organization_id, key FROM kernel.dead_letter
        )
        SELECT key, COALESCE(heard.times, 0) AS times, dead.key IS NOT NULL AS died
          FROM meant
          FULL JOIN heard USING (organization_id, key)
          LEFT JOIN dead USING (organization_id, key)
         WHERE COALESCE(heard.times, 0) <> CASE WHEN dead.key IS NULL THEN 1 ELSE 0 END
            OR meant.key IS NULL
        """,
    )


@invariant("every increment has its fact, and every fact its increment (13)")
async def facts_match_increments(evidence: Evidence) -> list[str]:
    return await evidence.each(
        "{amount}: {rows} increments, {facts} facts",
        """
        SELECT amount, COALESCE(i.count, 0) AS rows, COALESCE(e.count, 0) AS facts
          FROM (SELECT organization_id, amount, count(*) FROM toy.increment GROUP BY 1, 2) AS i
          FULL JOIN (SELECT organization_id, (payload->>'amount')::bigint AS amount, count(*)
                       FROM kernel.event_log WHERE type LIKE 'toy.%' GROUP BY 1, 2) AS e USING (organization_id, amount)
         WHERE i.count IS DISTINCT FROM e.count
        """,
    )


COUNTERS: tuple[Invariant, ...] = (counted_as_told, counters_add_up, answers_are_in_order, facts_match_increments)
HEARD: tuple[Invariant, ...] = (heard_once,)

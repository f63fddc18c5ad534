"""Phase two: nothing breaks any more, and all must settle by itself.

Promise: within `SETTLE_SECONDS` everybody lives, no fact is untold and no job is left; if not, it is said what is.
"""

import asyncio
from contextlib import suppress

import asyncpg

from bench.faults.world import World

SETTLE_SECONDS = 120

LEFT = """
    SELECT (SELECT count(*) FROM kernel.job) AS jobs,
           (SELECT count(*) FROM kernel.outbox WHERE published_at IS NULL) AS facts
"""
HELD = """
    SELECT j.kind, j.key, j.worker, j.crashes, j.attempts, j.run_at - now() AS due_in,
           (SELECT now() - w.seen_at FROM kernel.worker AS w WHERE w.id = j.worker) AS seen_ago
      FROM kernel.job AS j
     LIMIT 3
"""


async def settle(world: World, seconds: float = SETTLE_SECONDS) -> list[str]:
    """What is not settled in time, in words."""
    try:
        async with asyncio.timeout(seconds):
            while not (await world.is_up() and await _is_idle(world)):
                await asyncio.sleep(0.1)
    except TimeoutError:
        return await _what_is_left(world)
    return []


async def _is_idle(world: World) -> bool:
    with suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
        async with world.books() as books:
            row = await books.fetchrow(LEFT)
            return row is not None and not row["jobs"] and not row["facts"]
    return False


async def _what_is_left(world: World) -> list[str]:
    dead = [name for name, victim in world.victims.items() if not victim.lives]
    words = [f"{name} does not live" for name in dead]
    async with world.books() as books:
        row = await books.fetchrow(LEFT)
        assert row is not None
        words.append(f"{row['jobs']} jobs and {row['facts']} facts are left")
        words += [str(dict(job)) for job in await books.fetch(HELD)]
    return words

"""What is asked on every sale goes by its own index, whatever the planner believed of the tables when it made the plan."""

import hashlib
import re
from uuid import UUID

import asyncpg
import pytest

from admitone.kernel.driver import session_of
from admitone.kernel.embedded import SUPERUSER
from admitone.kernel.scope import Role
from admitone.selling.stock.store import pools, portions, sweeping, units
from tests.conftest import TEMPLATE, TestCluster, run_as_superuser

ORGANIZATION = UUID("00000000-0000-7000-8000-0000000000aa")
ROWS = 20_000
FILL = f"""
    INSERT INTO kernel.tenant (id, created_at) VALUES ('{ORGANIZATION}', now()) ON CONFLICT DO NOTHING;
    INSERT INTO stock.pool (organization_id, id, capacity, held, sold, seated, created_at)
    SELECT '{ORGANIZATION}', md5('pool' || n)::uuid, 1000000, 0, 0, n = 1, now() FROM generate_series(0, 1) AS n;
    INSERT INTO stock.portion (organization_id, hold_id, number, pool_id, item, subject, buyer_id, quantity, leads, status,
                               returned, units, kept_at, expires_at, keepable_until)
    SELECT '{ORGANIZATION}', md5('hold' || n)::uuid, 0, md5('pool' || n % 2)::uuid, 'item', 'order',
           md5('buyer' || n)::uuid, 1, true, CASE WHEN n % 4 < 2 THEN 'HELD' ELSE 'SOLD' END, 0,
           CASE WHEN n % 2 = 1 THEN ARRAY[md5('unit' || n)::uuid] END, now(), now() + make_interval(secs => n - 400), now() + interval '1 day'
      FROM generate_series(1, {ROWS}) AS n;
    INSERT INTO stock.unit (organization_id, id, pool_id, label, place, hold_id)
    SELECT '{ORGANIZATION}', md5('unit' || n)::uuid, md5('pool1')::uuid, 'A' || n, n,
           CASE WHEN n % 2 = 1 THEN md5('hold' || n)::uuid END
      FROM generate_series(1, {ROWS}) AS n;
"""


def ids(kind: str, *numbers: int) -> str:
    return array("uuid", *(f"'{hashlib.md5(f'{kind}{number}'.encode()).hexdigest()}'" for number in numbers))


def array(kind: str, *values: str) -> str:
    return f"ARRAY[{', '.join(values)}]::{kind}[]"


SOME = range(1, 65)
WRITTEN = (
    ids("hold", *SOME),
    array("smallint", *("0" for _ in SOME)),
    array("text", *("'SOLD'" for _ in SOME)),
    array("integer", *("0" for _ in SOME)),
    array("timestamptz", *("NULL" for _ in SOME)),
    array("text", *("'HELD'" if each % 4 < 2 else "'SOLD'" for each in SOME)),
    array("integer", *("0" for _ in SOME)),
    array("text", *("NULL" for _ in SOME)),
)
ENDS = (
    ids("hold", *SOME),
    array("smallint", *("0" for _ in SOME)),
    array("timestamptz", *("now() + interval '1 hour'" for _ in SOME)),
    "now() - interval '1 hour'",
)
POOLS = ids("pool", 0, 1)
ASKED = {
    "known holds": (portions.FIND_PORTIONS, ids("hold", *SOME), {"portion_pkey"}),
    "which pools": (portions.FIND_PLACES, ids("hold", *SOME), {"portion_pkey"}),
    "what is overdue": (portions.FIND_OVERDUE, f"{POOLS}, ARRAY[20, 20], now()", {"portion_of_pool"}),
    "what buyers have": (portions.SUM_BOUGHT, f"{ids('buyer', *SOME)}, ARRAY['item'], now()", {"portion_of_buyer"}),
    "portions written": (portions.WRITE_PORTIONS, ", ".join(WRITTEN), {"portion_pkey"}),
    "ends written": (portions.WRITE_ENDS, ", ".join(ENDS), {"portion_pkey"}),
    "pools by the clock": (pools.FIND_POOLS, f"{POOLS}, now()", {"pool_pkey", "portion_of_pool"}),
    "seats that are free": (units.FIND_FREE, f"{POOLS}, ARRAY[20, 20]", {"unit_free"}),
    "a page of seats": (units.LIST_UNITS, "md5('pool1')::uuid, 'A1', 50", {"unit_organization_id_pool_id_label_key"}),
    "what it adds up to": (sweeping.SUM_STANDINGS, ids("pool", 2), {"pool_pkey", "portion_of_pool"}),
    "seats by id": (units.FIND_UNITS, ids("unit", *SOME), {"unit_pkey"}),
}
MOST_READ = 500
"""Rows that one of these may look at to find what it is asked for; a pool has ten thousand."""


@pytest.fixture(scope="module")
async def name(cluster: TestCluster, worker_id: str) -> str:
    name = f"admitone_stock_{worker_id}"
    await run_as_superuser(cluster.url("postgres", SUPERUSER), f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
    # Nobody counts behind our back: what was analysed is said by the test.
    for table in ("pool", "portion", "unit"):
        await run_as_superuser(
            cluster.url(name, SUPERUSER), f"ALTER TABLE stock.{table} SET (autovacuum_enabled = false)"
        )
    return name


@pytest.mark.parametrize("planned", ["empty", "analysed empty", "full", "analysed full"])
async def test_what_is_asked_on_every_sale_reads_what_it_needs(cluster: TestCluster, name: str, planned: str):
    owner = await asyncpg.connect(cluster.url(name, SUPERUSER))
    app = await asyncpg.connect(cluster.url(name), server_settings=session_of(Role.APP))
    try:
        await owner.execute("TRUNCATE stock.pool, stock.portion, stock.unit, stock.given_back")
        if planned == "analysed empty":
            await owner.execute("VACUUM ANALYZE stock.pool, stock.portion, stock.unit")
        if "empty" in planned:
            await _prepare(app)
        await owner.execute(FILL)
        if planned == "analysed full":
            await owner.execute("VACUUM ANALYZE stock.pool, stock.portion, stock.unit")
        if "full" in planned:
            await _prepare(app)
        for what, (_, _, indexes) in ASKED.items():
            plan = await _run(app, what)
            assert indexes <= {index for index in INDEXES if f"{index} on" in plan}, f"{what}: {plan}"
            assert max(_rows(plan), default=0) <= MOST_READ, f"{what}: {plan}"
    finally:
        await app.close()
        await owner.close()


INDEXES = {index for _, _, indexes in ASKED.values() for index in indexes} | {"portion_by_end"}


async def _prepare(app: asyncpg.Connection) -> None:
    await app.execute(f"SELECT set_config('app.organization_id', '{ORGANIZATION}', false)")
    for number, what in enumerate(ASKED):
        await app.execute(f"PREPARE asked_{number} AS {ASKED[what][0]}")
        await _run(app, what)


async def _run(app: asyncpg.Connection, what: str) -> str:
    number = [*ASKED].index(what)
    said = f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE asked_{number}('{ORGANIZATION}', {ASKED[what][1]})"
    async with app.transaction():
        return "\n".join(row[0] for row in await app.fetch(said))


def _rows(plan: str) -> list[int]:
    """What was looked at: of each step its rows and those that it threw away, in all its rounds."""
    removed = [int(found) for found in re.findall(r"Rows Removed by (?:Join )?Filter: (\d+)", plan)]
    read = [float(rows) * int(loops) for rows, loops in re.findall(r"rows=([\d.]+) loops=(\d+)", plan)]
    return [*removed, *map(int, read)]

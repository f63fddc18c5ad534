"""Growth: what is sold in a second where little was sold before, and where a hundred times as much was (figure 10).

usage: python -m bench.growth [ORDERS TIMES REQUESTS]   left out: 1,000, a hundred times as many, 100,000 in the storm

Orders are bought, paid, told and handed over as always; then a copy of that database is made in which every row of
theirs stands a hundred times, under other ids that fit together. Both are measured in turns, so that whatever else the
machine does falls on both. In the large one a storm breaks out at the end, as in `bench.tickets storm`.
"""

import asyncio
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import asyncpg

from admitone.kernel.embedded import SUPERUSER, Cluster
from bench import checkout
from bench.figures import Figures, side_by_side
from bench.ground import Ground, a_cluster, a_ground, run_sql
from bench.load import drive
from bench.server import a_server
from bench.tickets import (
    AT_MOST_A_SECOND,
    BUY,
    ORDERS,
    PLENTY,
    SERVER,
    WORKER,
    WRONG,
    Sale,
    a_sale,
    put_on_sale,
    settle,
    storm_at,
)

BEFORE: Final = 1_000
TIMES: Final = 100
PAYMENTS: Final = 1_500
REQUESTS: Final = 100_000
A_HUNDRED: Final = 100
"""Who want each ticket."""
SECONDS: Final = 2.0
SMALL, LARGE = "bench_few_orders", "bench_many_orders"
AT_LEAST: Final = 0.8

# -- How a value of a copied row differs from the original's: the same value becomes the same one in every table, so
# -- that what referred to each other still does.

OTHER_ID = """
    CREATE FUNCTION pg_temp.other_id(own uuid, copy int) RETURNS uuid IMMUTABLE LANGUAGE sql AS $$
        SELECT (left(own::text, 19) || right(md5(own::text || copy)::uuid::text, 17))::uuid
    $$
"""
"""Its instant stays: ids are ordered by it, and logs are kept apart by it."""
OTHER_TEXT = """
    CREATE FUNCTION pg_temp.other_text(own text, copy int) RETURNS text IMMUTABLE LANGUAGE sql AS $$
        SELECT CASE WHEN id IS NULL THEN own || 'x' || copy
                    ELSE replace(own, id, replace(pg_temp.other_id(id::uuid, copy)::text, '-', '')) END
          FROM substring(own from '[0-9a-f]{32}') AS id
    $$
"""
OTHER_BYTES = """
    CREATE FUNCTION pg_temp.other_bytes(own bytea, copy int) RETURNS bytea IMMUTABLE LANGUAGE sql AS $$
        SELECT substr(sha256(own || copy::text::bytea), 1, octet_length(own))
    $$
"""
OTHER: Final = {
    "uuid": "pg_temp.other_id({name}, copy)",
    "text": "pg_temp.other_text({name}, copy)",
    "bytea": "pg_temp.other_bytes({name}, copy)",
    "bigint": "{name} + copy * 1000000000",
}
BEGAN = "SELECT pg_current_xact_id()::text::bigint AS transaction"
SOLD = "WHERE xmin::text::bigint >= {since}"
"""What was written since; people came before, and told of it."""
TABLES = """
    SELECT c.oid::regclass::text AS name
      FROM pg_class AS c
      JOIN pg_namespace AS n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'p')
       AND NOT c.relispartition
       AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'public', 'toy')
       AND c.oid <> 'kernel.limit_counter'::regclass
     ORDER BY name
"""
"""Counters of limits are forgotten within the hour, however much is sold."""
COLUMNS = """
    SELECT quote_ident(a.attname) AS name, format_type(a.atttypid, NULL) AS kind
      FROM pg_attribute AS a
     WHERE a.attrelid = $1::text::regclass
       AND a.attnum > 0
       AND NOT a.attisdropped
       AND a.attgenerated = ''
       AND a.attidentity = ''
     ORDER BY a.attnum
"""


@dataclass(frozen=True)
class Place:
    """One of the two databases, and who sells there."""

    ground: Ground
    sale: Sale
    since: int = 0
    """The first transaction of its sales."""
    grown: tuple[str, ...] = ()
    """Tables that have a row for each order."""


def measure(figures: Figures, orders: int = BEFORE, times: int = TIMES, requests: int = REQUESTS) -> None:
    with a_cluster() as cluster, tempfile.TemporaryDirectory() as folder:
        small = _sold(cluster, Path(folder), orders)
        large = _copied(cluster, small, times)
        print(f"\n{orders:,} orders, and {times} times as many ({_rows(small):,} rows of them, and {_rows(large):,})")
        for name, rate in (("paid order to entitlement", _settled), ("full checkout", _bought), ("holds", _kept)):
            few, many = _in_turns(rate, (small, large))
            figures.note(f"{name}: {few:,.0f}/s and {many:,.0f}/s")
            figures.must(f"{name} at {times} x the rows", many / few, AT_LEAST)
        [row] = checkout.ask(large.ground, WRONG)
        figures.must_not_exceed("orders and pools that do not add up", row["wrong"], 0, "of them")
        event, kind = asyncio.run(put_on_sale(large.ground, requests // A_HUNDRED, hold_minutes=1))
        sale = replace(large.sale, event=str(event), ticket_type=str(kind), payments=requests)
        storm_at(figures, large.ground, sale, requests // A_HUNDRED)


def _sold(cluster: Cluster, folder: Path, orders: int) -> Place:
    """Where so many orders were placed, paid and handed over."""
    ground = a_ground(cluster, organizations=1, name=SMALL)
    sale = a_sale(ground, folder, PLENTY, payments=orders)
    with a_server(ground, module=SERVER, **sale.surroundings) as port, checkout.a_worker(ground, sale, WORKER):
        checkout.work_off(ground)  # What is told of people.
        [began] = checkout.ask(ground, BEGAN)
        settle(ground, replace(sale, port=port))
    ground.psql("-c", "VACUUM ANALYZE")
    since = began["transaction"]
    names = [table["name"] for table in checkout.ask(ground, TABLES)]
    grown = tuple(name for name, rows in _counted(ground, names, since).items() if rows >= orders)
    return Place(ground, sale, since, grown)


def _counted(ground: Ground, tables: Sequence[str], since: int) -> dict[str, int]:
    """How many rows each of them has of the sales."""
    sold = SOLD.format(since=since)
    counts = " UNION ALL ".join(f"SELECT '{name}' AS name, count(*) AS rows FROM {name} {sold}" for name in tables)
    return {row["name"]: row["rows"] for row in checkout.ask(ground, counts)}


def _copied(cluster: Cluster, small: Place, times: int) -> Place:
    asyncio.run(run_sql(cluster.url(SUPERUSER, "postgres"), f"CREATE DATABASE {LARGE} TEMPLATE {SMALL}"))
    ground = replace(small.ground, database=LARGE)
    asyncio.run(_multiply(ground, small, times))
    ground.psql("-c", "VACUUM ANALYZE")
    ground.psql("-c", "CHECKPOINT")  # So that what was written by copying is not written while it is measured.
    journal = str(Path(small.sale.journal).with_name(f"{LARGE}.db"))
    with closing(sqlite3.connect(small.sale.journal)) as known, closing(sqlite3.connect(journal)) as copied:
        known.backup(copied)
    return replace(small, ground=ground, sale=replace(small.sale, journal=journal))


async def _multiply(ground: Ground, small: Place, times: int) -> None:
    """Every row of the sales stands there so many times."""
    connection = await asyncpg.connect(ground.cluster.url(SUPERUSER, ground.database))
    try:
        # Whatever a row refers to is copied as well: that it is there need not be asked a hundred million times.
        await connection.execute("SET session_replication_role = replica")
        for function in (OTHER_ID, OTHER_TEXT, OTHER_BYTES):
            await connection.execute(function)
        for table in small.grown:
            await _copy(connection, table, SOLD.format(since=small.since), times)
        await connection.execute("UPDATE stock.pool SET sold = sold * $1", times)
    finally:
        await connection.close()


async def _copy(connection: asyncpg.Connection, table: str, sold: str, times: int) -> None:
    """What names a row, or what it belongs to, is another; what most of them share stays."""
    columns = await connection.fetch(COLUMNS, table)
    distinct = ", ".join(f"count(DISTINCT {column['name']})" for column in columns)
    rows, *values = await connection.fetchrow(f"SELECT count(*), {distinct} FROM {table} {sold}")
    names = [column["name"] for column in columns]
    copied = [
        OTHER[column["kind"]].format(name=column["name"])
        if number > rows / 10 and column["kind"] in OTHER
        else column["name"]
        for column, number in zip(columns, values, strict=True)
    ]
    await connection.execute(
        f"INSERT INTO {table} ({', '.join(names)}) SELECT {', '.join(copied)} FROM {table}, "
        f"generate_series(1, {times - 1}) AS copy {sold}",
        timeout=1_800,
    )


def _rows(place: Place) -> int:
    return sum(_counted(place.ground, place.grown, place.since).values())


# -- The same three as in bench.tickets, in both places in turns


def _in_turns(rate: Callable[[Place], float], places: Sequence[Place]) -> list[float]:
    with ExitStack() as stack:
        running = [_opened(stack, place) for place in places]
        turns = [lambda place=place: _alone(rate, place) for place in running]
        for turn in turns:
            turn()
        return side_by_side(*turns)


def _alone(rate: Callable[[Place], float], place: Place) -> float:
    """Whoever comes next does not pay for what the workers have left to do."""
    measured = rate(place)
    checkout.work_off(place.ground)
    return measured


def _opened(stack: ExitStack, place: Place) -> Place:
    port = stack.enter_context(a_server(place.ground, module=SERVER, **place.sale.surroundings))
    stack.enter_context(checkout.a_worker(place.ground, place.sale, WORKER))
    return replace(place, sale=replace(place.sale, port=port, payments=PAYMENTS, seconds=SECONDS))


def _settled(place: Place) -> float:
    _, done, _ = settle(place.ground, place.sale)
    return place.sale.payments / done


def _bought(place: Place) -> float:
    return _driven(replace(place.sale, path=BUY))


def _kept(place: Place) -> float:
    return _driven(replace(place.sale, path=ORDERS))


def _driven(sale: Sale) -> float:
    report = drive(sale.port, checkout.MANY, sale.requests(), sale.seconds, AT_MOST_A_SECOND)
    if report.refused:
        raise RuntimeError(f"{report.refused} orders were refused, or failed")
    return report.rate


if __name__ == "__main__":
    measure(Figures(), *map(int, sys.argv[1:]))

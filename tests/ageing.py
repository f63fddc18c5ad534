"""An archive: a database of its own in which rows are as old as a test wants them.

What is overdue is decided by the database's clock, so a test does not shift the clock, it writes the past. An archive
lacks CHECK and foreign keys, so that a row of any table can be made from the types of its columns.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import asyncpg

from admitone.kernel.db import Database
from admitone.kernel.manifest import Module, Table
from tests.architecture.statements import ALL_MODULES
from tests.conftest import TestCluster

DECLARED = {
    f"{module.name}.{table.name}": table
    for module in ALL_MODULES
    for table in module.tables
    if table.retention_days is not None
}
PURGED = {name: table for name, table in DECLARED.items() if not table.partitioned}

VALUES = {
    "uuid": "gen_random_uuid()",
    "text": "gen_random_uuid()::text",
    "bytea": "uuid_send(gen_random_uuid())",
    "timestamptz": "now()",
    "jsonb": "'{}'::jsonb",
    "int2": "1",
    "int4": "1",
    "int8": "1",
    "bool": "true",
}
"""A new value of each type. A table with a new type needs a line here."""

SAFEGUARDS = """
    SELECT conrelid::regclass::text, conname
      FROM pg_constraint
     WHERE contype IN ('c', 'f') AND conislocal AND connamespace::regnamespace::text NOT IN ('pg_catalog', 'information_schema')
"""
COLUMNS = """
    SELECT a.attname, t.typname::text
      FROM pg_attribute AS a
      JOIN pg_type AS t ON t.oid = a.atttypid
     WHERE a.attrelid = $1::text::regclass AND a.attnum > 0 AND NOT a.attisdropped
     ORDER BY a.attnum
"""


@dataclass(frozen=True)
class Archive:
    database: Database
    superuser: asyncpg.Connection
    url: str
    superuser_url: str

    async def add(self, name: str, *, days_old: int, rows: int = 1) -> None:
        """Rows that are new in every respect but the one that counts."""
        await self.superuser.execute(await self.inserting(name), days_old, rows)

    async def inserting(self, name: str) -> str:
        columns = await self.superuser.fetch(COLUMNS, name)
        values = {column: "'{}'" if kind.startswith("_") else VALUES[kind] for column, kind in columns}
        values[DECLARED[name].aged_by] = "now() - make_interval(days => $1)"
        return f"INSERT INTO {name} SELECT {', '.join(values.values())} FROM generate_series(1, $2)"

    async def ages(self, name: str) -> list[int]:
        """In days, the youngest first."""
        age = f"extract(day FROM now() - {DECLARED[name].aged_by})::integer"
        return [row[0] for row in await self.superuser.fetch(f"SELECT {age} FROM {name} ORDER BY 1")]


@asynccontextmanager
async def an_archive(cluster: TestCluster) -> AsyncIterator[Archive]:
    async with cluster.clone() as clone:
        superuser = await asyncpg.connect(clone.superuser_url)
        for table, constraint in await superuser.fetch(SAFEGUARDS):
            await superuser.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{constraint}"')
        async with Database(clone.url) as database:
            yield Archive(database, superuser, *clone)
        await superuser.close()


def only(name: str) -> tuple[Module]:
    """A manifest of this one table."""
    schema, _, _ = name.partition(".")
    table: Table = DECLARED[name]
    return (Module(schema, tables=(table,)),)

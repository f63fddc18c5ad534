"""Attacks on every table, generated from the catalog: all that SQL can do to a row, under every wrong scope.

They run in a copy of the database without CHECK and foreign keys, so that nothing but roles and policies can stop
them, against a victim's row whose values are marked. An attack succeeds when it sees, changes or writes a row of the
victim, or when its error tells a marked value.
"""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import asyncpg

from admitone.kernel.driver import session_of
from admitone.kernel.scope import Role

VICTIM = UUID("01900000-0000-7000-8000-00000000000a")
ATTACKER = UUID("01900000-0000-7000-8000-00000000000b")
MARK = "0dd5ecret"

SCOPES: Mapping[str, str | None] = {
    "unset": None,
    "empty": "",
    "malformed": "not-a-uuid",
    "another tenant": str(ATTACKER),
    "SQL": f"{VICTIM}' OR true --",
}

TEXTS = {
    "uuid": "{id}",
    "text": "{mark}",
    "varchar": "{mark}",
    "bytea": "{mark}",
    "jsonb": '{{"mark": "{mark}"}}',
    "timestamptz": "2020-02-02T00:00Z",
    "date": "2020-02-02",
    "bool": "true",
    "int2": "{number}",
    "int4": "{number}",
    "int8": "{number}",
    "interval": "{number} days",
    "tstzrange": "[2020-02-02T00:00Z,2020-02-03T00:00Z)",
}
"""A value of each type, as PostgreSQL reads it. A table with a new type needs a line here."""

REFUSED = (
    asyncpg.InsufficientPrivilegeError,  # also "new row violates row-level security policy"
    asyncpg.InvalidTextRepresentationError,  # the scope is no uuid
    asyncpg.FeatureNotSupportedError,  # COPY FROM under row level security
)
"""How the database may say no. Any other error would mean that the attack itself is broken."""


@dataclass(frozen=True)
class Target:
    """A table with a row of the victim and a row of the attacker."""

    name: str
    columns: Mapping[str, str]
    key: Sequence[str]

    def values(self, whose: UUID, mark: str = MARK) -> str:
        return ", ".join(f"'{_text(kind, whose, mark)}'" for kind in self.columns.values())

    @property
    def victims(self) -> str:
        """The condition that finds the victim's row."""
        return " AND ".join(f"t.{column} = '{_text(self.columns[column], VICTIM, MARK)}'" for column in self.key)

    @property
    def changed(self) -> str:
        """A column to change, outside the key if there is one."""
        return next((column for column in self.columns if column not in self.key), self.key[0])


def attacks(target: Target) -> dict[str, str]:
    """Each attack by name. COPY is carried out by the driver, which words it itself."""
    table, names = target.name, ", ".join(target.columns)
    column = target.changed
    change = f"{column} = '{_text(target.columns[column], ATTACKER, 'attacker')}'"
    found = {
        "SELECT": f"SELECT t.* FROM {table} AS t WHERE {target.victims}",
        "SELECT all": f"SELECT t.* FROM {table} AS t",
        "SELECT FOR UPDATE": f"SELECT t.* FROM {table} AS t WHERE {target.victims} FOR UPDATE",
        "INSERT": f"INSERT INTO {table} ({names}) VALUES ({target.values(VICTIM, 'attacker')})",
        "INSERT ON CONFLICT": f"INSERT INTO {table} AS t ({names}) VALUES ({target.values(VICTIM)})"
        f" ON CONFLICT ({', '.join(target.key)}) DO UPDATE SET {change}",
        "UPDATE": f"UPDATE {table} AS t SET {change} WHERE {target.victims}",
        "UPDATE all": f"UPDATE {table} AS t SET {column} = t.{column} RETURNING t.*",
        "DELETE": f"DELETE FROM {table} AS t WHERE {target.victims}",
        "MERGE": f"MERGE INTO {table} AS t USING (SELECT 1) AS s ON {target.victims}"
        f" WHEN MATCHED THEN UPDATE SET {change} WHEN NOT MATCHED THEN INSERT ({names}) VALUES ({target.values(VICTIM)})",
        "MERGE DELETE": f"MERGE INTO {table} AS t USING (SELECT 1) AS s ON {target.victims} WHEN MATCHED THEN DELETE",
        "TRUNCATE": f"TRUNCATE {table}",
        "COPY TO": f"COPY {table} TO STDOUT",
        "COPY FROM": f"COPY {table} ({names}) FROM STDIN",
    }
    if "organization_id" in target.columns:
        found["UPDATE to the victim"] = f"UPDATE {table} SET organization_id = '{VICTIM}'"
    return found


async def successes(attacker: asyncpg.Connection, witness: asyncpg.Connection, target: Target) -> list[str]:
    """The attacks on this table that succeed under the attacker's scope."""
    found = []
    before = await _state(witness, target)
    for name, sql in attacks(target).items():
        attempt = attacker.transaction()
        await attempt.start()
        try:
            seen = await _carry_out(attacker, name, sql, target)
        except REFUSED as refusal:
            # The victim's id is no secret: the attacker brought it.
            seen = "\n".join(map(str, (refusal, refusal.detail, refusal.hint))).replace(str(VICTIM), "")
            await attempt.rollback()
        except asyncpg.UniqueViolationError:
            seen = MARK  # To learn that the victim's key exists is to see it.
            await attempt.rollback()
        else:
            await attempt.commit()
        after = await _state(witness, target)
        if MARK in seen or str(VICTIM) in seen or after != before:
            found.append(f"{name} on {target.name} {'saw' if after == before else 'changed'} a row of the victim")
            await _restore(witness, target, before)
    return found


async def _carry_out(attacker: asyncpg.Connection, name: str, sql: str, target: Target) -> str:
    """What the attacker gets to see."""
    if name == "COPY TO":
        sink = io.BytesIO()
        await attacker.copy_from_query(f"TABLE {target.name}", output=sink)
        direct = io.BytesIO()
        schema, table = target.name.split(".")
        await attacker.copy_from_table(table, schema_name=schema, output=direct)
        return _readable(sink.getvalue() + direct.getvalue())
    if name == "COPY FROM":
        schema, table = target.name.split(".")
        line = "\t".join(_text(kind, VICTIM, "attacker") for kind in target.columns.values()) + "\n"
        await attacker.copy_to_table(
            table, schema_name=schema, columns=list(target.columns), source=io.BytesIO(line.encode())
        )
        return ""
    rows = await attacker.fetch(sql)
    return _readable(b"\n".join(_bytes(value) for row in rows for value in row.values()))


async def _state(witness: asyncpg.Connection, target: Target) -> list[Any]:
    """All rows but the attacker's own, which it may do with as it likes."""
    rows = await witness.fetch(f"SELECT t::text FROM {target.name} AS t ORDER BY 1")
    return [row[0] for row in rows if str(ATTACKER) not in row[0]]


async def _restore(witness: asyncpg.Connection, target: Target, rows: Sequence[str]) -> None:
    await witness.execute(f"DELETE FROM {target.name} AS t WHERE t::text NOT LIKE '%{ATTACKER}%'")
    for row in rows:
        await witness.execute(f"INSERT INTO {target.name} SELECT ($1::text::{target.name}).*", row)


# -- The place


async def lay_out(witness: asyncpg.Connection, tables: Sequence[str]) -> list[Target]:
    """Take the other safeguards away, and put a row of the victim and a row of the attacker into every table."""
    for table, constraint in await witness.fetch(
        "SELECT conrelid::regclass::text, conname FROM pg_constraint WHERE contype IN ('c', 'f') AND conrelid <> 0 AND conislocal"
        " AND connamespace <> 'pg_catalog'::regnamespace AND connamespace <> 'information_schema'::regnamespace"
        " ORDER BY contype DESC"
    ):
        await witness.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{constraint}"')
    await witness.execute("SELECT kernel.add_partitions('2024-06-01', '2024-06-30')")  # The time in the victim's id.
    targets = [await _target(witness, table) for table in tables]
    for target in targets:
        for whose, mark in ((VICTIM, MARK), (ATTACKER, "harmless")):
            names = ", ".join(target.columns)
            await witness.execute(f"INSERT INTO {target.name} ({names}) VALUES ({target.values(whose, mark)})")
    return targets


async def _target(witness: asyncpg.Connection, table: str) -> Target:
    columns = await witness.fetch(
        "SELECT a.attname, t.typname::text, a.attnum = ANY(x.indkey) AS in_key FROM pg_attribute a"
        " JOIN pg_type t ON t.oid = a.atttypid JOIN pg_index x ON x.indrelid = a.attrelid AND x.indisprimary"
        " WHERE a.attrelid = $1::text::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''"
        " ORDER BY a.attnum",
        table,
    )
    return Target(table, {name: kind for name, kind, _ in columns}, [name for name, _, in_key in columns if in_key])


async def an_attacker(url: str, scope: str) -> asyncpg.Connection:
    """A session of the app, with this instead of its organisation."""
    connection = await asyncpg.connect(url, server_settings=session_of(Role.APP))
    if SCOPES[scope] is not None:
        await connection.execute("SELECT set_config('app.organization_id', $1, false)", SCOPES[scope])
    return connection


def _text(kind: str, whose: UUID, mark: str) -> str:
    if kind.startswith("_"):
        return f"{{{_text(kind[1:], whose, mark)}}}"
    return TEXTS[kind].format(id=whose, mark=mark, number=7771 if whose == VICTIM else 7772)


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def _readable(seen: bytes) -> str:
    """Bytes are copied out in hexadecimal."""
    text = seen.decode(errors="replace")
    return text.replace(MARK.encode().hex(), MARK)

"""Every statement plans on the migrated schema, under the role that will run it, in that role's own session.

So a typo, a column that is gone and a missing grant are found before the first caller finds them; and so is a
statement that is quick on an empty table and reads all of an organisation's rows on a full one.
"""

import json
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import asyncpg

from admitone.kernel.driver import session_of
from admitone.kernel.scope import Role
from tests.architecture.statements import IDENTITY, TENANT, Statement

Sessions = dict[Role, asyncpg.Connection]


@asynccontextmanager
async def a_session_of_every_role(url: str) -> AsyncIterator[Sessions]:
    async with AsyncExitStack() as stack:
        sessions = {}
        for role in Role:
            sessions[role] = await asyncpg.connect(url, server_settings=session_of(role))
            stack.push_async_callback(sessions[role].close)
        yield sessions


async def unplannable(sessions: Sessions, statements: Iterable[Statement]) -> list[str]:
    """Statements that PostgreSQL would refuse from the one who sends them."""
    found = []
    for statement in statements:
        for choice in statement.choices:
            problems = [await _problem(sessions[role], statement) for role in choice]
            if all(problems):
                said = "; ".join(f"{role}: {problem}" for role, problem in zip(choice, problems, strict=True))
                found.append(f"{statement} does not plan ({said})")
    return found


async def _problem(session: asyncpg.Connection, statement: Statement) -> str | None:
    try:
        prepared = await session.prepare(statement.sql)
        await session.execute(f"EXPLAIN (GENERIC_PLAN) {statement.sql}")
    except asyncpg.PostgresError as problem:
        return str(problem)
    if statement.kinds & {TENANT, IDENTITY} and [p.name for p in prepared.get_parameters()][:1] != ["uuid"]:
        return "$1 is bound to an id, and the statement has another use for it"
    return None


BROAD = ("LIST_", "COUNT_", "SUM_")
"""What these statements are called is what they do: they read many rows of one organisation."""


async def careless(sessions: Sessions, statements: Iterable[Statement], tenant_tables: set[str]) -> list[str]:
    """Statements of tenants that do not go by an index, or go by the organisation alone."""
    found = []
    for statement in statements:
        if statement.kinds != {TENANT} or statement.name.startswith(BROAD):
            continue
        for node in _nodes(await _plan(sessions[Role.APP], statement.sql)):
            if node.get("Relation Name") in tenant_tables and "Scan" in node["Node Type"]:
                found += [f"{statement} {problem} {node['Relation Name']}" for problem in _carelessness(node)]
    return found


async def _plan(session: asyncpg.Connection, sql: str) -> dict[str, Any]:
    """The plan that the session itself would use, whatever the values."""
    await session.execute(f"PREPARE planned AS {sql}")
    parameters = (await session.prepare(sql)).get_parameters()
    values = f"({', '.join(['NULL'] * len(parameters))})" if parameters else ""
    [row] = await session.fetch(f"EXPLAIN (FORMAT JSON) EXECUTE planned{values}")
    await session.execute("DEALLOCATE planned")
    plan: dict[str, Any] = json.loads(row[0])[0]["Plan"]
    return plan


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for inner in plan.get("Plans", ()):
        yield from _nodes(inner)


def _carelessness(node: dict[str, Any]) -> Iterator[str]:
    if node["Node Type"] == "Seq Scan":
        yield "reads all of"
    elif (node.get("Index Cond") or node.get("Recheck Cond")) in (None, "(organization_id = $1)"):
        yield "goes by the organisation alone in"


REFERENCES = """
    SELECT r.confrelid::regclass::text AS referred, array_agg(DISTINCT a.attname::text || ' = $' || k.place) AS whole_key
      FROM pg_constraint AS r
     CROSS JOIN LATERAL unnest(r.confkey) WITH ORDINALITY AS k(column_number, place)
      JOIN pg_attribute AS a ON a.attrelid = r.confrelid AND a.attnum = k.column_number
     WHERE r.contype = 'f'
     GROUP BY r.confrelid, r.conkey
    HAVING cardinality(r.conkey) > 1
"""


async def careless_references(owner: asyncpg.Connection) -> list[str]:
    """Tables whose rows PostgreSQL looks for by less than their key when somebody refers to one of them."""
    found = []
    for row in await owner.fetch(REFERENCES):
        check = f"SELECT 1 FROM ONLY {row['referred']} AS x WHERE {' AND '.join(row['whole_key'])} FOR KEY SHARE OF x"
        [scan] = [node for node in _nodes(await _plan(owner, check)) if "Scan" in node["Node Type"]]
        if scan.get("Index Cond", "").count(" = ") < len(row["whole_key"]):
            found.append(f"{row['referred']}: {scan.get('Index Name')} by {scan.get('Index Cond')}")
    return found

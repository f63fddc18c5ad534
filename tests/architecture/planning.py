"""Every statement plans on the migrated schema, under the role that will run it, in that role's own session.

So a typo, a column that is gone and a missing grant are found before the first caller finds them.
"""

from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager

import asyncpg

from admitone.kernel.db import _session
from admitone.kernel.scope import Role
from tests.architecture.statements import IDENTITY, TENANT, Statement

Sessions = dict[Role, asyncpg.Connection]


@asynccontextmanager
async def a_session_of_every_role(url: str) -> AsyncIterator[Sessions]:
    async with AsyncExitStack() as stack:
        sessions = {}
        for role in Role:
            sessions[role] = await asyncpg.connect(url, server_settings=_session(role))
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

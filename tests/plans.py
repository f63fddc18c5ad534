"""Whether statements read what they need and no more, whatever the planner believed of the tables when it made the plan.

ground = Ground(TABLES, FILL, organization=ORGANIZATION)
ASKED = {"known holds": Asked(portions.FIND_PORTIONS, ids("hold", 1, 2), {"portion_pkey"})}

@pytest.mark.parametrize("planned", PLANNED)
async def test_…(clone, planned):
    await ground.reads_what_it_needs(clone, ASKED, planned)
"""

import hashlib
import re
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from types import ModuleType
from uuid import UUID

import asyncpg

from admitone.kernel.driver import session_of
from admitone.kernel.scope import Role
from tests.architecture.statements import statements_of
from tests.conftest import Clone

FEW = (30, 300, 1000)
RUSH = tuple(f"{few} rows of a rush" for few in (0, 200, 1000, 4000))
PLANNED = ("empty", "analysed empty", *(f"{few} rows" for few in FEW), *RUSH, "full", "analysed full")
"""When the plan was made, and whether anybody had counted rows by then."""
NOBODY = UUID(int=0)
COLUMNS = """
    SELECT quote_ident(attname) AS attname
      FROM pg_attribute
     WHERE attrelid = $1::regclass
       AND attnum > 0
       AND NOT attisdropped
       AND attgenerated = ''
"""
FIRST, LAST = f"'{UUID(int=0)}'", f"'{UUID(int=2**128 - 1)}'"


@dataclass(frozen=True)
class Asked:
    """A statement, what is asked, and by which indexes it goes."""

    statement: str
    values: str
    """Behind what the transaction binds."""
    indexes: Collection[str]
    most: int = 200
    """Rows that it may look at to find what it is asked for."""
    role: Role = Role.APP


@dataclass(frozen=True)
class Ground:
    """Tables, and how they are filled."""

    tables: tuple[str, ...]
    fill: str
    organization: UUID
    identity: UUID = NOBODY
    quiet: str = ""
    """What they are like in the night before a rush: nothing is open."""

    async def reads_what_it_needs(self, clone: Clone, asked: Mapping[str, Asked], planned: str) -> None:
        async with AsyncExitStack() as stack:
            owner = await asyncpg.connect(clone.superuser_url)
            stack.push_async_callback(owner.close)
            for table in self.tables:  # Nobody counts behind our back: what was analysed is said by the test.
                await owner.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = false)")
            sessions = {}
            for role in sorted({each.role for each in asked.values()}):
                sessions[role] = await asyncpg.connect(clone.url, server_settings=session_of(role))
                stack.push_async_callback(sessions[role].close)
                await sessions[role].execute(f"SET app.organization_id = '{self.organization}'")
                await sessions[role].execute(f"SET app.identity_id = '{self.identity}'")
                await sessions[role].execute("SET app.city_codes = '*'")
            await self._plan(owner, sessions, asked, planned)
            wrong = [said for what, each in asked.items() if (said := await self._complaint(sessions, what, each))]
        assert wrong == [], "\n\n".join(wrong)

    async def _plan(
        self,
        owner: asyncpg.Connection,
        sessions: Mapping[Role, asyncpg.Connection],
        asked: Mapping[str, Asked],
        planned: str,
    ) -> None:
        for step in ("analysed empty", "empty", "fill", "few", "rush", "analysed full", "full"):
            if step == "fill":
                await owner.execute(self.fill)
            elif step == "few" and planned.endswith("rows"):
                async with self._few(owner, int(planned.split()[0])):
                    await self._prepare(sessions, asked)
            elif step == "rush" and planned in RUSH:
                async with self._rush(owner, int(planned.split()[0])):
                    await self._prepare(sessions, asked)
            elif step.startswith("analysed") and step == planned:
                await owner.execute(f"VACUUM ANALYZE {', '.join(self.tables)}")
            elif planned.endswith(step):
                await self._prepare(sessions, asked)

    @asynccontextmanager
    async def _few(self, owner: asyncpg.Connection, few: int) -> AsyncIterator[None]:
        """Meanwhile no table has more rows than these."""
        columns = await self._keep(owner)
        # What is emptied is planned anew: so it is emptied before, and filled up after.
        await owner.execute(f"TRUNCATE {', '.join(self.tables)} CASCADE")
        for part in (f"LIMIT {few}", f"OFFSET {few}"):
            await self._put_back(owner, columns, part)
            if part.startswith("LIMIT"):
                yield

    @asynccontextmanager
    async def _rush(self, owner: asyncpg.Connection, few: int) -> AsyncIterator[None]:
        """Rows were counted when nothing was open; since then so many have come, and the others come afterwards."""
        columns = await self._keep(owner)
        if self.quiet:
            await owner.execute(self.quiet)
        await owner.execute(f"VACUUM ANALYZE {', '.join(self.tables)}")
        for table in self.tables:
            await owner.execute(f"DELETE FROM {table}")
        for part in (f"LIMIT {few}", f"OFFSET {few}"):
            await self._put_back(owner, columns, part)
            if part.startswith("LIMIT"):
                yield

    async def _keep(self, owner: asyncpg.Connection) -> dict[str, str]:
        """A copy of every table, and its columns."""
        await owner.execute("SET session_replication_role = replica; CREATE SCHEMA kept")
        columns = {
            table: ", ".join(row["attname"] for row in await owner.fetch(COLUMNS, table)) for table in self.tables
        }
        for place, (table, names) in enumerate(columns.items()):
            await owner.execute(f"CREATE TABLE kept.t{place} AS SELECT {names} FROM {table}")
        return columns

    async def _put_back(self, owner: asyncpg.Connection, columns: Mapping[str, str], part: str) -> None:
        for place, (table, names) in enumerate(columns.items()):
            await owner.execute(f"INSERT INTO {table} ({names}) SELECT {names} FROM kept.t{place} {part}")

    async def _prepare(self, sessions: Mapping[Role, asyncpg.Connection], asked: Mapping[str, Asked]) -> None:
        for what, each in asked.items():
            await sessions[each.role].execute(f'PREPARE "{what}" AS {each.statement}')
            await self._run(sessions, what, each)

    async def _run(self, sessions: Mapping[Role, asyncpg.Connection], what: str, each: Asked) -> str:
        bound = {Role.APP: f"'{self.organization}'", Role.BUYER: f"'{self.identity}'"}.get(each.role, "")
        values = ", ".join(part for part in (bound, each.values) if part)
        said = f'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE "{what}"({values})'
        async with sessions[each.role].transaction():
            return "\n".join(row[0] for row in await sessions[each.role].fetch(said))

    async def _complaint(self, sessions: Mapping[Role, asyncpg.Connection], what: str, each: Asked) -> str | None:
        plan = await self._run(sessions, what, each)
        goes_by = {*re.findall(r"(?:using|Bitmap Index Scan on) (\w+)", plan)}
        read = rows_of(plan)
        # Of the root: whoever finds nothing has not shown how it looks for it. What writes gives no rows by itself.
        if goes_by == {*each.indexes} and 0 < max(read) <= each.most and "Seq Scan" not in plan:
            return None
        return f"{what} goes by {sorted(goes_by)}, and looks at {max(read)} rows:\n{plan}"


def rows_of(plan: str) -> list[int]:
    """What was looked at: of each step its rows and those that it threw away, in all its rounds."""
    removed = [int(found) for found in re.findall(r"Rows Removed by (?:Join )?Filter: (\d+)", plan)]
    read = [float(rows) * int(loops) for rows, loops in re.findall(r"rows=([\d.]+) loops=(\d+)", plan)]
    return [*removed, *map(int, read)]


def unproved(stores: Iterable[ModuleType], asked: Mapping[str, Asked]) -> set[str]:
    """The statements of these stores that find or list something, and of which nobody has said how."""
    proved = {each.statement for each in asked.values()}
    return {
        str(each)
        for store in stores
        for each in statements_of(store)
        if each.module == store.__name__ and each.name.startswith(("FIND_", "LIST_")) and each.sql not in proved
    }


def ids(kind: str, *numbers: int) -> str:
    return array("uuid", *(f"'{hashlib.md5(f'{kind}{number}'.encode()).hexdigest()}'" for number in numbers))


def array(kind: str, *values: str) -> str:
    return f"ARRAY[{', '.join(values)}]::{kind}[]"

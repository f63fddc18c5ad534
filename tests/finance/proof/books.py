"""Books that are an hour old, so that nothing of them is in flight, and the means to spoil them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
from msgspec import json

from admitone.finance.gateways.api import MovementKind
from admitone.finance.gateways.sandbox.objects import MovementRow
from admitone.finance.ledger.api import roll_out
from admitone.finance.proof.model import Check, Finding, Verdict
from admitone.finance.proof.proving import Prover
from admitone.kernel.batch import Batcher
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database
from admitone.kernel.ids import OrganizationId
from admitone.kernel.jobs import Desk
from admitone.kernel.scope import Caller
from tests.finance.world import World, a_world

AN_HOUR = timedelta(hours=1)


@asynccontextmanager
async def an_old_world(database_url: str) -> AsyncIterator[World]:
    """A world in which it is an hour earlier, for the provider too."""
    async with Database(database_url, clock=Clock(-AN_HOUR)) as database:
        batcher = Batcher(database)
        async with a_world(database, batcher, clock=lambda: datetime.now(UTC) - AN_HOUR) as world:
            yield world
        await batcher.drain()


async def proved(database: Database, batcher: Batcher, organization: OrganizationId) -> dict[Check, Finding]:
    """As of now."""
    findings = await Prover.at(Desk(database, batcher)).prove(organization, Caller())
    return {finding.check: finding for finding in findings}


def red(findings: dict[Check, Finding]) -> set[Check]:
    return {check for check, finding in findings.items() if finding.verdict is not Verdict.GREEN}


def words(finding: Finding) -> list[str]:
    return [each.word.value for each in finding.figures.differences]


def places(finding: Finding) -> str:
    return "\n".join(each.where for each in finding.figures.differences)


async def rolled(world: World) -> None:
    await roll_out(world.database, world.organization)


def unheard_of(world: World, amount: int = 777, reference: str = "ch_nobody", after: timedelta = timedelta(0)) -> None:
    """The provider moved something, and tells nobody."""
    row = MovementRow(
        id=f"mov_{reference}",
        kind=MovementKind.CHARGE.value,
        reference=reference,
        amount=amount,
        currency="eur",
        at=world.simulator.now() + after // timedelta(microseconds=1),
        organization=str(world.organization),
        payment=None,
    )
    with world.simulator.journal.writing():
        world.simulator.journal.append_movement(row.organization, json.encode(row))


class Vandal:
    """Somebody with a superuser's login, who remembers what stood there."""

    def __init__(self, superuser: asyncpg.Connection, world: World) -> None:
        self._superuser = superuser
        self._own = world.organization.uuid
        self._before: list[tuple[str, list[asyncpg.Record]]] = []

    async def spoil(self, table: str, statement: str, *values: Any) -> Sequence[asyncpg.Record]:
        kept = await self._superuser.fetch(f"SELECT t.* FROM {table} AS t WHERE organization_id = $1", self._own)
        self._before.append((table, kept))
        done = await self._superuser.fetch(statement, self._own, *values)
        assert len(done) == 1, "exactly one row was to be spoilt"
        return done

    async def mend(self) -> None:
        """Put back what stood there."""
        for table, kept in reversed(self._before):
            await self._superuser.execute(f"DELETE FROM {table} WHERE organization_id = $1", self._own)
            for row in kept:
                marks = ", ".join(f"${number}" for number in range(1, len(row) + 1))
                await self._superuser.execute(f"INSERT INTO {table} VALUES ({marks})", *row.values())
        self._before.clear()

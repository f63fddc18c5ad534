"""The app's role, left to itself, reaches no row of another organisation: every table, every way, every wrong scope."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import asyncpg
import pytest

from tests.architecture.attacks import SCOPES, Target, an_attacker, attacks, lay_out, successes
from tests.architecture.isolation import EVERYBODYS
from tests.architecture.statements import ALL_MODULES
from tests.conftest import TestCluster

TABLES = [f"{module.name}.{table.name}" for module in ALL_MODULES for table in module.tables]


@dataclass
class Place:
    """A copy of the database with the victim's rows in it."""

    url: str
    witness: asyncpg.Connection
    targets: dict[str, Target]
    attackers: dict[str, asyncpg.Connection]


@pytest.fixture(scope="module")
async def place(cluster: TestCluster) -> AsyncIterator[Place]:
    async with cluster.clone() as clone:
        witness = await asyncpg.connect(clone.superuser_url)
        targets = {target.name: target for target in await lay_out(witness, TABLES)}
        attackers = {scope: await an_attacker(clone.url, scope) for scope in SCOPES}
        yield Place(clone.url, witness, targets, attackers)
        for connection in (witness, *attackers.values()):
            await connection.close()


@pytest.mark.covers("TEN-010", "TEN-T09")
@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("table", TABLES)
async def test_no_attack_reaches_another_tenants_row(place: Place, table: str, scope: str):
    reading = {f"{way} on {table} saw a row of the victim" for way in ("SELECT", "SELECT all", "COPY TO")}
    allowed = reading if table in EVERYBODYS else set()
    assert set(await successes(place.attackers[scope], place.witness, place.targets[table])) == allowed


def test_every_way_is_tried():
    target = Target("a.b", {"organization_id": "uuid", "id": "uuid", "name": "text"}, ["organization_id", "id"])
    tried = " ".join(attacks(target))
    for way in ("SELECT", "INSERT", "UPDATE", "DELETE", "ON CONFLICT", "MERGE", "FOR UPDATE", "COPY TO", "COPY FROM"):
        assert way in tried
    assert "TRUNCATE" in tried
    assert len(TABLES) * len(attacks(target)) * len(SCOPES) >= 700


@pytest.mark.parametrize(
    ("mistake", "repair", "reached"),
    [
        (
            "ALTER TABLE toy.counter DISABLE ROW LEVEL SECURITY",
            "ALTER TABLE toy.counter ENABLE ROW LEVEL SECURITY",
            {"SELECT", "SELECT all", "SELECT FOR UPDATE", "INSERT", "INSERT ON CONFLICT", "UPDATE", "UPDATE all"}
            | {"MERGE", "COPY TO", "COPY FROM", "UPDATE to the victim"},
        ),
        (
            "CREATE POLICY leak ON toy.counter FOR SELECT TO admitone_app USING (true)",
            "DROP POLICY leak ON toy.counter",
            {"SELECT", "SELECT all", "COPY TO"},
        ),
        (
            "GRANT DELETE, TRUNCATE ON toy.counter TO admitone_app; ALTER TABLE toy.counter DISABLE ROW LEVEL SECURITY",
            "REVOKE DELETE, TRUNCATE ON toy.counter FROM admitone_app; ALTER TABLE toy.counter ENABLE ROW LEVEL SECURITY",
            {"DELETE", "MERGE DELETE", "TRUNCATE"},
        ),
        (
            "CREATE POLICY leak ON toy.counter FOR INSERT TO admitone_app WITH CHECK (true)",
            "DROP POLICY leak ON toy.counter",
            {"INSERT"},
        ),
    ],
)
async def test_a_hole_is_found(place: Place, mistake: str, repair: str, reached: set[str]):
    await place.witness.execute(mistake)
    try:
        found = await successes(place.attackers["another tenant"], place.witness, place.targets["toy.counter"])
    finally:
        await place.witness.execute(repair)
    assert reached <= {each.partition(" on ")[0] for each in found}
    assert await successes(place.attackers["another tenant"], place.witness, place.targets["toy.counter"]) == []

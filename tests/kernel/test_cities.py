"""Cities as a second scope: a row of a city is there only for those who have the city, and only in its organisation."""

import asyncpg
import pytest

from admitone.kernel.db import Database, Tx
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import GLOBAL, Scope
from tests.builders import an_organization

OPEN = "INSERT INTO toy.stall (organization_id, name, city_code) VALUES ($1, $2, $3)"
SEEN = "SELECT name FROM toy.stall WHERE organization_id = $1 ORDER BY name"
RENAME = "UPDATE toy.stall SET name = name || '!' WHERE organization_id = $1 AND city_code = $2"
MOVE = "UPDATE toy.stall SET city_code = $2 WHERE organization_id = $1"
CLOSE = "DELETE FROM toy.stall WHERE organization_id = $1 AND city_code = $2"


async def stalls(database: Database, scope: Scope) -> list[str]:
    async def query(tx: Tx) -> list[str]:
        return [row["name"] for row in await tx.fetch(SEEN)]

    return await database.read(scope, query)


async def a_market(database: Database) -> OrganizationId:
    organization = (await an_organization(database)).organization

    async def build(tx: Tx) -> None:
        for name, city in (("fog", "SFO"), ("subway", "NYC"), ("web", GLOBAL)):
            await tx.execute(OPEN, name, city)

    await database.run(Scope(organization), build)
    return organization


@pytest.mark.covers("CITY-015", "CITY-018", "CITY-030", "CITY-032")
@pytest.mark.parametrize(
    ("cities", "seen"),
    [
        (None, ["fog", "subway", "web"]),
        (("SFO",), ["fog"]),
        (("SFO", "NYC"), ["fog", "subway"]),
        ((GLOBAL,), ["web"]),
        ((), []),
        (("RIO",), []),
    ],
)
async def test_a_scope_shows_the_rows_of_its_cities(
    database: Database, cities: tuple[str, ...] | None, seen: list[str]
) -> None:
    market = await a_market(database)
    assert await stalls(database, Scope(market, cities=cities)) == seen


@pytest.mark.covers("CITY-015", "CITY-032")
async def test_nothing_is_written_changed_or_removed_in_another_city(database: Database) -> None:
    market = await a_market(database)
    scope = Scope(market, cities=("SFO",))
    assert await database.run(scope, lambda tx: tx.execute(RENAME, "NYC")) == 0
    assert await database.run(scope, lambda tx: tx.execute(CLOSE, "NYC")) == 0
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await database.run(scope, lambda tx: tx.execute(OPEN, "new", "NYC"))
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await database.run(scope, lambda tx: tx.execute(MOVE, "NYC"))
    assert await stalls(database, Scope(market)) == ["fog", "subway", "web"]


@pytest.mark.covers("CITY-018", "CITY-038")
async def test_the_city_opens_no_other_organisation(database: Database) -> None:
    await a_market(database)
    other = await an_organization(database)
    assert await stalls(database, Scope(other.organization, cities=("SFO",))) == []


@pytest.mark.covers("CITY-026", "CITY-038")
@pytest.mark.parametrize("said", [None, "", ",", "sfo", "'*'", "SFO;NYC", "* ", "**"])
async def test_without_a_city_or_with_a_malformed_one_there_is_nothing(
    database: Database, superuser: asyncpg.Connection, said: str | None
) -> None:
    market = await a_market(database)
    async with superuser.transaction():
        await superuser.execute("SET LOCAL ROLE admitone_app")
        await superuser.execute(f"SET LOCAL app.organization_id = '{market.uuid}'")
        if said is not None:
            await superuser.execute("SELECT set_config('app.city_codes', $1, true)", said)
        assert await superuser.fetch("SELECT name FROM toy.stall") == []


@pytest.mark.parametrize("code", ["", "*", "sfo", "SF", "SFO,NYC", "NINELETTERS", "S1O"])
def test_a_city_code_is_three_to_eight_capitals(code: str) -> None:
    with pytest.raises(ValueError, match="no city code"):
        Scope(OrganizationId.new(), cities=(code,))


@pytest.mark.covers("CITY-013", "CITY-014", "CITY-017")
async def test_the_cities_are_everybodys_to_read_and_nobodys_to_write(superuser: asyncpg.Connection) -> None:
    for role in ("admitone_app", "admitone_buyer", "admitone_identity", "admitone_authority"):
        async with superuser.transaction():
            await superuser.execute(f"SET LOCAL ROLE {role}")
            assert await superuser.fetchval("SELECT code FROM kernel.city WHERE code = 'GLOBAL'") == GLOBAL
        async with superuser.transaction():
            await superuser.execute(f"SET LOCAL ROLE {role}")
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await superuser.execute("INSERT INTO kernel.city VALUES ('RIO', 'Rio', 'UTC', now())")

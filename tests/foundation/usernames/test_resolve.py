"""`GET /api/usernames/{username}`: whose a name is, as anybody may ask."""

from urllib.parse import quote

import httpx
import pytest

from admitone.foundation.usernames.errors import Rule, UsernameInvalid
from admitone.foundation.usernames.policy import LONGEST, SHORTEST, canonical, folded
from admitone.kernel.contracts import Edge
from admitone.kernel.db import Database
from admitone.kernel.ids import IdentityId
from tests.foundation.usernames.registry import a_holder, a_name, claim


async def ask(edge: Edge, text: str, address: str = "203.0.113.70") -> httpx.Response:
    transport = httpx.ASGITransport(edge, client=(address, 4711))
    async with httpx.AsyncClient(transport=transport, base_url="http://admitone.test") as client:
        return await client.get(f"/api/usernames/{quote(text, safe='')}")


@pytest.mark.covers("IDN-034")
async def test_a_name_resolves_to_its_owner_however_it_is_written(edge: Edge, database: Database):
    name = a_name("josé")[:15]
    holder = await a_holder(database, name)
    golden = {
        "ownerType": "ORGANIZATION",
        "ownerId": str(holder.id),
        "canonicalUsername": name,
        "held": False,
    }
    for text in (name, name.upper(), f" {name} ", name.replace("é", "e\u0301")):
        answer = await ask(edge, text)
        assert (answer.status_code, answer.json()) == (200, golden)


@pytest.mark.covers("IDN-034")
async def test_a_persons_name_resolves_to_the_person(edge: Edge, database: Database):
    name, person = a_name(), IdentityId.new()
    await claim(database, (person, name))

    answer = await ask(edge, name)

    assert answer.json() == {"ownerType": "USER", "ownerId": str(person), "canonicalUsername": name, "held": False}


@pytest.mark.covers("IDN-034")
async def test_a_held_name_resolves_to_nobody(edge: Edge, database: Database):
    name = a_name()
    await (await a_holder(database, name)).releases()

    answer = await ask(edge, name)

    assert answer.status_code == 200
    assert answer.json() == {"ownerType": None, "ownerId": None, "canonicalUsername": name, "held": True}


@pytest.mark.covers("IDN-034")
@pytest.mark.parametrize("text", ["nobody.has.this", "admin", "jo\u0430na", "x", "ana silva", "😀" * 10, "y" * 200])
async def test_what_nobody_goes_by_is_not_found(edge: Edge, text: str):
    answer = await ask(edge, text)
    assert (answer.status_code, answer.json()["errorCode"]) == (404, "USERNAME_NOT_FOUND")


async def test_one_address_asks_sixty_times_a_minute(edge: Edge):
    answers = [await ask(edge, "nobody.has.this", address="203.0.113.71") for _ in range(61)]
    assert [answer.status_code for answer in answers] == [404] * 60 + [429]
    assert (await ask(edge, "nobody.has.this", address="203.0.113.72")).status_code == 404


@pytest.mark.covers("IDN-031")
async def test_no_name_is_the_beginning_of_an_address_of_ours(edge: Edge):
    beginnings = {contract.path.split("/")[1] for contract in edge.contracts if contract.owner != "toy"} - {""}
    assert {"api", "docs", "health"} <= beginnings

    free = [each for each in beginnings if len(each) >= SHORTEST and not is_reserved(each)]

    assert free == [], "an address begins with a word that somebody could go by: add it to reserved.txt"


def is_reserved(word: str) -> bool:
    """Also when it is too short to be a name: with points between its letters it would be long enough."""
    spread = ".".join(folded(word))
    name = word if SHORTEST <= len(word) <= LONGEST else spread
    return canonical(name) in (UsernameInvalid(rule=Rule.RESERVED), UsernameInvalid(rule=Rule.CHARACTERS))

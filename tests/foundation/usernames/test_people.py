"""People go by names of the same registry as organisations, under the same rules."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from admitone.foundation.usernames import api
from admitone.foundation.usernames.api import Claim, Claimed, Resolved, UsernameCooldown, UsernameInvalid, UsernameTaken
from admitone.foundation.usernames.errors import Rule
from admitone.kernel.db import Database, PeopleTx
from admitone.kernel.ids import PLATFORM_ORGANIZATION, IdentityId
from tests.builders import a_caller
from tests.foundation.usernames.registry import AN_INSTANT, PEOPLE, a_holder, a_name, claim, day, release, whose


def new(name: str) -> Claimed:
    return Claimed(name, is_new=True)


@pytest.fixture
def retries() -> list[str]:
    """Why transactions of `watched` were run again: a deadlock would be one."""
    return []


@pytest.fixture
async def watched(database_url: str, retries: list[str]) -> AsyncIterator[Database]:
    async with Database(database_url, retried=lambda _, cause: retries.append(cause)) as database:
        yield database


async def names_of(database: Database, *people: IdentityId) -> dict[IdentityId, str]:
    return await database.read(PEOPLE, api.find_names, people)


@pytest.mark.covers("IDN-033", "IDN-034")
async def test_many_people_claim_names_in_one_call(database: Database):
    ana, rui, eva = IdentityId.new(), IdentityId.new(), IdentityId.new()
    first, second = a_name(), a_name()

    outcomes = await claim(database, (ana, first), (rui, first), (eva, "x"), (rui, second))

    assert outcomes == [new(first), UsernameTaken(), UsernameInvalid(rule=Rule.LENGTH), new(second)]
    assert await names_of(database, ana, rui, eva) == {ana: first, rui: second}
    assert await whose(database, first) == Resolved(first, ana)


@pytest.mark.covers("IDN-033")
async def test_people_and_organizations_share_one_namespace(database: Database):
    of_organization, of_person, person = a_name(), a_name(), IdentityId.new()
    holder = await a_holder(database, of_organization)
    assert await claim(database, (person, of_organization), (person, of_person)) == [UsernameTaken(), new(of_person)]

    assert await holder.claims(of_person) == UsernameTaken()
    assert await release(database, person) == [True]
    assert await holder.claims(of_person) == UsernameTaken(), "held for the person"
    await holder.releases()
    assert await claim(database, (IdentityId.new(), of_organization)) == [UsernameTaken()], "held for the organisation"


@pytest.mark.covers("IDN-032")
async def test_hold_reclaim_and_cooldown_are_the_same_for_people(database: Database):
    person, stranger, first, second, third = IdentityId.new(), IdentityId.new(), a_name(), a_name(), a_name()
    assert await claim(database, (person, first), (person, second)) == [new(first), new(second)]

    assert await claim(database, (stranger, first), at=day(14)) == [UsernameTaken()]
    assert await claim(database, (person, third), at=day(14)) == [UsernameCooldown(retry_after_seconds=24 * 3600)]
    assert await claim(database, (stranger, first), at=day(15) - AN_INSTANT) == [UsernameTaken()]
    assert await claim(database, (person, third), at=day(15)) == [new(third)]
    assert await claim(database, (person, second), at=day(29)) == [new(second)], "the former holder, within the hold"
    assert await claim(database, (stranger, first), at=day(15)) == [new(first)]


async def test_a_name_is_released_once(database: Database):
    person, nameless, name = IdentityId.new(), IdentityId.new(), a_name()
    await claim(database, (person, name))

    assert await release(database, person, nameless, person) == [True, False, False]

    assert await names_of(database, person) == {}
    assert await whose(database, name) == Resolved(name, None)


async def test_what_happens_to_peoples_names_is_told_by_the_platform(database: Database, superuser: asyncpg.Connection):
    person, name = IdentityId.new(), a_name()
    await claim(database, (person, name))
    await claim(database, (person, name))
    await release(database, person, at=day(1))

    told = await superuser.fetch(
        "SELECT organization_id, type, payload::text FROM kernel.event_log WHERE subject_id = $1", str(person)
    )
    assert sorted(row["type"] for row in told) == ["username.claimed", "username.released"]
    assert {row["organization_id"] for row in told} == {PLATFORM_ORGANIZATION.uuid}
    assert not any(name in row["payload"] for row in told)


@pytest.mark.covers("IDN-033")
async def test_those_who_act_for_people_cannot_claim_for_an_organization(database: Database):
    async def claim_for_the_platform(tx: PeopleTx) -> None:
        await api.claim_for_organization(tx.platform, [Claim(a_caller(), a_name())])

    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await database.run(PEOPLE, claim_for_the_platform)


@pytest.mark.covers("IDN-033")
async def test_crowds_that_want_the_same_names_in_opposite_order_never_wait_in_a_circle(
    watched: Database, retries: list[str]
):
    names = [a_name() for _ in range(100)]
    crowds = [[(IdentityId.new(), name) for name in order] for order in (names, names[::-1]) * 4]

    outcomes = await asyncio.gather(*(claim(watched, *crowd) for crowd in crowds))

    won = [outcome.username for some in outcomes for outcome in some if isinstance(outcome, Claimed)]
    assert sorted(won) == sorted(names), "each name has one winner"
    assert retries == []


@pytest.mark.covers("IDN-033")
async def test_people_who_move_at_once_in_opposite_order_never_wait_in_a_circle(watched: Database, retries: list[str]):
    people = [IdentityId.new() for _ in range(100)]
    await claim(watched, *((person, a_name()) for person in people))
    crowds = [[(person, a_name()) for person in order] for order in (people, people[::-1]) * 2]

    outcomes = await asyncio.gather(*(claim(watched, *crowd) for crowd in crowds))

    kinds = [type(outcome) for some in outcomes for outcome in some]
    assert (kinds.count(Claimed), kinds.count(UsernameCooldown)) == (100, 300), "each moved once"
    assert len(await names_of(watched, *people)) == 100
    assert retries == []

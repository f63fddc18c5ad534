"""The public profile as its organisation lays it out, through the real edge and authority: versions, and what strangers
are told."""

import json
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.foundation.authority import api as authority
from admitone.foundation.authority.api import MemberRole, RolePack
from admitone.kernel.db import Database
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Scope
from tests.foundation.organizations.clubs import a_club, facts_of, prove_official_email, trail_of
from tests.people import Person, a_member

WORDS: dict[str, Any] = {
    "tagline": "Music by the river.",
    "about": "Three rooms.\n\nOne balcony.",
    "faq": [{"question": "When?", "answer": "On Fridays."}],
    "website": "https://clube.example/agenda?d=1#top",
    "phone": "+351 220 000 000",
    "address": "Rua das Flores 1, Porto",
}
EVERY = ["HERO", "ABOUT", "EVENTS_AGENDA", "STORE", "SERVICES", "FORMS", "GALLERY", "FAQ", "CONTACT"]
SET_ASIDE = "SELECT * FROM organizations.profile_layout WHERE organization_id = $1 ORDER BY version"


async def laid_out(
    site: httpx.AsyncClient, club: OrganizationId, person: Person, version: int, **layout: Any
) -> httpx.Response:
    wanted = {"layout": layout, "version": version}
    return await site.put(f"/api/org/{club}/profile", json=wanted, headers=person.headers)


async def seen_by(site: httpx.AsyncClient, club: OrganizationId, person: Person) -> dict[str, Any]:
    answer = await site.get(f"/api/org/{club}/profile", headers=person.headers)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def told_strangers(site: httpx.AsyncClient, club: OrganizationId) -> dict[str, Any]:
    return dict((await site.get(f"/api/organizations/{club}/profile")).json())


def standings(seen: dict[str, Any]) -> dict[str, str]:
    return {each["block"]: each["standing"] for each in seen["blocks"]}


@pytest.mark.covers("SRC-023")
async def test_who_never_said_anything_wants_every_block(site: httpx.AsyncClient, database: Database):
    ana, club = await a_club(database)
    seen = await seen_by(site, club, ana)
    assert (seen["latest"]["version"], seen["latest"]["changedAt"]) == (0, None)
    assert seen["latest"]["layout"]["blocks"] == EVERY
    assert list(standings(seen)) == EVERY
    told = await told_strangers(site, club)
    assert (told["blocks"], told["emptyBlocks"], told["primaryBlock"]) == (["HERO"], EVERY[1:], None)


@pytest.mark.covers("SRC-023", "ORG-013")
async def test_strangers_are_told_what_was_said_in_the_order_of_all_profiles(
    site: httpx.AsyncClient, database: Database
):
    ana, club = await a_club(database)
    answer = await laid_out(site, club, ana, 0, **WORDS, blocks=["CONTACT", "FAQ", "STORE", "ABOUT"])
    assert answer.status_code == 200, answer.text
    assert answer.json()["version"] == 1
    told = await told_strangers(site, club)
    assert told["blocks"] == ["HERO", "ABOUT", "FAQ", "CONTACT"], "a hero always, and nothing that nobody fills"
    assert {name: told[name] for name in WORDS} == WORDS
    assert (told["primaryBlock"], told["emptyBlocks"]) == ("CONTACT", ["STORE"])
    assert standings(await seen_by(site, club, ana)) == {
        "HERO": "SHOWN",
        "ABOUT": "SHOWN",
        "EVENTS_AGENDA": "NOT_CHOSEN",
        "STORE": "EMPTY",
        "SERVICES": "NOT_CHOSEN",
        "FORMS": "NOT_CHOSEN",
        "GALLERY": "NOT_CHOSEN",
        "FAQ": "SHOWN",
        "CONTACT": "SHOWN",
    }


@pytest.mark.covers("ORG-013")
async def test_what_is_not_chosen_is_not_told(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    await prove_official_email(superuser, club)
    await laid_out(site, club, ana, 0, **WORDS, blocks=[])
    answer = await site.get(f"/api/organizations/{club}/profile")
    assert answer.json()["blocks"] == ["HERO"]
    for secret in ("rooms", "Fridays", "clube.example/agenda", "220 000", "Flores"):
        assert secret not in answer.text
    assert answer.json()["tagline"] == WORDS["tagline"], "the hero is always shown"


@pytest.mark.covers("ORG-013")
async def test_a_block_says_that_its_module_is_off(site: httpx.AsyncClient, database: Database):
    ana, club = await a_club(database)
    assert standings(await seen_by(site, club, ana))["EVENTS_AGENDA"] == "EMPTY"
    await database.run(Scope(club, "test"), lambda tx: authority.put_modules(tx, {"EVENTOS": False}))
    assert standings(await seen_by(site, club, ana))["EVENTS_AGENDA"] == "MODULE_OFF"


@pytest.mark.covers("SRC-023")
async def test_every_change_is_a_version_and_none_is_ever_rewritten(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    assert (await laid_out(site, club, ana, 0, about="First.")).json()["version"] == 1
    [first] = await superuser.fetch(SET_ASIDE, club.uuid)
    assert (await laid_out(site, club, ana, 1, about="Second.", blocks=["ABOUT"])).json()["version"] == 2
    before, after = await superuser.fetch(SET_ASIDE, club.uuid)
    assert before == first
    assert (after["version"], after["about"], after["blocks"]) == (2, "Second.", ["HERO", "ABOUT"])
    assert after["changed_by"] == ana.identity.uuid
    for statement in (
        "UPDATE organizations.profile_layout SET about = 'Never said' WHERE organization_id = $1",
        "DELETE FROM organizations.profile_layout WHERE organization_id = $1",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await database.run(Scope(club, "test"), lambda tx, sql=statement: tx.execute(sql))  # type: ignore[misc]
    assert await superuser.fetch(SET_ASIDE, club.uuid) == [before, after]


@pytest.mark.covers("SRC-023")
async def test_of_two_who_saw_the_same_the_second_is_told_and_writes_nothing(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    await laid_out(site, club, ana, 0, about="Ana's.")
    late = await laid_out(site, club, ana, 0, about="Rui's.")
    assert (late.status_code, late.json()["errorCode"], late.json()["version"]) == (409, "PROFILE_OVERTAKEN", 1)
    assert late.json()["nextStep"] == "Look at it again, and repeat the change."
    assert (await told_strangers(site, club))["about"] == "Ana's."
    again = await laid_out(site, club, ana, 0, about="Ana's.")
    assert (again.status_code, again.json()["version"]) == (200, 1), "who said the same is not refused"
    assert len(await superuser.fetch(SET_ASIDE, club.uuid)) == 1
    assert len(await facts_of(superuser, club, "organization.profile_changed")) == 1


async def test_the_trail_says_what_was_changed_and_not_the_words(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    await laid_out(site, club, ana, 0, **WORDS)
    [entry] = await trail_of(superuser, club, "organization.change_profile")
    assert entry["actor_id"] == ana.identity.uuid
    assert json.loads(entry["before"]) == {"version": 0}
    assert json.loads(entry["after"]) == {"version": 1, "changed": list(WORDS)}
    assert "river" not in str(dict(entry))


async def test_whoever_may_only_look_at_settings_lays_out_nothing(site: httpx.AsyncClient, database: Database):
    _, club = await a_club(database)
    manager = await a_member(database, club, MemberRole.ADMIN, RolePack.CLUB_MANAGER)
    assert (await seen_by(site, club, manager))["latest"]["version"] == 0
    assert (await laid_out(site, club, manager, 0, about="Mine.")).status_code == 403


WRONG: list[dict[str, Any]] = [
    {"tagline": ""},
    {"tagline": " "},
    {"tagline": "two\nlines"},
    {"tagline": "ends with one\n"},
    {"tagline": "a bell\x07"},
    {"tagline": "t" * 141},
    {"about": "\n \n"},
    {"about": "a" * 3001},
    {"faq": [{"question": "When?", "answer": ""}]},
    {"faq": [{"question": "", "answer": "Now."}]},
    {"faq": [{"question": "When\nthen?", "answer": "Now."}]},
    {"faq": [{"question": "q" * 161, "answer": "Now."}]},
    {"faq": [{"question": "When?", "answer": "a" * 801}]},
    {"faq": [{"question": "When?", "answer": "Now."}] * 13},
    {"phone": "call me"},
    {"phone": "+"},
    {"phone": "+351 220 000 000\n"},
    {"phone": "9" * 31},
    {"address": "two\nlines"},
    {"address": "a" * 161},
    {"blocks": ["SHOUTING"]},
    *(
        {"website": wrong}
        for wrong in (
            "http://clube.example/",
            "javascript:alert(1)",
            "https:javascript:alert(1)",
            "https://",
            "https://localhost",
            "https://bank.example@evil.example/",
            "https://bank.example\\@evil.example/",
            "https://clube.example/ more",
            "https://clube.example/\n",
            "//clube.example",
            "clube.example",
            "data:text/html,hello",
            f"https://clube.example/{'x' * 200}",
        )
    ),
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda each: repr(each)[:60])
async def test_what_could_not_be_shown_is_refused(site: httpx.AsyncClient, database: Database, wrong: dict[str, Any]):
    ana, club = await a_club(database)
    refused = await laid_out(site, club, ana, 0, **wrong)
    assert refused.status_code == 422, refused.text
    assert (await seen_by(site, club, ana))["latest"]["version"] == 0


@pytest.mark.parametrize(
    "wrong",
    [
        "blocks = '{ABOUT}'",
        "blocks = '{HERO,SHOUTING}'",
        "tagline = ''",
        "tagline = E'two\\nlines'",
        "tagline = repeat('t', 141)",
        "about = ''",
        "about = repeat('a', 3001)",
        "questions = '{When?}'",
        "questions = array_fill('q'::text, ARRAY[13]), answers = array_fill('a'::text, ARRAY[13])",
        "questions = ARRAY[repeat('q', 1921)], answers = '{a}'",
        "questions = '{q}', answers = ARRAY[repeat('a', 9601)]",
        "questions = ARRAY[NULL], answers = '{a}'",
        "questions = '{q}', answers = ARRAY[NULL]",
        "website = 'http://clube.example/'",
        "website = 'javascript:alert(1)'",
        "website = 'https://bank.example@evil.example/'",
        "website = E'https://clube.example/\\n'",
        "phone = 'call me'",
        "address = E'two\\nlines'",
        "version = 0",
    ],
)
async def test_the_database_refuses_it_too(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection, wrong: str
):
    ana, club = await a_club(database)
    await laid_out(site, club, ana, 0, about="A club.")
    with pytest.raises(asyncpg.CheckViolationError):
        await superuser.execute(
            f"UPDATE organizations.profile_layout SET {wrong} WHERE organization_id = $1", club.uuid
        )

"""Where an organisation lays out its public profile."""

import re
from html import unescape
from typing import Any

import httpx
import pytest

from admitone.foundation.authority import api as authority
from admitone.foundation.authority.api import MemberRole, RolePack
from tests.foundation.organizations.test_laying_out import WORDS, laid_out, told_strangers
from tests.people import a_member, a_person
from tests.verticals.events.stage import Stage
from tests.web.console import Console, boxes_of

TYPED: dict[str, Any] = {
    "tagline": " Music by the river. ",
    "about": "Three rooms.\r\n\r\nOne balcony.\r\n",
    "question": ["", "When?"],
    "answer": [" ", "On Fridays."],
    "website": WORDS["website"],
    "phone": WORDS["phone"],
    "address": WORDS["address"],
}
ALL = ["ABOUT", "EVENTS_AGENDA", "FAQ", "CONTACT"]


@pytest.fixture
def place(console: Console) -> str:
    return f"{console.home}/perfil"


async def latest(stage: Stage) -> dict[str, Any]:
    answer: httpx.Response = await stage.site.get(f"/api/org/{stage.organization}/profile", headers=stage.owner.headers)
    return dict(answer.json()["latest"])


@pytest.mark.covers("SRC-023")
async def test_a_profile_is_laid_out_and_seen(console: Console, stage: Stage, place: str):
    empty = await console.boxes(place)
    assert (empty["version"], sorted(empty["blocks"])) == ("0", sorted(ALL))
    assert empty["question"] == empty["answer"] == ["", ""]
    saved = await console.send(place, **empty | TYPED | {"blocks": ["ABOUT", "FAQ"]})
    assert saved.status_code == 303, saved.text
    assert saved.headers["location"] == place
    told = await told_strangers(stage.site, stage.organization)
    assert told["blocks"] == ["HERO", "ABOUT", "FAQ"]
    assert (told["tagline"], told["about"], told["faq"]) == (WORDS["tagline"], WORDS["about"], WORDS["faq"])
    boxes = await console.boxes(place)
    assert (boxes["version"], boxes["blocks"]) == ("1", ["ABOUT", "FAQ"])
    assert (boxes["question"], boxes["answer"]) == (["When?", "", ""], ["On Fridays.", "", ""])
    assert boxes["website"] == WORDS["website"]
    page = await console.fine(place)
    assert f'href="/o/{stage.organization}"' in page
    assert "Version 1," in page


async def test_blocks_that_nobody_fills_yet_are_not_offered_and_stay_as_they_were(
    console: Console, stage: Stage, place: str
):
    await laid_out(stage.site, stage.organization, stage.owner, 0, blocks=["ABOUT", "STORE"])
    assert "STORE" not in await console.fine(place)
    saved = await console.send(place, **await console.boxes(place) | {"blocks": ["FAQ", "GALLERY"]})
    assert saved.status_code == 303
    assert sorted((await latest(stage))["layout"]["blocks"]) == ["FAQ", "HERO", "STORE"]


@pytest.mark.covers("ORG-013")
async def test_each_block_says_why_it_is_not_shown(console: Console, stage: Stage, place: str):
    await laid_out(
        stage.site, stage.organization, stage.owner, 0, blocks=["ABOUT", "EVENTS_AGENDA", "FAQ"], about="A club."
    )
    await stage.database.run(stage.scope, lambda tx: authority.put_modules(tx, {"EVENTOS": False}))
    page = await console.fine(place)
    for word in ("Shown", "Its module is off", "Nothing in it yet", "Not chosen"):
        assert page.count(f"{word}</span>") == 1


@pytest.mark.parametrize(
    ("typed", "box"),
    [
        ({"tagline": "t" * 141}, "tagline"),
        ({"about": "a" * 3001}, "about"),
        ({"about": "a" * 19_000}, "about"),
        ({"website": "http://clube.example"}, "website"),
        ({"website": "javascript:alert(1)"}, "website"),
        ({"phone": "call me"}, "phone"),
        ({"address": "a" * 161}, "address"),
        ({"question": ["", "", "When?"], "answer": ["", "", ""]}, "answer-2"),
        ({"question": ["Where?", "", ""], "answer": ["Here.", "", "Now."]}, "question-2"),
        ({"question": ["q" * 161], "answer": ["Now."]}, "question-0"),
        ({"question": ["When?", "Where?"], "answer": ["Now.", "a" * 801]}, "answer-1"),
    ],
    ids=lambda each: str(each)[:40],
)
async def test_what_is_wrong_is_said_beside_its_box_and_nothing_that_was_typed_is_lost(
    console: Console, stage: Stage, place: str, typed: dict[str, Any], box: str
):
    sent = await console.boxes(place) | TYPED | {"blocks": ["ABOUT", "FAQ"]} | typed
    refused = await console.send(place, **sent)
    assert refused.status_code == 422
    assert re.findall(r'id="([\w-]+)-wrong"', refused.text) == [box]
    kept = boxes_of(refused.text)
    assert {name: kept[name] for name in ("tagline", "website", "phone", "address", "blocks", "version")} == {
        name: sent[name] for name in ("tagline", "website", "phone", "address", "blocks", "version")
    }
    assert unescape(kept["about"]).splitlines() == sent["about"].splitlines()
    for name in ("question", "answer"):
        assert kept[name][: len(sent[name])] == sent[name]
    assert (await latest(stage))["version"] == 0


async def test_a_box_says_what_it_wants(console: Console, place: str):
    refused = await console.send(place, **await console.boxes(place) | {"website": "clube.example"})
    assert 'id="website-wrong">The whole address, which begins with https://.' in refused.text


@pytest.mark.covers("SRC-023")
async def test_who_was_overtaken_is_told_so_and_decides(console: Console, stage: Stage, place: str):
    seen = await console.boxes(place)
    await console.send(place, **seen | {"about": "Ana's."})
    late = await console.send(place, **seen | {"about": "Rui's."})
    assert late.status_code == 409
    assert "Somebody changed the profile meanwhile." in late.text
    assert "What you typed is still here." in late.text
    assert (await latest(stage))["layout"]["about"] == "Ana's.", "nothing was overwritten unseen"
    again = await console.send(place, **boxes_of(late.text))
    assert again.status_code == 303
    assert (await latest(stage))["layout"]["about"] == "Rui's."
    assert (await latest(stage))["version"] == 2


async def test_a_form_that_is_sent_twice_is_one_version(console: Console, stage: Stage, place: str):
    boxes = await console.boxes(place) | {"about": "A club."}
    for _ in range(2):
        assert (await console.send(place, **boxes)).status_code == 303
    assert (await latest(stage))["version"] == 1


async def test_there_is_room_for_twelve_questions(console: Console, stage: Stage, place: str):
    twelve = {"question": [f"Number {n}?" for n in range(12)], "answer": ["Yes."] * 12}
    assert (await console.send(place, **await console.boxes(place) | twelve)).status_code == 303
    boxes = await console.boxes(place)
    assert boxes["question"] == twelve["question"]
    assert len((await latest(stage))["layout"]["faq"]) == 12


async def test_words_that_attack_are_words(console: Console, place: str):
    evil = '"></textarea><script>alert(1)</script>'
    words = {"tagline": evil, "about": evil, "question": [evil], "answer": [evil], "address": evil, "website": evil}
    for answer in (await console.send(place, **await console.boxes(place) | words), await console.see(place)):
        assert "<script>alert" not in answer.text
    del words["website"]
    assert (await console.send(place, **await console.boxes(place) | words)).status_code == 303
    page = await console.fine(place)
    assert "<script>alert" not in page
    assert unescape(page).count(evil) == 5


async def test_who_may_only_look_is_offered_nothing_to_change(console: Console, stage: Stage, place: str):
    manager = await a_member(stage.database, stage.organization, MemberRole.ADMIN, RolePack.CLUB_MANAGER)
    page = await console.fine(place, manager)
    assert "Nothing in it yet" in page
    assert 'name="about"' not in page
    assert (await console.send(place, manager, **await console.boxes(place) | TYPED)).status_code == 403
    assert (await latest(stage))["version"] == 0


async def test_who_is_nothing_there_finds_nothing(console: Console, stage: Stage, place: str):
    assert (await console.see(place, await a_person(stage.database))).status_code == 404
    desk = await a_member(stage.database, stage.organization, MemberRole.STAFF, RolePack.FRONT_DESK)
    assert (await console.see(place, desk)).status_code == 403
    assert f'href="{place}"' not in await console.fine(console.home, desk)
    assert f'href="{place}"' in await console.fine(console.home)


@pytest.mark.covers("ORG-016")
async def test_its_old_address_leads_there(console: Console, stage: Stage, place: str):
    answer = await stage.site.get(f"/organizacao/{stage.organization}/perfil")
    assert (answer.status_code, answer.headers["location"]) == (301, place)

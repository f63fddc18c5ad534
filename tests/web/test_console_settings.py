"""Where an organisation chooses its colour."""

import httpx
import pytest

from admitone.foundation.authority.api import MemberRole, RolePack
from tests.people import a_member, a_person
from tests.verticals.events.stage import Stage
from tests.web.console import Console

ACCENT = "#8a1c4a"


@pytest.fixture
def place(console: Console) -> str:
    return f"{console.home}/settings"


async def accent_of(stage: Stage) -> str | None:
    profile: httpx.Response = await stage.site.get(f"/api/organizations/{stage.organization}/profile")
    color: str | None = profile.json()["accentColor"]
    return color


async def test_a_colour_is_chosen_seen_and_cleared(console: Console, stage: Stage, place: str):
    saved = await console.send(place, **await console.boxes(place) | {"accentColor": ACCENT})
    assert (saved.status_code, saved.headers["location"]) == (303, place)
    assert await accent_of(stage) == ACCENT
    page = await console.fine(place)
    assert f'value="{ACCENT}"' in page
    assert page.count('class="look"') == 2
    cleared = await console.send(place, **await console.boxes(place) | {"accentColor": ""})
    assert cleared.status_code == 303
    assert await accent_of(stage) is None
    assert 'class="look"' not in await console.fine(place)


async def test_a_colour_is_tried_in_the_light_and_in_the_dark_and_nothing_is_changed(
    console: Console, stage: Stage, place: str
):
    page = await console.fine(place, accentColor="#FFFF00", look="yes")
    assert 'value="#FFFF00"' in page
    assert 'fill="#707000"' in page and 'fill="#ffff00"' in page
    assert "<code>#707000</code>" in page and "<code>#ffff00</code>" in page
    assert await accent_of(stage) is None
    assert 'class="look"' not in await console.fine(place, accentColor="", look="yes")


@pytest.mark.parametrize("written", ["#8A1C4A", " #8a1c4a ", "#8a1C4a\r\n"])
async def test_it_may_be_written_in_capitals(console: Console, stage: Stage, place: str, written: str):
    saved = await console.send(place, **await console.boxes(place) | {"accentColor": written})
    assert saved.status_code == 303, saved.text
    assert await accent_of(stage) == ACCENT


@pytest.mark.parametrize("wrong", ["red;}body{", "#abc", "8a1c4a", "#8a1c4a00", "#8a1c4g", '"><script>', "#" * 3000])
async def test_what_is_no_colour_is_kept_and_said_beside_the_field(
    console: Console, stage: Stage, place: str, wrong: str
):
    boxes = await console.boxes(place) | {"accentColor": wrong}
    for answer in (await console.send(place, **boxes), await console.see(place, accentColor=wrong, look="yes")):
        assert answer.status_code == 422
        assert 'id="accentColor-wrong">Please check this field.' in answer.text
        assert "<script>" not in answer.text
        assert 'class="look"' not in answer.text
        assert wrong[:6] in answer.text or wrong.startswith('"')
    assert await accent_of(stage) is None


async def test_a_sign_that_ends_texts_is_refused(console: Console, stage: Stage, place: str):
    answer = await console.send(place, **await console.boxes(place) | {"accentColor": "#8a1c4\x00"})
    assert answer.status_code == 422
    assert await accent_of(stage) is None


async def test_everything_else_that_it_says_of_itself_stays(console: Console, stage: Stage, place: str):
    path = f"/api/org/{stage.organization}"
    before = (await stage.site.get(path, headers=stage.owner.headers)).json()["settings"]
    await console.send(place, **await console.boxes(place) | {"accentColor": ACCENT})
    after = (await stage.site.get(path, headers=stage.owner.headers)).json()["settings"]
    assert after == before | {"accentColor": ACCENT}


async def test_who_was_overtaken_is_told_so_and_keeps_what_they_typed(console: Console, stage: Stage, place: str):
    seen = await console.boxes(place)
    await console.send(place, **seen | {"accentColor": ACCENT})
    late = await console.send(place, **seen | {"accentColor": "#123456"})
    assert late.status_code == 409
    assert "Somebody changed the settings meanwhile." in late.text
    assert 'value="#123456"' in late.text
    assert await accent_of(stage) == ACCENT


async def test_who_may_only_look_is_offered_nothing_to_change(console: Console, stage: Stage, place: str):
    manager = await a_member(stage.database, stage.organization, MemberRole.ADMIN, RolePack.CLUB_MANAGER)
    assert "Your pages have our own colour." in await console.fine(place, manager)
    boxes = await console.boxes(place) | {"accentColor": ACCENT}
    refused = await console.send(place, manager, **boxes)
    assert refused.status_code == 403
    await console.send(place, **boxes)
    page = await console.fine(place, manager)
    assert 'class="look"' in page
    assert 'name="accentColor"' not in page


async def test_who_is_nothing_there_finds_nothing(console: Console, stage: Stage, place: str):
    assert (await console.see(place, await a_person(stage.database))).status_code == 404
    desk = await a_member(stage.database, stage.organization, MemberRole.STAFF, RolePack.FRONT_DESK)
    assert (await console.see(place, desk)).status_code == 403
    assert f'href="{place}"' not in await console.fine(console.home, desk)
    assert f'href="{place}"' in await console.fine(console.home)

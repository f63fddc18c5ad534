"""An organisation's public profile, over HTTP: which blocks stand there, in which order, and what they say."""

import re
from html import unescape
from typing import Any

import asyncpg
import pytest

from admitone.foundation.authority import api as authority
from admitone.web.storefront.organization import initials_of, paragraphs_of
from tests.foundation.organizations.clubs import OFFICIAL, prove_official_email
from tests.foundation.organizations.test_laying_out import EVERY, WORDS, laid_out
from tests.verticals.events.stage import Stage

EVIL = "</p><script>alert(1)</script><img src=x onerror=alert(2)>\"'"


async def profile_of(stage: Stage, query: str = "", language: str = "en") -> str:
    answer = await stage.site.get(f"/o/{stage.organization}{query}", headers={"accept-language": language})
    assert answer.status_code == 200, answer.text
    return answer.text


async def says(stage: Stage, version: int = 0, **layout: Any) -> None:
    answer = await laid_out(stage.site, stage.organization, stage.owner, version, **layout)
    assert answer.status_code == 200, answer.text


def blocks_in(page: str) -> list[str]:
    return re.findall(r'data-block="(\w+)"', page)


@pytest.mark.covers("SRC-022", "SRC-023")
async def test_a_profile_has_its_blocks_in_their_order(stage: Stage, superuser: asyncpg.Connection):
    await stage.published(types=[{}])
    await prove_official_email(superuser, stage.organization)
    await says(stage, **WORDS, blocks=[*reversed(EVERY)])
    page = await profile_of(stage)
    assert blocks_in(page) == ["HERO", "ABOUT", "EVENTS_AGENDA", "FAQ", "CONTACT"]
    [bar] = re.findall(r'<nav class="tabs sections".*?</nav>', page, re.DOTALL)
    assert re.findall(r'href="#(\w+)">([^<]+)', bar) == [
        ("about", "About"),
        ("events_agenda", "Events"),
        ("faq", "Questions"),
        ("contact", "Contact"),
    ]
    assert '<a class="button" href="#events_agenda">See events</a>' in page
    assert "E-mail confirmed" in page
    assert f"/api/organizations/{stage.organization}/calendar.ics" in page
    assert '<p class="told" lang="pt-PT">Three rooms.</p>' in page
    assert '<summary>When?</summary><p class="told">On Fridays.</p>' in page
    for told in (
        'href="tel:+351220000000"',
        f'href="mailto:{OFFICIAL}"',
        WORDS["address"],
        'content="Music by the river."',
    ):
        assert told in page
    assert f'href="{WORDS["website"]}" rel="noopener noreferrer nofollow ugc"' in page


@pytest.mark.covers("ORG-013", "SRC-022")
async def test_a_block_goes_with_its_module_and_with_its_content(stage: Stage, superuser: asyncpg.Connection):
    page = await profile_of(stage)
    assert blocks_in(page) == ["HERO"]
    assert "Nothing is on at the moment." in page
    await stage.published(types=[{}])
    await prove_official_email(superuser, stage.organization)
    assert blocks_in(await profile_of(stage)) == ["HERO", "EVENTS_AGENDA", "CONTACT"]
    await stage.database.run(stage.scope, lambda tx: authority.put_modules(tx, {"EVENTOS": False}))
    page = await profile_of(stage)
    assert blocks_in(page) == ["HERO", "CONTACT"]
    assert "Summer night" not in page
    assert '<a class="button" href="#contact">Get in touch</a>' in page
    await stage.database.run(stage.scope, lambda tx: authority.put_modules(tx, {"EVENTOS": True}))
    assert blocks_in(await profile_of(stage)) == ["HERO", "EVENTS_AGENDA", "CONTACT"]


@pytest.mark.covers("SRC-023")
async def test_what_is_not_wanted_is_not_shown(stage: Stage):
    await stage.published(types=[{}])
    await says(stage, **WORDS, blocks=["FAQ"])
    page = await profile_of(stage)
    assert blocks_in(page) == ["HERO", "FAQ"]
    for gone in (
        "Summer night",
        "Three rooms.",
        "clube.example",
        "Flores",
        "sections",
        "calendar.ics",
        "Nothing is on",
    ):
        assert gone not in page


@pytest.mark.covers("SRC-020")
async def test_who_has_nothing_to_show_says_so(stage: Stage):
    await stage.database.run(stage.scope, lambda tx: authority.put_modules(tx, {"EVENTOS": False}))
    page = await profile_of(stage)
    assert "There is nothing here yet." in page
    assert 'class="button"' not in page
    assert "confirmed" not in page
    await says(stage, about="A club.")
    assert "There is nothing here yet." not in await profile_of(stage)


async def test_who_pages_to_the_end_finds_the_way_back(stage: Stage, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("admitone.web.storefront.organization.AT_A_TIME", 1)
    for _ in range(2):
        await stage.published(types=[{}])
    first = await profile_of(stage)
    [later] = re.findall(r'rel="next" href="/o/[^?]+(\?[^"#]+)#events_agenda"', first)
    second = await profile_of(stage, unescape(later))
    assert 'href="?#events_agenda">From the beginning' in second
    assert "From the beginning" not in first
    assert 'rel="next"' not in second


@pytest.mark.parametrize(
    "words",
    [
        {"tagline": EVIL},
        {"about": EVIL},
        {"faq": [{"question": EVIL, "answer": "Now."}]},
        {"faq": [{"question": "When?", "answer": EVIL}]},
        {"address": EVIL},
    ],
    ids=["tagline", "about", "question", "answer", "address"],
)
async def test_what_an_organisation_wrote_is_text(stage: Stage, words: dict[str, Any]):
    await says(stage, **words)
    page = await profile_of(stage)
    assert EVIL in unescape(page)
    assert "<script>alert" not in page
    assert "<img" not in page


async def test_an_address_ends_nothing_that_it_stands_in(stage: Stage):
    await says(stage, website='https://clube.example/"><script>alert(1)</script>')
    page = await profile_of(stage)
    assert "<script>alert" not in page
    assert 'href="https://clube.example/&#34;&gt;' in page


@pytest.mark.parametrize(("language", "word"), [("pt-PT", "Contacto"), ("pt-BR", "Contato")])
async def test_sections_are_named_in_the_language_of_whoever_looks(stage: Stage, language: str, word: str):
    await says(stage, about="A club.", phone="+351 220 000 000")
    page = await profile_of(stage, language=language)
    assert f'<a href="#contact">{word}</a>' in page
    assert "Sobre" in page


@pytest.mark.parametrize(
    ("name", "initials"),
    [
        ("Clube Aurora", "CA"),
        ("Clube do Porto", "CP"),
        ("aurora", "A"),
        ("  «Ímpar»  & (ópera) ", "ÍÓ"),
        ("1987", "1"),
        ("★ ★", ""),
        ("<b>", "B"),
    ],
)
def test_a_house_without_a_picture_has_its_initials(name: str, initials: str):
    assert initials_of(name) == initials


def test_an_empty_line_ends_a_paragraph():
    assert paragraphs_of("One\r\nline.\r\n\r\n \r\nTwo.\n\n\n") == ["One\nline.", "Two."]
    assert paragraphs_of("") == []

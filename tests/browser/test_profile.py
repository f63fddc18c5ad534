"""A house lays out its profile and strangers look at it, with a browser: on a phone and at a desk."""

import asyncio
from uuid import uuid4

import httpx
import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import Visits
from tests.browser.examining import complaints_about
from tests.browser.houses import done, sign_in
from tests.browser.scenes import Eyes
from tests.browser.test_signing_in import sign_in as sign_in_with_browser
from tests.desk import Desk

OWNER = "owner@bravo.example"
"""Whoever walks through every page does so as the other house's owner, and should not come to houses without modules."""
LONG = "Associação Cultural e Recreativa dos Amigos da Música Experimental de Trás-os-Montes"
FULL = {
    "tagline": "w" * 140,
    "about": "\n\n".join(["Uma casa de muitas palavras, que diz tudo o que tem a dizer. " * 12] * 4)[:3000],
    "faq": [{"question": f"{n}: " + "pergunta " * 17, "answer": "resposta " * 88} for n in range(12)],
    "website": f"https://casa.example/{'a' * 179}",
    "phone": "+351 (220) 000 000 000 000 000",
    "address": "Rua " + "de Baixo " * 17,
}


def found(address: str, name: str, *modules: str) -> tuple[str, httpx.Headers]:
    """A house that was just founded, and its owner's key."""
    with httpx.Client(base_url=address, timeout=30) as client:
        headers = sign_in(client, OWNER)
        wanted = {"displayName": name, "modules": modules, "idempotencyKey": uuid4().hex}
        return done(client.post("/api/organizations", json=wanted, headers=headers))["id"], httpx.Headers(headers)


def lay_out(address: str, own: str, headers: httpx.Headers, layout: dict[str, object]) -> None:
    body = {"layout": layout, "version": 0}
    done(httpx.put(f"{address}/api/org/{own}/profile", json=body, headers=headers, timeout=30))


@pytest.fixture
def address(running: Desk) -> str:
    return f"http://127.0.0.1:{running.port}"


async def sections_of(page: Page) -> list[str]:
    found: list[str] = await page.eval_on_selector_all("[data-block]", "all => all.map(each => each.dataset.block)")
    return found


@pytest.mark.covers("SRC-020", "SRC-023")
@pytest.mark.parametrize("phone", [True, False], ids=["360", "1440"])
async def test_a_profile_is_written_in_the_console_and_read_by_a_stranger(visit: Visits, address: str, phone: bool):
    own, _ = await asyncio.to_thread(found, address, "The new house", "EVENTOS")
    page = await visit(f"/sign-in?next=%2Forg%2F{own}%2Fperfil", phone=phone, locale="en-GB")
    await sign_in_with_browser(page, OWNER)
    await page.wait_for_url(f"**/org/{own}/perfil")
    await page.get_by_label("In one line").fill("Music by the river.")
    await page.get_by_role("textbox", name="About").fill("Three rooms.\n\nOne balcony.")
    second = page.get_by_role("group", name="Question 2")
    await second.get_by_label("Question", exact=True).fill("When?")
    await page.get_by_label("Website").fill("https://house.example/")
    await page.get_by_role("button", name="Save").click()
    await expect(page.locator("#answer-1-wrong")).to_have_text("Every question needs an answer, of 800 signs at most.")
    assert await complaints_about(page) == []
    await second.get_by_label("Answer").fill("On Fridays.")
    await page.get_by_label("Contact").uncheck()
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("Version 1,")).to_be_visible()
    await page.get_by_role("link", name="See your page").click()
    await page.wait_for_url(f"**/o/{own}")
    assert await sections_of(page) == ["HERO", "ABOUT", "FAQ"]
    await expect(page.get_by_text("On Fridays.")).to_be_hidden()
    await page.get_by_text("When?").click()
    await expect(page.get_by_text("On Fridays.")).to_be_visible()
    assert await complaints_about(page) == []
    visit.troubles.clear()  # The browser tells of every answer that is not 2xx.


@pytest.mark.covers("SRC-020")
@pytest.mark.parametrize("phone", [True, False], ids=["360", "1440"])
async def test_the_bar_of_sections_stays_and_leads_to_each_of_them(visit: Visits, address: str, phone: bool):
    own, headers = await asyncio.to_thread(found, address, LONG, "EVENTOS")
    await asyncio.to_thread(lay_out, address, own, headers, FULL)
    page = await visit("/", phone=phone, locale="en-GB", reduced_motion="reduce")
    eyes = await Eyes.on(page)
    await page.goto(f"/o/{own}")
    await eyes.look()
    bar = page.get_by_role("navigation", name="On this page")
    for name in ("Questions", "Contact", "About"):
        link = bar.get_by_role("link", name=name)
        await link.click()
        assert (await bar.bounding_box() or {})["y"] >= 0, "the bar is out of sight"
        head = await page.get_by_role("heading", name=name, exact=True).bounding_box()
        below = await bar.bounding_box()
        assert head is not None and below is not None
        assert head["y"] >= below["y"] + below["height"] or name == "Contact", "the bar hides the heading"
        await expect(link).to_be_in_viewport()


@pytest.mark.covers("SRC-020")
@pytest.mark.parametrize("modules", [("EVENTOS",), ()], ids=["nothing-on", "nothing-at-all"])
async def test_an_empty_house_is_sound_too(visit: Visits, address: str, modules: tuple[str, ...]):
    own, _ = await asyncio.to_thread(found, address, "★", *modules)
    page = await visit("/", locale="en-GB")
    eyes = await Eyes.on(page)
    await page.goto(f"/o/{own}")
    assert await sections_of(page) == ["HERO"]
    expected = "Nothing is on at the moment." if modules else "There is nothing here yet."
    await expect(page.get_by_role("main")).to_contain_text(expected)
    await eyes.look()


@pytest.mark.covers("SRC-022")
async def test_a_profile_is_whole_without_scripts(visit: Visits, address: str):
    own, headers = await asyncio.to_thread(found, address, "By hand")
    await asyncio.to_thread(lay_out, address, own, headers, FULL)
    page = await visit(f"/o/{own}", phone=True, locale="en-GB", java_script_enabled=False)
    await page.get_by_role("link", name="Get in touch").click()
    assert page.url.endswith(f"/o/{own}#contact")
    await expect(page.get_by_role("heading", name="Contact", exact=True)).to_be_in_viewport()
    await page.locator("summary").first.click()
    await expect(page.locator("details p").first).to_be_visible()

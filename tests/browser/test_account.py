"""Signing up, in and out with a browser, and what an account keeps."""

import re
import time
from uuid import uuid4

import pyotp
from playwright.async_api import Page, expect

from admitone.entrypoints.demo import PASSWORD
from tests.browser.conftest import Visits
from tests.browser.evening import code_to, letter_to

NEW_PASSWORD = "nine patient herons"


def somebody() -> str:
    """Whom nobody knows yet, in this run."""
    return f"ines.{uuid4().hex}@example.org"


async def sign_up(page: Page, email: str, name: str = "Inês") -> None:
    await page.goto("/sign-up")
    await page.get_by_label("Name").fill(name)
    await page.get_by_label("E-mail").fill(email)
    await page.get_by_label("Password", exact=True).fill(PASSWORD)
    await page.get_by_role("button", name="Send me a code").click()
    await page.wait_for_url("**/sign-in/code/**")
    await page.get_by_label("Code from the letter").fill(await code_to(page, email))
    await page.get_by_role("button", name="Go on").click()
    await page.wait_for_url("**/account")


async def sign_in(page: Page, email: str, password: str = PASSWORD) -> None:
    await page.get_by_label("E-mail").fill(email)
    await page.get_by_label("Password", exact=True).fill(password)
    await page.get_by_role("main").get_by_role("button", name="Sign in").click()


async def test_somebody_signs_up_with_the_code_of_the_letter(visit: Visits):
    page, email = await visit("/sign-in", phone=True), somebody()
    await page.get_by_role("link", name="I am new here: begin an account").click()
    await sign_up(page, email)
    await expect(page.get_by_role("heading", level=1)).to_have_text("Inês")
    assert email in await page.get_by_role("main").inner_text()
    assert await page.evaluate("document.documentElement.scrollWidth") == 360


async def test_signing_in_with_an_authenticator_and_proving_it_again(visit: Visits):
    page, email = await visit("/sign-up"), somebody()
    await sign_up(page, email)
    await page.get_by_role("link", name="Set up an authenticator").click()
    await page.get_by_role("button", name="Set up an authenticator").click()
    secret = await page.locator(".key code").inner_text()
    await page.get_by_label("Code of your authenticator").fill(pyotp.TOTP(secret).now())
    await page.get_by_role("button", name="Confirm").click()
    codes = await page.locator(".codes code").all_inner_texts()
    assert len(codes) == 10
    await page.get_by_role("link", name="I have kept them").click()
    await page.get_by_role("button", name="Sign out here").click()

    await page.goto("/sign-in?next=/step-up%3Fnext%3D/account")
    visit.troubles.clear()
    await sign_in(page, email)
    await page.get_by_label("Code of your authenticator").fill(codes[0])
    assert await page.get_by_label("E-mail").input_value() == email
    await page.get_by_role("main").get_by_role("button", name="Sign in").click()
    await page.wait_for_url("**/step-up?next=/account")
    assert not await page.get_by_label("Password", exact=True).count()
    await page.get_by_label("Code of your authenticator").fill(pyotp.TOTP(secret).at(int(time.time()), 1))
    await page.get_by_role("button", name="Go on").click()
    await page.wait_for_url("**/account")
    visit.troubles.clear()  # The browser tells of every answer that is not 2xx.


async def test_a_forgotten_password_is_chosen_anew(visit: Visits):
    page, email = await visit("/sign-up"), somebody()
    await sign_up(page, email)
    await page.get_by_role("button", name="Sign out here").click()
    await page.goto("/forgotten")
    visit.troubles.clear()
    await page.get_by_label("E-mail").fill(email)
    await page.get_by_role("button", name="Send me a link").click()
    await page.wait_for_url("**/forgotten/sent")
    link = None
    while link is None:
        link = re.search(r"/auth/reset#[A-Za-z0-9_-]+", await letter_to(page, email))
    await page.goto(link[0])
    assert not await page.get_by_label("The link from the letter").is_visible(), "the script has put it there"
    assert "#" not in page.url
    await page.get_by_label("New password").fill(NEW_PASSWORD)
    await page.get_by_role("button", name="Set the password").click()
    await page.wait_for_url("**/sign-in?after=password&next=/account")
    await sign_in(page, email, NEW_PASSWORD)
    await page.wait_for_url("**/account")
    visit.troubles.clear()  # Where one comes after signing out is another part.


async def test_a_forgotten_password_is_chosen_anew_without_scripts(visit: Visits):
    page, email = await visit("/sign-up", java_script_enabled=False), somebody()
    await sign_up(page, email)
    await page.get_by_role("button", name="Sign out here").click()
    visit.troubles.clear()
    await page.goto("/forgotten")
    await page.get_by_label("E-mail").fill(email)
    await page.get_by_role("button", name="Send me a link").click()
    link = None
    while link is None:
        link = re.search(r"http[^\s\"<]*/auth/reset#[A-Za-z0-9_-]+", await letter_to(page, email))
    await page.goto(link[0])
    await page.get_by_label("The link from the letter").fill(link[0])
    await page.get_by_label("New password").fill(NEW_PASSWORD)
    await page.get_by_role("button", name="Set the password").click()
    await page.wait_for_url("**/sign-in?after=password&next=/account")


async def test_the_language_is_kept_with_the_profile(visit: Visits):
    page, email = await visit("/sign-up", locale="en-GB"), somebody()
    await sign_up(page, email)
    await page.get_by_role("button", name="Português (Brasil)").click()
    await expect(page.locator("html")).to_have_attribute("lang", "pt-BR")
    assert (await (await page.request.get("/api/auth/me")).json())["language"] == "pt_BR"
    await page.get_by_label("Idioma").select_option("pt_PT")
    await page.get_by_role("button", name="Salvar").click()
    await expect(page.locator("html")).to_have_attribute("lang", "pt-PT")
    assert (await (await page.request.get("/api/auth/me")).json())["language"] == "pt_PT"


async def test_an_organiser_founds_a_club_by_keyboard_alone(visit: Visits):
    page, email = await visit("/sign-up"), somebody()
    await sign_up(page, email)
    await page.goto("/org")
    await page.get_by_label("Name").focus()
    await page.keyboard.type("Clube do Porto")
    for _ in range(6):
        await page.keyboard.press("Tab")
    assert await page.evaluate("document.activeElement.tagName") == "BUTTON"
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/org/org_*")
    await page.goto("/org")
    await expect(page.get_by_role("link", name="Clube do Porto")).to_be_visible()
    visit.troubles.clear()  # The console is another part.


async def test_everything_that_is_pressed_is_large_enough_for_a_finger(visit: Visits):
    page, email = await visit("/sign-in", phone=True), somebody()
    small = "els => els.filter(e => e.offsetParent && e.getBoundingClientRect().height < 44).map(e => e.outerHTML)"
    pressed = "main button, main input:not([type=checkbox]), main select, main .button, main .tabs a, main .ways a"
    for path in ("/sign-in", "/sign-in/code", "/sign-up", "/forgotten", "/auth/reset"):
        await page.goto(path)
        assert await page.eval_on_selector_all(pressed, small) == []
        assert await page.evaluate("document.documentElement.scrollWidth") == 360
    await sign_up(page, email, "A very long name that somebody was given by parents who could not agree on one")
    for path in ("/account", "/account/email", "/account/password", "/account/authenticator", "/org", "/wallet"):
        await page.goto(path)
        assert await page.eval_on_selector_all(pressed, small) == []
        assert await page.evaluate("document.documentElement.scrollWidth") == 360

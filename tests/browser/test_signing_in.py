"""Signing in with a browser."""

from admitone.entrypoints.demo import PASSWORD
from tests.browser.conftest import Visits

OWNER = "owner@aurora.example"


async def sign_in(page, email: str = OWNER) -> None:
    await page.get_by_label("E-mail").fill(email)
    await page.get_by_label("Password", exact=True).fill(PASSWORD)
    await page.get_by_role("main").get_by_role("button", name="Sign in").click()


async def test_somebody_signs_in_and_comes_to_where_they_were_going(visit: Visits):
    page = await visit("/step-up", phone=True)
    assert page.url.endswith("/sign-in?next=%2Fstep-up")
    await sign_in(page)
    await page.wait_for_url("**/step-up")
    assert await page.get_by_role("heading", level=1).inner_text() == "Confirm that it is you"


async def test_a_wrong_password_is_said_and_the_address_is_kept(visit: Visits):
    page = await visit("/sign-in")
    await page.get_by_label("E-mail").fill(OWNER)
    await page.get_by_label("Password", exact=True).fill("not this one")
    await page.get_by_role("main").get_by_role("button", name="Sign in").click()
    assert await page.get_by_role("alert").is_visible()
    assert await page.get_by_label("E-mail").input_value() == OWNER
    visit.troubles.clear()  # The browser tells of every answer that is not 2xx.


async def test_the_language_is_the_one_that_the_person_chose(visit: Visits):
    page = await visit("/sign-in", locale="en-GB")
    await page.get_by_role("button", name="Português (Brasil)").click()
    assert await page.get_by_role("heading", level=1).inner_text() == "Entrar"
    await page.goto("/sign-in")
    assert await page.locator("html").get_attribute("lang") == "pt-BR"

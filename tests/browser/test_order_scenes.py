"""What a buyer sees of an order when things do not go straight: looked at while it is so, and seen to change by itself.

Nobody loads a page again here: what a page has to say next it finds out alone.
"""

import re
from collections.abc import AsyncIterator

import asyncpg
import httpx
import pytest
from playwright.async_api import Browser, Page, expect

from admitone.entrypoints.http import Application
from admitone.finance.gateways.sandbox.faults import Faults
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from tests.browser.conftest import Visits
from tests.browser.counter import Counter, served
from tests.browser.scenes import Eyes
from tests.verticals.events.office import an_office
from tests.verticals.events.stage import a_stage
from tests.verticals.events.test_guest_links import bought

OWNED, ISSUING = "You have your tickets", "Paid: your tickets are being made"
GOING_BACK, WENT_BACK = "Your money is on its way back", "Your money went back"
FREE = {"name": "Guest list", "priceMinor": 0, "allowZeroPrice": True}
SILENT = Faults(lost=10_000)
SLOW_REFUNDS = Faults(refund_pending=10_000)
CUT = "net::ERR_INTERNET_DISCONNECTED"
TURNED_AWAY = "the server responded with a status of 409"


@pytest.fixture(scope="module")
async def address(application: Application) -> AsyncIterator[str]:
    async with served(application.edge) as address:
        yield address


@pytest.fixture
async def counter(
    chromium: Browser,
    address: str,
    site: httpx.AsyncClient,
    database: Database,
    superuser: asyncpg.Connection,
    batcher: Batcher,
) -> AsyncIterator[Counter]:
    """Whatever a browser complains about fails the test, unless the test takes it out of `visits.troubles`."""
    await superuser.execute("DELETE FROM kernel.limit_counter")
    visits = Visits(chromium, address)
    async with an_office(await a_stage(site, database, superuser), batcher) as office:
        yield Counter(office, visits)
        await visits.close()
    assert not visits.troubles, visits.troubles


async def says(page: Page, heading: str, *words: str, never: tuple[str, ...] = ()) -> None:
    await expect(page.get_by_role("heading", level=1)).to_have_text(heading, timeout=20_000)
    for each in words:
        await expect(page.get_by_role("main")).to_contain_text(each)
    for each in never:
        await expect(page.get_by_role("main")).not_to_contain_text(each)


# -- Before the money


@pytest.mark.parametrize(
    ("method", "currency", "found"), [("CARD", "EUR", "Waiting for your payment"), ("PIX", "BRL", "Pay with PIX")]
)
async def test_what_the_provider_did_is_unknown_until_it_is_heard(
    counter: Counter, method: str, currency: str, found: str
):
    page = await counter.ordered(currency=currency, phone=True)
    eyes, order = await Eyes.on(page), page.url
    counter.provider.misbehave(SILENT)
    await page.locator(f"button[name=method][value={method}]").click()
    await page.wait_for_url(order)
    await says(page, "Payment unknown", "we do not know yet", "Nothing is charged twice", "25.00")
    await eyes.look()
    counter.provider.misbehave(Faults())
    await counter.is_asked_again(page)
    await says(page, found, "To be paid until", "25.00")
    await eyes.look()


async def test_whoever_closes_a_payment_of_a_provider_that_is_silent_is_told_that_this_is_unknown(counter: Counter):
    page = await counter.ordered(phone=True)
    await counter.begins(page)
    eyes = await Eyes.on(page)
    counter.provider.misbehave(SILENT)
    await page.get_by_role("button", name="Choose another way to pay").click()
    await says(page, "Waiting for your payment", "we do not know yet whether it is closed")
    await eyes.look()
    await counter.forgives("the server responded with a status of 503")


async def test_a_proof_that_fails_costs_nothing_and_another_card_is_tried(counter: Counter):
    page = await counter.ordered(phone=True)
    eyes = await Eyes.on(page)
    await counter.begins(page)
    await counter.befalls(page, "pay", card="asks")
    await says(page, "Waiting for your payment", "Your bank wants to know that it is you.")
    await counter.befalls(page, "fail_authentication")
    await says(page, "Pay", "The payment was declined. Nothing was charged.", "Kept for you until")
    await eyes.look()


async def test_nobody_is_shown_a_code_whose_time_is_over(counter: Counter):
    page = await counter.ordered(currency="BRL", phone=True)
    eyes = await Eyes.on(page)
    await counter.begins(page, "PIX")
    await counter.payment_ends_in(page, 2)
    await page.goto(page.url)
    await expect(page.get_by_role("img", name="PIX code")).to_be_visible()
    await says(page, "The time to pay is over", "do not know it yet", "Do not pay", never=("To be paid until",))
    assert await page.get_by_role("img", name="PIX code").count() == 0
    await eyes.look()
    await counter.is_closed(page)
    await says(page, "Pay", "The last payment was closed. Nothing was charged.")


async def test_tickets_that_sell_out_while_somebody_chooses_are_said_to_be_gone(counter: Counter):
    event, [kind] = await counter.office.on_sale({"supply": {"capacity": 1}})
    page, other = [await counter.chosen(event, kind, phone=True) for _ in range(2)]
    eyes = await Eyes.on(page)
    await counter.orders(other)
    await page.get_by_label("E-mail").fill("ana@example.org")
    await page.get_by_role("button", name="Go on as a guest").click()
    await expect(page.get_by_role("alert")).to_contain_text("There are not so many left.")
    await expect(page.get_by_label("E-mail")).to_have_value("ana@example.org")
    await eyes.look()
    await page.get_by_role("link", name="Choose again").click()
    await expect(page.get_by_role("main")).to_contain_text("Sold out")
    assert await page.get_by_role("button", name="Go on").count() == 0, "there is nothing to go on with"
    await eyes.look()
    await counter.forgives(TURNED_AWAY)


# -- The bank takes its time


@pytest.mark.parametrize("is_guest", [True, False], ids=["a guest", "somebody signed in"])
async def test_late_money_that_still_finds_its_tickets_buys_them(counter: Counter, is_guest: bool):
    person = None if is_guest else counter.office.buyer
    page = await counter.ordered(phone=True, person=person)
    eyes = await Eyes.on(page)
    await counter.begins(page)
    await counter.befalls(page, "pay", card="slow")
    await says(page, "The bank is working on it", "stay kept for you")
    await eyes.look()
    await counter.ends_in(page, -1)
    await says(page, "The bank is working on it", "is over. If the bank says yes", never=("stay kept for you",))
    await eyes.look()
    await counter.befalls(page, "clear")
    await says(page, ISSUING, "We have your payment", "€25.00")
    await eyes.look()
    await counter.office.work()
    await says(page, OWNED, "Paid and yours.", "link to your tickets" if is_guest else "in your wallet already")
    await eyes.look()


async def test_late_money_that_finds_none_left_goes_back(counter: Counter):
    event, [kind] = await counter.office.on_sale({"supply": {"capacity": 1}})
    page = await counter.orders(await counter.chosen(event, kind, phone=True))
    eyes = await Eyes.on(page)
    await counter.begins(page)
    await counter.befalls(page, "pay", card="slow")
    await counter.ends_in(page, -1)
    await counter.orders(await counter.chosen(event, kind))
    counter.provider.misbehave(SLOW_REFUNDS)
    await counter.befalls(page, "clear")
    await counter.office.work()
    await says(page, GOING_BACK, "the tickets were gone", "€25.00", "Choose again")
    await eyes.look()
    await counter.befalls(page, "settle_refund")
    await says(page, WENT_BACK, "All of your money went back: €25.00.", "There are no tickets for this order.")
    await eyes.look()


async def test_a_bank_that_says_no_too_late_is_said_with_the_time_that_ran_out(counter: Counter):
    page = await counter.ordered(phone=True)
    eyes = await Eyes.on(page)
    await counter.begins(page)
    await counter.befalls(page, "pay", card="slow")
    await says(page, "The bank is working on it")
    await counter.ends_in(page, -1)
    await counter.befalls(page, "fail_clearing")
    await says(page, "The tickets are not kept for you any more", "The payment was declined, and meanwhile")
    await eyes.look()


# -- Money that pays for nothing


async def test_money_that_comes_when_the_payment_is_closed_is_said_to_go_back_and_to_have_gone(counter: Counter):
    page = await counter.ordered(phone=True)
    eyes = await Eyes.on(page)
    await counter.begins(page)
    await page.get_by_role("button", name="Choose another way to pay").click()
    await says(page, "Pay", "The last payment was closed.")
    await counter.befalls(page, "pay", late=True)
    await says(page, "Your money came too late", "by ourselves: €25.00. When that is done, we write to you.")
    await eyes.look()
    await counter.office.work()
    await says(page, WENT_BACK, "All of your money went back: €25.00.")
    await eyes.look()


async def test_another_amount_than_was_asked_for_is_said_to_go_back(counter: Counter):
    page = await counter.ordered(phone=True)
    eyes = await Eyes.on(page)
    await counter.begins(page)
    await counter.befalls(page, "pay", amount=600)
    await says(page, "Your payment did not fit", "Another amount came than was asked for", "€6.00", "€25.00")
    await eyes.look()
    await counter.office.work()
    await says(page, WENT_BACK, "All of your money went back: €6.00.")


async def test_a_dispute_is_said_until_the_bank_has_decided(counter: Counter):
    page = await counter.ordered(phone=True)
    eyes = await Eyes.on(page)
    await counter.begins(page)
    await counter.befalls(page, "pay")
    await says(page, ISSUING)
    await counter.befalls(page, "dispute")
    await says(page, "Disputed at the bank", "Until then there are no tickets", never=("making your tickets",))
    await eyes.look()
    await counter.befalls(page, "lose")
    await says(page, "Taken back by the bank", "There are no tickets for this order.")
    await eyes.look()


# -- The event is cancelled in the middle


async def test_whoever_has_not_paid_for_what_is_cancelled_is_not_asked_to(counter: Counter):
    event, [kind] = await counter.office.on_sale()
    unpaid, waiting = [await counter.orders(await counter.chosen(event, kind, phone=True)) for _ in range(2)]
    await counter.begins(waiting)
    await counter.office.stage.cancelled(event)
    eyes = await Eyes.on(unpaid)
    await unpaid.get_by_role("button", name="by card").click()
    await says(unpaid, "This event was cancelled", "nothing was charged", never=("Kept for you", "Choose again"))
    await eyes.look()

    eyes = await Eyes.on(waiting)
    await waiting.goto(waiting.url)
    await says(waiting, "Do not pay any more", "Whoever has paid gets all of it back")
    assert await waiting.get_by_role("link", name=re.compile("payment page")).count() == 0
    await eyes.look()
    await waiting.get_by_role("button", name="Close this payment").click()
    await says(waiting, "This event was cancelled", "nothing was charged")


async def test_whoever_has_paid_for_what_is_cancelled_is_told_that_it_goes_back(counter: Counter):
    event, [kind, free] = await counter.office.on_sale({"name": "Standing"}, FREE)
    owner = await counter.orders(await counter.chosen(event, kind, phone=True, person=counter.office.buyer))
    guest = await counter.orders(await counter.chosen(event, free, phone=True))
    await guest.get_by_role("button", name="Get tickets").click()
    await says(guest, "Your tickets are being made", never=("We have your payment", "Paid"))
    await (await Eyes.on(guest)).look()
    await counter.begins(owner)
    await counter.befalls(owner, "pay")
    await counter.office.work()
    await says(owner, OWNED)
    await says(guest, OWNED)

    counter.provider.misbehave(SLOW_REFUNDS)
    await counter.office.stage.cancelled(event)
    for page in (owner, guest):
        await page.goto(page.url)
    await says(guest, "This event was cancelled", "Your tickets do not let anybody in any more.")
    await says(owner, GOING_BACK, "You have paid, and the event is cancelled.", "€25.00", never=("Choose again",))
    for page in (owner, guest):
        await (await Eyes.on(page)).look()
    await counter.office.work()
    await counter.befalls(owner, "settle_refund")
    await says(owner, WENT_BACK, "The tickets do not let anybody in any more.", never=("What you own",))
    await counter.office.work()
    await owner.goto(f"/orders/{owner.url.rpartition('/')[2]}")
    await expect(owner.get_by_role("main")).to_contain_text("Money returned")
    await expect(owner.get_by_role("main")).not_to_contain_text("To my tickets")
    await (await Eyes.on(owner)).look()


# -- A guest's link


async def test_a_guest_s_link_says_why_a_ticket_opens_no_door(counter: Counter):
    _, payment, token = await bought(counter.office, 2)
    page = await counter.visits(f"/guest/tickets/{token}", phone=True)
    eyes = await Eyes.on(page)
    for deed, words in (("dispute", "disputed at the bank"), ("lose", "the bank took it back")):
        await counter.office.settle(payment, deed)
        await page.goto(page.url)
        await says(page, "Summer night", words, never=("Add to calendar", "Whoever has this link"))
        assert await page.get_by_role("img").count() == 0
        await eyes.look()
    await page.goto(f"/guest/tickets/{token[:-4]}0000")
    await says(page, "This link leads to no tickets", "in your wallet")
    await eyes.look()
    await counter.forgives("the server responded with a status of 404")


# -- Nobody can be asked


async def test_a_page_that_hears_nothing_says_so_and_goes_on_when_the_network_is_back(counter: Counter):
    page = await counter.ordered(phone=True)
    eyes = await Eyes.on(page)
    await counter.begins(page)
    silence = page.get_by_text("No network: we cannot be asked at the moment.")
    await expect(silence).to_be_hidden()
    await page.context.set_offline(True)
    await expect(silence).to_be_visible()
    await eyes.look()
    await counter.befalls(page, "pay")
    await page.context.set_offline(False)
    await says(page, ISSUING)
    await counter.forgives(CUT)

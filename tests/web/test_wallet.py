"""The wallet over HTTP: one's own, as it stands, with the code that is good now; another's is not there."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from admitone.entitlements.commands.changing import Revoking, revoke
from admitone.entitlements.model import CheckinPolicy, EntitlementId, Method, Revocation
from admitone.entrypoints.http import Application
from admitone.finance.sources.api import Source, SourceType
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from tests.entitlements.rights import Hall, a_hall
from tests.people import a_person
from tests.web.browsing import Browser, a_browser, words_of


@pytest.fixture
async def hall(database: Database, batcher: Batcher) -> Hall:
    return await a_hall(database, batcher)


@pytest.fixture
async def browser(application: Application, hall: Hall) -> AsyncIterator[Browser]:
    """Of the guest of the hall."""
    async with a_browser(application) as browser:
        browser.be(hall.guest)
        yield browser


@pytest.mark.covers("ENT-009", "EVT-005")
async def test_a_ticket_is_shown_with_the_code_that_is_good_now(hall: Hall, browser: Browser):
    ticket = await hall.grant(label="Standing <b>")
    wallet = await browser.open("/wallet")
    assert f'href="/wallet/{ticket.id}"' in wallet.text and "Active" in words_of(wallet)
    assert "Standing &lt;b&gt;" in wallet.text and "Standing <b>" not in wallet.text
    for path in (f"/wallet/{ticket.id}", f"/wallet/{ticket.id}/code"):
        page = await browser.open(path)
        assert page.status_code == 200
        assert await hall.code(ticket) in page.text and "<svg" in page.text
        assert '<noscript><meta http-equiv="refresh"' in page.text
        assert page.headers["cache-control"] == "no-store"
        assert "style=" not in page.text


@pytest.mark.covers("ENT-009")
async def test_anothers_ticket_and_one_that_never_was_are_the_same(
    hall: Hall, browser: Browser, application: Application, database: Database
):
    ticket = await hall.grant()
    async with a_browser(application) as stranger:
        stranger.be(await a_person(database))
        for ending in ("", "/code"):
            pages = [await stranger.open(f"/wallet/{own}{ending}") for own in (ticket.id, EntitlementId.new())]
            assert [page.status_code for page in pages] == [404, 404]
            assert words_of(pages[0]).rpartition("·")[0] == words_of(pages[1]).rpartition("·")[0]
        assert (await stranger.send(f"/wallet/{ticket.id}/presence", key="k")).status_code == 404
        assert str(ticket.id) not in (await stranger.open("/wallet")).text


async def test_what_was_used_says_when_and_shows_no_code(hall: Hall, browser: Browser):
    ticket = await hall.grant()
    code = await hall.code(ticket)
    assert (await hall.scan(code)).allow
    page = await browser.open(f"/wallet/{ticket.id}")
    assert "Used" in words_of(page) and "Entered" in words_of(page)
    assert code not in page.text
    large = await browser.open(f"/wallet/{ticket.id}/code")
    assert (large.status_code, large.headers["location"]) == (303, f"/wallet/{ticket.id}")


@pytest.mark.parametrize(
    ("why", "word", "sentence"),
    [
        (Revocation.REFUND, "Refunded", "The money for it went back"),
        (Revocation.CANCELLATION, "Cancelled", "does not take place"),
        (Revocation.ADMIN, "Revoked", "The organiser took it back."),
    ],
)
async def test_what_was_taken_back_says_why(hall: Hall, browser: Browser, why: Revocation, word: str, sentence: str):
    ticket = await hall.grant()
    code = await hall.code(ticket)
    await hall.submit(revoke, Revoking(hall.staff.caller, ticket.id, why))
    page = await browser.open(f"/wallet/{ticket.id}")
    assert word in words_of(page) and sentence in words_of(page)
    assert code not in page.text


async def test_what_was_refunded_stands_below_what_opens_a_door(hall: Hall, browser: Browser):
    refunded, good = await hall.grant(label="Refunded"), await hall.grant(label="Good")
    await hall.submit(revoke, Revoking(hall.staff.caller, refunded.id, Revocation.REFUND))
    wallet = (await browser.open("/wallet")).text
    assert wallet.index(str(good.id)) < wallet.index(str(refunded.id))


@pytest.mark.covers("EVT-005")
async def test_what_is_over_is_under_history_and_each_tab_is_an_address(hall: Hall, browser: Browser):
    now = datetime.now(UTC)
    assert "No tickets yet." in (await browser.open("/wallet")).text
    assert "Nothing is over yet." in (await browser.open("/wallet?tab=history")).text
    over = await hall.grant(label="Over", valid_from=now - timedelta(days=2), valid_until=now - timedelta(days=1))
    coming = await hall.grant(label="Soon")
    active, history = await browser.open("/wallet"), await browser.open("/wallet?tab=history")
    assert str(coming.id) in active.text and str(over.id) not in active.text
    assert str(over.id) in history.text and str(coming.id) not in history.text
    assert "Expired" in words_of(history)


async def test_whoever_booked_says_that_they_were_there(hall: Hall, browser: Browser):
    """An hour of padel: no event, no code."""
    by_hand = CheckinPolicy(methods=(Method.MANUAL,))
    source = Source(SourceType.BOOKING, "booking-1")
    booking = await hall.grant(source=source, event_id=None, policy_version=None, policy=by_hand, label="Court 1")
    page = await browser.open(f"/wallet/{booking.id}")
    key = page.text.partition('name="key" value="')[2].partition('"')[0]
    for _ in range(2):
        confirmed = await browser.send(f"/wallet/{booking.id}/presence", key=key)
        assert (confirmed.status_code, confirmed.headers["location"]) == (303, f"/wallet/{booking.id}")
    assert "Used" in words_of(await browser.open(f"/wallet/{booking.id}"))


async def test_a_long_wallet_has_more_pages(hall: Hall, browser: Browser):
    await hall.grant_many(21)
    first = await browser.open("/wallet")
    assert first.text.count('<li class="ticket') == 20
    more = first.text.partition('rel="next" href="')[2].partition('"')[0].replace("&amp;", "&")
    assert (await browser.open(more)).text.count('<li class="ticket') == 1

"""Lists that Stripe gives the newest first are read the oldest first, whole, and while they grow."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from admitone.finance.gateways.api import EventPage, Refused, Trouble, Unknown
from admitone.finance.gateways.stripe.listing import Forward, Told, read_all, read_forward
from admitone.finance.gateways.stripe.objects import Page
from admitone.kernel.scope import Caller
from tests.finance.gateways.builders import sure
from tests.finance.gateways.stage import all_events, paid
from tests.finance.gateways.stripe.clothed import Refusal, page_of
from tests.finance.gateways.stripe.stages import StripeStage


class Shelf:
    """A list at Stripe, the oldest first, and how often it was asked for."""

    def __init__(self, times: list[int]) -> None:
        self.rows = [{"id": f"evt_{number}", "created": at} for number, at in enumerate(times)]
        self.calls = 0
        self.fails_at = 0

    async def fetch(self, place: dict[str, Any]) -> Page[Told] | Trouble:
        self.calls += 1
        if self.calls == self.fails_at:
            return Unknown("answered 500")
        try:
            return msgspec.convert(page_of(self.rows, place), Page[Told])
        except Refusal as no:
            return Refused(str(no))

    async def read(self, since: datetime | None) -> list[str]:
        seen: list[str] = []
        cursor: str | None = None
        while True:
            page = sure(Forward, await read_forward(self.fetch, cursor, since))
            seen += [row.id for row in page.rows]
            cursor = page.next_cursor
            if cursor is None:
                return seen


@pytest.mark.parametrize("seed", range(12))
async def test_everything_since_an_instant_is_read_once_and_in_order(seed: int):
    chance = random.Random(seed)
    spread = chance.choice([1, 3, 1_000, 500_000_000])
    times = sorted(1_700_000_000 + chance.randrange(spread) for _ in range(chance.choice([0, 1, 99, 100, 101, 1_234])))
    shelf = Shelf(times)
    since = chance.choice([None, datetime.fromtimestamp(1_700_000_000 + chance.randrange(spread), UTC)])
    wanted = [row["id"] for row in shelf.rows if since is None or row["created"] >= since.timestamp()]
    assert await shelf.read(since) == wanted


async def test_the_beginning_of_a_long_list_is_found_in_few_calls():
    """A hundred thousand rows over three years; walking back through them would be a thousand calls."""
    shelf = Shelf([1_700_000_000 + 1_000 * number for number in range(100_000)])
    page = sure(Forward, await read_forward(shelf.fetch, None, None))
    assert page.rows[0].id == "evt_0"
    assert shelf.calls <= 32
    short = Shelf([1_700_000_000 + number for number in range(100)])
    assert len(await short.read(None)) == 100
    assert short.calls == 1


async def test_what_is_added_meanwhile_comes_at_the_end():
    shelf = Shelf([1_700_000_000 + number for number in range(250)])
    page = sure(Forward, await read_forward(shelf.fetch, None, None))
    shelf.rows += [{"id": f"late_{number}", "created": 1_700_000_900} for number in range(150)]
    seen, cursor = [row.id for row in page.rows], page.next_cursor
    while cursor is not None:
        page = sure(Forward, await read_forward(shelf.fetch, cursor, None))
        seen, cursor = seen + [row.id for row in page.rows], page.next_cursor
    assert seen == [row["id"] for row in shelf.rows]


@pytest.mark.parametrize("fails_at", range(1, 9))
async def test_trouble_on_any_page_is_told(fails_at: int):
    shelf = Shelf([1_700_000_000] * 350)
    shelf.fails_at = fails_at
    said = await read_forward(shelf.fetch, None, None)
    assert isinstance(said, Unknown if fails_at <= shelf.calls else Forward)
    short = Shelf([1_700_000_000] * 350)
    short.fails_at = fails_at
    assert isinstance(await read_all(short.fetch), Unknown if fails_at <= 4 else list)


async def test_a_place_that_is_not_known_any_more_is_refused():
    shelf = Shelf([1_700_000_000])
    assert sure(Refused, await read_forward(shelf.fetch, "evt_gone", None)).code == "resource_missing"


async def test_events_are_listed_to_the_letter_from_an_instant_on(stage: StripeStage):
    for _ in range(26):
        await paid(stage)
    stage.peer.ahead += timedelta(hours=1)
    _, charge = await paid(stage)
    told = [each.body for each in await stage.webhooks()]
    assert await all_events(stage.gateway, datetime.now(UTC) - timedelta(minutes=1)) == told
    late = await all_events(stage.gateway, datetime.now(UTC) + timedelta(minutes=50))
    assert late == told[-2:]
    assert all(charge.id.encode() in payload for payload in late)
    again = sure(EventPage, await stage.gateway.list_events(Caller(), None, datetime.now(UTC) - timedelta(days=1)))
    assert again.payloads[0] == told[0]

"""What lists say of tickets: a word and a price."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from admitone.verticals.events.model import EventId
from tests.verticals.events.stage import Stage, a_stage

FREE = {"name": "Guests", "priceMinor": 0, "allowZeroPrice": True}
VIP = {"name": "VIP", "priceMinor": 9000}
GONE = {"name": "Early", "priceMinor": 1000, "supply": {"capacity": 0}}
FEW = {"name": "Last", "priceMinor": 1500, "supply": {"capacity": 3}}
NOT_YET = {"name": "Late", "priceMinor": 500, "salesFrom": (datetime.now(UTC) + timedelta(days=1)).isoformat()}
ENDED = {"name": "Past", "priceMinor": 500, "salesUntil": (datetime.now(UTC) - timedelta(days=1)).isoformat()}


async def offers_of(stage: Stage, *events: dict[str, Any]) -> list[dict[str, Any]]:
    asked = {"eventId": [each["eventId"] for each in events]}
    answer = stage.fine(await stage.site.get(f"/api/organizations/{stage.organization}/offers", params=asked))
    return answer["offers"]


@pytest.mark.covers("EVT-014")
@pytest.mark.parametrize(
    ("types", "word", "lowest", "highest"),
    [
        ([], None, None, None),
        ([{}, VIP, GONE], "AVAILABLE", 2500, 9000),
        ([{}, FEW], "AVAILABLE", 1500, 2500),
        ([FREE, {}], "AVAILABLE", 0, 2500),
        ([FEW, GONE], "FEW_LEFT", 1500, 1500),
        ([GONE, NOT_YET], "NOT_YET", 500, 500),
        ([GONE, ENDED], "SOLD_OUT", 1000, 1000),
        ([ENDED], "OVER", 500, 500),
    ],
)
async def test_the_price_is_of_what_can_be_had(
    stage: Stage, types: list[dict[str, Any]], word: str | None, lowest: int | None, highest: int | None
):
    event = await stage.published(types=types)
    [offer] = await offers_of(stage, event)
    assert (offer["availability"], offer["lowestMinor"], offer["highestMinor"]) == (word, lowest, highest)
    assert offer["currency"] == "EUR"


@pytest.mark.covers("EVT-002")
async def test_what_was_never_published_and_what_is_anothers_is_left_out(
    stage: Stage, site: Any, database: Any, superuser: Any
):
    other = await a_stage(site, database, superuser)
    draft, foreign = await stage.drafted(), await other.published(types=[{}])
    assert await offers_of(stage, draft, foreign, {"eventId": str(EventId.new())}) == []


async def test_a_hidden_ticket_is_in_no_price(stage: Stage):
    event = await stage.published(types=[{}, {"name": "Friends", "priceMinor": 100, "status": "HIDDEN"}])
    [offer] = await offers_of(stage, event)
    assert offer["lowestMinor"] == 2500

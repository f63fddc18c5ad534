"""An organisation that has events switched off: nothing of it is listed or sold, and its buyers keep what is theirs."""

from datetime import UTC, datetime

import asyncpg
import httpx
import pytest

from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from admitone.kernel.ids import PLATFORM_ORGANIZATION, uuid7
from admitone.kernel.jobs import Delivered, Desk
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.scope import Caller
from admitone.verticals.events import announcing
from tests.verticals.events.office import Office
from tests.verticals.events.stage import Stage


async def switched(stage: Stage, *, on: bool) -> None:
    path = f"/api/org/{stage.organization}/modules/EVENTOS"
    stage.fine(await stage.site.put(path, json={"enabled": on}, headers=stage.owner.headers))


async def everywhere_in(site: httpx.AsyncClient, town: str) -> list[str]:
    """The ids of what anybody has on there."""
    page = Stage.fine(await site.get("/api/events", params={"city": town}))
    return [each["eventId"] for each in page["items"]]


@pytest.mark.covers("ORG-013")
async def test_what_is_switched_off_stands_in_no_list(stage: Stage, site: httpx.AsyncClient):
    town, feed = f"Town {uuid7().hex}", f"/api/organizations/{stage.organization}/calendar.ics"
    event = await stage.published(types=[{}], about={"venue": {"name": "Coliseu", "city": town, "country": "PT"}})
    await switched(stage, on=False)
    await stage.relayed()
    assert await stage.listed() == []
    assert (await everywhere_in(site, town)) == []
    assert "VEVENT" not in (await site.get(feed)).text
    await switched(stage, on=True)
    await stage.relayed()
    assert await stage.listed() == [event["eventId"]]
    assert (await everywhere_in(site, town)) == [event["eventId"]]
    assert "VEVENT" in (await site.get(feed)).text


@pytest.mark.covers("ORG-013")
async def test_what_is_told_late_of_an_event_opens_no_closed_house(stage: Stage):
    """Facts come in any order: that it was published may be heard after it was switched off."""
    draft = await stage.offered(await stage.drafted())
    stage.fine(await stage.ask("POST", f"/{draft['eventId']}/publish"))
    known = set(stage.announced)
    await switched(stage, on=False)
    await stage.relayed()
    assert await stage.listed() == []
    stage.announced = known
    await stage.relayed()
    assert await stage.listed() == []


@pytest.mark.covers("ORG-013")
async def test_what_nobody_heard_of_is_found_in_the_night(stage: Stage, database: Database):
    event = await stage.published(types=[{}])
    await switched(stage, on=False)
    assert await stage.listed() == [event["eventId"]], "nobody has told of it"
    now = datetime.now(UTC)
    firing = Delivered(uuid7(), PLATFORM_ORGANIZATION, Firing("night", now), Caller(), "night", None, 1, now)
    await announcing.look_at_houses.work(Desk(database, Batcher(database)), firing)
    assert await stage.listed() == []


@pytest.mark.covers("ORG-013", "EVT-014")
async def test_whoever_has_the_link_reads_that_nothing_is_sold(stage: Stage, site: httpx.AsyncClient):
    event = await stage.published(types=[{}])
    await switched(stage, on=False)
    page = await stage.page(event)
    assert (page["closed"], page["ticketTypes"][0]["availability"]) == ("OFF", "OVER")
    assert "InStock" not in page["structuredData"]
    offers = stage.fine(await site.get(f"/api/organizations/{stage.organization}/offers?eventId={event['eventId']}"))
    assert [each["availability"] for each in offers["offers"]] == ["OVER"]


@pytest.mark.covers("ORG-013")
async def test_nothing_is_ordered_while_events_are_off_and_what_was_ordered_is_handed_over(office: Office):
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 2))
    await switched(office.stage, on=False)
    refused = await office.ask(event, (kind, 1))
    assert (refused.status_code, refused.json()["errorCode"]) == (409, "EVENT_NOT_ON_SALE")
    assert refused.json()["reason"] == "OFF"
    assert (await office.pool(kind)).held == 2
    await office.pay(order)
    assert [each.status for each in await office.tickets(order)] == ["ACTIVE", "ACTIVE"]


async def test_whoever_is_switched_on_again_is_seen_by_the_latest_look(stage: Stage, superuser: asyncpg.Connection):
    """Who looked earlier and writes later covers nothing."""
    event = await stage.published(types=[{}])
    await switched(stage, on=False)
    await stage.relayed()
    await superuser.execute(
        "UPDATE events.house SET seen_at = now() + interval '1 hour' WHERE organization_id = $1",
        stage.organization.uuid,
    )
    await switched(stage, on=True)
    await stage.relayed()
    assert await stage.listed() == [], event

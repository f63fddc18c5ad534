"""What is sold for an event: terms, pools, seats, and the order in which people see them."""

import asyncio
from typing import Any

import asyncpg
import pytest

from tests.foundation.organizations.clubs import facts_of
from tests.verticals.events.stage import Stage, a_session_id, a_type_id, soon


async def test_a_ticket_is_put_on_sale_with_a_pool_of_its_own(stage: Stage, superuser: asyncpg.Connection):
    event = await stage.drafted()
    event = await stage.offered(event, name="Standing", supply={"capacity": 500}, mostPerBuyer=6, salesUntil=soon())
    event = await stage.offered(event, name="Balcony", priceMinor=4000)
    standing, balcony = event["ticketTypes"]
    assert (standing["name"], standing["pool"]["capacity"], standing["mostPerBuyer"]) == ("Standing", 500, 6)
    assert standing["pool"]["poolId"] != balcony["pool"]["poolId"]
    assert len(await facts_of(superuser, stage.organization, "ticket_type.changed")) == 2


@pytest.mark.covers("FIN-085")
async def test_nothing_costs_nothing_unless_somebody_decided_so(stage: Stage, superuser: asyncpg.Connection):
    event = await stage.drafted()
    refused = await stage.offer(event, priceMinor=0)
    assert (refused.status_code, refused.json()["errorCode"]) == (422, "ZERO_PRICE_NOT_ALLOWED")
    event = await stage.offered(event, priceMinor=0, allowZeroPrice=True)
    paid = (await stage.offered(event, priceMinor=1))["ticketTypes"][1]
    refused = await stage.revise(event, paid, priceMinor=0)
    assert (refused.status_code, refused.json()["errorCode"]) == (422, "ZERO_PRICE_NOT_ALLOWED")
    with pytest.raises(asyncpg.CheckViolationError):
        await superuser.execute(
            "UPDATE events.ticket_type SET price_minor = 0, allows_zero = false WHERE organization_id = $1",
            stage.organization.uuid,
        )
    generous = await stage.drafted(about={"allowZeroPriceTickets": True})
    assert (await stage.offered(generous, priceMinor=0))["ticketTypes"][0]["allowZeroPrice"]


@pytest.mark.covers("FIN-085")
async def test_an_event_of_free_tickets_has_no_other(stage: Stage):
    free = await stage.drafted(about={"pricingMode": "FREE_ONLY"})
    refused = await stage.offer(free, priceMinor=1)
    assert (refused.status_code, refused.json()["errorCode"]) == (422, "ONLY_FREE_TICKETS")
    await stage.offered(free, priceMinor=0)
    event = await stage.offered(await stage.drafted(), priceMinor=1)
    about = {"title": "Free after all", "pricingMode": "FREE_ONLY"}
    refused = await stage.ask("PUT", f"/{event['eventId']}", {"about": about, "version": event["version"]})
    assert (refused.status_code, refused.json()["errorCode"]) == (422, "ONLY_FREE_TICKETS")
    kind = event["ticketTypes"][0]
    assert (await stage.revise(event, kind, status="ARCHIVED")).status_code == 200
    allowed = await stage.ask("PUT", f"/{event['eventId']}", {"about": about, "version": event["version"]})
    assert allowed.status_code == 200, "what is no longer sold does not count"


@pytest.mark.parametrize(
    ("terms", "status"),
    [
        ({"priceMinor": -1}, 422),
        ({"priceMinor": 10**13}, 422),
        ({"priceMinor": 12.5}, 422),
        ({"mostPerOrder": 0}, 422),
        ({"salesFrom": "2031-01-02T00:00:00Z", "salesUntil": "2031-01-02T00:00:00Z"}, 422),
        ({"sessions": [a_session_id()]}, 404),
        ({"sharedPools": ["pol_0198c9a40000700080000000000000e4"]}, 404),
        ({"supply": {"capacity": -1}}, 422),
        ({"name": "Two\nlines"}, 422),
        ({"name": "\u2028"}, 422),
    ],
)
async def test_terms_that_cannot_be_are_refused(stage: Stage, terms: Any, status: int):
    refused = await stage.offer(await stage.drafted(), **terms)
    assert refused.status_code == status, refused.text


async def test_capacity_never_falls_below_what_is_kept_and_sold(stage: Stage):
    event = await stage.published(types=[{"supply": {"capacity": 10}}])
    kind = event["ticketTypes"][0]
    await stage.taken(kind, 3)
    await stage.taken(kind, 2, paid=False)
    refused = await stage.revise(event, kind, supply={"capacity": 4})
    assert (refused.status_code, refused.json()["errorCode"], refused.json()["least"]) == (409, "CAPACITY_TAKEN", 5)
    assert (await stage.seen(event))["ticketTypes"][0]["version"] == 1, "refused is refused whole"
    smaller = stage.fine(await stage.revise(event, kind, priceMinor=3000, supply={"capacity": 5}))
    pool = smaller["ticketTypes"][0]["pool"]
    assert (pool["capacity"], pool["held"], pool["sold"]) == (5, 2, 3)


async def test_a_pool_is_shared_by_types_of_its_event_only(stage: Stage):
    event, other = await stage.drafted(), await stage.drafted()
    hall = {"label": "The hall", "capacity": 8, "idempotencyKey": "hall"}
    shared = stage.fine(await stage.ask("POST", f"/{event['eventId']}/pools", hall), 201)["sharedPools"][0]
    own = shared["pool"]["poolId"]
    assert (await stage.offer(other, sharedPools=[own])).json()["errorCode"] == "SHARED_POOL_NOT_FOUND"
    event = await stage.offered(event, name="Early", sharedPools=[own])
    of_another = event["ticketTypes"][0]["pool"]["poolId"]
    assert (await stage.offer(event, sharedPools=[of_another])).json()["errorCode"] == "SHARED_POOL_NOT_FOUND"
    event = await stage.offered(event, name="Late", sharedPools=[own])
    await stage.taken(event["ticketTypes"][0], 6)
    resized = {"label": "The small hall", "capacity": 5}
    refused = await stage.ask("PUT", f"/{event['eventId']}/pools/{own}", resized)
    assert (refused.status_code, refused.json()["least"]) == (409, 6)
    resized["capacity"] = 6
    changed = stage.fine(await stage.ask("PUT", f"/{event['eventId']}/pools/{own}", resized))["sharedPools"]
    assert [(each["label"], each["pool"]["capacity"]) for each in changed] == [("The small hall", 6)]
    stage.fine(await stage.ask("POST", f"/{event['eventId']}/publish"))
    await stage.relayed()
    early, late = (await stage.page(event))["ticketTypes"]
    assert (early["availability"], late["availability"]) == ("SOLD_OUT", "SOLD_OUT"), "the least of its pools counts"


async def test_seats_have_numbers_and_those_that_somebody_has_stay(stage: Stage):
    event = await stage.drafted()
    event = await stage.offered(event, name="Stalls", supply={"seats": ["A1", "A2", "A3", "A2"]})
    kind = event["ticketTypes"][0]
    assert (kind["seated"], kind["pool"]["capacity"]) == (True, 3)
    await stage.taken(kind, 1)
    plain = await stage.revise(event, kind, supply={"capacity": 9})
    assert (plain.status_code, plain.json()["errorCode"]) == (409, "NOT_SEATED")
    fewer = await stage.revise(event, kind, supply={"seats": []})
    assert fewer.status_code == 409, "somebody sits there"
    more = stage.fine(await stage.revise(event, kind, supply={"seats": ["A1", "A2", "A3", "B1"]}))
    assert more["ticketTypes"][0]["pool"]["capacity"] == 4


async def test_people_see_them_in_the_order_that_somebody_chose(stage: Stage):
    event = await stage.drafted()
    for name in ("One", "Two", "Three"):
        event = await stage.offered(event, name=name)
    one, two, three = (each["ticketTypeId"] for each in event["ticketTypes"])
    path = f"/{event['eventId']}/ticket-order"
    arranged = stage.fine(await stage.ask("PUT", path, {"ticketTypeIds": [three, one]}))
    assert [each["ticketTypeId"] for each in arranged["ticketTypes"]] == [three, one, two]
    refused = await stage.ask("PUT", path, {"ticketTypeIds": [three, a_type_id()]})
    assert (refused.status_code, refused.json()["errorCode"]) == (404, "TICKET_TYPE_NOT_FOUND")


async def test_what_it_is_good_for_stays_once_it_is_sold(stage: Stage):
    nights = [{"label": label, "startsAt": soon(), "endsAt": soon(hours=2)} for label in ("Hall", "Garden")]
    event = await stage.published(schedule={"sessions": nights}, types=[{}])
    hall = event["sessions"][0]["sessionId"]
    changed = stage.fine(await stage.revise(event, event["ticketTypes"][0], sessions=[hall]))["ticketTypes"][0]
    await stage.sold(event)
    refused = await stage.revise(event, changed, sessions=[])
    assert (refused.status_code, refused.json()["field"]) == (409, "sessions")
    dearer = await stage.revise(event, changed, sessions=[hall], priceMinor=9900)
    assert dearer.status_code == 200, "prices are for whoever orders next"


async def test_an_event_has_a_hundred_types_at_most(stage: Stage, superuser: asyncpg.Connection):
    event = await stage.offered(await stage.drafted())
    await superuser.execute(
        "INSERT INTO events.ticket_type (organization_id, id, event_id, name, description, price_minor, allows_zero,"
        " free_per_person, pool_id, shared_pools, seated, most_per_order, status, sessions, position, version,"
        " created_at, changed_at) SELECT organization_id, gen_random_uuid(), event_id, name, description, price_minor,"
        " allows_zero, free_per_person, gen_random_uuid(), shared_pools, seated, most_per_order, status, sessions,"
        " position, version, created_at, changed_at FROM events.ticket_type, generate_series(1, 98)"
        " WHERE organization_id = $1",
        stage.organization.uuid,
    )
    answers = await asyncio.gather(*(stage.offer(event) for _ in range(4)))
    assert sorted(each.status_code for each in answers) == [201, 409, 409, 409]
    assert {each.json()["most"] for each in answers if each.status_code == 409} == {100}


async def test_what_somebody_has_counts_where_it_was_taken_from(stage: Stage):
    event = await stage.published(types=[{"supply": {"capacity": 5}}])
    hall = {"label": "The hall", "capacity": 5, "idempotencyKey": "hall"}
    event = stage.fine(await stage.ask("POST", f"/{event['eventId']}/pools", hall), 201)
    shared = [event["sharedPools"][0]["pool"]["poolId"]]
    kind = stage.fine(await stage.revise(event, event["ticketTypes"][0], sharedPools=shared))["ticketTypes"][0]
    kind = stage.fine(await stage.revise(event, kind, sharedPools=[]))["ticketTypes"][0]
    await stage.taken(kind, 4, paid=False)
    refused = await stage.revise(event, kind, sharedPools=shared)
    assert (refused.status_code, refused.json()["errorCode"]) == (409, "FROZEN_BY_SALE"), "four more than the hall has"
    assert refused.json()["field"] == "shared_pools"
    stage.fine(await stage.revise(event, kind, priceMinor=3000))
    overdue = "UPDATE stock.portion SET expires_at = now() - interval '1 second' WHERE organization_id = $1"
    await stage.superuser.execute(overdue, stage.organization.uuid)
    kind = (await stage.seen(event))["ticketTypes"][0]
    refused = await stage.revise(event, kind, sharedPools=shared)
    assert refused.json()["errorCode"] == "FROZEN_BY_SALE", "it is its buyer's until somebody else has it"


async def test_what_is_kept_for_somebody_stays_good_for_what_they_saw(stage: Stage):
    sessions = [
        {"label": day, "startsAt": soon(hours=hour), "endsAt": soon(hours=hour + 2)}
        for day, hour in (("Friday", 0), ("Saturday", 3))
    ]
    event = await stage.published(types=[{}], schedule={"sessions": sessions})
    kind, friday = event["ticketTypes"][0], [event["sessions"][0]["sessionId"]]
    await stage.taken(kind, 1, paid=False)
    refused = await stage.revise(event, kind, sessions=friday)
    assert (refused.status_code, refused.json()["field"]) == (409, "sessions")

"""Cancelling an event in the console: shown, proved, done as it was shown."""

from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from admitone.foundation.authority.api import STEP_UP_LASTS, MemberRole
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database
from tests.people import a_member, a_person
from tests.verticals.events.office import Office
from tests.verticals.events.stage import Stage
from tests.web.console import Console, boxes_of


async def cancelled(console: Console, event: dict[str, Any], *who: Any, **typed: str) -> Any:
    path = console.of(event, "cancel")
    return await console.send(path, *who, **(await console.boxes(path) | {"sure": "true"} | typed))


async def test_it_is_shown_first_and_nothing_is_done_by_looking(console: Console, stage: Stage):
    event = await stage.published(types=[{}])
    await stage.taken(event["ticketTypes"][0], 3)
    page = await console.fine(console.of(event, "cancel"))
    assert "Nothing has been done yet." in page and "It cannot be undone." in page
    assert "<dt>Tickets that are good no more</dt><dd>3</dd>" in page
    assert (await stage.seen(event))["status"] == "PUBLISHED"


async def test_who_confirms_has_seen_what_is_done(console: Console, stage: Stage):
    event = await stage.published(types=[{}])
    stale = await cancelled(console, event, reason="WEATHER", seen="0" * 64)
    assert stale.status_code == 409
    assert "Something changed since you looked." in stale.text
    assert boxes_of(stale.text)["reason"] == "WEATHER"
    unsure = await cancelled(console, event, reason="WEATHER", sure="")
    assert unsure.status_code == 409 and "Tick the box" in unsure.text
    silent = await cancelled(console, event, reason="")
    assert silent.status_code == 422
    assert (await stage.seen(event))["status"] == "PUBLISHED"


async def test_it_is_cancelled_and_how_far_it_is_is_shown(console: Console, stage: Stage):
    event = await stage.published(types=[{}])
    answer = await cancelled(console, event, reason="WEATHER")
    assert (answer.status_code, answer.headers["location"]) == (303, console.of(event, "cancel"))
    assert (await stage.seen(event))["status"] == "CANCELLED"
    page = await console.fine(console.of(event, "cancel"))
    assert "This event is cancelled." in page and "Refunds" in page
    again = await console.send(console.of(event, "cancel"), reason="WEATHER", sure="true", seen="x")
    assert again.status_code == 303
    assert console.of(event, "edit") not in await console.fine(console.of(event))


@pytest.mark.covers("ORG-024")
async def test_who_must_prove_first_comes_back_to_the_plan_with_their_reason(
    console: Console, stage: Stage, database_url: str
):
    event = await stage.published(types=[{}])
    async with Database(database_url, clock=Clock(-STEP_UP_LASTS - timedelta(minutes=1))) as earlier:
        late = await a_person(earlier, identity=stage.owner.identity, email=stage.owner.email)
    answer = await cancelled(console, event, late, reason="SAFETY")
    assert answer.status_code == 303
    asked = urlsplit(answer.headers["location"])
    [back] = parse_qs(asked.query)["next"]
    assert (asked.path, back.partition("?")[0]) == ("/step-up", "/unsent")
    typed = answer.headers["set-cookie"].partition(";")[0]
    shown = await stage.site.get(back, headers=late.headers | {"cookie": typed})
    assert boxes_of(shown.text)["reason"] == "SAFETY" and "Nothing was done yet." in shown.text
    assert (await stage.seen(event))["status"] == "PUBLISHED"


async def test_who_only_looks_cannot_cancel(console: Console, stage: Stage):
    event = await stage.published(types=[{}])
    viewer = await a_member(stage.database, stage.organization, MemberRole.VIEWER)
    assert (await console.see(console.of(event, "cancel"), viewer)).status_code == 403
    assert (await cancelled(console, event, viewer, reason="WEATHER")).status_code == 403
    assert (await stage.seen(event))["status"] == "PUBLISHED"


async def test_the_plan_says_what_goes_back_and_what_cannot(console: Console, office: Office):
    event, [kind] = await office.on_sale({})
    paid = [await office.begin(await office.order(event, (kind, 2))) for _ in range(2)]
    for each in paid:
        await office.settle(each)
    await office.settle(paid[1], "dispute")
    page = await console.fine(console.of(event, "cancel"))
    assert "<dt>Payments that go back</dt><dd>1</dd>" in page
    assert "<dt>Amount that goes back</dt><dd>€50.00</dd>" in page
    assert "1 payment is with a bank and cannot go back now." in page

    seen = boxes_of(page)
    await office.settle(await office.begin(await office.order(event, (kind, 1))))
    late = await console.send(console.of(event, "cancel"), **(seen | {"reason": "WEATHER", "sure": "true"}))
    assert late.status_code == 409 and "<dt>Amount that goes back</dt><dd>€75.00</dd>" in late.text
    done = await console.send(console.of(event, "cancel"), **(boxes_of(late.text) | {"sure": "true"}))
    assert done.status_code == 303
    await office.work(hurry=True)
    page = await console.fine(console.of(event, "cancel"))
    assert "All refunds are ordered." in page and "Arrived" in page

"""The live door: what whoever watches is told, and when."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from admitone.entitlements.commands.changing import Revoking, revoke
from admitone.entitlements.commands.checking_in import consume
from admitone.entitlements.commands.undoing import Undo, undo
from admitone.entitlements.counting import MOST, Flow, count_doors
from admitone.entitlements.model import Revocation, Tally
from admitone.entitlements.routes.live import per_mille
from admitone.entitlements.store import doors
from admitone.entrypoints.http import Application
from admitone.foundation.authority.api import MemberRole, RolePack
from tests.entitlements.gates import NEVER_MADE, told
from tests.entitlements.rights import EVENT, Hall
from tests.entitlements.test_throttles import first_code
from tests.people import a_member, a_person

PATIENCE = 30


def path_of(hall: Hall, what: str, event: str = EVENT) -> str:
    return f"/api/org/{hall.organization}/checkin/events/{event}/{what}"


@asynccontextmanager
async def listening(application: Application, hall: Hall, event: str = EVENT) -> AsyncIterator[Any]:
    """What a browser hears: each event as it comes. (The client of these tests waits for the end of an answer.)"""
    said: asyncio.Queue[bytes] = asyncio.Queue()
    left = asyncio.Event()
    began = {"answered": False}

    async def receive() -> dict[str, Any]:
        if not began["answered"]:
            began["answered"] = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            assert message["status"] == 200
            assert (b"content-type", b"text/event-stream") in message["headers"]
        elif message["body"]:
            await said.put(message["body"])

    async def events() -> AsyncIterator[dict[str, Any]]:
        while True:
            async with asyncio.timeout(PATIENCE):
                chunk = await said.get()
            if chunk.startswith(b"event: counts\n"):
                yield json.loads(chunk.partition(b"data: ")[2])

    headers = [(name.encode(), value.encode()) for name, value in hall.staff.headers.items()]
    scope = {
        "type": "http",
        "method": "GET",
        "path": path_of(hall, "live", event),
        "query_string": b"",
        "headers": headers,
        "scheme": "http",
        "client": ("198.51.100.7", 4711),
    }
    serving = asyncio.create_task(application.edge(scope, receive, send))
    heard = events()
    yield heard
    left.set()
    async with asyncio.timeout(PATIENCE):
        await serving
    await heard.aclose()


async def scan_all(hall: Hall, *scans: Any) -> list[Any]:
    return [*await hall.database.run(hall.scope, lambda tx: consume(tx, scans))]


@pytest.mark.covers("ENT-033")
async def test_a_page_is_told_at_once_and_whenever_something_happens(application: Application, hall: Hall):
    [first, second] = await hall.grant_many(2)
    async with listening(application, hall) as heard:
        nothing = await anext(heard)
        assert (nothing["inside"], nothing["expected"], nothing["gates"]) == (0, 2, [])
        await scan_all(hall, hall.a_scan(first_code(first), gate="North", device="n1"))
        entered = await anext(heard)
        assert (entered["inside"], entered["gates"][0]["gate"], entered["gates"][0]["inside"]) == (1, "North", 1)
        await scan_all(hall, hall.a_scan(first_code(second), gate="South", device="s1"))
        assert (await anext(heard))["inside"] == 2
    assert len(application.edge._ground.polls) == 0, "nobody asks when nobody listens"


async def test_ten_pages_of_one_event_ask_once(application: Application, hall: Hall, monkeypatch: pytest.MonkeyPatch):
    async with listening(application, hall) as first, listening(application, hall) as second:
        assert await anext(first) == await anext(second)
        assert len(application.edge._ground.polls) == 2, "what happened, and who is expected"
        async with listening(application, hall, "evt-matinee") as third:
            await anext(third)
            assert len(application.edge._ground.polls) == 4


@pytest.mark.covers("ENT-033", "OPS-004")
async def test_counts_are_those_of_the_log_by_gate_and_by_session(site: httpx.AsyncClient, hall: Hall):
    days = [
        await hall.grant(session_id="day-1"),
        await hall.grant(session_id="day-1"),
        await hall.grant(session_id="day-2"),
    ]
    free = await hall.grant()
    gone = await hall.grant(session_id="day-1")
    await hall.submit(revoke, Revoking(hall.staff.caller, gone.id, Revocation.ADMIN))
    await hall.grant(event_id="evt-other")
    north, south = {"gate": "North", "device": "n1"}, {"gate": "South", "device": "s1"}
    entries = await scan_all(
        hall,
        hall.a_scan(first_code(days[0]), session_id="day-1", **north),
        hall.a_scan(first_code(days[0]), session_id="day-1", **north),
        hall.a_scan(first_code(days[2]), session_id="day-1", **north),
        hall.a_scan(first_code(free), **south),
        hall.a_scan(first_code(gone), session_id="day-1", **south),
        hall.a_scan(NEVER_MADE, **south),
    )
    await hall.submit(undo, Undo(hall.staff.caller, entries[3].checkin, "WRONG_PERSON", "desk"))
    answer = (await site.get(path_of(hall, "counts"), headers=hall.staff.headers)).json()
    flow = ("inside", "admitted", "undone", "duplicates", "denied", "duplicatesPerMille", "deniedPerMille")
    assert [answer[each] for each in flow] == [1, 2, 1, 1, 3, 167, 500]
    assert answer["expected"] == 4
    assert {each["gate"]: [each[one] for one in flow[:5]] for each in answer["gates"]} == {
        "North": [1, 1, 0, 1, 1],
        "South": [0, 1, 1, 0, 2],
    }
    assert {each["sessionId"]: (each["expected"], each["inside"], each["denied"]) for each in answer["sessions"]} == {
        None: (1, 0, 1),
        "day-1": (2, 1, 2),
        "day-2": (1, 0, 0),
    }


async def test_quarters_of_an_hour_show_when_people_came(site: httpx.AsyncClient, hall: Hall):
    rights = await hall.grant_many(3)
    noon = rights[0].created_at.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    instants = [noon + timedelta(minutes=14, seconds=59), noon + timedelta(minutes=15), noon + timedelta(minutes=29)]
    for right, at in zip(rights, instants, strict=True):
        assert (await hall.at(at, consume, hall.a_scan(first_code(right), device="n1"))).allow
    answer = (await site.get(path_of(hall, "quarters"), headers=hall.staff.headers)).json()["quarters"]
    came = [(datetime.fromisoformat(each["beginsAt"]), each["admitted"]) for each in answer]
    assert came == [(noon, 1), (noon + timedelta(minutes=15), 2)]
    since = {"since": (noon + timedelta(minutes=15)).isoformat()}
    later = (await site.get(path_of(hall, "quarters"), params=since, headers=hall.staff.headers)).json()["quarters"]
    assert len(later) == 1


async def test_who_may_look_looks_and_nobody_else(site: httpx.AsyncClient, hall: Hall):
    looker = await a_member(hall.database, hall.organization, MemberRole.STAFF, RolePack.REFEREE)
    stranger = await a_person(hall.database)
    coach = await a_member(hall.database, hall.organization, MemberRole.TRAINER, RolePack.COACH)
    assert (await site.get(path_of(hall, "counts"), headers=looker.headers)).status_code == 200
    for who in (stranger, coach):
        for what in ("counts", "live", "quarters"):
            assert told(await site.get(path_of(hall, what), headers=who.headers)) == (403, "PERMISSION_DENIED")
    assert told(await site.get(path_of(hall, "live"))) == (401, "UNAUTHENTICATED")


def test_shares_are_rounded_half_up():
    assert [per_mille(1, 3), per_mille(1, 2000), per_mille(1, 2001), per_mille(0, 0)] == [333, 1, 0, 0]
    assert Flow(admitted=3, undone=1, duplicates=2, denied=1).scans == 6


@pytest.mark.covers("ENT-033")
async def test_however_many_gates_somebody_makes_up_the_sum_is_the_sum(hall: Hall):
    minute = datetime.now(UTC).replace(second=0, microsecond=0)
    tallies = [Tally(EVENT, "d", minute, f"gate-{n:05}", f"day-{n % 2}", admitted=1) for n in range(MOST + 100)]
    await hall.database.run(hall.scope, lambda tx: doors.count(tx, tallies))
    counted = await hall.database.read(hall.scope, count_doors, EVENT)
    assert counted.flow.admitted == MOST + 100
    assert [(own, flow.admitted) for own, flow, _ in counted.sessions] == [("day-0", 1_050), ("day-1", 1_050)]
    assert len(counted.gates) < MOST

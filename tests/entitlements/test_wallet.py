"""The wallet over HTTP: one's own rights wherever they were bought, and the code that opens the door."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from admitone.entitlements import pictures
from admitone.entitlements.commands.changing import (
    Release,
    Revoking,
    Suspension,
    Transfer,
    release,
    revoke,
    suspend,
    transfer,
)
from admitone.entitlements.model import CheckinPolicy, Entitlement, Hold, Method, Reason, Revocation
from admitone.entitlements.routes.wallet import CODES_PER_PERSON, offline_code, phone_pass
from admitone.finance.sources.api import Source, SourceType
from admitone.foundation.authority.model import MemberRole
from admitone.kernel.db import Database
from tests.entitlements import camera
from tests.entitlements.rights import Hall, a_hall
from tests.entitlements.wallets import later
from tests.people import Person, a_person, a_platform_admin

BY_HAND = CheckinPolicy(methods=(Method.MANUAL,))


async def a_booking(hall: Hall, **more: Any) -> Entitlement:
    """An hour of padel: no event, no code."""
    said = {"source": Source(SourceType.BOOKING, "booking-1"), "event_id": None, "policy_version": None}
    return await hall.grant(**({"policy": BY_HAND, "label": "Court 1"} | said | more))


async def seen(site: httpx.AsyncClient, person: Person, **query: Any) -> dict[str, Any]:
    answer = await site.get("/api/me/wallet", headers=person.headers, params=query)
    assert answer.status_code == 200, answer.text
    page: dict[str, Any] = answer.json()
    return page


async def ask(site: httpx.AsyncClient, person: Person, right: Entitlement, what: str = "/code") -> httpx.Response:
    return await site.get(f"/api/me/entitlements/{right.id}{what}", headers=person.headers)


async def confirm(site: httpx.AsyncClient, person: Person, right: Entitlement, key: str) -> httpx.Response:
    path = f"/api/me/entitlements/{right.id}/presence"
    return await site.post(path, headers=person.headers, json={"idempotencyKey": key})


def refused(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["errorCode"]


@pytest.mark.covers("EVT-005")
async def test_a_wallet_holds_what_one_has_everywhere_split_by_the_end_of_its_time(hall: Hall, site: httpx.AsyncClient):
    now, elsewhere = datetime.now(UTC), await a_hall(hall.database, hall.batcher)
    me = hall.guest
    tonight = await hall.grant(label="Tonight", session_id="night-1")
    next_week = await elsewhere.grant(
        owner=me.identity, label="Next week", valid_from=now + timedelta(days=7), valid_until=now + timedelta(days=8)
    )
    over = await elsewhere.grant(
        owner=me.identity, label="Over", valid_from=now - timedelta(days=2), valid_until=now - timedelta(days=1)
    )
    await elsewhere.grant()

    coming = await seen(site, me)
    assert [item["label"] for item in coming["items"]] == ["Tonight", "Next week"]
    [first, second] = coming["items"]
    assert first["entitlementId"] == str(tonight.id)
    assert [first["organizationId"], second["organizationId"]] == [str(hall.organization), str(elsewhere.organization)]
    assert (first["eventId"], first["sessionId"], first["sourceType"]) == ("evt-festival", "night-1", "TICKET_ORDER")
    assert (first["status"], first["entries"], first["maxEntries"], first["hasCode"]) == ("ACTIVE", 0, 1, True)
    [past] = (await seen(site, me, section="HISTORY"))["items"]
    assert (past["entitlementId"], past["status"], past["hasCode"]) == (str(over.id), "EXPIRED", False)
    assert (await ask(site, me, next_week, "")).json() == second

    stranger = await a_person(hall.database)
    assert (await seen(site, stranger))["items"] == []
    assert refused(await ask(site, stranger, tonight, "")) == (404, "ENTITLEMENT_NOT_FOUND")
    assert (await site.get("/api/me/wallet")).status_code == 401


@pytest.mark.covers("EVT-005")
async def test_a_wallet_is_read_page_by_page_and_nothing_is_left_out(hall: Hall, site: httpx.AsyncClient):
    ends = datetime.now(UTC) + timedelta(hours=3)
    given = {str((await hall.grant(valid_until=ends + timedelta(minutes=n // 2))).id) for n in range(5)}
    past = ends - timedelta(days=9)
    gone = [await hall.grant(valid_from=past - timedelta(hours=n + 1), valid_until=past) for n in range(3)]
    for section, expected in (("ACTIVE", given), ("HISTORY", {str(each.id) for each in gone})):
        found, cursor = list[str](), None
        while True:
            page = await seen(site, hall.guest, section=section, limit=2, **({"cursor": cursor} if cursor else {}))
            found += [item["entitlementId"] for item in page["items"]]
            cursor = page["nextCursor"]
            if cursor is None:
                break
        assert len(found) == len(expected)
        assert {*found} == expected


@pytest.mark.covers("ENT-002", "ENT-009")
async def test_whoever_owns_it_is_told_why_it_cannot_be_used_and_not_whom_we_suspect(
    hall: Hall, site: httpx.AsyncClient
):
    disputed, watched, refunded = await hall.grant(), await hall.grant(), await hall.grant()
    await hall.submit(suspend, Suspension(hall.staff.caller, disputed.id, Hold.DISPUTE))
    for hold in (Hold.FRAUD, Hold.INVESTIGATION):
        await hall.submit(suspend, Suspension(hall.staff.caller, watched.id, hold))
    await hall.submit(revoke, Revoking(hall.staff.caller, refunded.id, Revocation.REFUND))
    kept, ended = await hall.grant(pending=True), datetime.now(UTC) - timedelta(minutes=1)
    over = await hall.grant(valid_until=ended)
    items = {item["entitlementId"]: item for item in (await seen(site, hall.guest))["items"]}
    assert {
        name: (items[str(each.id)]["status"], items[str(each.id)]["suspendedFor"], items[str(each.id)]["revokedFor"])
        for name, each in {"disputed": disputed, "watched": watched, "refunded": refunded, "kept": kept}.items()
    } == {
        "disputed": ("SUSPENDED", ["DISPUTE"], None),
        "watched": ("SUSPENDED", ["REVIEW"], None),
        "refunded": ("REVOKED", [], "REFUND"),
        "kept": ("PENDING", [], None),
    }
    useless = {"SUSPENDED": disputed, "REVOKED": refunded, "PENDING": kept, "EXPIRED": over}
    for status, each in useless.items():
        for form in ("/code", "/code.svg", "/code.png"):
            answer = await ask(site, hall.guest, each, form)
            assert refused(answer) == (409, "ENTITLEMENT_NOT_ACTIVE")
            assert answer.json()["status"] == status


@pytest.mark.covers("ENT-009")
async def test_the_code_is_the_same_as_text_and_as_pictures_and_opens_the_door(hall: Hall, site: httpx.AsyncClient):
    ticket = await hall.grant()
    text, svg, png = [await ask(site, hall.guest, ticket, form) for form in ("/code", "/code.svg", "/code.png")]
    payload = text.json()["payload"]
    assert camera.read(camera.in_svg(svg.text)) == payload
    assert camera.read(camera.in_png(png.content, pictures.PIXELS)) == payload
    assert [each.headers["content-type"] for each in (svg, png)] == ["image/svg+xml", "image/png"]
    assert {each.headers["cache-control"] for each in (text, svg, png)} == {"no-store"}
    ends = datetime.fromisoformat(text.json()["validUntil"])
    assert timedelta(hours=23) < ends - datetime.now(UTC) <= timedelta(hours=24)
    assert ends - datetime.fromisoformat(text.json()["refreshAt"]) == timedelta(minutes=30)
    assert (await hall.scan(payload)).allow


@pytest.mark.covers("ENT-009")
async def test_a_wallet_that_is_left_open_is_served_the_next_code_in_time(
    hall: Hall, site: httpx.AsyncClient, database_url: str
):
    async with later(hall, database_url, hours=-23, minutes=-45) as yesterday:
        ticket = await yesterday.grant(valid_until=datetime.now(UTC) + timedelta(hours=9))
        old = await yesterday.code(ticket)
    answers = await asyncio.gather(*(ask(site, hall.guest, ticket) for _ in range(8)))
    [new] = {answer.json()["payload"] for answer in answers}
    assert new != old
    assert datetime.fromisoformat(answers[0].json()["refreshAt"]) > datetime.now(UTC)
    assert (await hall.find(ticket.id)).epoch == 2
    assert (await hall.scan(old)).allow
    assert (await hall.scan(new)).reason is Reason.ALREADY_CONSUMED, "one right, whichever code shows it"


@pytest.mark.covers("ENT-009", "ENT-026")
async def test_nobody_else_is_shown_a_code_and_a_former_owner_has_none(hall: Hall, site: httpx.AsyncClient):
    ticket = await hall.grant()
    friend, stranger = await a_person(hall.database), await a_person(hall.database)
    for person in (stranger, hall.staff):
        for form in ("/code", "/code.svg", "/code.png"):
            assert refused(await ask(site, person, ticket, form)) == (404, "ENTITLEMENT_NOT_FOUND")
    assert (await site.get(f"/api/me/entitlements/{ticket.id}/code")).status_code == 401
    before = (await ask(site, hall.guest, ticket)).json()["payload"]
    await hall.submit(transfer, Transfer(hall.staff.caller, ticket.id, friend.identity))
    assert refused(await ask(site, hall.guest, ticket)) == (404, "ENTITLEMENT_NOT_FOUND")
    after = (await ask(site, friend, ticket)).json()["payload"]
    assert (await hall.scan(before)).reason is Reason.TOKEN_EXPIRED
    assert (await hall.scan(after)).allow


@pytest.mark.covers("ENT-009", "ENT-007")
async def test_what_was_disputed_and_won_has_a_code_that_nobody_had_seen(hall: Hall, site: httpx.AsyncClient):
    ticket = await hall.grant()
    before = (await ask(site, hall.guest, ticket)).json()["payload"]
    await hall.submit(suspend, Suspension(hall.staff.caller, ticket.id, Hold.DISPUTE))
    assert refused(await ask(site, hall.guest, ticket)) == (409, "ENTITLEMENT_NOT_ACTIVE")
    await hall.submit(release, Release(hall.staff.caller, ticket.id, Hold.DISPUTE))
    after = (await ask(site, hall.guest, ticket)).json()["payload"]
    assert after != before
    assert (await hall.scan(before)).reason is Reason.TOKEN_EXPIRED
    assert (await hall.scan(after)).allow


async def test_whoever_asks_for_codes_too_often_waits(hall: Hall, site: httpx.AsyncClient):
    ticket = await hall.grant()
    most = CODES_PER_PERSON.count
    answers = [await ask(site, hall.guest, ticket, "/code.svg") for _ in range(most + 1)]
    assert [answer.status_code for answer in answers] == [200] * most + [429]
    assert (await ask(site, hall.guest, ticket)).status_code == 429, "as a text, too"
    other = await hall.grant(owner=hall.staff.identity)
    assert (await ask(site, hall.staff, other)).status_code == 200


@pytest.mark.covers("ENT-013", "ENT-017", "ENT-022")
async def test_whoever_booked_confirms_that_they_were_there_once(hall: Hall, site: httpx.AsyncClient):
    booking = await a_booking(hall)
    [item] = (await seen(site, hall.guest))["items"]
    assert (item["canConfirmPresence"], item["hasCode"]) == (True, False)
    first = await confirm(site, hall.guest, booking, "there-1")
    assert first.status_code == 200, first.text
    said = first.json()
    assert (said["allow"], said["entitlementId"]) == (True, str(booking.id))
    again = (await confirm(site, hall.guest, booking, "there-1")).json()
    assert again["checkinId"] == said["checkinId"], "the same key, the same answer"
    twice = (await confirm(site, hall.guest, booking, "there-2")).json()
    assert (twice["allow"], twice["reasonCode"]) == (False, "ALREADY_CONSUMED")
    [item] = (await seen(site, hall.guest))["items"]
    assert (item["status"], item["entries"], item["canConfirmPresence"]) == ("ACTIVE", 1, False)
    marked = await mark_done(site, hall, booking)
    assert (marked["allow"], marked["reasonCode"]) == (False, "ALREADY_CONSUMED")


async def mark_done(site: httpx.AsyncClient, hall: Hall, right: Entitlement) -> dict[str, Any]:
    path = f"/api/org/{hall.organization}/checkin/entitlements/{right.id}/consume"
    answer = await site.post(path, headers=hall.staff.headers, json={"idempotencyKey": f"done-{right.id}"})
    assert answer.status_code == 200, answer.text
    said: dict[str, Any] = answer.json()
    return said


@pytest.mark.covers("ENT-013", "ENT-017")
async def test_the_organisation_marks_a_booking_as_done_that_has_no_event(hall: Hall, site: httpx.AsyncClient):
    booking, ticket = await a_booking(hall), await hall.grant(policy=BY_HAND)
    assert (await mark_done(site, hall, booking))["allow"]
    elsewhere = await mark_done(site, hall, ticket)
    assert (elsewhere["allow"], elsewhere["reasonCode"]) == (False, "WRONG_EVENT"), "a ticket is for its event"


@pytest.mark.covers("ENT-013", "ENT-014")
async def test_presence_is_confirmed_by_its_owner_where_it_may_be_and_when_it_is(hall: Hall, site: httpx.AsyncClient):
    now, stranger = datetime.now(UTC), await a_person(hall.database)
    booking = await a_booking(hall)
    assert refused(await confirm(site, stranger, booking, "k1")) == (404, "ENTITLEMENT_NOT_FOUND")
    ticket = await hall.grant(policy=BY_HAND)
    assert refused(await confirm(site, hall.guest, ticket, "k2")) == (409, "PRESENCE_NOT_CONFIRMABLE")
    coded = await a_booking(hall, policy=CheckinPolicy(methods=(Method.QR_BOOKING,)))
    assert refused(await confirm(site, hall.guest, coded, "k3")) == (409, "PRESENCE_NOT_CONFIRMABLE")
    early = await a_booking(hall, valid_from=now + timedelta(hours=1), valid_until=now + timedelta(hours=2))
    held = await a_booking(hall)
    await hall.submit(suspend, Suspension(hall.staff.caller, held.id, Hold.DISPUTE))
    for right, why in ((early, "NOT_YET_VALID"), (held, "ENTITLEMENT_NOT_ACTIVE")):
        said = (await confirm(site, hall.guest, right, f"k-{right.id}")).json()
        assert (said["allow"], said["reasonCode"]) == (False, why)
    entries = [(await hall.find(each.id)).entries for each in (booking, ticket, coded, early, held)]
    assert entries == [0] * 5


@pytest.mark.covers("ENT-011")
async def test_passes_and_signed_codes_are_later_whatever_a_switch_says(
    hall: Hall, site: httpx.AsyncClient, database: Database
):
    ticket = await hall.grant()
    admin = await a_platform_admin(database, MemberRole.OWNER)
    said = {"reasonCode": "PILOT_APPROVED", "caseReference": "a-1"}
    assert (phone_pass.gate, offline_code.gate) == ("wallet.passes", "checkin.offline_codes")
    for feature, what in ((phone_pass.gate, "/pass"), (offline_code.gate, "/offline-code")):
        assert refused(await ask(site, hall.guest, ticket, what)) == (403, "FEATURE_DISABLED")
        switch = f"/api/admin/features/{feature}"
        on = await site.post(f"{switch}/on", headers=admin.headers, json=said)
        assert on.status_code == 200, on.text
        assert refused(await ask(site, hall.guest, ticket, what)) == (403, "FEATURE_DISABLED")
        assert (await site.post(f"{switch}/off", headers=admin.headers, json=said)).status_code == 204

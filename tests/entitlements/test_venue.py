"""Doors without a network: so many entries, for a while, by a list; and what is found out when the device is back."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import msgspec
import pytest

from admitone.entitlements import policy
from admitone.entitlements.codes import digest_of, new_token
from admitone.entitlements.commands.changing import Revoking, revoke
from admitone.entitlements.commands.leasing import LetIn, Sync, synchronise
from admitone.entitlements.kinds import TICKET, Audience, TokenKind
from admitone.entitlements.model import Entitlement, Incident, LeaseId, Reason, Revocation, Status
from admitone.entitlements.port import KINDS
from admitone.foundation.authority.api import MemberRole
from admitone.kernel.scope import Caller
from tests.entitlements.rights import EVENT, Hall
from tests.people import a_member

COUPON = TokenKind("coupon", timedelta(seconds=300), timedelta(0), Audience.MERCHANT, offline=False, single_use=True)


class Device:
    """One telephone at one door."""

    def __init__(self, site: httpx.AsyncClient, hall: Hall, name: str) -> None:
        self._site, self._hall, self.name = site, hall, name
        self._keys = 0

    async def ask(self, way: str, path: str, **more: Any) -> httpx.Response:
        headers = self._hall.staff.headers | {"x-device-id": self.name}
        return await self._site.request(
            way, f"/api/org/{self._hall.organization}/checkin/{path}", headers=headers, **more
        )

    async def lease(self, entries: int = 100, **more: Any) -> LeaseId:
        self._keys += 1
        body = {"entriesAllowed": entries, "idempotencyKey": f"{self.name}-{self._keys}"} | more
        given = await self.ask("POST", f"events/{EVENT}/leases", json=body)
        assert given.status_code == 200, given.text
        return LeaseId.parse(given.json()["lease"]["leaseId"])

    async def listed(self, lease: LeaseId) -> set[str]:
        page = await self.ask("GET", f"leases/{lease}/codes")
        assert page.status_code == 200, page.text
        assert page.headers["content-encoding"] == "gzip"
        return {digest for right in page.json()["rights"] for digest in right["digests"]}

    async def sync(self, lease: LeaseId, *let_in: tuple[str, str, datetime]) -> httpx.Response:
        body = {"letIn": [{"key": key, "digest": digest, "at": at.isoformat()} for key, digest, at in let_in]}
        return await self.ask("POST", f"leases/{lease}/sync", json=body)


def a_device(site: httpx.AsyncClient, hall: Hall, name: str) -> Device:
    return Device(site, hall, f"{name}-{hall.organization.uuid.hex[:8]}")


async def digest(hall: Hall, right: Entitlement) -> str:
    return digest_of(await hall.code(right)).hex()


@pytest.mark.covers("ENT-030", "ENT-032")
async def test_the_list_has_what_is_good_and_nothing_else(hall: Hall, site: httpx.AsyncClient):
    north = a_device(site, hall, "north")
    good, gone, used = [await hall.grant() for _ in range(3)]
    other, kept = await hall.grant(event_id="evt-other"), await hall.grant(pending=True)
    digests = {right.id: await digest(hall, right) for right in (good, gone, used, other)}
    await hall.scan(await hall.code(used))
    lease = await north.lease()
    assert await north.listed(lease) == {digests[good.id], digests[gone.id], digests[used.id]}
    await hall.submit(revoke, Revoking(Caller(), gone.id, Revocation.REFUND))
    assert await north.listed(lease) == {digests[good.id], digests[used.id]}
    assert kept.status is Status.PENDING


@pytest.mark.covers("ENT-030")
async def test_what_was_used_is_on_the_list_with_when_and_where(hall: Hall, site: httpx.AsyncClient):
    fresh, used = await hall.grant(), await hall.grant()
    let_in = await hall.scan(await hall.code(used), device="south", gate="South")
    await hall.scan(await hall.code(used), device="west", gate="West")
    north = a_device(site, hall, "north")
    page = (await north.ask("GET", f"leases/{await north.lease()}/codes")).json()["rights"]
    listed = {each["entitlementId"]: (each["entriesLeft"], each["lastEntryAt"], each["lastGate"]) for each in page}
    assert listed[str(fresh.id)] == (1, None, None)
    left, at, gate = listed[str(used.id)]
    assert (left, datetime.fromisoformat(at), gate) == (0, let_in.at, "South")


@pytest.mark.covers("ENT-031")
async def test_an_entry_whose_answer_the_device_never_heard_is_recorded_once(hall: Hall, site: httpx.AsyncClient):
    right = await hall.grant()
    code = await hall.code(right)
    north, south = a_device(site, hall, "north"), a_device(site, hall, "south")
    leases = {each.name: await each.lease() for each in (north, south)}
    asked = {"qrPayload": code, "eventId": EVENT, "idempotencyKey": "k1"}
    headers = hall.staff.headers | {"x-device-id": north.name, "x-orya-org-id": str(hall.organization)}
    answer = (await site.post("/api/internal/checkin/consume", json=asked, headers=headers)).json()
    assert answer["allow"]
    let_in = ("k1", digest_of(code).hex(), datetime.now(UTC))
    for _ in range(2):
        [recorded] = (await north.sync(leases[north.name], let_in)).json()["recorded"]
        assert recorded["checkinId"] == answer["checkinId"]
        assert (recorded["admitted"], recorded["incident"], recorded["replayed"]) == (True, None, True)
    after = await hall.find(right.id)
    assert (after.entries, after.duplicates) == (1, 0)
    # The same key of another device, and another key of the same, are other entries.
    for device, key in ((south, "k1"), (north, "k2")):
        [recorded] = (await device.sync(leases[device.name], (key, *let_in[1:]))).json()["recorded"]
        assert recorded["incident"] == "CHECKIN_DUPLICATE"


@pytest.mark.covers("ENT-031")
async def test_an_entry_that_the_server_refused_and_the_list_allowed_is_an_incident(
    hall: Hall, site: httpx.AsyncClient
):
    right = await hall.grant()
    code = await hall.code(right)
    north = a_device(site, hall, "north")
    lease = await north.lease()
    await hall.scan(code, device="south")
    asked = {"qrPayload": code, "eventId": EVENT, "idempotencyKey": "k1"}
    headers = hall.staff.headers | {"x-device-id": north.name, "x-orya-org-id": str(hall.organization)}
    assert not (await site.post("/api/internal/checkin/consume", json=asked, headers=headers)).json()["allow"]
    [recorded] = (await north.sync(lease, ("k1", digest_of(code).hex(), datetime.now(UTC)))).json()["recorded"]
    assert recorded["incident"] == "CHECKIN_DUPLICATE"


@pytest.mark.covers("ENT-030")
async def test_what_may_not_be_let_in_without_asking_is_on_no_list(hall: Hall, site: httpx.AsyncClient):
    with KINDS.wired({TICKET.name: TICKET, COUPON.name: COUPON}):
        right = await hall.grant(kind=COUPON.name)
        shown = await digest(hall, right)
        north = a_device(site, hall, "north")
        lease = await north.lease()
        assert await north.listed(lease) == set()
        said = await north.sync(lease, ("1", shown, datetime.now(UTC)))
    assert said.json()["recorded"][0]["incident"] == "OFFLINE_NOT_ALLOWED"
    assert (await hall.find(right.id)).entries == 0


@pytest.mark.covers("ENT-031")
async def test_two_devices_that_let_in_one_right_are_one_entry_and_one_duplicate(hall: Hall, site: httpx.AsyncClient):
    right = await hall.grant()
    shown, now = await digest(hall, right), datetime.now(UTC)
    north, south = a_device(site, hall, "north"), a_device(site, hall, "south")
    leases = [await north.lease(), await south.lease()]
    said = await asyncio.gather(
        north.sync(leases[0], ("a", shown, now)), south.sync(leases[1], ("a", shown, now)), return_exceptions=False
    )
    recorded = [each.json()["recorded"][0] for each in said]
    assert sorted((each["admitted"], each["incident"]) for each in recorded) == [
        (False, "CHECKIN_DUPLICATE"),
        (True, None),
    ]
    after = await hall.find(right.id)
    assert (after.entries, after.duplicates) == (1, 1)
    assert (await hall.scan(await hall.code(right))).reason is Reason.ALREADY_CONSUMED


@pytest.mark.covers("ENT-031")
async def test_what_is_sent_twice_is_recorded_once(hall: Hall, site: httpx.AsyncClient):
    rights = [await hall.grant() for _ in range(3)]
    now = datetime.now(UTC)
    batch = [(str(number), await digest(hall, right), now) for number, right in enumerate(rights)]
    north = a_device(site, hall, "north")
    lease = await north.lease()
    first = await north.sync(lease, *batch)
    again = await asyncio.gather(*(north.sync(lease, *batch) for _ in range(5)))
    assert [each["admitted"] for each in first.json()["recorded"]] == [True] * 3
    for each in again:
        assert [(one["admitted"], one["incident"], one["replayed"]) for one in each.json()["recorded"]] == [
            (True, None, True)
        ] * 3
    assert [(await hall.find(right.id)).entries for right in rights] == [1, 1, 1]
    leased = again[-1].json()["lease"]
    assert leased["entriesUsed"] == 3


async def test_staff_see_beforehand_what_could_go_wrong(hall: Hall, site: httpx.AsyncClient):
    north, south = a_device(site, hall, "north"), a_device(site, hall, "south")
    await north.lease(50)
    lost = await south.lease(70)
    await north.lease(40)
    seen = (await north.ask("GET", f"events/{EVENT}/leases")).json()
    assert (seen["exposure"]["devices"], seen["exposure"]["atMostTwice"]) == (2, 110)
    taken = await north.ask("POST", f"leases/{lost}/revoke", json={"reasonCode": "DEVICE_LOST"})
    assert taken.json()["revokedAt"] is not None
    seen = (await north.ask("GET", f"events/{EVENT}/leases")).json()
    assert seen["exposure"]["atMostTwice"] == 40
    assert (await south.ask("GET", f"leases/{lost}/codes")).json()["errorCode"] == "LEASE_OVER"


async def test_nobody_else_works_by_a_devices_lease(hall: Hall, site: httpx.AsyncClient, database):
    north, south = a_device(site, hall, "north"), a_device(site, hall, "south")
    lease = await north.lease()
    assert (await south.ask("GET", f"leases/{lease}/codes")).json()["errorCode"] == "LEASE_NOT_FOUND"
    assert (await south.sync(lease)).json()["errorCode"] == "LEASE_NOT_FOUND"
    viewer = await a_member(database, hall.organization, MemberRole.VIEWER)
    path = f"/api/org/{hall.organization}/checkin/leases/{lease}/codes"
    refused = await site.get(path, headers=viewer.headers | {"x-device-id": north.name})
    assert refused.status_code == 403
    nameless = await site.get(path, headers=hall.staff.headers)
    assert nameless.json()["errorCode"] == "DEVICE_REQUIRED"


@pytest.mark.covers("ENT-030", "ENT-032")
async def test_entries_that_should_not_have_been_are_told_and_not_lost(hall: Hall, site: httpx.AsyncClient):
    north = a_device(site, hall, "north")
    lease = await north.lease(2)
    now = datetime.now(UTC)
    rights = [await hall.grant() for _ in range(5)]
    shown = [await digest(hall, right) for right in rights]
    await hall.submit(revoke, Revoking(Caller(), rights[0].id, Revocation.REFUND))
    said = await north.sync(
        lease,
        ("before", shown[1], now - timedelta(hours=3)),
        ("ahead", shown[2], now + timedelta(hours=1)),
        ("gone", shown[0], now + timedelta(seconds=30)),
        ("over", shown[3], now + timedelta(seconds=31)),
        ("forged", "00" * 16, now),
    )
    told = {each["key"]: (each["admitted"], each["incident"]) for each in said.json()["recorded"]}
    assert told == {
        "before": (True, "OUT_OF_LEASE"),
        "ahead": (True, "CLOCK_AHEAD"),
        "gone": (False, "NOT_ACTIVE_THEN"),
        "over": (True, "OVER_LEASE"),
        "forged": (False, "NOT_ON_LIST"),
    }
    for right in rights[1:4]:
        after = await hall.find(right.id)
        assert after.entries == 1
        assert after.consumed_at is not None
        assert after.consumed_at <= datetime.now(UTC)


@pytest.mark.covers("ENT-030")
@pytest.mark.parametrize(
    ("minutes", "incident"), [(29, None), (31, Incident.OUT_OF_LEASE), (119, Incident.OUT_OF_LEASE)]
)
async def test_half_an_hour_without_touch_is_the_most(hall: Hall, minutes: int, incident: Incident | None):
    from admitone.entitlements.commands.leasing import LeaseWanted, lease
    from admitone.entitlements.model import Place

    right = await hall.grant()
    token = new_token(right.id, 1, TICKET, right.created_at)
    given = await hall.submit(lease, LeaseWanted(Caller(), Place(EVENT, device="d"), 10))
    at = given.issued_at + timedelta(minutes=minutes)
    assert policy.incident_of(right, token, given, at, 0, at) is incident
    touched = msgspec.structs.replace(given, synced_at=at - timedelta(minutes=5))
    assert policy.incident_of(right, token, touched, at, 0, at) is None
    late = given.expires_at + timedelta(seconds=1)
    fresh = msgspec.structs.replace(given, synced_at=late)
    assert policy.incident_of(right, token, fresh, late, 0, late) is Incident.OUT_OF_LEASE


async def test_syncs_of_many_devices_at_once_admit_each_right_once(hall: Hall, site: httpx.AsyncClient):
    rights = [await hall.grant() for _ in range(4)]
    now = datetime.now(UTC)
    devices = [a_device(site, hall, f"d{number}") for number in range(6)]
    leases = [await each.lease() for each in devices]
    batch = [(right.id.uuid.hex, await digest(hall, right), now) for right in rights]
    said = await asyncio.gather(*(each.sync(lease, *batch) for each, lease in zip(devices, leases, strict=True)))
    admitted = [one for each in said for one in each.json()["recorded"] if one["admitted"]]
    assert len(admitted) == 4
    assert {(await hall.find(right.id)).entries for right in rights} == {1}
    assert sum([(await hall.find(right.id)).duplicates for right in rights]) == 20


async def test_a_lease_that_is_not_there_records_nothing(hall: Hall):
    with pytest.raises(Exception, match="no such lease"):
        await hall.submit(synchronise, Sync(Caller(), LeaseId.new(), "d", (LetIn("1", b"0" * 16, datetime.now(UTC)),)))

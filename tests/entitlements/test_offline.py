"""What a device let in by itself is measured by the same rules as at any door, at the instant at which it happened."""

from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest

from admitone.entitlements.codes import digest_of
from admitone.entitlements.commands.changing import (
    Disowning,
    Release,
    Suspension,
    Transfer,
    release,
    revoke_codes,
    suspend,
    transfer,
)
from admitone.entitlements.commands.leasing import LeaseWanted, LetIn, Recorded, Sync, Synced, lease, synchronise
from admitone.entitlements.kinds import Audience, TokenKind
from admitone.entitlements.model import CheckinPolicy, Entitlement, Hold, Incident, Lease, Method, Place
from admitone.kernel.ids import IdentityId
from tests.entitlements.gates import NEVER_MADE, Gate, told
from tests.entitlements.rights import EVENT, Hall
from tests.entitlements.test_throttles import a_scanner, first_code
from tests.entitlements.test_venue import a_device

OFTEN = CheckinPolicy(allow_reentry=True, max_entries=3, reentry_minutes=15)


class Offline:
    """A device with a lease of a while ago, and a clock that says how long ago."""

    def __init__(self, hall: Hall, given: Lease) -> None:
        self.hall, self.lease, self._keys = hall, given, 0

    def after(self, minutes: float) -> datetime:
        return self.lease.issued_at + timedelta(minutes=minutes)

    async def back(self, at: float, *let_in: tuple[str, float]) -> list[Recorded]:
        """In touch so many minutes later, with codes and when they were let in."""
        scans = []
        for code, minutes in let_in:
            self._keys += 1
            scans.append(LetIn(str(self._keys), digest_of(code), self.after(minutes)))
        sync = Sync(self.hall.staff.caller, self.lease.id, self.lease.device, tuple(scans))
        synced: Synced = await self.hall.at(self.after(at), synchronise, sync)
        return [*synced.recorded]


async def offline(hall: Hall, **more: Any) -> Offline:
    return Offline(hall, await hall.submit(lease, LeaseWanted(hall.staff.caller, Place(EVENT, device="d", **more), 10)))


async def heard(hall: Hall, right: Entitlement, own: Offline, minutes: float) -> tuple[Incident | None, int]:
    """What an entry at that minute is taken for, and how often the right was used after it."""
    [said] = await own.back(minutes + 1, (first_code(right), minutes))
    return said.incident, (await hall.find(right.id)).entries


@pytest.mark.covers("ENT-025", "ENT-032")
async def test_a_device_of_one_session_lets_nobody_in_to_another(hall: Hall):
    own = await offline(hall, session_id="day-1")
    first, second = await hall.grant(session_id="day-1"), await hall.grant(session_id="day-2")
    assert await heard(hall, second, own, 1) == (Incident.NOT_ON_LIST, 0)
    assert await heard(hall, first, own, 2) == (None, 1)


@pytest.mark.covers("ENT-032")
async def test_what_is_let_in_by_hand_only_is_on_no_list(hall: Hall):
    own = await offline(hall)
    right = await hall.grant(policy=CheckinPolicy(methods=(Method.MANUAL,)))
    assert await heard(hall, right, own, 1) == (Incident.NOT_ON_LIST, 0)


@pytest.mark.covers("ENT-014", "ENT-030")
async def test_who_came_in_before_the_doors_opened_used_their_right_and_is_told_of(hall: Hall):
    own = await offline(hall)
    early = await hall.grant(valid_from=own.after(10))
    late = await hall.grant(valid_until=own.after(10))
    assert await heard(hall, early, own, 9) == (Incident.NOT_VALID, 1)
    assert await heard(hall, late, own, 11) == (Incident.NOT_VALID, 1)


@pytest.mark.covers("ENT-023", "ENT-031")
async def test_who_comes_back_too_late_to_a_door_without_a_network_had_come_in_before(hall: Hall):
    own, right = await offline(hall), await hall.grant(policy=OFTEN)
    assert await heard(hall, right, own, 1) == (None, 1)
    assert await heard(hall, right, own, 16) == (None, 2)
    assert await heard(hall, right, own, 32) == (Incident.DUPLICATE, 2)


@pytest.mark.covers("ENT-009", "ENT-032")
async def test_a_code_that_was_called_back_before_uses_nobodys_right(hall: Hall):
    own, caller = await offline(hall), hall.staff.caller
    passed_on, lost, before = [await hall.grant() for _ in range(3)]
    codes = {each.id: await hall.code(each) for each in (passed_on, lost, before)}
    await hall.at(own.after(5), transfer, Transfer(caller, passed_on.id, IdentityId.new()))
    await hall.at(own.after(5), revoke_codes, Disowning(caller, lost.id, "LOST"))
    await hall.at(own.after(5), transfer, Transfer(caller, before.id, IdentityId.new()))
    said = await own.back(10, (codes[passed_on.id], 6), (codes[lost.id], 5), (codes[before.id], 4))
    assert [each.incident for each in said] == [None, Incident.NOT_ACTIVE, Incident.NOT_ACTIVE]
    assert [(await hall.find(each.id)).entries for each in (passed_on, lost, before)] == [0, 0, 1]


@pytest.mark.covers("ENT-009", "ENT-032")
async def test_what_was_held_then_was_held_whatever_became_of_it_since(hall: Hall):
    own, caller = await offline(hall), hall.staff.caller
    released, held_twice = await hall.grant(), await hall.grant()
    codes = {each.id: await hall.code(each) for each in (released, held_twice)}
    for each in (released, held_twice):
        await hall.at(own.after(2), suspend, Suspension(caller, each.id, Hold.DISPUTE))
    await hall.at(own.after(8), release, Release(caller, released.id, Hold.DISPUTE))
    await hall.at(own.after(8), suspend, Suspension(caller, held_twice.id, Hold.FRAUD))
    said = await own.back(10, (codes[released.id], 5), (codes[held_twice.id], 5))
    assert [each.incident for each in said] == [Incident.NOT_ACTIVE] * 2
    assert [(await hall.find(each.id)).entries for each in (released, held_twice)] == [0, 0]


@pytest.mark.covers("ENT-030")
async def test_being_in_touch_again_makes_up_for_no_time_without(hall: Hall):
    own = await offline(hall)
    in_time, out_of_time, after = [await hall.grant() for _ in range(3)]
    assert await own.back(40) == []
    said = await own.back(41, (first_code(in_time), 29), (first_code(out_of_time), 35), (first_code(after), 41))
    assert [each.incident for each in said] == [None, Incident.OUT_OF_LEASE, Incident.OUT_OF_LEASE]
    regular = await offline(hall)
    for minutes in (20, 40, 60):
        assert await regular.back(minutes) == []
    [said_then] = await regular.back(70, (first_code(await hall.grant()), 69))
    assert said_then.incident is None


@pytest.mark.covers("SAF-016", "ENT-034")
async def test_a_scanner_that_is_closed_or_pauses_gets_no_list_to_go_on_by(hall: Hall, site: httpx.AsyncClient):
    north = a_device(site, hall, "north")
    before = await north.lease()
    gate = Gate(site, hall, device=north.name)
    for _ in range(10):
        await gate.scan(NEVER_MADE)
    wanted = {"entriesAllowed": 10, "idempotencyKey": "again"}
    assert told(await north.ask("POST", f"events/{EVENT}/leases", json=wanted)) == (403, "STEP_UP_REQUIRED")
    closed = a_device(site, hall, "closed")
    lent = await closed.lease()
    for _ in range(30):
        await hall.scan(NEVER_MADE, device=closed.name)
    assert told(await closed.ask("POST", f"events/{EVENT}/leases", json=wanted)) == (403, "SCANNER_CLOSED")
    assert told(await closed.ask("GET", f"leases/{lent}/codes")) == (403, "SCANNER_CLOSED")
    assert (await north.ask("GET", f"leases/{before}/codes")).status_code == 200


@pytest.mark.covers("ENT-030")
def test_what_is_good_for_one_use_is_never_let_in_without_asking():
    with pytest.raises(ValueError, match="one use"):
        TokenKind("coupon", timedelta(minutes=5), timedelta(0), Audience.MERCHANT, offline=True, single_use=True)


@pytest.mark.covers("ENT-010", "ENT-031", "TEN-T08")
async def test_of_a_device_whose_key_is_revoked_amid_its_queue_what_was_sent_stays_and_the_rest_is_refused(
    hall: Hall, site: httpx.AsyncClient
):
    device, secret = await a_scanner(site, hall)
    rights = await hall.grant_many(3)
    headers, base = {"authorization": f"Bearer {secret}"}, f"/api/org/{hall.organization}/checkin"
    wanted = {"entriesAllowed": 10, "idempotencyKey": "lease"}
    given = (await site.post(f"{base}/events/{EVENT}/leases", json=wanted, headers=headers)).json()["lease"]

    async def sync(*those: int, **more: str) -> httpx.Response:
        let_in = [
            {"key": str(each), "digest": digest_of(first_code(rights[each])).hex(), "at": given["issuedAt"]}
            for each in those
        ]
        return await site.post(
            f"{base}/leases/{given['leaseId']}/sync", json={"letIn": let_in}, headers=more or headers
        )

    assert [each["admitted"] for each in (await sync(0, 1)).json()["recorded"]] == [True, True]
    revoked = await site.delete(f"/api/org/{hall.organization}/devices/{device}", headers=hall.staff.headers)
    assert revoked.status_code == 204
    assert told(await sync(0, 1, 2)) == (401, "UNAUTHENTICATED")
    assert told(await sync(2, **hall.staff.headers, **{"x-device-id": "d"})) == (404, "LEASE_NOT_FOUND")
    assert told(await sync(2, **hall.staff.headers, **{"x-device-id": device}))[0] == 400
    assert [(await hall.find(each.id)).entries for each in rights] == [1, 1, 0]
    assert (await hall.scan(first_code(rights[0]))).duplicate is not None

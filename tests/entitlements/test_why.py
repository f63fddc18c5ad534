"""Why is this code valid? What staff are shown of the chain behind a verdict."""

from typing import Any

import httpx
import pytest

from admitone.entitlements import explaining
from admitone.entitlements.codes import code_of, digest_of
from admitone.entitlements.commands.changing import (
    Disowning,
    Revoking,
    Suspension,
    Transfer,
    revoke,
    revoke_codes,
    suspend,
    transfer,
)
from admitone.entitlements.model import CheckinPolicy, Entitlement, Hold, Method, Revocation
from admitone.finance.refunds.api import Piece
from admitone.foundation.authority.api import MemberRole, RolePack
from admitone.kernel.batch import Batcher
from admitone.kernel.crypto import KEYRING
from admitone.kernel.db import Database
from admitone.kernel.ids import IdentityId
from tests.entitlements.gates import NEVER_MADE, Gate, told
from tests.entitlements.rights import EVENT, Hall, a_hall, all_of
from tests.entitlements.test_following import given
from tests.entitlements.test_following import told as money_is_told
from tests.entitlements.test_throttles import a_scanner
from tests.finance.conftest import world as world
from tests.finance.lives import DISPUTE, PAY, deed, live
from tests.finance.refunds.test_refunds import TWO, a_sale_of, see_to
from tests.finance.refunds.test_refunds import ask as ask_back
from tests.finance.world import World
from tests.people import a_member

SCANS = "SELECT count(*)::int AS scans FROM entitlements.checkin WHERE organization_id = $1"


async def ask(site: httpx.AsyncClient, hall: Hall, right: Entitlement, **asked: str) -> Any:
    path = f"/api/org/{hall.organization}/checkin/entitlements/{right.id}/why"
    answer = await site.get(path, params=asked, headers=hall.staff.headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def ask_of(site: httpx.AsyncClient, hall: Hall, code: str, **said: str) -> httpx.Response:
    path = f"/api/org/{hall.organization}/checkin/why"
    return await site.post(path, json={"qrPayload": code} | said, headers=hall.staff.headers)


def code_at(right: Entitlement, epoch: int) -> str:
    code = code_of(right.id, epoch, KEYRING().current)
    assert code is not None
    return code


async def test_what_is_said_is_what_the_door_says_next_and_asking_uses_nothing(site: httpx.AsyncClient, hall: Hall):
    both = CheckinPolicy((Method.QR_TICKET, Method.MANUAL))
    good, used, held, other, by_hand = (
        await hall.grant(policy=both),
        await hall.grant(),
        await hall.grant(),
        await hall.grant(event_id="evt-other"),
        await hall.grant(policy=CheckinPolicy((Method.MANUAL,))),
    )
    lost = await hall.grant()
    await hall.scan(await hall.code(used))
    await hall.submit(suspend, Suspension(hall.staff.caller, held.id, Hold.INVESTIGATION))
    await hall.submit(revoke_codes, Disowning(hall.staff.caller, lost.id, "LOST_PHONE"))
    [before] = await all_of(hall, SCANS)
    said = {}
    for right in (good, used, held, other, by_hand, lost):
        for _ in range(2):
            answer = await ask_of(site, hall, code_at(right, 1), eventId=EVENT)
            said[right.id] = answer.json()["now"]
    [after] = await all_of(hall, SCANS)
    assert after == before
    gate = Gate(site, hall)
    for right in (good, used, held, other, by_hand, lost):
        scanned = (await gate.scan(code_at(right, 1))).json()
        assert (said[right.id]["allowByCode"], said[right.id]["whyNotByCode"]) == (
            scanned["allow"],
            scanned["reasonCode"],
        )
    assert said[good.id]["allowByHand"]
    assert said[by_hand.id]["allowByHand"]
    assert said[used.id]["whyNotByHand"] == "METHOD_NOT_ALLOWED"


async def test_the_chain_is_there_from_the_grant_to_the_last_scan(site: httpx.AsyncClient, hall: Hall):
    friend = IdentityId.new()
    right = await hall.grant(policy_version=7)
    first = await hall.code(right)
    await hall.submit(transfer, Transfer(hall.staff.caller, right.id, friend))
    second = await hall.code(right)
    gate = Gate(site, hall)
    for code in (first, second, second, NEVER_MADE):
        await gate.scan(code)
    answer = await ask(site, hall, right)
    assert [(each["change"], each["holderId"]) for each in answer["trail"]] == [
        ("GRANTED", str(hall.guest.identity)),
        ("TRANSFERRED", str(friend)),
    ]
    assert [(each["epoch"], each["state"], each["revokedAt"] is None) for each in answer["codes"]] == [
        (1, "REVOKED", False),
        (2, "LIVE", True),
    ]
    assert [(each["result"], each["reasonCode"]) for each in answer["scans"]] == [
        ("denied", "TOKEN_EXPIRED"),
        ("admitted", None),
        ("duplicate", "CHECKIN_DUPLICATE"),
    ]
    assert answer["policy"] == {
        "policyVersionApplied": 7,
        "methods": ["QR_TICKET"],
        "maxEntries": 1,
        "reentryMinutes": 15,
        "undoMinutes": 10,
    }
    assert (answer["now"]["whyNotByCode"], answer["now"]["epoch"], answer["money"]) == ("ALREADY_CONSUMED", 2, None)
    [old] = [(await ask_of(site, hall, first)).json()]
    assert old["now"]["epoch"] == 1
    assert old["right"]["entitlementId"] == str(right.id)


async def test_nothing_in_it_makes_a_code_or_names_anybody(site: httpx.AsyncClient, hall: Hall):
    right = await hall.grant()
    code = await hall.code(right)
    text = (await ask_of(site, hall, code)).text + str(await ask(site, hall, right))
    for secret in (code, code[3:], digest_of(code).hex(), hall.guest.email, '"Ana"', "digest"):
        assert secret not in text


async def test_what_is_not_of_this_organisation_was_never_made(
    site: httpx.AsyncClient, hall: Hall, database: Database, batcher: Batcher
):
    elsewhere = await a_hall(database, batcher)
    theirs = await elsewhere.grant()
    answers = [await ask_of(site, hall, code) for code in (await elsewhere.code(theirs), NEVER_MADE)]
    assert [told(each) for each in answers] == [(404, "ENTITLEMENT_NOT_FOUND")] * 2
    bodies = [{k: v for k, v in each.json().items() if k != "correlationId"} for each in answers]
    assert bodies[0] == bodies[1]
    path = f"/api/org/{hall.organization}/checkin/entitlements/{theirs.id}/why"
    assert told(await site.get(path, headers=hall.staff.headers)) == (404, "ENTITLEMENT_NOT_FOUND")


async def test_who_may_only_look_is_not_told(site: httpx.AsyncClient, hall: Hall):
    right = await hall.grant()
    looker = await a_member(hall.database, hall.organization, MemberRole.STAFF, RolePack.REFEREE)
    base = f"/api/org/{hall.organization}/checkin"
    for path in (f"{base}/entitlements/{right.id}/why", f"{base}/entitlements/{right.id}/why.json"):
        assert told(await site.get(path, headers=looker.headers)) == (403, "PERMISSION_DENIED")
    refused = await site.post(f"{base}/why", json={"qrPayload": NEVER_MADE}, headers=looker.headers)
    assert told(refused) == (403, "PERMISSION_DENIED")


async def test_it_can_be_taken_away(site: httpx.AsyncClient, hall: Hall):
    right = await hall.grant()
    await hall.submit(revoke, Revoking(hall.staff.caller, right.id, Revocation.VIOLATION))
    path = f"/api/org/{hall.organization}/checkin/entitlements/{right.id}/why.json"
    answer = await site.get(path, headers=hall.staff.headers)
    assert answer.headers["content-disposition"].startswith(f'attachment; filename="why-{right.id}.json"')
    shown = await ask(site, hall, right)
    assert {k: v for k, v in answer.json().items() if k != "at"} == {k: v for k, v in shown.items() if k != "at"}
    assert answer.json()["right"]["revokedFor"] == "VIOLATION"


@pytest.mark.covers("ENT-001")
async def test_what_became_of_the_money_is_told_without_how_much(
    site: httpx.AsyncClient, world: World, database: Database, batcher: Batcher
):
    hall = Hall(database, batcher, world.organization, world.owner, world.buyer)
    disputed = await live(world, (PAY, DISPUTE))
    refunded = await live(world, (PAY, deed("refund")))
    paid = await live(world, (PAY,))
    shown = {}
    for payment in (disputed, refunded, paid):
        [right] = await given(hall, payment)
        await money_is_told(hall, payment)
        shown[payment] = await ask(site, hall, right)
    assert {own: (each["money"]["status"], each["now"]["whyNotByCode"]) for own, each in shown.items()} == {
        disputed: ("DISPUTED", "ENTITLEMENT_NOT_ACTIVE"),
        refunded: ("REFUNDED", "ENTITLEMENT_NOT_ACTIVE"),
        paid: ("SUCCEEDED", None),
    }
    [dispute] = shown[disputed]["money"]["disputes"]
    assert (dispute["wonAt"], dispute["lostAt"]) == (None, None)
    assert shown[disputed]["right"]["heldFor"] == ["DISPUTE"]
    assert [each["change"] for each in shown[refunded]["trail"]][-1] == "REVOKED"
    assert not [word for word in ("minor", "amount", "currency") if word in str(shown).lower()]


async def test_pieces_that_went_back_are_told_as_pieces(
    site: httpx.AsyncClient, world: World, database: Database, batcher: Batcher
):
    hall = Hall(database, batcher, world.organization, world.owner, world.buyer)
    payment = await a_sale_of(world, *TWO)
    [adult] = await given(hall, payment, "adult")
    refund = await ask_back(world, payment, Piece("adult", 1))
    await money_is_told(hall, payment)
    [under_way] = (await ask(site, hall, adult))["money"]["refunds"]
    assert (under_way["state"], under_way["settledAt"]) == ("PENDING", None)
    await see_to(world, refund)
    await money_is_told(hall, payment)
    answer = await ask(site, hall, adult)
    [gone] = answer["money"]["refunds"]
    assert (gone["state"], gone["pieces"]) == ("SUCCEEDED", [{"lineKey": "adult", "quantity": 1}])
    assert (answer["money"]["status"], answer["right"]["revokedFor"]) == ("PARTIAL_REFUND", "REFUND")


@pytest.mark.covers("ENT-010", "ENT-034")
async def test_a_scanner_asks_at_the_door_and_nowhere_else(site: httpx.AsyncClient, hall: Hall):
    """Whoever finds one would try codes here that no throttle counts, and read what became of people's money."""
    right = await hall.grant()
    _, secret = await a_scanner(site, hall)
    base, scanner = f"/api/org/{hall.organization}/checkin", {"authorization": f"Bearer {secret}"}
    for path in (f"{base}/entitlements/{right.id}/why", f"{base}/entitlements/{right.id}/why.json"):
        assert told(await site.get(path, headers=scanner)) == (403, "PEOPLE_ONLY")
    for code in (await hall.code(right), NEVER_MADE):
        asked = await site.post(f"{base}/why", json={"qrPayload": code}, headers=scanner)
        assert told(asked) == (403, "PEOPLE_ONLY")


async def test_of_a_long_chain_its_end_is_told(site: httpx.AsyncClient, hall: Hall, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(explaining, "MOST", 2)
    right = await hall.grant()
    for _ in range(3):
        await hall.submit(revoke_codes, Disowning(hall.staff.caller, right.id, "LOST"))
    for code in (code_at(right, 1), code_at(right, 2), code_at(right, 4)):
        await hall.scan(code)
    answer = await ask(site, hall, right)
    assert (answer["now"]["epoch"], answer["now"]["whyNotByCode"]) == (4, "ALREADY_CONSUMED")
    assert [each["epoch"] for each in answer["codes"]] == [3, 4]
    assert [each["number"] for each in answer["trail"]] == [3, 4]
    assert [each["result"] for each in answer["scans"]] == ["denied", "admitted"]

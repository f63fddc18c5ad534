"""Who may buy and how people are let in: versions, what contradicts itself, what older clients send, and what becomes of
rights that were given before."""

import asyncio
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.entitlements import errands
from admitone.entitlements.api import Method, Revocation, Status
from admitone.entitlements.commands.changing import Revoking, revoke
from admitone.entitlements.store.entitlements import find_entitlements
from admitone.entrypoints.duties import duties_of
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from admitone.verticals.events.model import EventId
from admitone.verticals.events.module import MODULE
from admitone.verticals.events.store import events as store
from tests.entitlements.rights import Hall
from tests.entitlements.wallets import fires
from tests.foundation.organizations.clubs import facts_of
from tests.jobs import a_worker, until_idle
from tests.verticals.events.office import Office
from tests.verticals.events.stage import OTHERS, Stage, hence, soon

GUESTS_ONLY_BY_INVITE = {"mode": "INVITE_ONLY", "guestCheckoutAllowed": False, "loginRequired": True}


async def versions_of(stage: Stage, event: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = stage.fine(await stage.ask("GET", f"/{event['eventId']}/access-policy"))["items"]
    return found


@pytest.mark.covers("EVT-010", "ENT-013")
async def test_an_event_of_which_nobody_said_otherwise_is_for_everybody_with_a_ticket(stage: Stage):
    event = await stage.drafted()
    assert event["accessPolicy"] == {
        "mode": "PUBLIC",
        "guestCheckoutAllowed": True,
        "loginRequired": False,
        "inviteTokenAllowed": False,
        "inviteIdentityMatch": "EMAIL",
        "inviteTokenTtlHours": None,
        "checkin": {
            "requiresEntitlementForEntry": True,
            "methods": ["QR_TICKET"],
            "scannerRequired": False,
            "allowReentry": False,
            "reentryWindowMinutes": 15,
            "maxEntries": 1,
            "undoWindowMinutes": 10,
        },
    }


@pytest.mark.covers("EVT-016")
async def test_each_change_is_a_version_and_none_is_ever_another(
    stage: Stage, database: Database, superuser: asyncpg.Connection
):
    event = await stage.drafted()
    stage.fine(await stage.rule(event, mode="UNLISTED"))
    same = stage.fine(await stage.rule(event, mode="UNLISTED"))
    assert same["policyVersion"] == 2, "the same again is no version"
    stage.fine(await stage.rule(event, mode="PUBLIC", inviteTokenAllowed=True))
    first, second, third = reversed(await versions_of(stage, event))
    assert [each["policyVersion"] for each in (first, second, third)] == [1, 2, 3]
    assert [each["accessPolicy"]["mode"] for each in (first, second, third)] == ["PUBLIC", "UNLISTED", "PUBLIC"]
    assert third["accessPolicy"]["inviteTokenTtlHours"] == 168, "seven days, if nobody says otherwise"
    assert third["createdBy"] == str(stage.owner.identity)
    assert len(await facts_of(superuser, stage.organization, "event.policy_changed")) == 2
    for statement in (
        "UPDATE events.access_policy SET mode = 'PUBLIC' WHERE organization_id = $1",
        "DELETE FROM events.access_policy WHERE organization_id = $1",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await database.run(stage.scope, lambda tx, sql=statement: tx.execute(sql))  # type: ignore[misc]
    late = {"accessPolicy": {"mode": "UNLISTED"}, "policyVersion": 2}
    refused = await stage.ask("PUT", f"/{event['eventId']}/access-policy", late)
    assert (refused.status_code, refused.json()["version"]) == (409, 3)


CONTRADICTIONS = [
    ({"inviteTokenAllowed": True, "inviteIdentityMatch": "USERNAME"}, "TOKEN_NEEDS_EMAIL"),
    ({"inviteTokenAllowed": True, "inviteTokenTtlHours": None}, "TOKEN_NEEDS_END"),
    (GUESTS_ONLY_BY_INVITE | {"guestCheckoutAllowed": True}, "LOGIN_NEEDS_INVITATION_AND_NO_GUESTS"),
    (GUESTS_ONLY_BY_INVITE | {"mode": "PUBLIC"}, "LOGIN_NEEDS_INVITATION_AND_NO_GUESTS"),
    (GUESTS_ONLY_BY_INVITE | {"mode": "UNLISTED"}, "LOGIN_NEEDS_INVITATION_AND_NO_GUESTS"),
]


@pytest.mark.covers("EVT-011", "EVT-015")
@pytest.mark.parametrize(("policy", "problem"), CONTRADICTIONS)
async def test_rules_that_contradict_each_other_are_refused(stage: Stage, policy: Any, problem: str):
    event = await stage.drafted()
    for refused in (
        await stage.rule(event, **policy),
        await stage.ask("POST", body=stage.a_draft(accessPolicy=policy)),
    ):
        assert (refused.status_code, refused.json().get("problem")) == (422, problem)


@pytest.mark.covers("EVT-011", "EVT-015")
@pytest.mark.parametrize(
    "wrong",
    [
        "invite_token_allowed = true, invite_identity_match = 'USERNAME', invite_token_hours = 1",
        "invite_token_allowed = true, invite_token_hours = NULL",
        "login_required = true, guest_checkout_allowed = true, mode = 'INVITE_ONLY'",
        "login_required = true, guest_checkout_allowed = false, mode = 'PUBLIC'",
        "methods = '{}'",
        "methods = '{NFC}'",
        "mode = 'OPEN'",
    ],
)
async def test_the_database_refuses_them_too(stage: Stage, superuser: asyncpg.Connection, wrong: str):
    await stage.drafted()
    with pytest.raises(asyncpg.CheckViolationError):
        await superuser.execute(
            f"UPDATE events.access_policy SET {wrong} WHERE organization_id = $1", stage.organization.uuid
        )


@pytest.mark.covers("EVT-015")
async def test_guests_may_be_kept_out_of_what_is_public(stage: Stage):
    event = await stage.drafted()
    assert (await stage.rule(event, guestCheckoutAllowed=False)).status_code == 200
    assert (await stage.rule(event, **GUESTS_ONLY_BY_INVITE)).status_code == 200


@pytest.mark.covers("ENT-012")
@pytest.mark.parametrize(
    "checkin",
    [
        {"methods": []},
        {"methods": ["NFC"]},
        {"maxEntries": 0},
        {"maxEntries": 1001},
        {"reentryWindowMinutes": -1},
        {"undoWindowMinutes": 1441},
    ],
)
async def test_ways_in_that_there_are_not_are_refused(stage: Stage, checkin: Any):
    assert (await stage.rule(await stage.drafted(), checkin=checkin)).status_code == 422


@pytest.mark.covers("ENT-023")
async def test_whoever_allows_reentry_and_one_entry_is_warned(stage: Stage):
    event = await stage.drafted()
    answer = stage.fine(await stage.rule(event, checkin={"allowReentry": True}))
    assert answer["warnings"] == ["REENTRY_ADMITS_ONE"]
    answer = stage.fine(await stage.rule(event, checkin={"allowReentry": True, "maxEntries": 2}))
    assert answer["warnings"] == []


# -- After the first sale


@pytest.mark.covers("EVT-017")
async def test_once_something_is_sold_nothing_is_made_harder(stage: Stage):
    event = await stage.published(accessPolicy={"checkin": {"methods": ["QR_TICKET", "MANUAL"], "maxEntries": 2}})
    checkin = event["accessPolicy"]["checkin"]
    await stage.sold(event)
    for harder, fields in (
        ({"mode": "UNLISTED"}, ["mode"]),
        ({"guestCheckoutAllowed": False}, ["guest_checkout_allowed"]),
        ({"inviteIdentityMatch": "USERNAME"}, ["invite_identity_match"]),
        ({"checkin": {**checkin, "methods": ["QR_TICKET"]}}, ["checkin.methods"]),
        ({"checkin": {**checkin, "maxEntries": 1}}, ["checkin.max_entries"]),
        ({"checkin": {**checkin, "undoWindowMinutes": 5}}, ["checkin.undo_minutes"]),
        ({"checkin": {**checkin, "scannerRequired": True}}, ["scanner_required"]),
        (
            {**GUESTS_ONLY_BY_INVITE, "checkin": checkin},
            ["mode", "guest_checkout_allowed", "login_required"],
        ),
    ):
        refused = await stage.rule(event, **({"checkin": checkin} | harder))
        assert (refused.status_code, refused.json().get("errorCode")) == (409, "ACCESS_POLICY_TIGHTENS"), harder
        assert refused.json()["fields"] == fields
    assert len(await versions_of(stage, event)) == 1, "a refused change is no version"
    easier = {**checkin, "allowReentry": True, "maxEntries": 5, "requiresEntitlementForEntry": False}
    assert (await stage.rule(event, inviteTokenAllowed=True, checkin=easier)).status_code == 200
    shorter = await stage.rule(event, inviteTokenAllowed=True, inviteTokenTtlHours=1, checkin=easier)
    assert shorter.status_code == 200, "how long new tokens live may go either way"


@pytest.mark.covers("EVT-017")
async def test_whoever_has_paid_has_bought_though_nothing_was_handed_over_yet(office: Office):
    event, [kind] = await office.on_sale()
    payment = await office.begin(await office.order(event, (kind, 1)))
    office.world.simulator.act("pay", (await office.world.payment(payment)).charge_id)
    await office.world.clerk.ask(office.stage.organization, payment, office.buyer.caller)
    refused = await office.stage.rule(event, guestCheckoutAllowed=False)
    assert (refused.status_code, refused.json()["errorCode"]) == (409, "ACCESS_POLICY_TIGHTENS")
    await office.work()
    assert (await office.stage.rule(event, guestCheckoutAllowed=False)).status_code == 409


@pytest.mark.covers("EVT-017")
async def test_whoever_has_it_for_nothing_has_bought_though_nothing_was_handed_over_yet(office: Office):
    event, [kind] = await office.on_sale({"priceMinor": 0, "allowZeroPrice": True})
    await office.begin(await office.order(event, (kind, 1)))
    refused = await office.stage.rule(event, guestCheckoutAllowed=False)
    assert (refused.status_code, refused.json()["errorCode"]) == (409, "ACCESS_POLICY_TIGHTENS")
    assert (await office.stage.rule(event, inviteTokenAllowed=True)).status_code == 200


@pytest.mark.covers("EVT-017", "ENT-018")
@pytest.mark.parametrize(
    "became",
    [
        "status = 'ACTIVE'",
        "status = 'SUSPENDED', held_for = '{FRAUD}'",
        "status = 'EXPIRED'",
        "status = 'REVOKED', revoked_for = 'ADMIN'",
        "status = 'PENDING', epoch = 0, coded_until = NULL",
    ],
)
async def test_whoever_was_given_a_right_is_not_held_to_harder_rules(
    stage: Stage, superuser: asyncpg.Connection, became: str
):
    event = await stage.published()
    right = await stage.granted(event)
    await superuser.execute(f"UPDATE entitlements.entitlement SET {became} WHERE id = $1", right.id.uuid)
    said = await stage.rule(event, guestCheckoutAllowed=False)
    assert said.status_code == (200 if "PENDING" in became else 409), "a place that is kept is no right yet"


@pytest.mark.covers("EVT-017")
async def test_before_anything_is_sold_rules_are_free(stage: Stage):
    event = await stage.published()
    assert (await stage.rule(event, **GUESTS_ONLY_BY_INVITE)).status_code == 200
    await stage.sold(event)
    for mode in ("UNLISTED", "PUBLIC"):
        assert (await stage.rule(event, mode=mode)).status_code == 200
    assert (await stage.rule(event, mode="INVITE_ONLY")).status_code == 409


# -- What older clients send


async def as_before(stage: Stage, event: dict[str, Any], **fields: Any) -> httpx.Response:
    return await stage.ask("PUT", f"/{event['eventId']}/access-policy", fields)


@pytest.mark.covers("EVT-013", "ENT-012")
@pytest.mark.parametrize(
    ("was", "old", "mode", "needed"),
    [
        ("UNLISTED", {"inviteOnly": True}, "INVITE_ONLY", True),
        ("PUBLIC", {"invite_only": True}, "INVITE_ONLY", True),
        ("INVITE_ONLY", {"inviteOnly": False}, "PUBLIC", True),
        ("UNLISTED", {"publicAccessMode": "INVITE"}, "INVITE_ONLY", True),
        ("INVITE_ONLY", {"public_access_mode": "OPEN"}, "PUBLIC", False),
        (
            "INVITE_ONLY",
            {"publicAccessMode": "TICKET", "inviteOnly": False, "publicTicketTypeIds": []},
            "PUBLIC",
            True,
        ),
        ("UNLISTED", {"requiresTicketForEntry": False}, "UNLISTED", False),
        ("UNLISTED", {"checkinPolicy": {"requiresEntitlementForEntry": False}}, "UNLISTED", False),
        # Their words know nothing of lists: who is not for the invited is not listed by saying so.
        ("UNLISTED", {"inviteOnly": False}, "UNLISTED", True),
        ("UNLISTED", {"publicAccessMode": "TICKET"}, "UNLISTED", True),
        ("UNLISTED", {"publicAccessMode": "OPEN", "invite_only": False}, "UNLISTED", False),
        ("PUBLIC", {"inviteOnly": False}, "PUBLIC", True),
    ],
)
async def test_what_older_clients_send_is_written_as_the_rules_of_today(
    stage: Stage, was: str, old: Any, mode: str, needed: bool
):
    event = await stage.drafted(accessPolicy={"mode": was, "guestCheckoutAllowed": False})
    policy = stage.fine(await as_before(stage, event, **old))["accessPolicy"]
    assert (policy["mode"], policy["checkin"]["requiresEntitlementForEntry"]) == (mode, needed)
    assert policy["guestCheckoutAllowed"] is False, "what was not mentioned stays"
    assert not {*old} & {*policy, *policy["checkin"]}


@pytest.mark.covers("EVT-013")
async def test_an_old_draft_that_is_for_the_invited_is_for_the_invited(stage: Stage):
    event = await stage.drafted(inviteOnly=True, checkinPolicy={"methods": ["MANUAL"], "maxEntries": 3})
    assert event["accessPolicy"]["mode"] == "INVITE_ONLY"
    assert event["accessPolicy"]["checkin"]["methods"] == ["MANUAL"]


@pytest.mark.covers("EVT-013")
@pytest.mark.parametrize(
    ("old", "problem"),
    [
        ({"inviteOnly": True, "publicAccessMode": "OPEN"}, "CONTRADICTS_ITSELF"),
        ({"inviteOnly": True, "invite_only": False}, "CONTRADICTS_ITSELF"),
        ({"publicAccessMode": "OPEN", "requiresTicketForEntry": True}, "CONTRADICTS_ITSELF"),
        ({"publicTicketTypeIds": ["tkt_0198c9a40000700080000000000000e2"]}, "PUBLIC_TICKET_TYPES"),
        ({"inviteOnly": False, "accessPolicy": {"mode": "INVITE_ONLY"}}, "MIXED_WITH_ACCESS_POLICY"),
    ],
)
async def test_no_field_stands_in_for_another(stage: Stage, old: Any, problem: str):
    event = await stage.drafted()
    refused = await as_before(stage, event, **old)
    assert (refused.status_code, refused.json()["problem"]) == (422, problem)


@pytest.mark.covers("EVT-013", "EVT-017")
async def test_an_old_client_tightens_nothing_either(stage: Stage):
    event = await stage.published()
    await stage.sold(event)
    refused = await as_before(stage, event, inviteOnly=True)
    assert (refused.status_code, refused.json()["fields"]) == (409, ["mode"])


# -- Rights follow


@pytest.fixture
def hall(stage: Stage, batcher: Batcher) -> Hall:
    """Its doors."""
    return Hall(stage.database, batcher, stage.organization, stage.owner, stage.owner)


async def followed(stage: Stage) -> None:
    """Whatever was told of the event has been seen to."""
    async with a_worker(stage.database, duties_of([OTHERS, MODULE])), asyncio.timeout(60):
        await until_idle(stage.superuser, stage.scope)


@pytest.mark.covers("EVT-017", "ENT-015", "ENT-016", "EVT-006")
async def test_rights_that_were_given_follow_their_event(stage: Stage):
    friday = {"label": "Friday", "startsAt": soon(), "endsAt": soon(hours=2)}
    event = await stage.published(schedule={"sessions": [friday]})
    session = event["sessions"][0]
    rights = [await stage.granted(event), await stage.granted(event, session["sessionId"])]
    await stage.sold(event)
    moved = {"startsAt": soon(days=7), "endsAt": soon(days=7, hours=3)}
    stage.fine(await stage.put_off(event, **moved, sessions=[{**session, **moved, "endsAt": soon(days=7, hours=1)}]))
    more = {"methods": ["QR_TICKET", "MANUAL"], "allowReentry": True, "maxEntries": 4, "undoWindowMinutes": 30}
    stage.fine(await stage.rule(event, checkin=more))
    await followed(stage)
    found = await stage.database.read(stage.scope, find_entitlements, [each.id for each in rights])
    whole, part = (found[each.id] for each in rights)
    assert (whole.valid_from.isoformat(), whole.valid_until.isoformat()) == (
        soon(days=7, hours=-6),
        soon(days=7, hours=9),
    )
    assert part.valid_until.isoformat() == soon(days=7, hours=7), "a session's by its session"
    for right in (whole, part):
        assert right.methods == {Method.QR_TICKET, Method.MANUAL}
        assert (right.max_entries, right.undo_minutes, right.policy_version) == (4, 30, 1)


@pytest.mark.covers("ENT-015")
async def test_nothing_that_was_given_becomes_less(stage: Stage):
    event = await stage.published(accessPolicy={"checkin": {"methods": ["QR_TICKET", "MANUAL"], "maxEntries": 3}})
    own = EventId.parse(event["eventId"])
    held = (await stage.database.read(stage.scope, store.find_policies, [own]))[own]
    # Decided before the rules were made harder, and written after: whoever gives rights locks no event.
    stage.fine(await stage.rule(event, checkin={"methods": ["QR_TICKET"], "maxEntries": 1}))
    right = await stage.granted(event, policy=held)
    await followed(stage)
    found = (await stage.database.read(stage.scope, find_entitlements, [right.id]))[right.id]
    assert (found.methods, found.version) == (right.methods, right.version)


@pytest.mark.covers("ENT-015", "ENT-016", "ENT-018")
async def test_rights_to_a_session_that_was_rained_off_come_back_with_it(stage: Stage, hall: Hall):
    """On Saturday somebody decides that Friday is on Sunday; by then what was good on Friday is over in the books."""
    friday = {"label": "Friday", "startsAt": hence(hours=-30), "endsAt": hence(hours=-26)}
    sunday = {"label": "Sunday", "startsAt": hence(hours=1), "endsAt": hence(hours=4)}
    weekend = {"startsAt": friday["startsAt"], "endsAt": sunday["endsAt"], "sessions": [friday, sunday]}
    event = await stage.published(schedule=weekend)
    rained_off, goes_on = event["sessions"]
    wet, dry = [await stage.granted(event, each["sessionId"]) for each in (rained_off, goes_on)]
    old = await hall.code(wet)
    await fires(hall, errands.expire_rights)
    more = {"methods": ["QR_TICKET", "MANUAL"], "allowReentry": True, "maxEntries": 2}
    stage.fine(await stage.rule(event, checkin=more))
    await followed(stage)
    over = await hall.find(wet.id)
    assert (over.status, over.max_entries) == (Status.EXPIRED, 1)
    times = {name: sunday[name] for name in ("startsAt", "endsAt")}
    stage.fine(await stage.put_off(event, sessions=[{**rained_off, **times}, goes_on]))
    await followed(stage)
    back, other = await hall.find(wet.id), await hall.find(dry.id)
    assert (back.status, back.valid_from, back.valid_until) == (Status.ACTIVE, other.valid_from, other.valid_until)
    assert (back.methods, back.max_entries) == ({Method.QR_TICKET, Method.MANUAL}, 2), "by the rules in force"
    assert not (await hall.scan(old, event=event["eventId"])).allow
    assert (await hall.scan(await hall.code(back), event=event["eventId"])).allow
    assert other.epoch == dry.epoch, "what was never over keeps its code"


@pytest.mark.covers("ENT-018")
async def test_what_was_taken_back_stays_so_wherever_its_event_goes(stage: Stage, hall: Hall):
    event = await stage.published()
    right = await stage.granted(event)
    await hall.submit(revoke, Revoking(stage.owner.caller, right.id, Revocation.REFUND))
    gone = await hall.find(right.id)
    stage.fine(await stage.put_off(event, startsAt=soon(days=7), endsAt=soon(days=7, hours=3)))
    await followed(stage)
    assert await hall.find(right.id) == gone

"""Kill switches: what they stop at once, what goes on, who may turn them, and what stays written down."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.foundation.authority.api import (
    READING,
    MemberRole,
    Method,
    Opening,
    TableAuthority,
    find_stops,
    open_sessions,
)
from admitone.foundation.authority.commands import switches
from admitone.foundation.authority.commands.switches import SCOPE, Lift, Stop
from admitone.foundation.authority.errors import (
    EventStopped,
    ExpiryOutOfRange,
    IdentityStopped,
    NotStopped,
    OrganizationStopped,
    PlatformStopped,
    StopNotAllowed,
)
from admitone.foundation.authority.model import STOP_LASTS_AT_MOST, StopKind, Target
from admitone.foundation.authority.store.switches import Setting
from admitone.kernel.authority import Audience, AuthorityReader, Granted, Stopped
from admitone.kernel.batch import Batcher
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database, PeopleTx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import PLATFORM_ORGANIZATION, IdentityId, OrganizationId, uuid7
from admitone.kernel.scope import Caller, PeopleScope, Scope
from tests.foundation.authority.shop import (
    DONE,
    an_ask,
    an_event,
    ask_at,
    code_of,
    soon,
    turn,
    visit,
)
from tests.people import Person, a_person, a_platform_admin, an_organization_of


@pytest.fixture
async def admin(database: Database) -> Person:
    return await a_platform_admin(database)


@pytest.fixture
async def nothing_stays_stopped(superuser: asyncpg.Connection) -> AsyncIterator[None]:
    """For tests that stop everybody."""
    yield
    await superuser.execute("DELETE FROM authority.switch WHERE key = 'stop:platform'")


def a_stop(kind: StopKind = StopKind.EVENT, subject: str | None = None, **said: Any) -> Stop:
    values = {
        "caller": Caller(IdentityId.new()),
        "target": Target(kind, an_event() if kind is StopKind.EVENT and subject is None else subject),
        "reason_code": "FRAUD_SUSPECTED",
        "case_reference": "case-1",
        "expires_at": soon(),
        **said,
    }
    return Stop(**values)


def a_lift(stop: Stop, **said: Any) -> Lift:
    return Lift(caller=stop.caller, target=stop.target, reason_code="CLEARED", case_reference="case-2", **said)


async def turned(database: Database, *orders: Stop | Lift) -> list[Setting | bool | Refusal]:
    command = switches.stop if isinstance(orders[0], Stop) else switches.lift
    return list(await database.run(SCOPE, lambda tx: command(tx, orders)))


async def signed_in_again(database: Database, person: Person) -> Person:
    async def sign_in(tx: PeopleTx) -> str:
        [opened] = await open_sessions(tx, [Opening(person.identity, Method.CODE, None)])
        return opened.access_token

    return replace(person, access_token=await database.run(PeopleScope("test"), sign_in))


async def trail_of(superuser: asyncpg.Connection, key: str) -> list[asyncpg.Record]:
    return await superuser.fetch(
        "SELECT action, actor_id, reason_code, before::jsonb, after::jsonb, organization_id"
        " FROM kernel.audit_entry WHERE subject = $1 ORDER BY at, id",
        key,
    )


async def facts_of(superuser: asyncpg.Connection, subject: str) -> list[asyncpg.Record]:
    return await superuser.fetch(
        "SELECT type, subject_type, actor_id, organization_id, payload->>'reasonCode' AS reason_code,"
        " payload->>'turned' AS turned, payload->>'because' AS because"
        " FROM kernel.event_log WHERE subject_id = $1 ORDER BY id",
        subject,
    )


# -- What each of them stops


@pytest.mark.covers("SAF-020", "SAF-023")
async def test_a_stopped_event_is_not_sold_while_refunds_check_in_and_other_events_go_on(
    street: httpx.AsyncClient, database: Database, admin: Person
):
    owner, buyer = await a_person(database), await a_person(database)
    club, event, other = await an_organization_of(database, owner), an_event(), an_event()
    assert code_of(await visit(street, "checkout", buyer, event=event, seller=club)) == DONE

    assert code_of(await turn(street, admin, "switches/stop", kind="EVENT", id=event)) == DONE

    stopped = (403, "KILL_SWITCH_EVENT")
    assert code_of(await visit(street, "checkout", buyer, event=event, seller=club)) == stopped
    assert code_of(await visit(street, "guest", None, event=event, seller=club)) == stopped, "also who is nobody"
    assert code_of(await visit(street, "refund", owner, at=club)) == DONE
    assert code_of(await visit(street, "checkin", owner, at=club)) == DONE
    assert code_of(await visit(street, "publish", owner, at=club)) == DONE
    assert code_of(await visit(street, "checkout", buyer, event=other, seller=club)) == DONE

    assert (await turn(street, admin, "switches/lift", kind="EVENT", id=event)).status_code == 204
    assert code_of(await visit(street, "checkout", buyer, event=event, seller=club)) == DONE


@pytest.mark.covers("SAF-020")
async def test_whoever_shows_events_can_ask_which_are_stopped(database: Database):
    stopped, sold = an_event(), an_event()
    club = OrganizationId.new()
    await turned(database, a_stop(subject=stopped), a_stop(StopKind.ORGANIZATION, str(club)))
    guards = {f"event:{stopped}", f"event:{sold}", f"organization:{club}"}
    assert await database.read(READING, find_stops, guards) == {f"event:{stopped}", f"organization:{club}"}
    assert await database.read(READING, find_stops, ()) == frozenset()


@pytest.mark.covers("SAF-021")
async def test_a_stopped_organisation_neither_sells_nor_publishes_and_lets_people_in(
    street: httpx.AsyncClient, database: Database, admin: Person
):
    owner, buyer = await a_person(database), await a_person(database)
    club, other = await an_organization_of(database, owner), await an_organization_of(database, owner)
    assert code_of(await turn(street, admin, "switches/stop", kind="ORGANIZATION", id=str(club))) == DONE

    stopped = (403, "KILL_SWITCH_ORG")
    assert code_of(await visit(street, "publish", owner, at=club)) == stopped
    assert code_of(await visit(street, "checkout", buyer, event=an_event(), seller=club)) == stopped
    assert code_of(await visit(street, "checkin", owner, at=club)) == DONE
    assert code_of(await visit(street, "refund", owner, at=club)) == DONE
    assert code_of(await visit(street, "publish", owner, at=other)) == DONE

    assert (await turn(street, admin, "switches/lift", kind="ORGANIZATION", id=str(club))).status_code == 204
    assert code_of(await visit(street, "publish", owner, at=club)) == DONE


@pytest.mark.covers("SAF-022")
async def test_a_suspended_persons_sessions_die_at_once_and_come_back_when_it_is_lifted(
    street: httpx.AsyncClient, database: Database, admin: Person
):
    person, other = await a_person(database), await a_person(database)
    elsewhere = await signed_in_again(database, person)
    club = await an_organization_of(database, person)
    assert code_of(await turn(street, admin, "switches/stop", kind="IDENTITY", id=str(person.identity))) == DONE

    stopped = (403, "KILL_SWITCH_IDENTITY")
    for session in (person, elsewhere):
        assert code_of(await visit(street, "me", session)) == stopped
        assert code_of(await visit(street, "transfer", session)) == stopped
        assert code_of(await visit(street, "checkout", session, event=an_event(), seller=club)) == stopped
        assert code_of(await visit(street, "browse", session)) == stopped
        assert code_of(await visit(street, "checkin", session, at=club)) == stopped
    newly = await signed_in_again(database, person)
    assert code_of(await visit(street, "me", newly)) == stopped, "to sign in again is no way around it"
    assert code_of(await visit(street, "me", other)) == DONE

    assert (await turn(street, admin, "switches/lift", kind="IDENTITY", id=str(person.identity))).status_code == 204
    for session in (person, elsewhere, newly):
        assert code_of(await visit(street, "me", session)) == DONE


@pytest.mark.covers("SAF-024")
@pytest.mark.usefixtures("nothing_stays_stopped")
async def test_everybody_is_stopped_while_check_in_and_refunds_run(
    street: httpx.AsyncClient, database: Database, admin: Person
):
    owner = await a_person(database)
    club = await an_organization_of(database, owner)
    assert code_of(await turn(street, admin, "switches/stop", kind="PLATFORM")) == DONE

    stopped = (403, "KILL_SWITCH_PLATFORM")
    assert code_of(await visit(street, "checkout", owner, event=an_event(), seller=club)) == stopped
    assert code_of(await visit(street, "guest", None, event=an_event(), seller=club)) == stopped
    assert code_of(await visit(street, "publish", owner, at=club)) == stopped
    assert code_of(await visit(street, "checkin", owner, at=club)) == DONE
    assert code_of(await visit(street, "refund", owner, at=club)) == DONE
    assert code_of(await visit(street, "operate", admin)) == DONE

    assert (await turn(street, admin, "switches/lift", kind="PLATFORM")).status_code == 204
    assert code_of(await visit(street, "checkout", owner, event=an_event(), seller=club)) == DONE


def test_a_public_contract_that_sells_is_never_let_in_unasked():
    assert an_ask(Audience.PUBLIC).trivial
    assert not an_ask(Audience.PUBLIC, stoppable=True).trivial


# -- When it ends


@pytest.mark.covers("SAF-023")
@pytest.mark.parametrize("kind", StopKind)
@pytest.mark.usefixtures("nothing_stays_stopped")
async def test_a_stop_ends_by_itself_at_the_very_instant(database: Database, database_url: str, kind: StopKind):
    person = await a_person(database)
    subject = {
        StopKind.EVENT: an_event(),
        StopKind.ORGANIZATION: str(OrganizationId.new()),
        StopKind.IDENTITY: str(person.identity),
        StopKind.PLATFORM: None,
    }[kind]
    ends_at = datetime.now(UTC) + timedelta(minutes=5)
    await turned(database, a_stop(kind, subject, expires_at=ends_at))
    guards = (f"{kind.lower()}:{subject}",) if kind in (StopKind.EVENT, StopKind.ORGANIZATION) else ()
    ask = an_ask(Audience.PERSON, person.access_token, stoppable=True, guards=guards)
    for before in (timedelta(minutes=4), timedelta(microseconds=1)):
        with pytest.raises(Stopped):
            await ask_at(database_url, ends_at - before, ask)
    for after in (timedelta(), timedelta(microseconds=1), timedelta(minutes=2)):
        assert isinstance(await ask_at(database_url, ends_at + after, ask), Granted)


async def test_what_expired_is_neither_shown_nor_lifted_and_can_be_set_again(
    street: httpx.AsyncClient, database: Database, database_url: str, admin: Person, superuser: asyncpg.Connection
):
    event = an_event()
    async with Database(database_url, clock=Clock(timedelta(hours=-2))) as two_hours_ago:
        [setting] = await turned(two_hours_ago, a_stop(subject=event, expires_at=soon(hours=-1)))
        assert isinstance(setting, Setting)
    key = f"stop:event:{event}"
    assert key not in await keys_of(street, admin)
    assert await turned(database, a_lift(a_stop(subject=event))) == [NotStopped()]

    [setting] = await turned(database, a_stop(subject=event, case_reference="case-9"))
    assert isinstance(setting, Setting)
    assert key in await keys_of(street, admin)
    assert [(row["action"], row["before"]) for row in await trail_of(superuser, key)] == [("stop", None)] * 2


async def keys_of(street: httpx.AsyncClient, admin: Person) -> set[str]:
    """What the list of switches shows, all of its pages."""
    keys, cursor = set(), ""
    while True:
        page = await street.get("/api/admin/switches", params={"limit": 7, "cursor": cursor}, headers=admin.headers)
        assert page.status_code == 200, page.text
        keys |= {item["key"] for item in page.json()["items"]}
        cursor = page.json()["nextCursor"]
        if not cursor:
            return keys


@pytest.mark.covers("SAF-023")
@pytest.mark.parametrize(
    ("ends_in", "allowed"),
    [
        (timedelta(microseconds=1), True),
        (STOP_LASTS_AT_MOST, True),
        (timedelta(), False),
        (timedelta(microseconds=-1), False),
        (STOP_LASTS_AT_MOST + timedelta(microseconds=1), False),
    ],
)
async def test_a_stop_ends_after_now_and_within_ninety_days(database: Database, ends_in: timedelta, allowed: bool):
    async def stop(tx: Any) -> Any:
        [outcome] = await switches.stop(tx, [a_stop(expires_at=tx.now + ends_in)])
        return outcome

    outcome = await database.run(SCOPE, stop)
    assert isinstance(outcome, Setting if allowed else ExpiryOutOfRange)


# -- Who may, and what stays written down


@pytest.mark.covers("SAF-020", "SAF-021", "SAF-022", "SAF-023")
@pytest.mark.parametrize(
    ("kind", "fact", "reason"),
    [
        (StopKind.EVENT, "safety.kill_switch.event", "KILL_SWITCH_EVENT"),
        (StopKind.ORGANIZATION, "safety.kill_switch.org", "KILL_SWITCH_ORG"),
        (StopKind.IDENTITY, "safety.kill_switch.identity", "KILL_SWITCH_IDENTITY"),
        (StopKind.PLATFORM, "safety.kill_switch.platform", "KILL_SWITCH_PLATFORM"),
    ],
)
@pytest.mark.usefixtures("nothing_stays_stopped")
async def test_stop_and_lift_are_audited_and_told(
    street: httpx.AsyncClient,
    superuser: asyncpg.Connection,
    admin: Person,
    kind: StopKind,
    fact: str,
    reason: str,
):
    subject = {
        StopKind.EVENT: an_event(),
        StopKind.ORGANIZATION: str(OrganizationId.new()),
        StopKind.IDENTITY: str(IdentityId.new()),
        StopKind.PLATFORM: None,
    }[kind]
    target = {"kind": kind} | ({"id": subject} if subject else {})
    first = await turn(street, admin, "switches/stop", **target)
    assert first.status_code == 200, first.text
    key = first.json()["key"]
    assert (await turn(street, admin, "switches/stop", **target, reasonCode="WORSE", caseReference="case-2")).is_success
    lifted = await turn(street, admin, "switches/lift", **target, reasonCode="CLEARED", caseReference="case-3")
    assert lifted.status_code == 204, lifted.text

    [stopped, renewed, cleared] = (await trail_of(superuser, key))[-3:]
    assert [row["action"] for row in (stopped, renewed, cleared)] == ["stop", "stop", "lift_stop"]
    assert {row["actor_id"] for row in (stopped, renewed, cleared)} == {admin.identity.uuid}
    assert {row["organization_id"] for row in (stopped, renewed, cleared)} == {PLATFORM_ORGANIZATION.uuid}
    assert [row["reason_code"] for row in (stopped, renewed, cleared)] == ["FRAUD_SUSPECTED", "WORSE", "CLEARED"]
    assert stopped["before"] is None and '"case-1"' in stopped["after"]
    assert renewed["before"] == stopped["after"] and '"case-2"' in renewed["after"]
    assert cleared["before"] == renewed["after"] and cleared["after"] == '{"caseReference": "case-3"}'

    told = (await facts_of(superuser, subject or str(PLATFORM_ORGANIZATION)))[-3:]
    assert [(row["type"], row["reason_code"], row["turned"], row["because"]) for row in told] == [
        (fact, reason, "SET", "FRAUD_SUSPECTED"),
        (fact, reason, "SET", "WORSE"),
        (fact, reason, "LIFTED", "CLEARED"),
    ]


@pytest.mark.covers("SAF-023")
async def test_what_is_refused_writes_nothing_and_hurts_nobody_beside_it(
    database: Database, superuser: asyncpg.Connection
):
    good, late = a_stop(), a_stop(expires_at=soon(days=91))
    [done, refused] = await turned(database, good, late)
    assert isinstance(done, Setting) and isinstance(refused, ExpiryOutOfRange)
    assert await turned(database, a_lift(late)) == [NotStopped()]
    assert await trail_of(superuser, late.key) == []
    assert await facts_of(superuser, late.target.id or "") == []
    assert len(await trail_of(superuser, good.key)) == len(await facts_of(superuser, good.target.id or "")) == 1


async def test_switch_trail_and_fact_stand_or_fall_together(database: Database, superuser: asyncpg.Connection):
    stop = a_stop()

    async def stop_and_break(tx: Any) -> None:
        await switches.stop(tx, [stop])
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await database.run(SCOPE, stop_and_break)
    assert await trail_of(superuser, stop.key) == [] == await facts_of(superuser, stop.target.id or "")
    assert await superuser.fetchval("SELECT count(*) FROM authority.switch WHERE key = $1", stop.key) == 0


async def test_the_last_word_in_a_batch_holds_and_each_is_written_down(
    database: Database, superuser: asyncpg.Connection
):
    first = a_stop(case_reference="case-1")
    second = a_stop(subject=first.target.id, case_reference="case-2")
    await turned(database, first, second)
    case = await superuser.fetchval("SELECT case_reference FROM authority.switch WHERE key = $1", first.key)
    assert case == "case-2"
    [one, two] = await trail_of(superuser, first.key)
    assert two["before"] == one["after"]


async def test_of_twenty_who_lift_one_stop_one_does(database: Database, superuser: asyncpg.Connection):
    stop = a_stop()
    await turned(database, stop)
    batcher = Batcher(database)
    lifts = [batcher.submit(switches.lift, SCOPE, a_lift(stop)) for _ in range(10)]
    lifts += [batcher.run_one(switches.lift, SCOPE, a_lift(stop)) for _ in range(10)]
    outcomes = await asyncio.gather(*lifts, return_exceptions=True)
    assert sorted(type(each).__name__ for each in outcomes) == ["Answered"] + ["NotStopped"] * 19
    assert [row["action"] for row in await trail_of(superuser, stop.key)] == ["stop", "lift_stop"]


async def test_eight_processes_that_stop_one_thing_leave_one_stop(database: Database, superuser: asyncpg.Connection):
    event = an_event()
    await asyncio.gather(*(Batcher(database).submit(switches.stop, SCOPE, a_stop(subject=event)) for _ in range(8)))
    key = f"stop:event:{event}"
    assert await superuser.fetchval("SELECT count(*) FROM authority.switch WHERE key = $1", key) == 1
    assert len(await trail_of(superuser, key)) == 8


@pytest.mark.covers("SAF-023", "ORG-031")
async def test_only_those_who_run_the_installation_turn_switches(
    street: httpx.AsyncClient, database: Database, database_url: str, superuser: asyncpg.Connection
):
    owner = await a_person(database)
    club = await an_organization_of(database, owner)
    staff = await a_platform_admin(database, MemberRole.STAFF)
    async with Database(database_url, clock=Clock(timedelta(minutes=-11))) as a_while_ago:
        stale = await a_platform_admin(a_while_ago, MemberRole.OWNER)
    event = an_event()
    denied = (403, "PERMISSION_DENIED")
    for who, expected in ((owner, denied), (staff, denied), (stale, (403, "STEP_UP_REQUIRED"))):
        for path in ("switches/stop", "switches/lift"):
            assert code_of(await turn(street, who, path, kind="EVENT", id=event)) == expected
        for path in ("features/wallet.passes/on", "features/wallet.passes/off"):
            assert code_of(await turn(street, who, path, organization=str(club))) == expected
    listed = [(await street.get("/api/admin/switches", headers=who.headers)).status_code for who in (owner, staff)]
    assert listed == [403, 200]
    nobody = await street.post("/api/admin/switches/stop", json={"kind": "PLATFORM"})
    assert nobody.status_code in (401, 422)
    assert await trail_of(superuser, f"stop:event:{event}") == []


@pytest.mark.covers("SAF-023")
@pytest.mark.parametrize(
    "said",
    [
        {"kind": "PLATFORM", "id": "org_" + "0" * 32},
        {"kind": "EVENT"},
        {"kind": "ORGANIZATION", "id": "idn_" + "0" * 32},
        {"kind": "IDENTITY", "id": "org_" + "0" * 32},
        {"kind": "ORGANIZATION"},
        {"kind": "EVERYTHING"},
        {},
        {"kind": "PLATFORM", "caseReference": ""},
        {"kind": "PLATFORM", "caseReference": None},
        {"kind": "PLATFORM", "caseReference": "case\n"},
        {"kind": "PLATFORM", "reasonCode": "because"},
        {"kind": "PLATFORM", "reasonCode": "FRAUD\n"},
        {"kind": "PLATFORM", "reasonCode": None},
        {"kind": "PLATFORM", "expiresAt": None},
        {"kind": "PLATFORM", "expiresAt": "2999-01-01T00:00:00Z"},
        {"kind": "PLATFORM", "expiresAt": "2001-01-01T00:00:00Z"},
        {"kind": "PLATFORM", "expiresAt": "2031-01-01T00:00:00"},
    ],
)
async def test_a_stop_that_does_not_say_what_why_and_until_when_is_refused(
    street: httpx.AsyncClient, admin: Person, superuser: asyncpg.Connection, said: dict[str, Any]
):
    assert (await turn(street, admin, "switches/stop", **said)).status_code == 422
    assert await superuser.fetchval("SELECT count(*) FROM authority.switch WHERE key = 'stop:platform'") == 0


async def test_a_stop_needs_a_person():
    with pytest.raises(TypeError, match="person"):
        a_stop(caller=Caller())


# -- Behind the commands


STOP_ROW = """
    INSERT INTO authority.switch (organization_id, key, reason_code, case_reference, set_by, set_at, expires_at)
    SELECT {organization}, 'stop:platform', 'FORGED', 'none', $1, now(), {ends}
"""
NEVER, LATER = "NULL", "now() + interval '1 day'"
OURS = f"'{PLATFORM_ORGANIZATION.uuid}'::uuid"


@pytest.mark.covers("SAF-023", "TEN-T06")
@pytest.mark.parametrize(
    ("sql", "refusal"),
    [
        (STOP_ROW.format(organization="$1", ends=LATER), asyncpg.CheckViolationError),
        (STOP_ROW.format(organization=OURS, ends=LATER), asyncpg.InsufficientPrivilegeError),
        (STOP_ROW.format(organization=OURS, ends=NEVER), asyncpg.InsufficientPrivilegeError),
    ],
)
async def test_an_organisation_stops_nobody_by_writing_into_the_table(
    database: Database, sql: str, refusal: type[Exception]
):
    club = await an_organization_of(database, await a_person(database))
    with pytest.raises(refusal):
        await database.run(Scope(club, "attack"), lambda tx: tx.execute(sql))


async def test_an_organisation_neither_sees_nor_lifts_what_stops_it(database: Database):
    club = await an_organization_of(database, await a_person(database))
    stop = a_stop(StopKind.ORGANIZATION, str(club))
    await turned(database, stop)
    for sql in (
        "DELETE FROM authority.switch WHERE key LIKE 'stop:%' AND $1::uuid IS NOT NULL",
        "UPDATE authority.switch SET expires_at = now() WHERE key LIKE 'stop:%' AND $1::uuid IS NOT NULL",
        "SELECT 1 FROM authority.switch WHERE key LIKE 'stop:%' AND $1::uuid IS NOT NULL",
    ):
        assert await database.run(Scope(club, "attack"), lambda tx, sql=sql: tx.execute(sql)) == 0
    with pytest.raises(asyncpg.CheckViolationError):
        await database.run(Scope(club, "attack"), lambda tx: switches.stop(tx, [a_stop()]))
    assert await database.read(READING, find_stops, [f"organization:{club}"])


async def test_a_stop_without_an_end_cannot_be_written_at_all(superuser: asyncpg.Connection):
    with pytest.raises(asyncpg.CheckViolationError):
        await superuser.execute(STOP_ROW.format(organization=OURS, ends=NEVER), uuid7())


# -- The order in which it is said


@pytest.mark.usefixtures("nothing_stays_stopped")
async def test_the_widest_stop_is_said_first_and_a_person_hears_of_their_own_before(
    database: Database, batcher: Batcher
):
    reader = AuthorityReader(batcher, TableAuthority())
    person = await a_person(database)
    club = await an_organization_of(database, person)
    event = an_event()
    ask = an_ask(
        Audience.ORGANIZATION,
        person.access_token,
        organization=club,
        permission="EVENTS_RW",
        stoppable=True,
        guards=(f"event:{event}",),
    )
    orders = [
        (a_stop(subject=event), EventStopped),
        (a_stop(StopKind.ORGANIZATION, str(club)), OrganizationStopped),
        (a_stop(StopKind.PLATFORM), PlatformStopped),
        (a_stop(StopKind.IDENTITY, str(person.identity)), IdentityStopped),
    ]
    for order, refusal in orders:
        await turned(database, order)
        with pytest.raises(refusal):
            await reader.ask(ask)
    for order, _ in reversed(orders):
        await turned(database, a_lift(order))
    assert isinstance(await reader.ask(ask), Granted)


@pytest.mark.covers("SAF-022")
async def test_nobody_stops_those_who_could_lift_it(database: Database) -> None:
    ranks = [MemberRole.OWNER, MemberRole.ADMIN, MemberRole.STAFF]
    ours = {role: await a_platform_admin(database, role) for role in ranks}
    stranger = await a_person(database)
    for actor, target in itertools.product(ranks, repeat=2):
        stop = a_stop(StopKind.IDENTITY, str(ours[target].identity), caller=ours[actor].caller)
        [outcome] = await turned(database, stop)
        assert isinstance(outcome, StopNotAllowed) == (ranks.index(actor) >= ranks.index(target)), (actor, target)
        if isinstance(outcome, Setting):
            await turned(database, a_lift(stop))
    [outcome] = await turned(database, a_stop(StopKind.IDENTITY, str(stranger.identity), caller=ours[ranks[2]].caller))
    assert isinstance(outcome, Setting), "anybody else is stopped by whoever may turn switches"

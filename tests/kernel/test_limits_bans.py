"""Bans: laid and lifted by a person, for a reason, on the record; and they hold at the very next call."""

import asyncio
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from admitone.kernel import bans
from admitone.kernel.authority import Ask, Audience, AuthorityReader, SubjectBanned
from admitone.kernel.bans import Ban, BanIsOver, Lift, NotBanned
from admitone.kernel.batch import Batcher
from admitone.kernel.clock import Clock
from admitone.kernel.contracts import status_of
from admitone.kernel.db import Database
from admitone.kernel.errors import Throttled, Unauthenticated
from admitone.kernel.ids import IdentityId, uuid7
from admitone.kernel.limits import Limit, Per, by_address, by_device, by_identity, by_organization, key_of_ban
from admitone.kernel.scope import Caller
from tests.builders import a_caller, a_credential, an_organization
from tests.toy.authority import ToyAuthority

REASON = "FRAUD_CARD_TESTING"


@pytest.fixture
def reader(batcher: Batcher) -> AuthorityReader:
    return AuthorityReader(batcher, ToyAuthority())


def in_an_hour() -> datetime:
    return datetime.now(UTC) + timedelta(hours=1)


def a_ban(subject: str, ends_at: datetime | None = None, caller: Caller | None = None) -> Ban:
    return Ban(caller or a_caller(), subject, REASON, ends_at or in_an_hour())


def a_visit(address: str, *limits: Limit) -> Ask:
    """By anybody, to what is public but counted."""
    counted = limits or (Limit("test.visits", count=10**6, seconds=60, per=Per.ADDRESS),)
    return Ask(Audience.PUBLIC, None, None, None, None, Caller(address=address), counted)


async def of_the_trail(superuser: asyncpg.Connection, subject: str) -> list[asyncpg.Record]:
    return await superuser.fetch(
        "SELECT * FROM kernel.audit_entry WHERE subject = $1 ORDER BY id", f"subject:{key_of_ban(subject).hex()}"
    )


async def test_a_banned_address_is_refused_at_once_and_free_at_once(reader: AuthorityReader, batcher: Batcher) -> None:
    address = f"address-{uuid7()}"
    await reader.ask(a_visit(address))
    await batcher.submit(bans.ban, bans.SCOPE, a_ban(by_address(address)))
    with pytest.raises(SubjectBanned) as refused:
        await reader.ask(a_visit(address))
    assert refused.value.stated() == {}, "nobody is told why, or until when"
    assert status_of(SubjectBanned) == 403
    await reader.ask(a_visit(f"address-{uuid7()}"))
    await batcher.submit(bans.lift, bans.SCOPE, Lift(a_caller(), by_address(address), "APPEAL_GRANTED"))
    await reader.ask(a_visit(address))


@pytest.mark.parametrize("which", ["identity", "organization", "device", "address"])
async def test_whatever_we_know_of_a_caller_can_be_banned(
    which: str, reader: AuthorityReader, batcher: Batcher, database: Database, superuser
) -> None:
    """Also where the contract counts nothing."""
    scope = await an_organization(database)
    ana, rui = [await a_credential(superuser, scope, "toy.increment") for _ in range(2)]
    address = f"address-{uuid7()}"

    def asks(credential: str, device: str, address: str) -> Ask:
        caller = Caller(device=device, address=address)
        return Ask(Audience.ORGANIZATION, credential, scope.organization, "toy.increment", None, caller)

    subjects = {
        "identity": by_identity(ana.identity),
        "organization": by_organization(scope.organization),
        "device": by_device(scope.organization, "gate-1"),
        "address": by_address(address),
    }
    hers, his = asks(ana.text, "gate-1", address), asks(rui.text, "gate-2", f"address-{uuid7()}")
    await batcher.submit(bans.ban, bans.SCOPE, a_ban(subjects[which]))
    both = await asyncio.gather(reader.ask(hers), reader.ask(his), return_exceptions=True)
    assert isinstance(both[0], SubjectBanned)
    assert isinstance(both[1], SubjectBanned) == (which == "organization")


async def test_a_stranger_cannot_find_out_who_is_banned(reader: AuthorityReader, batcher: Batcher, database) -> None:
    """Whoever cannot prove who they are is refused for that, and is judged by the address alone."""
    scope = await an_organization(database)
    await batcher.submit(bans.ban, bans.SCOPE, a_ban(by_organization(scope.organization)))
    stranger = Ask(
        Audience.ORGANIZATION, "wrong", scope.organization, "toy.increment", None, Caller(address=f"address-{uuid7()}")
    )
    with pytest.raises(Unauthenticated):
        await reader.ask(stranger)


async def test_a_ban_speaks_before_a_limit_and_a_limit_still_counts(reader: AuthorityReader, batcher: Batcher) -> None:
    address = f"address-{uuid7()}"
    limit = Limit(f"test.banned.{uuid7()}", count=2, seconds=600, per=Per.ADDRESS)
    await batcher.submit(bans.ban, bans.SCOPE, a_ban(by_address(address)))
    for _ in range(3):
        with pytest.raises(SubjectBanned):
            await reader.ask(a_visit(address, limit))
    await batcher.submit(bans.lift, bans.SCOPE, Lift(a_caller(), by_address(address), "APPEAL_GRANTED"))
    with pytest.raises(Throttled):
        await reader.ask(a_visit(address, limit))


async def test_a_ban_ends_by_itself(database: Database, database_url: str, batcher: Batcher) -> None:
    address = f"address-{uuid7()}"
    await batcher.submit(bans.ban, bans.SCOPE, a_ban(by_address(address)))
    for shift, closed in ((30, True), (61, False)):
        async with Database(database_url, clock=Clock(timedelta(minutes=shift))) as later:
            reader = AuthorityReader(Batcher(later), ToyAuthority())
            [answer] = await asyncio.gather(reader.ask(a_visit(address)), return_exceptions=True)
            assert isinstance(answer, SubjectBanned) == closed


async def test_who_banned_whom_and_why_is_on_the_record_by_digest(batcher: Batcher, superuser) -> None:
    address, staff = f"address-{uuid7()}", Caller(actor=IdentityId.new())
    first, second = in_an_hour(), in_an_hour() + timedelta(days=1)
    for ends_at in (first, second):
        await batcher.submit(bans.ban, bans.SCOPE, a_ban(by_address(address), ends_at, staff))
    await batcher.submit(bans.lift, bans.SCOPE, Lift(staff, by_address(address), "APPEAL_GRANTED"))
    laid, changed, lifted = await of_the_trail(superuser, by_address(address))
    assert [entry["action"] for entry in (laid, changed, lifted)] == ["ban", "ban", "lift_ban"]
    assert [entry["reason_code"] for entry in (laid, changed, lifted)] == [REASON, REASON, "APPEAL_GRANTED"]
    assert {entry["actor_id"] for entry in (laid, changed, lifted)} == {staff.actor.uuid}
    assert laid["before"] is None
    assert changed["before"] == laid["after"]
    assert lifted["before"] == changed["after"]
    rows = await superuser.fetch("SELECT * FROM kernel.ban")
    assert address not in str(rows) + str([laid, changed, lifted])


async def test_what_did_not_happen_is_not_on_the_record(batcher: Batcher, superuser) -> None:
    subject = by_address(f"address-{uuid7()}")
    with pytest.raises(BanIsOver):
        await batcher.submit(bans.ban, bans.SCOPE, a_ban(subject, datetime.now(UTC) - timedelta(seconds=1)))
    with pytest.raises(NotBanned):
        await batcher.submit(bans.lift, bans.SCOPE, Lift(a_caller(), subject, "APPEAL_GRANTED"))
    assert await of_the_trail(superuser, subject) == []


async def test_of_two_who_lift_one_ban_together_one_does(batcher: Batcher, superuser) -> None:
    subject = by_address(f"address-{uuid7()}")
    await batcher.submit(bans.ban, bans.SCOPE, a_ban(subject))
    lifts = [Lift(a_caller(), subject, "APPEAL_GRANTED") for _ in range(2)]
    outcomes = await asyncio.gather(
        *(batcher.submit(bans.lift, bans.SCOPE, each) for each in lifts), return_exceptions=True
    )
    assert sum(isinstance(outcome, NotBanned) for outcome in outcomes) == 1
    assert [entry["action"] for entry in await of_the_trail(superuser, subject)] == ["ban", "lift_ban"]


async def test_two_bans_of_one_subject_in_one_batch_leave_the_later_one(database: Database, superuser) -> None:
    subject, last = by_address(f"address-{uuid7()}"), in_an_hour() + timedelta(hours=1)
    await database.run(bans.SCOPE, lambda tx: bans.ban(tx, [a_ban(subject), a_ban(subject, last)]))
    assert await superuser.fetchval("SELECT ends_at FROM kernel.ban WHERE key = $1", key_of_ban(subject)) == last
    assert len(await of_the_trail(superuser, subject)) == 2


async def test_no_organisation_but_the_platform_lays_a_ban(database: Database) -> None:
    scope = await an_organization(database)
    with pytest.raises(asyncpg.CheckViolationError):
        await database.run(scope, lambda tx: bans.ban(tx, [a_ban("address:203.0.113.3")]))


@pytest.mark.parametrize("kind", [Ban, Lift])
def test_a_ban_needs_a_person(kind: type) -> None:
    with pytest.raises(TypeError, match="person"):
        kind(Caller(), "address:203.0.113.3", REASON, *([in_an_hour()] if kind is Ban else []))

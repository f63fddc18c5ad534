"""Doors, wallets, schedules and whoever takes a right back, all at once and from several processes."""

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest

from admitone.entitlements import errands
from admitone.entitlements.codes import digest_of
from admitone.entitlements.commands.changing import Disowning, Revoking, Suspension, revoke, revoke_codes, suspend
from admitone.entitlements.commands.checking_in import consume
from admitone.entitlements.commands.granting import grant
from admitone.entitlements.commands.leasing import LeaseWanted, LetIn, Sync, Synced, lease, synchronise
from admitone.entitlements.commands.renewing import AHEAD, Renewal, renew
from admitone.entitlements.commands.undoing import Undo, undo
from admitone.entitlements.kinds import TICKET
from admitone.entitlements.model import Checkin, CheckinPolicy, Entitlement, Hold, Place, Reason, Revocation, Verdict
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId
from tests.entitlements.agreeing import agree
from tests.entitlements.rights import EVENT, Hall, a_hall
from tests.entitlements.test_claiming_rights import owner_of, tells
from tests.entitlements.wallets import fires, later

MOST = 5
OFTEN = CheckinPolicy(allow_reentry=True, max_entries=MOST, reentry_minutes=60)
LONGER_THAN_ANY = timedelta(days=2)
KEPT = """
    SELECT e.status, e.entries, e.entered, e.epoch,
           (SELECT count(*) FROM entitlements.checkin AS c WHERE c.entitlement_id = e.id AND c.admitted) AS admitted,
           (SELECT max(t.epoch) FROM entitlements.token AS t WHERE t.entitlement_id = e.id) AS newest,
           (SELECT count(*) FROM entitlements.token AS t WHERE t.entitlement_id = e.id AND t.revoked_at IS NULL) AS live
      FROM entitlements.entitlement AS e
     WHERE e.id = $1
"""


@pytest.fixture
async def halls(database: Database, batcher: Batcher, database_url: str) -> AsyncIterator[list[Hall]]:
    """One hall as three processes have it."""
    hall = await a_hall(database, batcher)
    others = [Database(database_url) for _ in range(2)]
    yield [hall, *(replace(hall, database=each, batcher=Batcher(each)) for each in others)]
    for each in others:
        await each.close()


async def told(hall: Hall, command: Any, each: Any) -> Any:
    try:
        return await hall.submit(command, each)
    except Refusal as refusal:
        return refusal


async def at_once(halls: list[Hall], asks: list[tuple[Any, Any]], chance: random.Random) -> list[Any]:
    chance.shuffle(asks)
    return await asyncio.gather(*(told(chance.choice(halls), command, each) for command, each in asks))


@pytest.mark.covers("INV-I09", "ENT-009", "ENT-021")
@pytest.mark.parametrize("seed", range(3))
async def test_a_right_that_is_taken_back_amid_a_crowd_has_no_code_left(
    halls: list[Hall], superuser: asyncpg.Connection, seed: int
):
    chance, hall = random.Random(seed), halls[0]
    ticket = await hall.grant(policy=OFTEN)
    code, caller = await hall.code(ticket), hall.staff.caller
    ends = (revoke, Revoking(caller, ticket.id, Revocation.REFUND)) if seed else (
        suspend, Suspension(caller, ticket.id, Hold.DISPUTE)
    )  # fmt: skip
    asks: list[tuple[Any, Any]] = [(consume, hall.a_scan(code, device=f"d{n}")) for n in range(15)]
    asks += [(renew, Renewal(ticket.id, LONGER_THAN_ANY, hall.guest.identity)) for _ in range(10)]
    asks += [(revoke_codes, Disowning(caller, ticket.id, "LOST")) for _ in range(3)]
    said = await at_once(halls, [*asks, ends], chance)

    row = await superuser.fetchrow(KEPT, ticket.id.uuid)
    assert (row["status"], row["live"]) == ("REVOKED" if seed else "SUSPENDED", 0)
    let_in = sum(each.allow for each in said if isinstance(each, Verdict))
    assert let_in == row["entries"] == row["entered"] == row["admitted"] <= MOST
    assert row["newest"] == row["epoch"], "no code is made behind the back of its right"
    assert (await hall.scan(code)).reason is Reason.ENTITLEMENT_NOT_ACTIVE


@pytest.mark.covers("ENT-009")
async def test_a_hundred_wallets_and_the_schedule_make_one_next_code(
    halls: list[Hall], superuser: asyncpg.Connection, database_url: str
):
    async with later(halls[0], database_url, hours=-23, minutes=-45) as yesterday:
        ticket = await yesterday.grant()
    spares = (TICKET.overlap, AHEAD)
    asks: list[tuple[Any, Any]] = [(renew, Renewal(ticket.id, spares[n % 2])) for n in range(100)]
    said, *_ = await asyncio.gather(
        at_once(halls, asks, random.Random(7)), *(fires(each, errands.renew_codes) for each in halls)
    )
    assert {each.epoch for each in said} == {2}
    row = await superuser.fetchrow(KEPT, ticket.id.uuid)
    assert (row["status"], row["live"], row["newest"]) == ("ACTIVE", 2, 2)


@pytest.mark.covers("IDN-004")
async def test_whatever_is_granted_while_a_guest_is_claimed_ends_with_the_user(halls: list[Hall]):
    guest, user, chance = IdentityId.new(), IdentityId.new(), random.Random(3)
    before = [await halls[0].grant(owner=guest) for _ in range(5)]
    asks: list[tuple[Any, Any]] = [(grant, halls[0].a_grant(owner=guest)) for _ in range(40)]
    said, *_ = await asyncio.gather(
        at_once(halls, asks, chance), *(tells(each, errands.claim_rights, guest, user) for each in halls)
    )
    await tells(halls[0], errands.claim_rest, guest, user)
    rights: list[Entitlement] = [*before, *said]
    assert {await owner_of(halls[0], each) for each in rights} == {user}


@pytest.mark.covers("INV-I09", "ENT-024", "ENT-031")
@pytest.mark.parametrize("seed", range(3))
async def test_entries_that_are_made_and_taken_back_and_heard_of_late_all_at_once_add_up(halls: list[Hall], seed: int):
    chance, hall, caller = random.Random(seed), halls[0], halls[0].staff.caller
    rights = [await hall.grant(policy=OFTEN) for _ in range(3)]
    codes = [await hall.code(each) for each in rights]
    entries = [await hall.scan(code, gate="first") for code in codes]
    leases = [await hall.submit(lease, LeaseWanted(caller, Place(EVENT, device=f"l{n}"), 5)) for n in range(2)]
    now = datetime.now(UTC)
    asks: list[tuple[Any, Any]] = [(consume, hall.a_scan(code, device=f"d{n}")) for code in codes for n in range(6)]
    asks += [(undo, Undo(caller, each.checkin, "WRONG_PERSON")) for each in entries for _ in range(3)]
    let_in = tuple(LetIn(f"{n}", digest_of(code), now) for n, code in enumerate(codes))
    asks += [(synchronise, Sync(caller, each.id, each.device, let_in)) for each in leases for _ in range(3)]
    asks += [(revoke, Revoking(caller, rights[0].id, Revocation.REFUND))]
    asks += [(revoke_codes, Disowning(caller, rights[1].id, "LOST"))]
    said = await at_once(halls, asks, chance)

    undone = [each for each in said if isinstance(each, Checkin)]
    assert len({each.refers_to for each in undone}) == len(undone), "nothing is taken back twice"
    assert all(isinstance(each, Verdict | Checkin | Synced | Entitlement | Refusal) for each in said)
    await agree(hall)

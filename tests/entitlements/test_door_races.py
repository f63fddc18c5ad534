"""A code is good or not when its right is held, and not a moment before."""

import asyncio
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from admitone.entitlements.codes import digest_of
from admitone.entitlements.commands.changing import Disowning, Transfer, revoke_codes, transfer
from admitone.entitlements.commands.checking_in import consume
from admitone.entitlements.commands.leasing import LeaseWanted, LetIn, Sync, Synced, lease, synchronise
from admitone.entitlements.model import CheckinPolicy, Incident, Place, Reason, Verdict
from admitone.kernel.db import Tx
from admitone.kernel.ids import IdentityId
from tests.entitlements.rights import EVENT, Hall

WAITING = """
    SELECT EXISTS (SELECT FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%entitlement%')
"""


async def somebody_waits(superuser: asyncpg.Connection) -> None:
    async with asyncio.timeout(20):
        while not await superuser.fetchval(WAITING):  # noqa: ASYNC110, the server rings no bell
            await asyncio.sleep(0.01)


@pytest.mark.covers("ENT-009", "INV-I09")
@pytest.mark.parametrize("how", ["transferred", "codes called back"])
async def test_who_waits_for_a_right_that_changes_hands_is_not_let_in_by_the_old_code(
    hall: Hall, superuser: asyncpg.Connection, how: str
):
    right = await hall.grant(policy=CheckinPolicy(allow_reentry=True, max_entries=3))
    old, caller = await hall.code(right), hall.staff.caller
    changed = asyncio.Event()

    async def change(tx: Tx) -> None:
        if how == "transferred":
            await transfer(tx, [Transfer(caller, right.id, IdentityId.new())])
        else:
            await revoke_codes(tx, [Disowning(caller, right.id, "LOST")])
        changed.set()
        await somebody_waits(superuser)

    async def scan() -> Verdict:
        await changed.wait()
        [said] = await hall.database.run(hall.scope, lambda tx: consume(tx, [hall.a_scan(old)]), patient=True)
        assert isinstance(said, Verdict)
        return said

    _, said = await asyncio.gather(hall.database.run(hall.scope, change), scan())
    assert (said.allow, said.reason) == (False, Reason.TOKEN_EXPIRED)
    assert (await hall.find(right.id)).entries == 0
    assert (await hall.scan(await hall.code(right))).allow, "whose it is now comes in"


@pytest.mark.covers("ENT-009", "ENT-031")
async def test_a_device_that_is_back_while_a_right_changes_hands_uses_nobodys(
    hall: Hall, superuser: asyncpg.Connection
):
    right = await hall.grant()
    old, caller = await hall.code(right), hall.staff.caller
    given = await hall.submit(lease, LeaseWanted(caller, Place(EVENT, device="d"), 10))
    changed = asyncio.Event()

    async def change(tx: Tx) -> None:
        await transfer(tx, [Transfer(caller, right.id, IdentityId.new())])
        changed.set()
        await somebody_waits(superuser)

    async def back() -> Incident | None:
        await changed.wait()
        let_in = (LetIn("1", digest_of(old), datetime.now(UTC) + timedelta(seconds=30)),)
        sync = Sync(caller, given.id, "d", let_in)
        [said] = await hall.database.run(hall.scope, lambda tx: synchronise(tx, [sync]), patient=True)
        assert isinstance(said, Synced)
        return said.recorded[0].incident

    _, incident = await asyncio.gather(hall.database.run(hall.scope, change), back())
    assert incident is Incident.NOT_ACTIVE
    assert (await hall.find(right.id)).entries == 0

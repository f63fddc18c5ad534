"""A code is good or not when its right is held, and not a moment before."""

import asyncio

import asyncpg
import pytest

from admitone.entitlements.commands.changing import Disowning, Transfer, revoke_codes, transfer
from admitone.entitlements.commands.checking_in import consume
from admitone.entitlements.model import CheckinPolicy, Reason, Verdict
from admitone.kernel.db import Tx
from admitone.kernel.ids import IdentityId
from tests.entitlements.rights import Hall

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

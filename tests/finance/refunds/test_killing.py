"""The power goes at every step of a cancellation, and comes back: everybody has their money once, and the books are the
provider's."""

import asyncio
from itertools import count

import asyncpg
import pytest

from admitone.finance.gateways.api import MovementKind
from admitone.finance.ledger.api import Account, EntryType, list_transfers_of
from admitone.finance.payments.model import Status
from admitone.finance.refunds.api import CANCELLATION, Piece
from admitone.kernel import failpoints
from tests.finance.payments.telling import balances
from tests.finance.refunds.test_refunds import (
    SOONER,
    a_stormy_evening,
    applied,
    ask,
    its_duties,
    moved,
    planned,
    the_storm,
)
from tests.finance.world import World
from tests.jobs import a_worker

LEFT = "SELECT count(*) FROM refunds.refund WHERE organization_id = $1 AND state IN ('PLANNED', 'PENDING')"


class PowerCut(Exception):
    """Whatever was under way is gone; what was committed is not."""


TRAPS = [
    *(("commit.before", turn) for turn in (3, 5, 7)),
    *(("payments.before_recording", turn) for turn in (1, 3)),
    ("job.before_end", 2),
]


@pytest.mark.covers("FIN-070")
@pytest.mark.parametrize(("point", "turn"), TRAPS, ids=str)
async def test_whenever_the_power_goes_everybody_has_their_money_once(
    world: World, superuser: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch, point: str, turn: int
):
    monkeypatch.setattr("admitone.finance.refunds.cancelling.AT_A_TIME", 2)
    evening = await a_stormy_evening(world, 3)
    await ask(world, evening[0], Piece("child", 1))
    await applied(world, await planned(world, CANCELLATION, the_storm()))
    passed, cut = count(1), asyncio.Event()

    def spring() -> None:
        if next(passed) == turn:
            cut.set()
            raise PowerCut

    async with asyncio.timeout(60):
        with failpoints.armed(point, spring):
            async with a_worker(world.database, its_duties()):
                await cut.wait()
        async with a_worker(world.database, its_duties()):
            while await superuser.fetchval(LEFT, world.organization.uuid):
                await superuser.execute(SOONER, world.organization.uuid)
                await asyncio.sleep(0.05)
    assert {(await world.payment(each)).status for each in evening} == {Status.REFUNDED}
    there = {each.reference: each.amount_minor for each in await moved(world) if each.kind is MovementKind.REFUND}
    assert sorted(there.values()) == [1000, 4000, 5000, 5000]
    transfers = await world.database.read(world.scope, list_transfers_of, evening)
    settled = [each for each in transfers if each.entry_type is EntryType.REFUND_SETTLED]
    assert len(settled) == len(there)
    assert {each.reference: each.amount_minor for each in settled} == there
    assert Account.REF not in await balances(world)

"""Rolling: open deltas are folded into the balances, and their transfers are sealed, in one transaction.

Promise: a delta is folded exactly once, and its transfers are sealed with it; two rollers at once do no harm, because a
seal's number is taken once, and whoever comes second begins again after it.
"""

import asyncio
from functools import partial
from typing import Final
from uuid import UUID

import msgspec

from admitone.finance.ledger import policy, sealing
from admitone.finance.ledger.store import rolling as store
from admitone.finance.ledger.store import seals
from admitone.kernel.db import Database, Tx
from admitone.kernel.ids import OrganizationId
from admitone.kernel.jobs import Delivered, Desk, Lane, errand
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.scope import PlatformScope, Role, Scope
from admitone.kernel.telemetry import logger

FIRST: Final = UUID(int=0)
DELTAS: Final = 100
"""In one transaction. Each may be a full batch of hundreds of postings."""
TURNS: Final = 20
"""Before another organisation has its turn."""
ORGANIZATIONS: Final = 500
MINUTE_SECONDS: Final = 55
PAUSE_SECONDS: Final = 1
ACROSS: Final = PlatformScope("find whose deltas are open", Role.RELAY)


class Rolled(msgspec.Struct, frozen=True):
    """What one transaction did."""

    deltas: int = 0
    transfers: int = 0
    last: UUID = FIRST
    """The last delta that was taken; the next turn begins after it, and does not wade through what is gone."""


async def roll(tx: Tx, after: UUID = FIRST, most: int = DELTAS) -> Rolled:
    """Fold the oldest open deltas after that one, and seal what they consist of."""
    taken = await store.take_deltas(tx, after, most)
    if not taken:
        return Rolled()
    own = tx.scope.organization.uuid
    ids = [transfer for delta in taken for transfer in delta.transfers]
    found = await seals.find_transfers(tx, ids)
    made, members = sealing.seal(own, await seals.find_last_seal(tx), [found[each] for each in ids], tx.now)
    await seals.insert_seals(tx, made, members)
    await store.add_to_balances(tx, policy.folds_of(taken, by_day=False), policy.folds_of(taken, by_day=True))
    return Rolled(len(taken), len(ids), taken[-1].id)


async def roll_out(database: Database, organization: OrganizationId, turns: int = TURNS) -> int:
    """Roll one organisation until nothing is left, or its turns are over: how many deltas went."""
    scope, after, gone = Scope(organization, "roll the ledger"), FIRST, 0
    for _ in range(turns):
        rolled = await database.run(scope, partial(roll, after=after), patient=True)
        gone, after = gone + rolled.deltas, rolled.last
        if rolled.deltas < DELTAS:
            break
    return gone


async def roll_everybody(database: Database) -> int:
    """One turn for every organisation that has something open: how many deltas went. One that fails stops no other."""
    gone, after, failed = 0, FIRST, []
    while found := await database.read(ACROSS, store.list_organizations, after, ORGANIZATIONS):
        after = found[-1].uuid
        for organization in found:
            try:
                gone += await roll_out(database, organization)
            except Exception as error:  # noqa: BLE001  It is raised below.
                logger().exception("ledger.roll_failed", organization=str(organization))
                failed.append(error)
    if failed:
        raise ExceptionGroup(f"{len(failed)} organisations could not be rolled", failed)
    return gone


@errand("ledger.roll", lane=Lane("ledger", places=1), seconds=120)
async def roll_for_a_minute(desk: Desk, firing: Delivered[Firing]) -> None:  # noqa: ARG001
    """By schedule, every minute. A schedule is no finer than that, and open deltas make every balance dearer to read,
    so it stays for nearly all of its minute and looks again a second after it found nothing."""
    loop = asyncio.get_running_loop()
    end = loop.time() + MINUTE_SECONDS
    while loop.time() < end:
        if not await roll_everybody(desk.database):
            await asyncio.sleep(PAUSE_SECONDS)

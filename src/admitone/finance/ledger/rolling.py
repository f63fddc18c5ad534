"""Rolling: open deltas are folded into the balances, and their transfers are sealed, in one transaction.

Promise: a delta is folded exactly once, and its transfers are sealed with it; two rollers at once do no harm, because a
seal's number is taken once, and whoever comes second begins again after it. A delta that does not fit its transfers is
set aside, where it is: it is logged, `verify` tells of it, and nobody waits for it. Every organisation has its turn,
however many have something open and whatever becomes of one of them.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
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


class Turn:
    """Whose it is next, and what was told already."""

    def __init__(self) -> None:
        self.after = FIRST
        self.told: set[UUID] = set()


HERE: Final = Turn()
"""Of this process: a minute goes on where the last one ended."""


class Rolled(msgspec.Struct, frozen=True):
    """What one transaction did."""

    deltas: int = 0
    transfers: int = 0
    aside: tuple[UUID, ...] = ()
    """Deltas that could not be rolled, and stay."""
    last: UUID = FIRST
    """The last delta that was looked at; the next turn begins after it, and does not wade through what is gone."""


async def roll(tx: Tx, after: UUID = FIRST, most: int = DELTAS) -> Rolled:
    """Fold the oldest open deltas after that one, and seal what they consist of."""
    locked = await store.lock_deltas(tx, after, most)
    if not locked:
        return Rolled()
    own, named = tx.scope.organization.uuid, [transfer for delta in locked for transfer in delta.transfers]
    found = await seals.find_transfers(tx, named)
    taken = policy.sound_of(locked, found, await seals.find_sealed(tx, named))
    aside = tuple(delta.id for delta in locked if delta not in taken) if len(taken) < len(locked) else ()
    ids = [transfer for delta in taken for transfer in delta.transfers]
    if taken:
        made, members = sealing.seal(own, await seals.find_last_seal(tx), [found[each] for each in ids], tx.now)
        await seals.insert_seals(tx, made, members)
        await store.add_to_balances(tx, policy.folds_of(taken, by_day=False), policy.folds_of(taken, by_day=True))
        await store.delete_deltas(tx, taken)
    return Rolled(len(taken), len(ids), aside, locked[-1].id)


async def roll_out(
    database: Database, organization: OrganizationId, turns: int = TURNS, told: set[UUID] | None = None
) -> int:
    """Roll one organisation until nothing is left, or its turns are over: how many deltas went."""
    scope, after, gone = Scope(organization, "roll the ledger"), FIRST, 0
    told = set() if told is None else told
    for _ in range(turns):
        rolled = await database.run(scope, partial(roll, after=after, most=DELTAS), patient=True)
        gone, after = gone + rolled.deltas, rolled.last
        for delta in {*rolled.aside} - told:
            logger().error("ledger.delta_set_aside", organization=str(organization), delta=str(delta))
        told.update(rolled.aside)
        if rolled.deltas + len(rolled.aside) < DELTAS:
            break
    return gone


async def roll_everybody(
    database: Database, turn: Turn | None = None, is_over: Callable[[], bool] = lambda: False
) -> int:
    """One turn for every organisation that has something open, as long as there is time: how many deltas went. One that
    fails stops no other. It begins after whoever had the last turn."""
    turn, gone, failed = turn or Turn(), 0, []
    async for organization in _everybody(database, turn.after):
        turn.after = organization.uuid
        try:
            gone += await roll_out(database, organization, told=turn.told)
        except Exception as error:  # noqa: BLE001  It is raised below.
            logger().exception("ledger.roll_failed", organization=str(organization))
            failed.append(error)
        if is_over():
            break
    if failed:
        raise ExceptionGroup(f"{len(failed)} organisations could not be rolled", failed)
    return gone


async def _everybody(database: Database, start: UUID) -> AsyncIterator[OrganizationId]:
    """Those after that one, and then those until it."""
    for after, until in ((start, None), (FIRST, start)):
        while found := await database.read(ACROSS, store.list_organizations, after, ORGANIZATIONS):
            after = found[-1].uuid
            for organization in found:
                if until is not None and organization.uuid > until:
                    return
                yield organization


@errand("ledger.roll", lane=Lane("ledger", places=1), seconds=120)
async def roll_for_a_minute(desk: Desk, firing: Delivered[Firing]) -> None:  # noqa: ARG001
    """By schedule, every minute. A schedule is no finer than that, and open deltas make every balance dearer to read,
    so it stays for nearly all of its minute and looks again a second after it found nothing. A worker that is told to
    stop does not wait for it."""
    loop = asyncio.get_running_loop()
    end = loop.time() + MINUTE_SECONDS

    def is_over() -> bool:
        return loop.time() >= end or desk.closing.is_set()

    failures: ExceptionGroup[Exception] | None = None
    while not is_over():
        try:
            gone = await roll_everybody(desk.database, HERE, is_over)
        except ExceptionGroup as failed:  # One that cannot be rolled does not take the minute from the others.
            failures, gone = failed, 0
        if not gone:
            await _pause(desk)
    if failures:
        raise failures


async def _pause(desk: Desk) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(desk.closing.wait(), PAUSE_SECONDS)

"""What becomes of what was kept: it is sold, kept longer or shorter, let go, overdue, or comes back.

Promise: each can be said again, and is done once. Money that comes late buys what it was for, if there is any: what
is overdue and not yet anybody else's is still its own, what ended is taken again. 256 claims in time on one pool are
four statements: what is kept, and at the end pools, portions and counters.
"""

from collections.abc import Sequence
from functools import partial

from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.selling.stock.commands.shelving import lock_holds, survey, write
from admitone.selling.stock.model import GONE, Claim, GiveBack, Hold, HoldId, KeepUntil, Portion, Release, Status
from admitone.selling.stock.policy import Sale
from admitone.selling.stock.store.pools import Need, lock_pools, write_counters
from admitone.selling.stock.store.portions import find_given_back, find_portions, sum_bought, write_portions


async def claim(tx: Tx, claims: Sequence[Claim]) -> list[Hold | Refusal]:
    """Paid for, so sold. What is surely kept is nobody else's, so no pool is looked at: it is written at the very end,
    and whoever wants something of the same pool meanwhile does not wait for whatever else is done for the buyers."""
    parts = await find_portions(tx, {each.hold for each in claims})
    if not all(each.is_sure(tx.now) for each in parts):
        return await _claim_late(tx, claims)
    sale = Sale(parts)
    of = {each.hold: each.of for each in claims}
    needs = [Need(of[part.hold], part.pool) for part, _ in sale.moved]
    tx.at_last(partial(_write_sale, tx, sale, needs))
    return [sale.hold(each.hold) for each in claims]


async def _write_sale(tx: Tx, sale: Sale, needs: Sequence[Need]) -> None:
    """Pools first and sorted, as everybody; the guards say again that it was still kept."""
    await lock_pools(tx, needs)
    await write_portions(tx, sale.moved)
    await write_counters(tx, sale.deltas)


async def _claim_late(tx: Tx, claims: Sequence[Claim]) -> list[Hold | Refusal]:
    pools, parts = await lock_holds(tx, claims)
    gone = [each for each in parts if each.status in GONE]
    overdue = [each for each in parts if each.is_overdue(tx.now)]
    late = {(each.buyer, each.item) for each in (*gone, *overdue) if each.leads and each.most is not None}
    wishes = [Portion(each.pool, each.item, each.quantity, each.units or ()) for each in gone]
    stock = await survey(tx, pools, parts, wishes, spared=overdue, bought=await sum_bought(tx, late))
    outcomes = [stock.claim(each.hold) for each in claims]
    await write(tx, stock)
    return outcomes


async def keep_until(tx: Tx, wanted: Sequence[KeepUntil]) -> list[Hold | Refusal]:
    """Another end for what is kept: later while somebody pays, sooner when they do not."""
    pools, parts = await lock_holds(tx, wanted)
    stock = await survey(tx, pools, parts)
    outcomes = [stock.keep_until(each) for each in wanted]
    await write(tx, stock)
    return outcomes


async def release(tx: Tx, releases: Sequence[Release]) -> list[Hold | Refusal]:
    """Not wanted any more, before it was paid for."""
    pools, parts = await lock_holds(tx, releases)
    stock = await survey(tx, pools, parts, touched=[each for each in parts if each.status is Status.HELD])
    outcomes = [stock.release(each.hold) for each in releases]
    await write(tx, stock)
    return outcomes


async def expire(tx: Tx, holds: Sequence[HoldId]) -> int:
    """What is overdue of these is anybody's again; how many portions that was."""
    pools, parts = await lock_holds(tx, [Release(each, each) for each in holds])
    stock = await survey(tx, pools, parts, touched=[each for each in parts if each.is_overdue(tx.now)])
    expired = stock.expire()
    await write(tx, stock)
    return expired


async def give_back(tx: Tx, wanted: Sequence[GiveBack]) -> list[Hold | Refusal]:
    """Sold, and back in its pools: the money went back, too."""
    pools, parts = await lock_holds(tx, wanted)
    given = await find_given_back(tx, {each.hold for each in wanted})
    sold = [each for each in parts if each.status is Status.SOLD]
    stock = await survey(tx, pools, parts, touched=sold, given=given)
    outcomes = [stock.give_back(each) for each in wanted]
    await write(tx, stock)
    return outcomes

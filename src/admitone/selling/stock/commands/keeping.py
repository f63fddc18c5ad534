"""Keeping something for a buyer.

Promise: one batch, one look at each pool, in order of arrival; all of a hold or nothing. No fact is told and no trail
is written: a hold is worth something when it is sold. 256 of them on one pool are five statements: the pool is
locked, holds that are known are found, what their buyers have is added up, portions are inserted, the pool is
written. One that is short of something has a sixth, for what is overdue.
"""

from collections.abc import Sequence

from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.selling.stock.commands.shelving import survey, write
from admitone.selling.stock.model import Hold, Keep
from admitone.selling.stock.store.pools import Need, lock_pools
from admitone.selling.stock.store.portions import find_portions, sum_bought


async def keep(tx: Tx, wanted: Sequence[Keep]) -> list[Hold | Refusal]:
    """Each in its turn; what does not fit is refused, and keeps nobody after it waiting."""
    pools = await lock_pools(tx, [Need(each.of, portion.pool) for each in wanted for portion in each.portions])
    known = await find_portions(tx, {each.hold for each in wanted})
    limited = {
        (each.buyer, portion.item) for each in wanted for portion in each.portions if portion.item in each.limits
    }
    bought = await sum_bought(tx, limited)
    wishes = [portion for each in wanted for portion in each.portions]
    stock = await survey(tx, pools, known, wishes, bought=bought)
    outcomes = [stock.keep(each) for each in wanted]
    await write(tx, stock)
    return outcomes

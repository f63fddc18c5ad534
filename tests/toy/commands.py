"""What can be done to counters."""

from collections.abc import Sequence

from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId
from tests.toy import store
from tests.toy.errors import CounterExists
from tests.toy.facts import CounterIncremented
from tests.toy.model import Added, Counted, Counter, Increment
from tests.toy.policy import Board

NOBODY = IdentityId.new()


@command()
async def increment(tx: Tx, increments: Sequence[Increment]) -> list[Counted | Refusal]:
    """Add to counters, never above their ceiling."""
    board = Board(await store.lock_counters(tx, increments))
    outcomes = [board.decide(increment) for increment in increments]
    counted = [(i, o) for i, o in zip(increments, outcomes, strict=True) if isinstance(o, Counted)]

    await store.add(tx, board.added())
    await store.insert_increments(
        tx, [Added(o.id, o.counter, o.amount, i.caller.actor or NOBODY, tx.now) for i, o in counted]
    )
    for each, outcome in counted:
        tx.publish(each.caller, CounterIncremented(counter=outcome.counter, amount=outcome.amount))
    return outcomes


@command()
async def create(tx: Tx, counters: Sequence[Counter]) -> list[Counter | Refusal]:
    """Make counters; a name that is taken, also by an earlier one of the batch, is refused."""
    await store.open_tenant(tx)
    first = {counter.name: counter for counter in reversed(counters)}
    free = await store.insert_counters(tx, sorted(first.values(), key=lambda counter: counter.name))
    return [c if c.name in free and first[c.name] is c else CounterExists() for c in counters]

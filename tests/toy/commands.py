"""What can be done to counters."""

from collections.abc import Sequence

from admitone.kernel import audit
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId
from tests.toy import store
from tests.toy.errors import CounterExists, CounterNotFound
from tests.toy.facts import CounterIncremented
from tests.toy.model import Added, Counted, Counter, Increment, Move, Moved, Note
from tests.toy.policy import Board, Course

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


@command(keyed_by=lambda move: move.counter)
async def move(tx: Tx, moves: Sequence[Move]) -> list[Moved | Refusal]:
    """Take counters to another state; every move that is made stands in the audit trail."""
    course = Course(await store.lock_counters(tx, moves))
    outcomes = [course.decide(move) for move in moves]
    made = [(m, o) for m, o in zip(moves, outcomes, strict=True) if isinstance(o, Moved)]

    for status, names in course.ended().items():
        await store.move(tx, names, status)
    await audit.record(tx, [entry_of(each, moved) for each, moved in made])
    return outcomes


def entry_of(move: Move, moved: Moved) -> audit.Entry:
    before, after = {"status": moved.before}, {"status": moved.after}
    return audit.Entry(move.caller, "toy.move", move.counter, move.reason_code, before, after)


@command()
async def write_note(tx: Tx, notes: Sequence[Note]) -> list[str | Refusal]:
    """Keep a secret text with counters; the last one stays. Gives the names only: an outcome may be stored."""
    known = {counter.name for counter in await store.lock_counters(tx, notes)}
    last = {note.counter: note for note in notes if note.counter in known}
    await store.write_notes(tx, list(last.values()))
    return [note.counter if note.counter in known else CounterNotFound() for note in notes]

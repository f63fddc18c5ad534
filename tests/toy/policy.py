"""What the toy decides, without touching anything."""

from collections import Counter as Tally
from collections.abc import Iterable

from admitone.kernel.errors import Refusal
from admitone.kernel.states import IllegalMove
from tests.toy.errors import CounterFull, CounterNotFound, CounterNotOpen
from tests.toy.model import COUNTER, Counted, Counter, CounterStatus, Increment, IncrementId, Move, Moved


class Board:
    """Decides increments one after another: the second of a batch sees the first."""

    def __init__(self, counters: Iterable[Counter]) -> None:
        self._counters = {counter.name: counter for counter in counters}
        self._added: Tally[str] = Tally()

    def decide(self, increment: Increment) -> Counted | Refusal:
        counter = self._counters.get(increment.counter)
        if counter is None:
            return CounterNotFound()
        if counter.status is not CounterStatus.OPEN:
            return CounterNotOpen(status=counter.status)
        left = counter.ceiling - counter.value - self._added[counter.name]
        if increment.amount > left:
            return CounterFull(left=left)
        self._added[counter.name] += increment.amount
        value = counter.value + self._added[counter.name]
        return Counted(IncrementId.new(), counter.name, increment.amount, value)

    def added(self) -> list[tuple[str, int]]:
        """What to write: one line per counter, however often it was incremented in this batch."""
        return sorted(self._added.items())


class Course:
    """Decides moves one after another: the second of a batch begins where the first ended."""

    def __init__(self, counters: Iterable[Counter]) -> None:
        self._began = {counter.name: counter.status for counter in counters}
        self._now = dict(self._began)

    def decide(self, move: Move) -> Moved | Refusal:
        before = self._now.get(move.counter)
        if before is None:
            return CounterNotFound()
        try:
            COUNTER.check(before, move.to)
        except IllegalMove as illegal:  # Returned: raised, it would refuse the whole batch.
            return illegal
        self._now[move.counter] = move.to
        return Moved(move.counter, before, move.to)

    def ended(self) -> dict[CounterStatus, list[str]]:
        """What to write: the counters by the state they ended in, without those that are back where they began."""
        gone = {name: status for name, status in self._now.items() if status is not self._began[name]}
        return {status: sorted(name for name in gone if gone[name] is status) for status in sorted({*gone.values()})}

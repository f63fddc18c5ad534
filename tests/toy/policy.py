"""What the toy decides, without touching anything."""

from collections import Counter as Tally
from collections.abc import Iterable

from admitone.kernel.errors import Refusal
from tests.toy.errors import CounterFull, CounterNotFound
from tests.toy.model import Counted, Counter, Increment, IncrementId


class Board:
    """Decides increments one after another: the second of a batch sees the first."""

    def __init__(self, counters: Iterable[Counter]) -> None:
        self._counters = {counter.name: counter for counter in counters}
        self._added: Tally[str] = Tally()

    def decide(self, increment: Increment) -> Counted | Refusal:
        counter = self._counters.get(increment.counter)
        if counter is None:
            return CounterNotFound()
        left = counter.ceiling - counter.value - self._added[counter.name]
        if increment.amount > left:
            return CounterFull(left=left)
        self._added[counter.name] += increment.amount
        value = counter.value + self._added[counter.name]
        return Counted(IncrementId.new(), counter.name, increment.amount, value)

    def added(self) -> list[tuple[str, int]]:
        """What to write: one line per counter, however often it was incremented in this batch."""
        return sorted(self._added.items())

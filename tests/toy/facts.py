"""What happens to counters."""

from admitone.kernel.facts import Fact


class CounterIncremented(Fact, frozen=True):
    name = "toy.counter_incremented"
    version = "1.0.0"
    subject = ("COUNTER", "counter")

    counter: str
    amount: int

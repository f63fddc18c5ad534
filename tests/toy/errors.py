"""What the toy refuses."""

from admitone.kernel.errors import Conflict, NotFound


class CounterNotFound(NotFound):
    """There is no counter of that name."""

    code = "COUNTER_NOT_FOUND"


class CounterExists(Conflict):
    """A counter of that name is already there."""

    code = "COUNTER_EXISTS"


class CounterNotOpen(Conflict):
    """The counter is paused or closed."""

    code = "COUNTER_NOT_OPEN"
    status: str


class CounterFull(Conflict):
    """The counter would exceed its ceiling."""

    code = "COUNTER_FULL"
    left: int

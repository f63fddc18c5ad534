"""The objects of the buckets that are not nothing: what is known of each on both sides, as many as fit."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from admitone.finance.gateways.api import Movement, MovementKind
from admitone.finance.ledger.api import Placed
from admitone.finance.reconciliation.comparing.likeness import SAYS_ITSELF
from admitone.finance.reconciliation.comparing.sums import Object, object_of
from admitone.finance.sources.api import PaymentId

MOST_SEEN: Final = 100_000
"""Objects that are held to be named. Of more, buckets are left out."""
EVER: Final = datetime.min.replace(tzinfo=UTC)
NEVER: Final = datetime.max.replace(tzinfo=UTC)
MOST_ROWS: Final = 8
"""Rows of an object that are remembered one by one, to see which stands there twice."""


@dataclass(slots=True)
class Seen:
    """What is known of an object of a bucket that is not nothing."""

    bucket: int
    there: int = 0
    here: int = 0
    rounded: int = 0
    """The part of what is here that an earlier comparison added."""
    first: datetime = NEVER
    last: datetime = EVER
    payment: PaymentId | None = None
    """As we have it; else as the provider says."""
    movements: int = 0
    """How many of the provider's rows it is, but for our fee."""
    rows: list[tuple[str, int]] = field(default_factory=list)
    """Of both sides, by their own names."""

    def see_there(self, movement: Movement, minor: int) -> None:
        self.there += minor
        self.payment = self.payment or movement.payment
        self.movements += movement.kind is not MovementKind.APPLICATION_FEE
        self._see(f"there {movement.kind}", minor, movement.at)

    def see_here(self, transfer: Placed) -> None:
        self.here += transfer.minor
        self.payment = transfer.payment or self.payment
        if transfer.entry_type is SAYS_ITSELF:
            self.rounded += transfer.minor
        self._see(f"here {transfer.entry_type}", transfer.minor, transfer.at)

    def _see(self, name: str, minor: int, at: datetime) -> None:
        self.first, self.last = min(self.first, at), max(self.last, at)
        if len(self.rows) < MOST_ROWS:
            self.rows.append((name, minor))

    @property
    def differs(self) -> bool:
        return self.there != self.here

    @property
    def is_repeated(self) -> bool:
        """Whether it would be the same on both sides if what stands there twice stood there once."""
        extra = {"there": 0, "here": 0}
        for (name, minor), times in Counter(self.rows).items():
            side, _, row = name.partition(" ")
            if row != SAYS_ITSELF:
                extra[side] += minor * (times - 1)
        return any(extra.values()) and self.there - extra["there"] == self.here - extra["here"]


@dataclass
class Suspects:
    """The objects of these buckets, as far as they fit."""

    buckets: set[int]
    seen: dict[Object, Seen] = field(default_factory=dict)
    left_out: set[int] = field(default_factory=set)
    """Buckets that were not looked into."""

    def see_there(self, movement: Movement, bucket: int, known: Container[Object] | None = None) -> None:
        """Only of known objects, if these are said."""
        if bucket in self.buckets:
            about, minor = object_of(movement)
            if known is None or about in known:
                self._of(about, bucket).see_there(movement, minor)
                self._make_room()

    def see_here(self, transfers: Iterable[Placed], known: Container[Object] | None = None) -> None:
        for each in transfers:
            about = Object(MovementKind(each.kind), each.reference, each.currency)
            if each.bucket in self.buckets and (known is None or about in known):
                self._of(about, each.bucket).see_here(each)
                self._make_room()

    def _of(self, about: Object, bucket: int) -> Seen:
        return self.seen.get(about) or self.seen.setdefault(about, Seen(bucket))

    def _make_room(self) -> None:
        while len(self.seen) > MOST_SEEN:
            last = max(self.buckets)
            self.buckets.discard(last)
            self.left_out.add(last)
            self.seen = {about: each for about, each in self.seen.items() if each.bucket != last}

    def differing(self) -> Iterator[tuple[Object, Seen]]:
        return ((about, each) for about, each in self.seen.items() if each.differs)

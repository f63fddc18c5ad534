"""Both sides in buckets: nothing is held but sums.

What is known of an object (its kind, reference and currency) is added up on both sides, weighed by a secret hash of the
object, so that a bucket is nothing exactly if every object in it is the same on both sides. The hash is the one that
`ledger.weigh` computes where the transfers lie: that side comes as sums, and this one is hashed here.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final, NamedTuple

from admitone.finance.gateways.api import Movement, MovementKind
from admitone.finance.ledger.api import Placed, Span, Weighed, Weighing
from admitone.finance.reconciliation.comparing.likeness import COMES_IN, LIKENESS, NOT_COMPARED

BUCKETS: Final = 16_384
HASHED: Final = 9
"""Bytes of the hash that are used: two say the bucket, seven the weight."""
WEIGHT: Final = (1 << 56) - 1
LONGEST_WAIT: Final = timedelta(days=1)
"""However long an event of ours waits in the queue: what is older is not waiting for it. And however long a look lasts:
what says that it will move later than that is not believed."""
LONGEST_REFERENCE: Final = 200
"""Of what is kept of a provider's words, here too."""
K = MovementKind


class Object(NamedTuple):
    """What a movement and a transfer have in common."""

    kind: MovementKind
    reference: str
    currency: str


def object_of(movement: Movement) -> tuple[Object, int]:
    """And how much of it. Of a charge for an organisation all goes to its account, and our fee comes back: what the
    ledger has is left."""
    kind, minor = movement.kind, movement.amount_minor
    if kind is K.APPLICATION_FEE:
        kind, minor = K.TRANSFER, -minor
    return Object(kind, movement.reference[:LONGEST_REFERENCE], movement.currency), minor


@dataclass
class Sums:
    """Both sides, summed up."""

    since: datetime | None
    """From when on it is looked at; from the beginning, if it is not said."""
    young: datetime
    """What is younger may be in flight."""
    began: datetime
    secret: bytes = field(default_factory=lambda: os.urandom(16))
    count: int = field(default_factory=lambda: BUCKETS)
    buckets: list[int] = field(init=False)
    young_buckets: list[int] = field(init=False)
    """The part of it that moved a moment ago."""
    moved: dict[str, list[int]] = field(default_factory=dict)
    """What came in there and here, by currency."""
    movements: int = 0
    objects: int = 0
    """Movements that are objects of their own."""
    transfers: int = 0

    def __post_init__(self) -> None:
        self.buckets, self.young_buckets = [0] * self.count, [0] * self.count
        self._prefixes: dict[tuple[str, str], bytes] = {}

    @property
    def span(self) -> Span:
        """What moved after the look began is left for the next one; what says that it will be tomorrow is not believed,
        and compared."""
        beyond = self.began + LONGEST_WAIT
        return Span(last=self.began, beyond=beyond) if self.since is None else Span(self.since, self.began, beyond)

    def weighing(self, span: Span | None = None) -> Weighing:
        return Weighing(LIKENESS, self.secret, self.count, span or self.span, self.young)

    def add_there(self, movements: Sequence[Movement]) -> None:
        """Some rows of the provider's: the hot one of all loops, in which nothing is made that is not needed."""
        buckets, young_buckets, span = self.buckets, self.young_buckets, self.span
        first, last, beyond, young = span.first, span.last, span.beyond, self.young
        for movement in movements:
            kind, at = movement.kind, movement.at
            if kind in NOT_COMPARED or not (first <= at <= last or at > beyond):
                continue
            minor, currency = movement.amount_minor, movement.currency
            if kind is K.APPLICATION_FEE:
                kind, minor = K.TRANSFER, -minor
            else:
                self.objects += 1
            bucket, weight = self.place(kind, movement.reference, currency)
            weighed = weight * minor
            buckets[bucket] += weighed
            if young < at <= last:
                young_buckets[bucket] += weighed
            sides = self.moved.get(currency) or self.moved.setdefault(currency, [0, 0])
            sides[0] += minor if kind in COMES_IN else -minor
            self.movements += 1

    def add_here(self, sums: Iterable[Weighed]) -> None:
        for bucket, currency, weighed, young, inward, transfers in sums:
            self.buckets[bucket] -= weighed
            self.young_buckets[bucket] -= young
            self.moved.setdefault(currency, [0, 0])[1] += inward
            self.transfers += transfers

    def weighed(self, transfers: Iterable[Placed]) -> Iterator[Weighed]:
        """Each by itself."""
        for each in transfers:
            weighed = each.weight * each.minor
            young = weighed if self.is_young(each.at) else 0
            yield Weighed(each.bucket, each.currency, weighed, young, each.inward_minor, 1)

    def place(self, kind: str, reference: str, currency: str) -> tuple[int, int]:
        """In which bucket, and how it weighs there: by a secret, so that nobody finds amounts that cancel each other
        out."""
        prefix = self._prefixes.get((kind, currency))
        if prefix is None:
            prefix = self._prefixes[kind, currency] = self.secret + f"{kind} {currency} ".encode()
        hashed = int.from_bytes(
            sha256(prefix + reference[:LONGEST_REFERENCE].encode(errors="replace")).digest()[:HASHED]
        )
        return (hashed >> 56) % self.count, hashed & WEIGHT | 1

    def bucket_of(self, movement: Movement) -> int:
        kind = K.TRANSFER if movement.kind is K.APPLICATION_FEE else movement.kind
        return self.place(kind, movement.reference, movement.currency)[0]

    def is_young(self, at: datetime) -> bool:
        return self.young < at <= self.began

    def unexplained(self) -> set[int]:
        """The buckets that are not nothing, also without what is in flight."""
        return {number for number, (all_, young) in self._both() if all_ and all_ != young}

    def flying(self) -> set[int]:
        """The buckets in which everything that differs is young."""
        return {number for number, (all_, young) in self._both() if all_ and all_ == young}

    def _both(self) -> Iterable[tuple[int, tuple[int, int]]]:
        return enumerate(zip(self.buckets, self.young_buckets, strict=True))

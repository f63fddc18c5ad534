"""Pools, holds and numbered units: what they are made of."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

import msgspec

from admitone.kernel.ids import Id, IdentityId
from admitone.kernel.states import Lifecycle

SURELY: Final = timedelta(minutes=1)
"""Longer than any transaction lasts."""


class PoolId(Id, prefix="pol"):
    """So much of something."""


class HoldId(Id, prefix="hld"):
    """What is kept for one buyer, and then sold."""


class UnitId(Id, prefix="unt"):
    """One that has a number."""


class Status(StrEnum):
    HELD = "HELD"
    """Kept for a while; what is overdue is still HELD until somebody needs it, or sweeps."""
    SOLD = "SOLD"
    """What of it is given back is counted, and no state."""
    RELEASED = "RELEASED"
    """Its buyer did not want it after all."""
    EXPIRED = "EXPIRED"
    """Its time was over."""


HOLD: Final = Lifecycle(
    "hold",
    initial=Status.HELD,
    moves={
        Status.HELD: (Status.SOLD, Status.RELEASED, Status.EXPIRED),
        # Money that comes late buys what there is.
        Status.RELEASED: (Status.SOLD,),
        Status.EXPIRED: (Status.SOLD,),
    },
)
MOST_AT_ONCE: Final = 1_000_000
MOST_OF_ALL: Final = 1_000_000_000
MOST_UNITS: Final = 100_000
"""Of one pool: a stadium."""
LONGEST_LABEL: Final = 64
GONE: Final = (Status.RELEASED, Status.EXPIRED)


class Pool(msgspec.Struct, frozen=True):
    id: PoolId
    capacity: int
    held: int = 0
    sold: int = 0
    seated: bool = False

    @property
    def free(self) -> int:
        return self.capacity - self.held - self.sold


class Unit(msgspec.Struct, frozen=True):
    id: UnitId
    pool: PoolId
    label: str
    place: int
    """The best is 0; neighbours follow each other."""
    hold: HoldId | None = None


class Portion(msgspec.Struct, frozen=True):
    """So many of a pool for an item. An item that counts in several pools has a portion in each, equally large."""

    pool: PoolId
    item: str
    quantity: int
    seats: tuple[UnitId, ...] = ()
    """Of a seated pool: these; none named, the best that are free."""

    def __post_init__(self) -> None:
        if not 1 <= self.quantity <= MOST_AT_ONCE or (self.seats and len({*self.seats}) != self.quantity):
            raise ValueError("a portion is of one at least, and of as many seats as it names")


class Keep(msgspec.Struct, frozen=True):
    """Keep this for a buyer until then: all of it, or nothing."""

    of: Any
    """The input of the caller's own batch, so that `Busy` can name it."""
    hold: HoldId
    subject: str
    """What it is for, in the caller's words: an order."""
    buyer: IdentityId
    portions: tuple[Portion, ...]
    expires_at: datetime
    limits: Mapping[str, int] = {}
    """How many of an item one buyer may have, by item. An item is always taken from one pool of its own at least, so
    that whoever counts its buyers' has locked it."""
    keepable_until: datetime | None = None
    """Until when it may be kept at the most, however often somebody asks for it; left out, no longer than now said."""

    def __post_init__(self) -> None:
        quantities = {each.item: each.quantity for each in self.portions}
        seats = [seat for each in self.portions for seat in each.seats]
        if (
            not self.portions
            or any(each.quantity != quantities[each.item] for each in self.portions)
            or len({(each.pool, each.item) for each in self.portions}) != len(self.portions)
            or len({*seats}) != len(seats)
        ):
            raise ValueError(
                "a hold has portions, each of another pool or item, and of an item equally many everywhere"
            )


class Claim(msgspec.Struct, frozen=True):
    """It was paid for."""

    of: Any
    hold: HoldId


class KeepUntil(msgspec.Struct, frozen=True):
    """It is kept until then, sooner or later than it was; of what is later than it may be kept, until that."""

    of: Any
    hold: HoldId
    until: datetime


class Release(msgspec.Struct, frozen=True):
    """It is not wanted any more."""

    of: Any
    hold: HoldId


class GiveBack(msgspec.Struct, frozen=True):
    """What was sold comes back, to every pool that it counted in, once for each key."""

    of: Any
    hold: HoldId
    key: str
    items: Mapping[str, int] = {}
    """How many of each item; none named, all that is left."""
    seats: tuple[UnitId, ...] = ()
    """Which of the numbered ones, unless it is all of them: whose seat is free again is never guessed."""

    def __post_init__(self) -> None:
        if any(quantity < 1 for quantity in self.items.values()):
            raise ValueError("what comes back is one at least")


class PoolPut(msgspec.Struct, frozen=True):
    """So much there shall be."""

    of: Any
    pool: PoolId
    capacity: int

    def __post_init__(self) -> None:
        if not 0 <= self.capacity <= MOST_OF_ALL:
            raise ValueError(f"there is nothing, or more, and not more than {MOST_OF_ALL}")


class UnitsPut(msgspec.Struct, frozen=True):
    """These there shall be, the best first, neighbours beside each other; an empty label is a gap between them."""

    of: Any
    pool: PoolId
    labels: tuple[str, ...]

    def __post_init__(self) -> None:
        named = [each for each in self.labels if each]
        if len({*named}) != len(named) or len(named) > MOST_UNITS or any(len(each) > LONGEST_LABEL for each in named):
            raise ValueError(f"a pool has at most {MOST_UNITS} units, and each a label of its own")


class Part(msgspec.Struct, frozen=True):
    """One portion of a hold as it stands."""

    hold: HoldId
    number: int
    pool: PoolId
    item: str
    subject: str
    buyer: IdentityId
    quantity: int
    leads: bool
    most: int | None
    kept_at: datetime
    expires_at: datetime
    status: Status = Status.HELD
    returned: int = 0
    units: tuple[UnitId, ...] | None = None
    ended_at: datetime | None = None
    keepable_until: datetime | None = None

    @property
    def key(self) -> tuple[HoldId, int]:
        return (self.hold, self.number)

    @property
    def left(self) -> int:
        return self.quantity - self.returned

    @property
    def unit_uuids(self) -> list[UUID] | None:
        return _uuids(self.units)

    def is_overdue(self, now: datetime) -> bool:
        return self.status is Status.HELD and self.expires_at <= now

    def is_sure(self, now: datetime) -> bool:
        """Whether it is its buyer's for longer than any transaction lasts: only they themselves can end it."""
        return self.status is Status.SOLD or (self.status is Status.HELD and self.expires_at > now + SURELY)


class Hold(msgspec.Struct, frozen=True):
    """What is kept, or was sold, under one id."""

    id: HoldId
    subject: str
    buyer: IdentityId
    status: Status
    expires_at: datetime
    portions: tuple[Portion, ...]
    """What is left of it, with the units that it has; of what ended, those that it had."""

    @classmethod
    def of(cls, parts: Sequence[Part]) -> "Hold":
        first = parts[0]
        left = (Portion(each.pool, each.item, each.left, each.units or ()) for each in parts if each.left)
        return cls(first.hold, first.subject, first.buyer, status_of(parts), first.expires_at, tuple(left))


class GivenBack(msgspec.Struct, frozen=True):
    """What came back of one portion, under one key."""

    hold: HoldId
    key: str
    number: int
    quantity: int
    units: tuple[UnitId, ...] | None
    at: datetime

    @property
    def unit_uuids(self) -> list[UUID] | None:
        return _uuids(self.units)


def status_of(parts: Iterable[Part]) -> Status:
    """Of the whole hold: it is kept or sold if all of it is."""
    there = {each.status for each in parts}
    return next(each for each in (Status.RELEASED, Status.EXPIRED, Status.HELD, Status.SOLD) if each in there)


def _uuids(units: tuple[UnitId, ...] | None) -> list[UUID] | None:
    return None if units is None else [each.uuid for each in units]

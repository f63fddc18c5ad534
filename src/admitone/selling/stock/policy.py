"""Who gets what there is: pure decisions, one input after another.

Promise: the second input of a batch sees what the first took. Whoever asks for more than there is gets nothing and
keeps nobody waiting: a smaller wish that comes later may still be granted. What is overdue is taken when something is
wanted that is not free otherwise, the oldest first, no more than is needed, and goes to nobody while its own buyer's
money is in the same batch. What ended is never kept again, and nothing longer than was said when it was kept. What
was decided stands in `fresh`, `moved`, `put_off`, `owners`, `given` and `deltas`, for the stores.
"""

from bisect import insort
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter
from typing import Any

from msgspec.structs import replace

from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId
from admitone.selling.stock.errors import (
    BuyerLimit,
    CapacityTaken,
    HoldNotFound,
    HoldReused,
    NotKept,
    NotSold,
    PoolNotFound,
    SeatTaken,
    SoldOut,
)
from admitone.selling.stock.model import (
    GONE,
    HOLD,
    GiveBack,
    GivenBack,
    Hold,
    HoldId,
    Keep,
    KeepUntil,
    Part,
    Pool,
    PoolId,
    Portion,
    Status,
    Unit,
    UnitId,
)

Key = tuple[HoldId, int]
"""Which portion of which hold."""
Bought = dict[tuple[IdentityId, str], int]
"""What buyers have of items, sold and kept, without what is overdue."""
by_place = attrgetter("place")


@dataclass(slots=True)
class Shelf:
    """One pool while a batch is decided."""

    pool: Pool
    capacity: int
    held: int
    sold: int
    units: list[Unit] = field(default_factory=list)
    """Those that are free, the best first."""
    overdue: dict[Key, Part] = field(default_factory=dict)
    """The oldest first."""
    late: int = 0
    """So many are overdue."""

    @property
    def free(self) -> int:
        return self.capacity - self.held - self.sold

    @property
    def within_reach(self) -> int:
        """Free, or overdue; of numbered ones never more than have a number."""
        return (min(self.free, len(self.units)) if self.pool.seated else self.free) + self.late

    def put(self, part: Part) -> None:
        if part.key not in self.overdue:
            self.overdue[part.key] = part
            self.late += part.quantity

    def drop(self, part: Part) -> None:
        if self.overdue.pop(part.key, None):
            self.late -= part.quantity

    @property
    def oldest(self) -> Part:
        return next(iter(self.overdue.values()))


@dataclass(frozen=True, slots=True)
class Delta:
    """How a pool's counters change."""

    id: PoolId
    held: int
    sold: int


class Stock:
    """Pools that are locked, and all that is known of what is kept of them."""

    def __init__(
        self,
        pools: Mapping[PoolId, Pool],
        at: datetime,
        *,
        parts: Iterable[Part] = (),
        bought: Bought | None = None,
        overdue: Iterable[Part] = (),
        units: Iterable[Unit] = (),
        given: Collection[tuple[HoldId, str]] = (),
    ) -> None:
        self._at = at
        self._shelves = {own: Shelf(pool, pool.capacity, pool.held, pool.sold) for own, pool in pools.items()}
        self._holds: dict[HoldId, list[Part]] = {}
        for part in parts:
            self._holds.setdefault(part.hold, []).append(part)
        self._bought: Bought = bought or {}
        self._units = {each.id: each for each in units}
        self._given = {*given}
        self._before: dict[Key, Part] = {}
        self._after: dict[Key, Part] = {}
        for part in overdue:
            self._shelves[part.pool].put(part)
        for unit in sorted(self._units.values(), key=by_place):
            if unit.hold is None:
                self._shelves[unit.pool].units.append(unit)
        self._owners_before = {each.id: each.hold for each in self._units.values()}
        self.fresh: list[Part] = []
        self.put_off: dict[Key, Part] = {}
        """Portions that are kept until another instant."""
        self.given: list[GivenBack] = []

    # -- What was decided

    @property
    def moved(self) -> list[tuple[Part, Part]]:
        """What each portion was, and what it is now."""
        return [(self._before[key], part) for key, part in self._after.items()]

    @property
    def owners(self) -> list[tuple[Unit, HoldId | None]]:
        """Units that change hands, and whose each was."""
        before = self._owners_before
        return [(each, before[each.id]) for each in self._units.values() if each.hold != before[each.id]]

    @property
    def deltas(self) -> list[Delta]:
        each = [(s.pool.id, s.held - s.pool.held, s.sold - s.pool.sold) for s in self._shelves.values()]
        return [Delta(*delta) for delta in each if delta[1:] != (0, 0)]

    # -- Decisions

    def keep(self, wanted: Keep) -> Hold | Refusal:
        """All of it or nothing; under the same hold again, what became of it."""
        if known := self._holds.get(wanted.hold):
            return Hold.of(known) if known[0].subject == wanted.subject else HoldReused()
        for item, most in wanted.limits.items():
            quantity = next((each.quantity for each in wanted.portions if each.item == item), 0)
            if quantity and self._is_over(wanted.buyer, item, quantity, most):
                return BuyerLimit(item=item, most=most)
        if refusal := self._out_of_reach(wanted.portions):
            return refusal
        units = {id(each): self._take(wanted.hold, each) for each in _named_first(wanted.portions)}
        parts = []
        led: set[str] = set()
        for number, each in enumerate(wanted.portions):
            leads = each.item not in led
            led.add(each.item)
            part = Part(
                wanted.hold, number, each.pool, each.item, wanted.subject, wanted.buyer, each.quantity, leads,
                wanted.limits.get(each.item), self._at, wanted.expires_at, units=units[id(each)],
                keepable_until=wanted.keepable_until,
            )  # fmt: skip
            parts.append(part)
            self._count(part)
        self._holds[wanted.hold] = parts
        self.fresh += parts
        return Hold.of(parts)

    def claim(self, hold: HoldId) -> Hold | Refusal:
        """What is kept is sold, also if it is overdue; what ended is taken again, if it is within reach."""
        parts = self._holds.get(hold)
        if not parts:
            return HoldNotFound()
        gone = [each for each in parts if each.status in GONE]
        late = [*gone, *(each for each in parts if each.is_overdue(self._at))]
        for each in late:
            if each.most is not None and each.leads and self._is_over(each.buyer, each.item, each.quantity, each.most):
                return BuyerLimit(item=each.item, most=each.most)
        wishes = [self._again(each) for each in gone]
        if refusal := self._out_of_reach(wishes):
            return refusal
        taken = {(each.pool, each.item): self._take(hold, each) for each in _named_first(wishes)}
        for each in parts:
            if each.status is Status.SOLD:
                continue
            shelf = self._shelves[each.pool]
            shelf.drop(each)
            shelf.held -= each.quantity
            shelf.sold += each.quantity
            self._move(each, Status.SOLD, units=taken.get((each.pool, each.item), each.units), ended_at=None)
        for each in late:
            self._count(each)
        return Hold.of(self._holds[hold])

    def keep_until(self, wanted: KeepUntil) -> Hold | Refusal:
        """What is kept, all of it; what is overdue is kept for nobody, whoever has it by now."""
        parts = self._holds.get(wanted.hold)
        if not parts:
            return HoldNotFound()
        if any(each.status is not Status.HELD or each.is_overdue(self._at) for each in parts):
            return NotKept()
        ends = min(max(wanted.until, self._at), parts[0].keepable_until or parts[0].expires_at)
        self._holds[wanted.hold] = after = [replace(each, expires_at=ends) for each in parts]
        self.put_off |= {each.key: each for each in after}
        return Hold.of(after)

    def release(self, hold: HoldId) -> Hold | Refusal:
        """What is kept is kept no longer; what is sold stays sold."""
        parts = self._holds.get(hold)
        if not parts:
            return HoldNotFound()
        for each in parts:
            if each.status is Status.HELD:
                self._end(each, Status.RELEASED)
        return Hold.of(self._holds[hold])

    def expire(self) -> int:
        """Whatever is overdue of all that is known; how many portions that was."""
        overdue = [each for parts in self._holds.values() for each in parts if each.is_overdue(self._at)]
        for each in overdue:
            self._end(each, Status.EXPIRED)
        return len(overdue)

    def give_back(self, wanted: GiveBack) -> Hold | Refusal:
        """Once for each key; nothing of it, unless all of it was sold under this hold and is still out."""
        parts = self._holds.get(wanted.hold)
        if not parts:
            return HoldNotFound()
        if (wanted.hold, wanted.key) in self._given:
            return Hold.of(parts)
        backs = _backs(parts, wanted)
        if isinstance(backs, Refusal):
            return backs
        for part, back in backs:
            self._shelves[part.pool].sold -= back.quantity
            self._free(back.seats)
            rest = None if part.units is None else tuple(unit for unit in part.units if unit not in back.seats)
            self._move(part, Status.SOLD, units=rest, returned=part.returned + back.quantity)
            seats = None if part.units is None else back.seats
            self.given.append(GivenBack(wanted.hold, wanted.key, part.number, back.quantity, seats, self._at))
        self._given.add((wanted.hold, wanted.key))
        return Hold.of(self._holds[wanted.hold])

    def resize(self, pool: PoolId, capacity: int) -> Pool | Refusal:
        """Never below what is sold or kept; what is overdue gives way."""
        shelf = self._shelves[pool]
        if capacity < (least := shelf.held + shelf.sold - shelf.late):
            return CapacityTaken(least=least)
        shelf.capacity = capacity
        self._make_room(shelf, 0)
        return self.pool(pool)

    def clear(self, units: Sequence[UnitId]) -> Refusal | None:
        """So that they can go: each is free, or overdue and so anybody's."""
        shelves = [self._shelves[self._units[unit].pool] for unit in units]
        for unit, shelf in zip(units, shelves, strict=True):
            if not self._is_within_reach(shelf, unit):
                return SeatTaken(unit=unit)
        for unit, shelf in zip(units, shelves, strict=True):
            if owner := self._overdue_owner(shelf, unit):
                self._end(owner, Status.EXPIRED)
        return None

    def pool(self, pool: PoolId) -> Pool:
        """As it stands by now."""
        shelf = self._shelves[pool]
        return Pool(pool, shelf.capacity, shelf.held, shelf.sold, shelf.pool.seated)

    # -- Taking

    def _out_of_reach(self, portions: Sequence[Portion]) -> Refusal | None:
        wanted: dict[PoolId, int] = {}
        for each in portions:
            shelf = self._shelves.get(each.pool)
            if shelf is None:
                return PoolNotFound(pool=each.pool)
            before = wanted.get(each.pool, 0)
            wanted[each.pool] = before + each.quantity
            if wanted[each.pool] > shelf.within_reach:
                return SoldOut(item=each.item, left=max(0, shelf.within_reach - before))
            for seat in each.seats:
                if not self._is_within_reach(shelf, seat):
                    return SeatTaken(unit=seat)
        return None

    def _is_within_reach(self, shelf: Shelf, seat: UnitId) -> bool:
        unit = self._units.get(seat)
        if unit is None or unit.pool != shelf.pool.id:
            return False
        return unit.hold is None or self._overdue_owner(shelf, seat) is not None

    def _overdue_owner(self, shelf: Shelf, seat: UnitId) -> Part | None:
        return next((each for each in shelf.overdue.values() if seat in (each.units or ())), None)

    def _again(self, part: Part) -> Portion:
        """The same as before, in the same seats if nobody has them."""
        shelf = self._shelves[part.pool]
        same = part.units if all(self._is_within_reach(shelf, each) for each in part.units or ()) else None
        return Portion(part.pool, part.item, part.quantity, same or ())

    def _take(self, hold: HoldId, portion: Portion) -> tuple[UnitId, ...] | None:
        """Kept from here on: the next portion of the same pool makes room for itself besides."""
        shelf = self._shelves[portion.pool]
        for seat in portion.seats:
            if owner := self._overdue_owner(shelf, seat):
                self._end(owner, Status.EXPIRED)
        self._make_room(shelf, portion.quantity)
        shelf.held += portion.quantity
        if not shelf.pool.seated:
            return None
        while len(shelf.units) < portion.quantity:
            self._end(shelf.oldest, Status.EXPIRED)
        chosen = [self._units[seat] for seat in portion.seats] or together(shelf.units, portion.quantity)
        for unit in chosen:
            shelf.units.remove(unit)
            self._units[unit.id] = replace(unit, hold=hold)
        return tuple(unit.id for unit in chosen)

    def _make_room(self, shelf: Shelf, quantity: int) -> None:
        while shelf.free < quantity:
            self._end(shelf.oldest, Status.EXPIRED)

    def _is_over(self, buyer: IdentityId, item: str, quantity: int, most: int) -> bool:
        return self._bought.get((buyer, item), 0) + quantity > most

    def _count(self, part: Part) -> None:
        if part.leads:
            own = (part.buyer, part.item)
            self._bought[own] = self._bought.get(own, 0) + part.quantity

    # -- Moving

    def _end(self, part: Part, status: Status) -> None:
        shelf = self._shelves[part.pool]
        shelf.drop(part)
        shelf.held -= part.quantity
        self._free(part.units or ())
        self._move(part, status, ended_at=self._at)

    def _free(self, units: Iterable[UnitId]) -> None:
        for own in units:
            self._units[own] = free = replace(self._units[own], hold=None)
            insort(self._shelves[free.pool].units, free, key=by_place)

    def _move(self, part: Part, to: Status, **changes: Any) -> None:
        if part.status is not to:
            HOLD.check(part.status, to)
        self._before.setdefault(part.key, part)
        self._after[part.key] = now = replace(part, status=to, **changes)
        if part.hold in self._holds:
            self._holds[part.hold] = [now if each.key == part.key else each for each in self._holds[part.hold]]


class Sale:
    """What is surely kept, sold: nothing of it is anybody else's, so no pool has to be known for it."""

    def __init__(self, parts: Iterable[Part]) -> None:
        self._holds: dict[HoldId, list[Part]] = {}
        self.moved: list[tuple[Part, Part]] = []
        sold: dict[PoolId, int] = {}
        for part in parts:
            after = part
            if part.status is not Status.SOLD:
                HOLD.check(part.status, Status.SOLD)
                after = replace(part, status=Status.SOLD, ended_at=None)
                self.moved.append((part, after))
                sold[part.pool] = sold.get(part.pool, 0) + part.quantity
            self._holds.setdefault(part.hold, []).append(after)
        self.deltas = [Delta(pool, -quantity, quantity) for pool, quantity in sold.items()]

    def hold(self, hold: HoldId) -> Hold | Refusal:
        parts = self._holds.get(hold)
        return Hold.of(parts) if parts else HoldNotFound()


def together(free: Sequence[Unit], quantity: int) -> list[Unit]:
    """The best that are neighbours; where none are, the best."""
    begin = 0
    for end, unit in enumerate(free):
        if end and unit.place != free[end - 1].place + 1:
            begin = end
        if end - begin + 1 == quantity:
            return [*free[begin : end + 1]]
    return [*free[:quantity]]


def _named_first(portions: Iterable[Portion]) -> Iterator[Portion]:
    """So that nobody is given by chance what the same buyer chose."""
    return iter(sorted(portions, key=lambda each: not each.seats))


def _backs(parts: Sequence[Part], wanted: GiveBack) -> list[tuple[Part, Portion]] | Refusal:
    """What comes back of which portion: of an item equally much in all its pools."""
    items = wanted.items or {each.item: each.left for each in parts if each.left}
    backs: list[tuple[Part, Portion]] = []
    for item, quantity in items.items():
        own = [each for each in parts if each.item == item and each.status is Status.SOLD]
        left = min((each.left for each in own), default=0)
        for part in own:
            had = part.units or ()
            seats = had if quantity == part.left else tuple(unit for unit in had if unit in wanted.seats)
            if quantity > left or (part.units is not None and len(seats) != quantity):
                return NotSold(item=item, left=left)
            backs.append((part, Portion(part.pool, item, quantity, seats)))
        if not own:
            return NotSold(item=item, left=0)
    if strangers := {*wanted.seats} - {seat for _, back in backs for seat in back.seats}:
        return SeatTaken(unit=min(strangers))
    return backs

"""Whatever is wanted, paid, dropped, given back, and in whatever order: everybody has what the rules say, and what is out is
never more than there is.

The rules stand here once more, without counters and without anything that ends by itself: what is out at a minute is
what was sold and what is kept until later.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from admitone.kernel.db import Database
from admitone.kernel.ids import IdentityId
from admitone.selling.stock.api import Hold, HoldId, NotKept, PoolId, Portion, SoldOut, Status, UnitId, find_holds
from admitone.selling.stock.commands.settling import expire
from tests.selling.stock.market import LONGEST, TTL, Market, a_keep, a_market

MOST = 4
LONGEST_MINUTES = (LONGEST - TTL).total_seconds() / 60
TTL_MINUTES = 8
LABELS = ("A1", "A2", "A3", "", "B1", "B2")
SEATS = [label for label in LABELS if label]
ITEMS = {"early": ("early", "hall"), "late": ("late", "hall"), "seat": ("seats", "hall")}
"""Which pools an item is taken from: its own, and the one that all share."""

wish = some.tuples(some.sampled_from([*ITEMS]), some.integers(1, 3), some.integers(0, 2), some.booleans())
"""Of what, how many, for whom, and whether seats are chosen."""
which = some.integers(0, 7)
deeds = some.one_of(
    some.tuples(some.just("keep"), some.lists(wish, min_size=1, max_size=5)),
    some.tuples(some.just("keep"), some.lists(wish, min_size=1, max_size=5)),
    some.tuples(some.sampled_from(["claim", "claim", "release", "sweep"]), which),
    some.tuples(some.just("keep_until"), some.tuples(which, some.integers(-2, 60))),
    some.tuples(some.just("give_back"), some.tuples(which, some.integers(1, 2), some.sampled_from("ab"))),
    some.tuples(some.just("resize"), some.integers(3, 12)),
    some.tuples(some.just("wait"), some.integers(1, 10)),
)


@dataclass
class Sale:
    """One hold, as its buyer would describe it."""

    item: str
    left: int
    who: int
    ends: float
    seats: list[str]
    longest: float
    status: Status = Status.HELD
    keys: set[str] = field(default_factory=set)


@dataclass
class Expected:
    """What the rules say, in as few words as they can be said."""

    sizes: dict[str, int]
    sales: dict[HoldId, Sale] = field(default_factory=dict)
    minute: float = 0

    def is_out(self, sale: Sale) -> bool:
        return sale.status is Status.SOLD or (sale.status is Status.HELD and sale.ends > self.minute)

    def out(self, pool: str) -> int:
        return sum(each.left for each in self.sales.values() if pool in ITEMS[each.item] and self.is_out(each))

    def fits(self, item: str, quantity: int) -> bool:
        return all(self.sizes[pool] - self.out(pool) >= quantity for pool in ITEMS[item])

    def may_have(self, who: int, item: str, quantity: int) -> bool:
        has = sum(
            each.left for each in self.sales.values() if (each.who, each.item) == (who, item) and self.is_out(each)
        )
        return has + quantity <= MOST

    def is_free(self, seat: str) -> bool:
        return not any(seat in each.seats and self.is_out(each) for each in self.sales.values())

    def is_granted(self, item: str, quantity: int, who: int, seats: list[str]) -> bool:
        return self.may_have(who, item, quantity) and self.fits(item, quantity) and all(map(self.is_free, seats))

    def is_claimed(self, sale: Sale) -> bool:
        """What is kept is sold; what is overdue or ended is bought anew."""
        if self.is_out(sale):
            return True
        return self.may_have(sale.who, sale.item, sale.left) and self.fits(sale.item, sale.left)


@dataclass
class Trade:
    """The same on the real database."""

    market: Market
    pools: dict[str, PoolId]
    units: dict[str, UnitId]
    expected: Expected
    buyers: list[IdentityId] = field(default_factory=lambda: [IdentityId.new() for _ in range(3)])

    async def does(self, deed: str, what: Any) -> None:
        match deed:
            case "wait":
                self.market.minutes += what
                self.expected.minute += what
            case "keep":
                await self.keep(what)
            case "resize":
                became = await self.market.resize(self.pools["hall"], what)
                may = what >= self.expected.out("hall")
                assert (became.__class__.__name__ == "Pool") is may
                self.expected.sizes["hall"] = what if may else self.expected.sizes["hall"]
            case "sweep":
                await self.market.run(lambda tx: expire(tx, [*self.expected.sales]))
            case _ if self.expected.sales:
                number, *rest = what if isinstance(what, tuple) else (what,)
                holds = [*self.expected.sales]
                await getattr(self, deed)(holds[-1 - number % len(holds)], *rest)

    async def keep(self, wishes: list[tuple[str, int, int, bool]]) -> None:
        """All of them in one batch."""
        keeps: list[Any] = []
        for item, quantity, who, chooses in wishes:
            own, shared = ITEMS[item]
            seats = tuple(self.units[each] for each in _chosen(item, quantity, who, chooses))
            portions = (Portion(self.pools[own], item, quantity, seats), Portion(self.pools[shared], item, quantity))
            keeps.append(a_keep(*portions, buyer=self.buyers[who], limits={item: MOST}))
        said = await self.market.keep_all(keeps, ttl=timedelta(minutes=TTL_MINUTES))
        for (item, quantity, who, chooses), each in zip(wishes, said, strict=True):
            chosen = _chosen(item, quantity, who, chooses)
            granted = self.expected.is_granted(item, quantity, who, chosen)
            assert isinstance(each, Hold) is granted, (item, quantity, who, chosen, each)
            if granted:
                ends = self.expected.minute + TTL_MINUTES
                self.expected.sales[each.id] = Sale(
                    item, quantity, who, ends, self.seats_of(each), ends + LONGEST_MINUTES
                )
            elif isinstance(each, SoldOut):
                room = {pool: self.expected.sizes[pool] - self.expected.out(pool) for pool in ITEMS[item]}
                assert each.left in room.values() and each.left < quantity, "they are told the truth"

    async def claim(self, hold: HoldId) -> None:
        sale = self.expected.sales[hold]
        expected = self.expected.is_claimed(sale)
        [said] = await self.market.claim(hold)
        assert isinstance(said, Hold) is expected, (sale, said)
        if expected:
            assert said.status is Status.SOLD
            sale.status, sale.seats = Status.SOLD, self.seats_of(said)

    async def keep_until(self, hold: HoldId, minutes: int) -> None:
        """Later or sooner, never for ever, and never what has ended."""
        sale = self.expected.sales[hold]
        may = sale.status is Status.HELD and self.expected.is_out(sale)
        said = await self.market.keep_until(hold, minutes)
        assert isinstance(said, Hold) is may, (sale, said)
        if may:
            sale.ends = min(self.expected.minute + max(minutes, 0), sale.longest)
        else:
            assert isinstance(said, NotKept)

    async def release(self, hold: HoldId) -> None:
        sale = self.expected.sales[hold]
        await self.market.release(hold)
        sale.status = Status.SOLD if sale.status is Status.SOLD else Status.RELEASED

    async def give_back(self, hold: HoldId, quantity: int, key: str) -> None:
        sale = self.expected.sales[hold]
        seats = [self.units[label] for label in sale.seats[:quantity]]
        said = await self.market.give_back(hold, key, {sale.item: quantity}, seats)
        may = sale.status is Status.SOLD and (key in sale.keys or quantity <= sale.left)
        assert isinstance(said, Hold) is may, (sale, said)
        if may and key not in sale.keys:
            sale.keys.add(key)
            sale.left -= quantity
            sale.seats = sale.seats[quantity:]

    def seats_of(self, hold: Hold) -> list[str]:
        labels = {unit: label for label, unit in self.units.items()}
        return [labels[seat] for portion in hold.portions for seat in portion.seats]

    async def is_right(self) -> None:
        for name, pool in self.pools.items():
            standing = await self.market.is_whole(pool)
            found = await self.market.find(pool)
            assert standing.capacity == self.expected.sizes[name]
            assert found.held + found.sold == self.expected.out(name)
        owners = await self.market.units(self.pools["seats"])
        holds = await self.market.run(lambda tx: find_holds(tx, [*self.expected.sales]))
        for own, sale in self.expected.sales.items():
            if self.expected.is_out(sale):
                assert holds[own].status is sale.status
                assert all(owners[label].hold == own for label in sale.seats)


def _chosen(item: str, quantity: int, who: int, chooses: bool) -> list[str]:
    return SEATS[who : who + quantity] if chooses and item == "seat" else []


@pytest.mark.covers("EVT-009")
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(capacity=some.integers(3, 9), life=some.lists(deeds, min_size=5, max_size=25))
async def test_in_any_order_everybody_has_what_the_rules_say_and_nothing_is_left(
    database: Database, capacity: int, life: list[tuple[str, Any]]
):
    market = await a_market(database)
    sizes = {"early": 3, "late": 6, "hall": capacity}
    pools = {name: await market.pool(size) for name, size in sizes.items()}
    pools["seats"] = await market.hall(*LABELS)
    units = {label: each.id for label, each in (await market.units(pools["seats"])).items()}
    trade = Trade(market, pools, units, Expected(sizes | {"seats": len(SEATS)}))
    for deed, what in life:
        await trade.does(deed, what)
        await trade.is_right()
    await all_can_be_sold(trade)


async def all_can_be_sold(trade: Trade) -> None:
    """When all time is over, whoever comes can have all that is not sold, though nobody swept."""
    trade.market.minutes += 60 + TTL_MINUTES
    for pool in trade.pools.values():
        found = await trade.market.find(pool)
        assert found.held == 0
        if found.free:
            await trade.market.sold(Portion(pool, "rest", found.free))
        standing = await trade.market.is_whole(pool)
        assert standing.sold == standing.capacity, "sold out means sold"
        assert await trade.market.keep(Portion(pool, "rest", 1)) == SoldOut(item="rest", left=0)

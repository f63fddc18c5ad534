"""Every life of what owners are paid for: what a bank, a buyer and a provider do, before, between and after the steps of
payouts, in any order in which it can happen. One world lives many of them side by side, an owner each, because a batch is
everybody's. LIVES=2000 lives more of them, SEED=7 others."""

import os
import random
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import combinations_with_replacement, permutations, product
from typing import Final
from uuid import UUID

import pytest

from admitone.finance.gateways.api import PayoutStatus
from admitone.finance.gateways.sandbox.charges import No
from admitone.finance.ledger.api import Account, balances_of
from admitone.finance.payments.api import Commission, Recorded, hold_commissions
from admitone.finance.payments.errors import NotHeld, NotWhatIsHeld
from admitone.finance.payouts.api import Owed, owe
from admitone.finance.payouts.model import Payout, PayoutState
from admitone.kernel.batch import Batcher
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database, Tx
from admitone.kernel.ids import uuid7
from admitone.kernel.scope import Caller
from tests.finance.lives import hear
from tests.finance.payouts.conftest import AS_IN_THE_TABLE
from tests.finance.payouts.owing import (
    STAY,
    Stay,
    all_payouts,
    all_there,
    an_owed_stay,
    an_owing,
    asked,
    does,
    ends,
    happened,
    made,
    obligation,
    trial,
)
from tests.finance.proof.books import AN_HOUR, proved, red
from tests.finance.world import World, a_world

LIVES: Final = int(os.environ.get("LIVES", "24"))
SEED: Final = int(os.environ.get("SEED", "6"))

PRICE, SHARE = 100_000, 85_000
REFUND, REFUND_SHARE = 20_000, 17_000
DISPUTE_FEE: Final = 1_500
CALM, LATE = 42_500, 170_000
"""Of each owner's other stays: one is due from the beginning, one comes when everything is over."""

MONDAYS = ("2026-02-16T00:00Z", "2026-02-23T00:00Z", "2026-03-02T00:00Z", "2026-03-09T00:00Z")
STEPS: Final = 7
"""Between which something may happen: before a batch, before it is asked for, before it ends; twice; and after."""
DEEDS: Final = ("fee", "refund", "open", "end", "due")
P = PayoutState

ORDERS = [order for order in permutations(DEEDS) if order.index("open") < order.index("end")]
PLACES = [*combinations_with_replacement(range(STEPS), len(DEEDS))]
FATES = [*product(("win", "lose"), ("arrive", "fail"), ("arrive", "fail"), (True, False))]


@dataclass
class Life:
    """What happens to one stay, and when; and what its owner has earned of it, by the table and not by our books."""

    order: tuple[str, ...]
    places: tuple[int, ...]
    verdict: str
    fates: tuple[str, str]
    is_told: bool
    """Whether payouts hear at once of what happens, or only in the end."""
    owner: UUID = field(default_factory=uuid7)
    stay: Stay = field(init=False)
    is_due: bool = False
    refunded: bool = False
    disputed: bool = False
    lost: bool = False
    twice: bool = False
    """Given back by somebody else while a bank had all of it: if that is lost, so much went back twice."""

    def deeds_at(self, step: int) -> Iterator[str]:
        return (deed for deed, place in zip(self.order, self.places, strict=True) if place == step)

    @property
    def worth(self) -> int:
        """What the owner has of it, if what is disputed is won."""
        if self.lost:
            return -DISPUTE_FEE - REFUND * (self.twice and self.is_due)  # Before it is due, it is a hole in deposits.
        return (SHARE - REFUND_SHARE * self.refunded) * self.is_due

    async def does(self, world: World, deed: str) -> None:
        if deed == "due":
            await self._falls_due(world)
            return
        acts = {"fee": "tell_fees", "refund": "refund", "open": "dispute", "end": self.verdict}
        amounts = {"refund": {"amount": REFUND}, "open": {"amount": PRICE - REFUND * self.refunded}}
        with suppress(No):  # The provider does not let everything happen.
            world.simulator.act(acts[deed], self.stay.charge, **amounts.get(deed, {}))
            self.refunded |= deed == "refund"
            self.twice |= deed == "refund" and (self.disputed or self.lost)
            self.disputed = (self.disputed or deed == "open") and deed != "end"
            self.lost |= deed == "end" and self.verdict == "lose"
        await hear(world, self.stay.payment)
        if self.is_told:
            await happened(world, self.stay)

    async def _falls_due(self, world: World) -> None:
        outcome = await does(world, owe, an_owing(self.stay, SHARE))
        if isinstance(outcome, NotWhatIsHeld):  # Whoever sold it asks for what is left.
            assert outcome.due_minor == SHARE - REFUND_SHARE
            outcome = await does(world, owe, an_owing(self.stay, SHARE - REFUND_SHARE))
        assert isinstance(outcome, NotHeld if self.lost else Owed), outcome
        self.is_due = not self.lost


def some_lives(chance: random.Random) -> list[Life]:
    """And one in which what was recovered comes back in two parts: while the first was being paid, so was the rest."""
    lives = [Life(("due", "open", "refund", "fee", "end"), (0, 0, 2, 2, 5), "win", ("fail", "arrive"), is_told=False)]
    for number in range(LIVES):
        verdict, first, second, is_told = FATES[number % len(FATES)]
        lives.append(Life(chance.choice(ORDERS), chance.choice(PLACES), verdict, (first, second), is_told))
    return lives


@pytest.fixture
async def world(database_url: str) -> AsyncIterator[World]:
    """An hour earlier, so that nothing of it is in flight when it is proved."""
    async with Database(database_url, clock=Clock(-AN_HOUR)) as database:
        batcher = Batcher(database)
        settings = {"clock": lambda: datetime.now(UTC) - AN_HOUR, "terms": AS_IN_THE_TABLE}
        async with a_world(database, batcher, **settings) as world:
            yield world
        await batcher.drain()


class Weeks:
    """Batches over all of them, and what must be true after every step."""

    def __init__(self, world: World, lives: Sequence[Life]) -> None:
        self.world = world
        self.lives = lives
        self.earned = {life.owner: CALM for life in lives}
        """Of their other stays."""

    async def live(self, step: int) -> None:
        for life in self.lives:
            for deed in life.deeds_at(step):
                await life.does(self.world, deed)
                await self.holds()

    async def holds(self) -> None:
        await trial(self.world)

    async def make(self, monday: str) -> None:
        await made(self.world, monday)
        await self.holds()

    async def ask(self) -> None:
        """Nobody is asked for what is disputed, nor for more than its owner has."""
        before = {each.id for each in all_there(self.world)}
        owed = await owed_to(self.world, self.lives)
        waiting = await self._payouts(P.PAYOUT_PENDING)
        assert await asked(self.world, waiting) == []
        fresh = [each for each in await self._payouts(P.TRANSFERRED) if each.reference not in before]
        for each in fresh:
            assert each.amount_minor <= owed[each.owner], "more than the ledger owes"
        asked_now = {each.id: each.owner for each in fresh}
        paid = await self.paid()
        for life in self.lives:
            if life.owner in asked_now.values():
                assert paid[life.owner] <= self.earned[life.owner] + life.worth, "more than was earned"
            if life.disputed and life.is_due:
                assert (await obligation(self.world, life.stay)).payout not in asked_now, "frozen, and paid"
        await self.holds()

    async def end(self, week: int | None = None) -> None:
        fates = {life.owner: "arrive" if week is None else life.fates[week] for life in self.lives}
        for each in await self._payouts(P.TRANSFERRED):
            await ends(self.world, each, fates[each.owner])
        await self.holds()

    async def paid(self) -> Counter[UUID]:
        """By the provider, with what is under way."""
        ours = {each.reference: each.owner for each in await all_payouts(self.world)}
        paid: Counter[UUID] = Counter()
        for each in all_there(self.world):
            paid[ours[each.id]] += each.amount_minor * (each.status is not PayoutStatus.FAILED)
        return paid

    async def _payouts(self, state: PayoutState) -> list[Payout]:
        return [each for each in await all_payouts(self.world) if each.state is state]


async def owed_to(world: World, lives: Sequence[Life]) -> dict[UUID, int]:
    async def find(tx: Tx) -> dict[UUID, int]:
        owed = dict.fromkeys([life.owner for life in lives], 0)
        for holding, balance in (await balances_of(tx, [Account.ORG, Account.SETL], [*owed])).items():
            owed[holding.payee] += balance.minor * (1 if holding.account is Account.ORG else -1)
        return owed

    return await world.database.read(world.scope, find)


async def a_contested_stay(world: World, owner: UUID) -> Stay:
    """Captured; its fee is not told yet."""
    payment, charge = await world.opened(world.shop.sells(world.buyer.identity, PRICE, payee=owner, **STAY))
    world.simulator.act("pay", charge)
    await hear(world, payment)
    held = await does(world, hold_commissions, Commission(Caller(), payment, PRICE - SHARE, "ok"))
    assert isinstance(held, Recorded)
    return Stay(payment, charge)


@pytest.mark.covers("MOR-034", "MOR-035", "MOR-036", "MOR-037", "FIN-051")
async def test_whatever_happens_around_a_payout_its_owner_has_what_they_earned_once(
    world: World, database: Database, batcher: Batcher
):
    lives = some_lives(random.Random(SEED))
    for life in lives:
        await an_owed_stay(world, price=CALM * 100 // 85, payee=life.owner)
        life.stay = await a_contested_stay(world, life.owner)
    weeks = Weeks(world, lives)
    for week in range(2):
        await weeks.live(3 * week)
        await weeks.make(MONDAYS[week])
        await weeks.live(3 * week + 1)
        await weeks.ask()
        await weeks.live(3 * week + 2)
        await weeks.end(week)
    await weeks.live(STEPS - 1)
    for life in lives:
        await happened(world, life.stay)
        await an_owed_stay(world, "2026-02-28T20:00Z", price=LATE * 100 // 85, payee=life.owner)
        weeks.earned[life.owner] += LATE
    for monday in MONDAYS[2:]:
        await weeks.make(monday)
        await weeks.ask()
        await weeks.end()
    owed, paid = await owed_to(world, lives), await weeks.paid()
    for life in lives:
        assert (owed[life.owner], paid[life.owner]) == (0, weeks.earned[life.owner] + life.worth), life
    assert red(await proved(database, batcher, world.organization)) == set()

"""Owners who are to be paid on a Monday: what each is owed, what stands against it, and what they must have at last."""

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from tests.finance.payouts.owing import Stay, an_owed_stay, decided, disputed, frozen, happened
from tests.finance.world import World, connect
from tests.people import an_organization_of

from admitone.finance.gateways.sandbox.charges import Terms
from admitone.kernel.ids import OrganizationId, uuid7

DISPUTE_FEE: Final = 1_500
TERMS: Final = Terms(dispute_fee_minor=DISPUTE_FEE)
PRICES: Final = (10_000, 43_200, 100_000)


@dataclass(frozen=True)
class Owner:
    """As whoever set the game up knows them, and nobody's code that is under test."""

    organization: OrganizationId
    id: UUID
    fate: str
    paid_minor: int
    """What they have when two Mondays have passed."""
    held_minor: int = 0
    """What they are owed, and nobody may pay."""


@dataclass(frozen=True)
class Guests:
    """Stays of one owner that were over on a Saturday."""

    world: World
    owner: UUID
    left: datetime
    price: int

    @property
    def share(self) -> int:
        """Fifteen of a hundred are the platform's."""
        return self.price - self.price * 15 // 100

    async def stay(self, **more: int) -> Stay:
        return await an_owed_stay(self.world, self.left.isoformat(), self.price, payee=self.owner, **more)


async def _plain(guests: Guests) -> tuple[int, int]:
    await guests.stay()
    await guests.stay()
    return 2 * guests.share, 0


async def _returned(guests: Guests) -> tuple[int, int]:
    """What is paid to them first comes back, and is paid a week later."""
    await guests.stay()
    return guests.share, 0


async def _indebted(guests: Guests) -> tuple[int, int]:
    """One of two was lost to its guest: what that cost is kept from the other."""
    await guests.stay()
    lost = await guests.stay()
    await disputed(guests.world, lost)
    await decided(guests.world, lost, "lose")
    return guests.share - DISPUTE_FEE, 0


async def _disputed(guests: Guests) -> tuple[int, int]:
    """One of two is disputed: it waits, less what the dispute cost."""
    await guests.stay()
    open_one = await guests.stay()
    await disputed(guests.world, open_one)
    await happened(guests.world, open_one)
    return guests.share, guests.share - DISPUTE_FEE


async def _stopped(guests: Guests) -> tuple[int, int]:
    """An operator said no."""
    await frozen(guests.world, await guests.stay())
    return 0, guests.share


async def _patient(guests: Guests) -> tuple[int, int]:
    """Theirs is held for some days more, and so until the next Monday."""
    await guests.stay(hold_days=5)
    return guests.share, 0


RETURNED: Final = "returned"
FATES: Final[dict[str, Callable[[Guests], Awaitable[tuple[int, int]]]]] = {
    "plain": _plain,
    RETURNED: _returned,
    "indebted": _indebted,
    "disputed": _disputed,
    "stopped": _stopped,
    "patient": _patient,
}


async def some_owners(world: World, monday: datetime, *, organizations: int, each: int, seed: int) -> list[Owner]:
    """So many in each of so many organisations; of every fate some."""
    chance = random.Random(f"owners {seed}")
    left = monday - timedelta(days=1, hours=4)
    owners: list[Owner] = []
    for number in range(organizations):
        here = world if number == 0 else await _another(world)
        for _ in range(each):
            fate = [*FATES][len(owners) % len(FATES)]
            guests = Guests(here, uuid7(), left, chance.choice(PRICES))
            owners.append(Owner(here.organization, guests.owner, fate, *await FATES[fate](guests)))
    return owners


async def _another(world: World) -> World:
    organization = await an_organization_of(world.database, world.owner)
    await connect(world.database, world.simulator, world.gateway, organization)
    return replace(world, organization=organization)

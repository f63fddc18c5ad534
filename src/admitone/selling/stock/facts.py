"""What is told of stock. Holds and sales are not: their orders tell."""

from typing import Final

from admitone.kernel.facts import Fact
from admitone.selling.stock.model import PoolId


class StockStrayed(Fact, frozen=True):
    """A pool's counters or units were not what its portions add up to."""

    name = "stock.strayed"
    version = "1.0.0"
    subject = ("POOL", "pool_id")

    pool_id: PoolId
    capacity: int
    held: int
    sold: int
    kept: int
    """What portions that are kept add up to; `bought`, those that are sold."""
    bought: int
    units: int
    taken: int
    rightly: int
    """Of the units that are taken, whose owner says the same."""
    put_right: bool
    """The counters say what the portions do by now."""


FACTS: Final[tuple[type[Fact], ...]] = (StockStrayed,)

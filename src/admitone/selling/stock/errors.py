"""Why stock refuses."""

from admitone.kernel.errors import Conflict, NotFound
from admitone.selling.stock.model import PoolId, UnitId


class SoldOut(Conflict):
    """There are not so many left."""

    code = "SOLD_OUT"
    item: str
    left: int


class BuyerLimit(Conflict):
    """One buyer may not have so many of these."""

    code = "BUYER_LIMIT"
    item: str
    most: int


class SeatTaken(Conflict):
    """This seat is no longer free."""

    code = "SEAT_TAKEN"
    next_step = "Choose another seat."
    unit: UnitId


class CapacityTaken(Conflict):
    """More than that is sold or kept for buyers already."""

    code = "CAPACITY_TAKEN"
    least: int


class SeatedPool(Conflict):
    """Whether its places are numbered is decided when a pool is made."""

    code = "SEATED_POOL"


class NotSold(Conflict):
    """That was not sold under this hold, or has been given back already."""

    code = "NOT_SOLD"
    item: str
    left: int


class NotKept(Conflict):
    """That is not kept any more."""

    code = "NOT_KEPT"


class HoldReused(Conflict):
    """Something else is kept under this hold."""

    code = "HOLD_REUSED"


class HoldNotFound(NotFound):
    """Nothing is kept under this hold."""

    code = "HOLD_NOT_FOUND"


class PoolNotFound(NotFound):
    """There is no such pool here."""

    code = "POOL_NOT_FOUND"
    pool: PoolId

"""The door for verticals: what there is, is kept, sold and given back here, in the caller's transaction.

Every function takes many and gives one outcome or refusal for each; none raises for one of them. `of` is the input of
the caller's own batch that it is for: when a pool is busy, `Busy` names those, and the batch sets them aside.
"""

from admitone.selling.stock.commands.keeping import keep
from admitone.selling.stock.commands.putting import put_pools, put_units
from admitone.selling.stock.commands.settling import claim, give_back, keep_until, release
from admitone.selling.stock.comparing import put_right as recount
from admitone.selling.stock.errors import (
    BuyerLimit,
    CapacityTaken,
    HoldNotFound,
    HoldReused,
    NotKept,
    NotSold,
    PoolNotFound,
    SeatedPool,
    SeatTaken,
    SoldOut,
)
from admitone.selling.stock.model import (
    SURELY,
    Claim,
    GiveBack,
    Hold,
    HoldId,
    Keep,
    KeepUntil,
    Pool,
    PoolId,
    PoolPut,
    Portion,
    Release,
    Status,
    Unit,
    UnitId,
    UnitsPut,
)
from admitone.selling.stock.queries import find_holds
from admitone.selling.stock.store.pools import Need, find_pools, lock_pools
from admitone.selling.stock.store.units import find_units, list_units

__all__ = (
    "SURELY",
    "BuyerLimit",
    "CapacityTaken",
    "Claim",
    "GiveBack",
    "Hold",
    "HoldId",
    "HoldNotFound",
    "HoldReused",
    "Keep",
    "KeepUntil",
    "Need",
    "NotKept",
    "NotSold",
    "Pool",
    "PoolId",
    "PoolNotFound",
    "PoolPut",
    "Portion",
    "Release",
    "SeatTaken",
    "SeatedPool",
    "SoldOut",
    "Status",
    "Unit",
    "UnitId",
    "UnitsPut",
    "claim",
    "find_holds",
    "find_pools",
    "find_units",
    "give_back",
    "keep",
    "keep_until",
    "list_units",
    "lock_pools",
    "put_pools",
    "put_units",
    "recount",
    "release",
)

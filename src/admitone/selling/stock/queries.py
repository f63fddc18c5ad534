"""What is asked about stock, without anything changing."""

from collections.abc import Collection
from itertools import groupby

from admitone.kernel.db import Tx
from admitone.selling.stock.model import Hold, HoldId
from admitone.selling.stock.store.portions import find_portions


async def find_holds(tx: Tx, holds: Collection[HoldId]) -> dict[HoldId, Hold]:
    """As they are written: one whose time has passed may still be HELD, and is its buyer's until somebody needs it."""
    parts = await find_portions(tx, holds)
    return {hold: Hold.of([*own]) for hold, own in groupby(parts, lambda each: each.hold)}

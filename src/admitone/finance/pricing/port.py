"""What pricing asks of whoever promises discounts, for many offers at once, in the caller's transaction."""

from collections.abc import Sequence
from typing import Final, Protocol

import msgspec

from admitone.finance.sources.port import Offer, Wanted
from admitone.kernel.db import Tx
from admitone.kernel.ports import Port


class Discount(msgspec.Struct, frozen=True):
    """What is taken off, and why: the words are kept with the price, for whoever reads the sale later (FIN-044)."""

    amount_minor: int
    promo_policy_version: str
    code_snapshot: str | None
    label: str
    type: str
    value: int


class Promotions(Protocol):
    async def discounts(self, tx: Tx, wanted: Sequence[tuple[Wanted, Offer]]) -> list[tuple[Discount, ...]]:
        """Those for each, in their order. More than there is to pay is cut to it."""
        ...


class NoPromotions:
    """Nobody promises anything."""

    async def discounts(self, tx: Tx, wanted: Sequence[tuple[Wanted, Offer]]) -> list[tuple[Discount, ...]]:  # noqa: ARG002
        return [()] * len(wanted)


PROMOTIONS: Final = Port[Promotions]("finance.promotions")

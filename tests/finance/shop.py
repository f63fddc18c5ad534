"""A vertical of the tests: a shop that sells what it was stocked with, by source.

with a_shop() as shop:
    order = shop.sells(buyer, 2500)
    shop.changes(order, lines=(a_line(3000),))
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import msgspec

from admitone.finance.payments.errors import SourceNotSold
from admitone.finance.sources.api import Source, SourceType
from admitone.finance.sources.port import SHOPS, Keeping, Line, Offer, Wanted
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId

NUMBERS = count(1)


class StockedShop:
    """Sells what the test put on its shelf, and knows nothing else."""

    def __init__(self) -> None:
        self.offers: dict[Source, Offer | Refusal] = {}
        self.asked: list[Wanted] = []
        self.kept: list[Keeping] = []
        self.over: dict[Source, Refusal] = {}

    def sells(
        self,
        buyer: IdentityId,
        *lines: Line | tuple[int, int] | int,
        type: SourceType = SourceType.TICKET_ORDER,  # noqa: A002, the word of the domain
        **more: Any,
    ) -> Source:
        """Something new for this buyer, of lines, or of prices, or of prices and quantities."""
        source = Source(type, f"src-{next(NUMBERS)}-{buyer.uuid.hex[-8:]}")
        terms = {"currency": "EUR", "expires_at": datetime.now(UTC) + timedelta(hours=1), "description": "It"} | more
        self.offers[source] = Offer(source, buyer, lines=tuple(map(a_line, lines)), **terms)
        return source

    def changes(self, source: Source, **more: Any) -> None:
        """What is offered from now on."""
        offer = self.offers[source]
        assert isinstance(offer, Offer)
        self.offers[source] = msgspec.structs.replace(offer, **more)

    async def offer(self, tx: Tx, wanted: Sequence[Wanted]) -> Sequence[Offer | Refusal]:
        self.asked.extend(wanted)
        return [self.offers.get(each.source) or SourceNotSold() for each in wanted]

    async def keep(self, tx: Tx, keepings: Sequence[Keeping]) -> Sequence[Refusal | None]:
        self.kept.extend(keepings)
        return [self.over.get(each.source) for each in keepings]


def a_line(each: Line | tuple[int, int] | int, key: str = "line") -> Line:
    if isinstance(each, Line):
        return each
    unit, quantity = each if isinstance(each, tuple) else (each, 1)
    return Line(key, "A line", unit, quantity)


@contextmanager
def a_shop() -> Iterator[StockedShop]:
    """One that sells every type of source, while it is open."""
    shop = StockedShop()
    with SHOPS.wired(dict.fromkeys(SourceType, shop)):
        yield shop

"""What the bench hands over: nothing, so that what is measured is the money and the engine, and nobody's recipe."""

from collections.abc import Mapping, Sequence
from typing import Final

from admitone.finance.payments.api import Payment
from admitone.finance.sources.api import SourceType
from admitone.kernel.db import Tx
from admitone.selling.fulfilment.api import Scenario
from admitone.selling.fulfilment.port import Book, Purchase, Recipe, Step


async def _scenario_of(tx: Tx, payments: Sequence[Payment]) -> Sequence[Scenario]:  # noqa: ARG001
    return [Scenario.SINGLE if each.amount_minor else Scenario.FREE for each in payments]


async def _hand_over(tx: Tx, purchases: Sequence[Purchase]) -> Sequence[None]:  # noqa: ARG001
    return [None] * len(purchases)


_STEPS: Final = (Step("HAND_OVER", _hand_over),)
_BOOK: Final = Book(
    _scenario_of,
    {Scenario.SINGLE: Recipe("HAND_OVER", _STEPS), Scenario.FREE: Recipe("HAND_OVER_FREE", _STEPS)},
)
HANDED_OVER: Final[Mapping[SourceType, Book]] = dict.fromkeys(SourceType, _BOOK)

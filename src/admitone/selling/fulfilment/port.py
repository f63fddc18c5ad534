"""What fulfilment asks of verticals: which scenario a payment is, and what to do for it, for many in the caller's
transaction.

Promise to a vertical: its steps are run in their order for purchases that are paid, applied and in the ledger, whose
payments are held until the end; all that they write, and the operation, commit together or not at all. A purchase is
given to a step again only if nothing of it was committed. A step that raises hurts the purchase that it raises for, and
no other.

    BOOK = Book(scenario_of, {Scenario.SINGLE: Recipe("ISSUE_TICKETS", (Step("ISSUE_TICKETS", issue), ...))})
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from admitone.finance.payments.api import Payment
from admitone.finance.sources.api import SourceType
from admitone.kernel.db import Tx
from admitone.kernel.ports import Port
from admitone.kernel.scope import Caller
from admitone.selling.fulfilment.model import LEDGER_STEP, Scenario

WORD: Final = re.compile(r"[A-Z][A-Z0-9_]{2,63}")


@dataclass(frozen=True, slots=True)
class Purchase:
    """A payment that is to be fulfilled now, and on whose behalf."""

    payment: Payment
    caller: Caller
    scenario: Scenario


@dataclass(frozen=True, slots=True)
class Undeliverable:
    """What was paid for cannot be handed over: its money goes back, and nothing is issued."""

    reason: str
    """A code such as `SOLD_OUT`."""

    def __post_init__(self) -> None:
        _refuse_odd(self.reason)


Work = Callable[[Tx, Sequence[Purchase]], Awaitable[Sequence[Undeliverable | None]]]


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do, for many purchases at once; one answer for each, in their order.

    Only the first step of a recipe may find a purchase undeliverable, before it writes anything for it: what comes
    after has been promised. It writes down itself what its own rows should say of what it does not deliver.
    """

    name: str
    work: Work

    def __post_init__(self) -> None:
        _refuse_odd(self.name)


@dataclass(frozen=True, slots=True)
class Recipe:
    """What is done for a scenario. The step of the ledger comes first by itself."""

    key: str
    steps: tuple[Step, ...]

    def __post_init__(self) -> None:
        _refuse_odd(self.key)
        names = [LEDGER_STEP, *(step.name for step in self.steps)]
        if not self.steps or len({*names}) != len(names):
            raise TypeError(f"{self.key}: needs steps, and each once, not {names}")

    @property
    def names(self) -> tuple[str, ...]:
        return (LEDGER_STEP, *(step.name for step in self.steps))


@dataclass(frozen=True, slots=True)
class Book:
    """A vertical's recipes: one for each scenario that it sells by."""

    scenario_of: Callable[[Tx, Sequence[Payment]], Awaitable[Sequence[Scenario]]]
    """One for each, in their order."""
    recipes: Mapping[Scenario, Recipe]

    def __post_init__(self) -> None:
        keys = [recipe.key for recipe in self.recipes.values()]
        if len({*keys}) != len(keys):
            raise TypeError(f"two scenarios have the same key: {sorted(keys)}")


def _refuse_odd(word: str) -> None:
    if not WORD.fullmatch(word):
        raise TypeError(f"{word!r} is no word in capitals, such as ISSUE_TICKETS")


RECIPES: Final = Port[Mapping[SourceType, Book]]("fulfilment.recipes")
"""Who hands over what, as the entry point knows it."""

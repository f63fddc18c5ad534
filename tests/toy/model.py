"""The toy's values."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import msgspec

from admitone.kernel.ids import Id, IdentityId, uuid7
from admitone.kernel.money import Money
from admitone.kernel.scope import Caller
from admitone.kernel.states import Lifecycle


class IncrementId(Id, prefix="inc"):
    """One increment."""


class CounterStatus(StrEnum):
    OPEN = "OPEN"
    PAUSED = "PAUSED"
    CLOSED = "CLOSED"


COUNTER = Lifecycle(
    "counter",
    initial=CounterStatus.OPEN,
    moves={
        CounterStatus.OPEN: (CounterStatus.PAUSED, CounterStatus.CLOSED),
        CounterStatus.PAUSED: (CounterStatus.OPEN, CounterStatus.CLOSED),
    },
)


@dataclass(frozen=True, slots=True)
class Counter:
    name: str
    value: int
    ceiling: int
    labels: tuple[str, ...] | None = None
    note: dict[str, Any] | None = None
    status: CounterStatus = COUNTER.initial
    price: Money | None = None
    secret_note: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        # Asked once, so that no total of a counter that exists can be too large.
        self.worth(self.ceiling)

    def worth(self, value: int) -> Money | None:
        return self.price * value if self.price else None

    @property
    def total(self) -> Money | None:
        return self.worth(self.value)

    @property
    def price_minor(self) -> int | None:
        return self.price.minor if self.price else None

    @property
    def price_currency(self) -> str | None:
        return self.price.currency if self.price else None


@dataclass(frozen=True, slots=True)
class Increment:
    """What is asked: add an amount to a counter."""

    caller: Caller
    counter: str
    amount: int


class Counted(msgspec.Struct, frozen=True):
    """What came of it."""

    id: IncrementId
    counter: str
    amount: int
    value: int


@dataclass(frozen=True, slots=True)
class Added:
    """One row of `toy.increment`."""

    id: IncrementId
    counter: str
    amount: int
    identity_id: IdentityId
    at: datetime


@dataclass(frozen=True, slots=True)
class Move:
    """What is asked: take a counter to another state, for a reason."""

    caller: Caller
    counter: str
    to: CounterStatus
    reason_code: str


class Moved(msgspec.Struct, frozen=True):
    """What came of it."""

    counter: str
    before: CounterStatus
    after: CounterStatus


@dataclass(frozen=True, slots=True)
class Note:
    """What is asked: keep a text that nobody reads in the database."""

    counter: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Heard:
    """One row of `toy.heard`."""

    key: str
    number: int
    id: UUID = field(default_factory=uuid7)

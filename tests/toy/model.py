"""The toy's values."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from admitone.kernel.ids import Id, IdentityId
from admitone.kernel.scope import Caller


class IncrementId(Id, prefix="inc"):
    """One increment."""


@dataclass(frozen=True, slots=True)
class Counter:
    name: str
    value: int
    ceiling: int
    labels: tuple[str, ...] | None = None
    note: dict[str, Any] | None = None


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

"""How the sandbox misbehaves, as data.

Promise: everything that goes wrong was drawn from one seed, or stands in a script that says what becomes of each call
in turn. Chances are counted in ten thousandths.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, Self

from admitone.kernel.money import BASIS_POINTS


class CallFault(StrEnum):
    """What becomes of one call."""

    NONE = "none"
    UNREACHABLE = "unreachable"
    """Nothing arrives at the provider."""
    ERROR_BEFORE = "error_before"
    """It answers 500 and did nothing."""
    ERROR_AFTER = "error_after"
    """It did it, and answers 500."""
    LOST = "lost"
    """It did it, and its answer never arrives."""
    BUSY = "busy"
    """It answers 429 and did nothing."""
    KEY_IN_USE = "key_in_use"
    """It answers an order with 409: another one under the same key is still being done."""
    STALE = "stale"
    """It shows what it has as it was a while ago."""


class Forgery(StrEnum):
    """Webhooks that others send in the provider's name."""

    NONE = ""
    SECRET = "secret"  # noqa: S105  A word for a lie.
    BODY = "body"


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """Chances in ten thousandths, and how bad it gets."""

    unreachable: int = 0
    error_before: int = 0
    error_after: int = 0
    lost: int = 0
    busy: int = 0
    key_in_use: int = 0
    stale: int = 0
    stale_ms: int = 2_000
    slow: int = 0
    slow_ms: int = 200
    declined: int = 0
    """Of the good cards."""
    asks: int = 0
    """Of the good cards: they want 3DS."""
    refund_pending: int = 0
    refund_failed: int = 0
    """Of the refunds that are pending."""
    dropped: int = 0
    """Webhooks that never come."""
    repeated: int = 0
    repeated_times: int = 3
    """Up to so many more of the same."""
    late: int = 0
    late_ms: int = 2_000
    shuffled: int = 0
    """Webhooks that overtake those before them."""
    forged: int = 0
    """A forgery beside the true one."""
    script: tuple[CallFault, ...] = ()
    """What becomes of the first calls; then chance takes over."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """`lost=500,dropped=100`, as a command line gives it."""
        known = {field.name for field in fields(cls)} - {"script"}
        given: dict[str, int] = {}
        for pair in filter(None, text.split(",")):
            name, _, value = pair.partition("=")
            if name not in known or not value.isdecimal():
                raise ValueError(f"{pair!r} is no fault; there are {', '.join(sorted(known))}, each with =number")
            given[name] = int(value)
        return cls(**given)  # type: ignore[arg-type]  # The script is not among them.


class Dice:
    """The one source of chance, thrown in the order of what happens."""

    def __init__(self, faults: Faults, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311  A game must be the same again for the same seed.
        self.misbehave(faults)

    def misbehave(self, faults: Faults) -> None:
        """From now on as these say, beginning with their script; what chance drew before is not drawn again."""
        self.faults = faults
        self._script = list(faults.script)

    def hits(self, chance: int) -> bool:
        return chance > 0 and self._random.randrange(BASIS_POINTS) < chance

    def up_to(self, most: int) -> int:
        return self._random.randint(1, max(1, most))

    def shuffle(self, things: list[Any]) -> None:
        self._random.shuffle(things)

    def call(self) -> CallFault:
        if self._script:
            return self._script.pop(0)
        chances: Sequence[tuple[CallFault, int]] = (
            (CallFault.UNREACHABLE, self.faults.unreachable),
            (CallFault.ERROR_BEFORE, self.faults.error_before),
            (CallFault.ERROR_AFTER, self.faults.error_after),
            (CallFault.LOST, self.faults.lost),
            (CallFault.BUSY, self.faults.busy),
            (CallFault.KEY_IN_USE, self.faults.key_in_use),
            (CallFault.STALE, self.faults.stale),
        )
        return next((fault for fault, chance in chances if self.hits(chance)), CallFault.NONE)

    def forgery(self) -> Forgery:
        if not self.hits(self.faults.forged):
            return Forgery.NONE
        return Forgery.SECRET if self.hits(BASIS_POINTS // 2) else Forgery.BODY

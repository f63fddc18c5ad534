"""Kinds of codes: one row for each, in one table.

Promise: how long a code lives, whether it is good for one use, who may show it and who may be shown it, how often, and
whether a device without a network may accept it, follow from its kind and from nothing else (U-52 to U-54). Whoever
grants rights of another kind brings its row along (`port.KINDS`); nothing here changes for it.
"""

from datetime import timedelta
from enum import StrEnum
from typing import Final

import msgspec

from admitone.kernel import figures
from admitone.kernel.limits import Limit
from admitone.kernel.streaks import Streak


class Audience(StrEnum):
    """Who may take a code."""

    DOOR = "DOOR"
    """Staff and devices of the organisation, for an event."""
    MERCHANT = "MERCHANT"
    """The organisation that owes what the code is good for."""


class TokenKind(msgspec.Struct, frozen=True):
    name: str
    life: timedelta
    overlap: timedelta
    """How long before its end the next one is shown: until then both are good."""
    audience: Audience
    offline: bool
    """Whether a device may accept it without asking."""
    single_use: bool = False
    """REDEEMED by its first use, whatever the right still allows."""
    limits: tuple[Limit, ...] = ()
    """On whoever takes them."""
    streaks: tuple[Streak, ...] = ()
    """Of refusals."""

    def __post_init__(self) -> None:
        if not timedelta(0) <= self.overlap < self.life:
            raise ValueError(f"{self.name}: the overlap is part of the life")
        if self.offline and (self.single_use or self.audience is not Audience.DOOR):
            raise ValueError(f"{self.name}: lists are for doors, and what is good for one use is asked for each time")


TICKET: Final = TokenKind(
    "ticket",
    life=timedelta(hours=24),
    overlap=timedelta(minutes=30),
    audience=Audience.DOOR,
    offline=True,
    limits=figures.SCANS_PER_DEVICE,
    streaks=(figures.DENIED_IN_A_ROW, figures.DENIED_PER_EVENT_AND_DEVICE),
)
"""Tickets, registrations, bookings, stays: whatever opens a door."""

"""What events ask of others: whether somebody was invited."""

from collections.abc import Sequence
from typing import Final, Protocol

import msgspec

from admitone.kernel.db import Tx
from admitone.kernel.ids import IdentityId
from admitone.kernel.ports import Port
from admitone.verticals.events.model import EventId, TicketTypeId


class Invited(msgspec.Struct, frozen=True):
    """Somebody says that they were."""

    event: EventId
    buyer: IdentityId
    """Of a guest of whom nothing is written down yet, an id that nobody has: the token alone may tell."""
    ticket_types: tuple[TicketTypeId, ...]
    token: str | None


class Invites(Protocol):
    async def admit(self, tx: Tx, asked: Sequence[Invited]) -> Sequence[bool]:
        """Whether each may buy what they want. Asked of events that are for those who were invited (EVT-010), and twice
        of a guest: before they are written down, by who only reads, and when the order is placed."""
        ...


class NoInvites:
    """Nobody was."""

    async def admit(self, tx: Tx, asked: Sequence[Invited]) -> Sequence[bool]:  # noqa: ARG002
        return [False for _ in asked]


INVITES: Final = Port[Invites]("events.invites")

"""Which tickets somebody wants, and how many: as it stands in the address, so that signing in, a session that ran out
or another look at the page lose nothing of it.

Promise: what cannot be read is not chosen, and nothing is chosen that this event does not sell. Whether it can be had
is decided by whoever takes the order.
"""

from collections.abc import Sequence
from typing import Annotated
from urllib.parse import urlencode

import msgspec
from msgspec import Meta

from admitone.kernel.contracts import Wire
from admitone.selling.stock.api import UnitId
from admitone.verticals.events.api import Availability, EventId
from admitone.verticals.events.routes.orders import MOST_LINES, LineRequest
from admitone.verticals.events.routes.public import EventPageAnswer, TicketAnswer
from admitone.web.form import Typed

BUYABLE = frozenset({Availability.AVAILABLE, Availability.FEW_LEFT})
LARGEST = 100

Rows = Annotated[tuple[Typed, ...], Meta(max_length=MOST_LINES)]
Seats = Annotated[tuple[Typed, ...], Meta(max_length=MOST_LINES * LARGEST)]


class Asked(Wire):
    """Aligned: the first quantity is of the first type. A seat is said with its type, as in `tkt_…:unt_…`."""

    event_id: EventId
    ticket_type_id: Rows = ()
    quantity: Rows = ()
    seat: Seats = ()
    invite_token: Typed = ""
    age_confirmed: Typed = ""


class Chosen(msgspec.Struct, frozen=True):
    """So many of one type, and of numbered seats which."""

    kind: TicketAnswer
    quantity: int
    seats: tuple[str, ...] = ()

    @property
    def amount_minor(self) -> int:
        return self.kind.price_minor * self.quantity

    def line(self) -> LineRequest:
        return LineRequest(
            ticket_type_id=self.kind.ticket_type_id,
            quantity=self.quantity,
            seats=tuple(UnitId.parse(each) for each in self.seats),
        )


class Choice(msgspec.Struct, frozen=True):
    asked: Asked
    lines: tuple[Chosen, ...]

    @classmethod
    def of(cls, asked: Asked, event: EventPageAnswer) -> "Choice":
        kinds = {str(each.ticket_type_id): each for each in event.ticket_types}
        wanted: dict[str, int] = {}
        for name, quantity in _aligned(asked):
            wanted[name] = wanted.get(name, 0) + quantity
        seats = [tuple(each.split(":", 1)) for each in asked.seat if ":" in each]
        lines = [
            Chosen(kinds[name], quantity, tuple(seat for whose, seat in seats if whose == name))
            for name, quantity in wanted.items()
            if quantity and name in kinds
        ]
        return cls(asked, tuple(lines))

    @property
    def amount_minor(self) -> int:
        return sum(each.amount_minor for each in self.lines)

    @property
    def can_be_had(self) -> bool:
        """As far as the event's page knows."""
        return all(each.kind.availability in BUYABLE for each in self.lines)

    def quantity_of(self, kind: TicketAnswer) -> int:
        return next((each.quantity for each in self.lines if each.kind is kind), 0)

    @property
    def address(self) -> str:
        """Where the person is asked for the rest."""
        return f"{path_of(self.asked.event_id)}?{self._query(self._pairs)}"

    @property
    def address_to_change(self) -> str:
        return f"{path_of(self.asked.event_id)}?{self._query([*self._pairs, ('change', 'yes')])}"

    @property
    def _pairs(self) -> list[tuple[str, str]]:
        pairs = []
        for each in self.lines:
            own = str(each.kind.ticket_type_id)
            pairs += [("ticketTypeId", own), ("quantity", str(each.quantity))]
            pairs += [("seat", f"{own}:{seat}") for seat in each.seats]
        return pairs

    def _query(self, pairs: Sequence[tuple[str, str]]) -> str:
        more = (("inviteToken", self.asked.invite_token), ("ageConfirmed", self.asked.age_confirmed))
        return urlencode([*pairs, *((name, value) for name, value in more if value)])


def path_of(event: EventId) -> str:
    return f"/e/{event}/tickets"


def _aligned(asked: Asked) -> list[tuple[str, int]]:
    """Of two rows that do not belong together nobody knows what was meant: nothing is chosen yet."""
    if len(asked.ticket_type_id) != len(asked.quantity):
        return []
    return [(name, _number(text)) for name, text in zip(asked.ticket_type_id, asked.quantity, strict=True)]


def _number(text: str) -> int:
    return min(int(text), LARGEST) if text.isascii() and text.isdigit() and len(text) <= len("1000") else 0

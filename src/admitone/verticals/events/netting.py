"""What of a payment each of its tickets brought: pure decisions.

Promise: every column of a payment's tickets sums to the cent to what the ledger says of the payment (FIN-036), whatever
happened to it: what was charged, what went back, what the platform and the processor took, and what is left. A ticket
has its part of its line as it was priced; what went back is taken first from tickets that are gone; what the processor
took is everybody's by what they cost, also of those that are gone. No cent is lost or made (FIN-030): whatever does not
divide goes to the largest remainder.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from admitone.finance.ledger.api import EntryType
from admitone.finance.pricing.api import LineItem
from admitone.kernel.money import Money
from admitone.verticals.events.model import Ticket, TicketId, TicketStatus

GONE: Final = frozenset({TicketStatus.REFUNDED, TicketStatus.CHARGEBACK_LOST, TicketStatus.CANCELLED})
BACK: Final = frozenset({EntryType.REFUND_GROSS, EntryType.REFUND_GROSS_MIRROR, EntryType.CHARGEBACK_GROSS})
FEE: Final = frozenset(
    {
        EntryType.PLATFORM_FEE,
        EntryType.REFUND_PLATFORM_FEE_REVERSAL,
        EntryType.REFUND_PLATFORM_FEE_MIRROR,
        EntryType.CHARGEBACK_PLATFORM_FEE_REVERSAL,
    }
)


class Brought(msgspec.Struct, frozen=True):
    """What of a payment is one ticket's, in minor units."""

    discount: int
    tax: int
    charged: int
    """What the customer paid for it."""
    refunded: int
    """What went back of that, or is on its way; also what a bank took back."""
    platform_fee: int
    """Less what of it went back."""
    processor_fee: int
    """With what disputes cost; so far, until the processor has said its last word."""

    @property
    def net(self) -> int:
        return self.charged - self.refunded - self.platform_fee - self.processor_fee


class Moved(msgspec.Struct, frozen=True):
    """What happened to a payment's money, as its payee sees it."""

    charged: int = 0
    refunded: int = 0
    platform_fee: int = 0
    processor_fee: int = 0

    @property
    def net(self) -> int:
        return self.charged - self.refunded - self.platform_fee - self.processor_fee

    def and_also(self, other: "Moved") -> "Moved":
        return Moved(
            self.charged + other.charged,
            self.refunded + other.refunded,
            self.platform_fee + other.platform_fee,
            self.processor_fee + other.processor_fee,
        )

    @classmethod
    def of(cls, entries: Mapping[EntryType, int]) -> "Moved":
        """Whatever is neither the price, nor went back, nor is the platform's, was taken on the way."""
        charged = entries.get(EntryType.GROSS, 0)
        refunded = -sum(minor for entry, minor in entries.items() if entry in BACK)
        platform_fee = -sum(minor for entry, minor in entries.items() if entry in FEE)
        return cls(charged, refunded, platform_fee, charged - refunded - platform_fee - sum(entries.values()))


class Piece(msgspec.Struct, frozen=True):
    """A ticket's part of its line, as it was priced."""

    discount: int = 0
    tax: int = 0
    fee: int = 0
    total: int = 0


def brought(
    tickets: Sequence[Ticket], items: Sequence[LineItem], moved: Moved, currency: str
) -> dict[TicketId, Brought]:
    """Of all tickets of one payment, each its part."""
    pieces = _pieces(tickets, items, currency)
    is_gone = [each.status in GONE for each in tickets]

    def share(amount: int, *weights: Sequence[int]) -> list[int]:
        return spread(amount, currency, *weights, [1] * len(tickets))

    charged = share(moved.charged, [each.total for each in pieces], [each.price_minor for each in tickets])
    refunded = _refunded(moved.refunded, charged, is_gone, currency)
    is_left = [paid > back for paid, back in zip(charged, refunded, strict=True)]
    fees = [piece.fee if left else 0 for piece, left in zip(pieces, is_left, strict=True)]
    platform_fee = share(moved.platform_fee, fees, charged)
    processor_fee = share(moved.processor_fee, charged)
    columns = zip(tickets, pieces, charged, refunded, platform_fee, processor_fee, strict=True)
    return {ticket.id: Brought(piece.discount, piece.tax, *amounts) for ticket, piece, *amounts in columns}


def _pieces(tickets: Sequence[Ticket], items: Sequence[LineItem], currency: str) -> list[Piece]:
    """In the order of the tickets; what was never priced, because its price cannot be read, has none."""
    of_line: dict[str, list[int]] = {}
    for place, ticket in enumerate(tickets):
        of_line.setdefault(str(ticket.ticket_type), []).append(place)
    pieces = [Piece() for _ in tickets]
    for item in items:
        places = of_line.get(item.key, [])
        parts = [
            spread(whole, currency, [1] * len(places)) for whole in (item.discount, item.tax, item.fee, item.total)
        ]
        for place, *amounts in zip(places, *parts, strict=True):
            pieces[place] = Piece(*amounts)
    return pieces


def _refunded(amount: int, charged: Sequence[int], is_gone: Sequence[bool], currency: str) -> list[int]:
    """First of what is gone, as far as it was charged; then of the others."""
    gone = [paid if is_one else 0 for paid, is_one in zip(charged, is_gone, strict=True)]
    others = [paid - away for paid, away in zip(charged, gone, strict=True)]
    first = max(min(amount, sum(gone)), 0)
    of_gone = spread(first, currency, gone)
    of_others = spread(amount - first, currency, others, charged, [1] * len(charged))
    return [one + other for one, other in zip(of_gone, of_others, strict=True)]


def spread(amount: int, currency: str, *weights: Sequence[int]) -> list[int]:
    """By the first of these that weigh anything; of nothing, nothing."""
    if not amount:
        return [0] * len(weights[0])
    chosen = next(each for each in weights if any(each))
    return [part.minor for part in Money(amount, currency).allocate(chosen)]

"""How much goes back for which pieces: pure decisions.

Promise: pieces of a line that go back one after another, in whatever portions, sum to the line exactly, of its price
and of its fee.
"""

from collections.abc import Mapping, Sequence

import msgspec

from admitone.finance.pricing.api import LineItem, Snapshot
from admitone.finance.refunds.errors import PieceGone, PieceUnknown
from admitone.finance.refunds.model import Piece, RefundId, RefundLine
from admitone.kernel.errors import Refusal
from admitone.kernel.money import Money


class Share(msgspec.Struct, frozen=True):
    """What goes back."""

    amount_minor: int
    fee_minor: int | None
    """None: in proportion, as payments say."""
    lines: tuple[RefundLine, ...] = ()
    at_most: bool = False
    """Less, if less is left."""


def share_of(refund: RefundId, pieces: Sequence[Piece], snapshot: Snapshot, gone: Mapping[str, int]) -> Share | Refusal:
    """What these pieces cost, when so many of each line have gone back before."""
    lines: list[RefundLine] = []
    for key, quantity in together(pieces).items():
        item = next((each for each in snapshot.line_items if each.key == key), None)
        if item is None:
            return PieceUnknown(key=key)
        left = item.quantity - gone.get(key, 0)
        if not 0 < quantity <= left:
            return PieceGone(key=key, left=max(left, 0))
        lines.append(_line(refund, item, gone.get(key, 0), quantity, snapshot.currency))
    amount, fee = sum(each.amount_minor for each in lines), sum(each.fee_minor for each in lines)
    return Share(amount, min(fee, amount), tuple(lines))


def together(pieces: Sequence[Piece]) -> dict[str, int]:
    wanted: dict[str, int] = {}
    for piece in pieces:
        wanted[piece.key] = wanted.get(piece.key, 0) + piece.quantity
    return wanted


def _line(refund: RefundId, item: LineItem, gone: int, quantity: int, currency: str) -> RefundLine:
    def part(whole: int) -> int:
        money = Money(whole, currency)
        return (money.part(gone + quantity, item.quantity) - money.part(gone, item.quantity)).minor

    return RefundLine(refund.uuid, item.key, quantity, part(item.total), part(item.fee))


def all_left(refund: RefundId, snapshot: Snapshot, gone: Mapping[str, int]) -> tuple[RefundLine, ...]:
    """Every piece that has not gone back."""
    return tuple(
        _line(refund, item, gone.get(item.key, 0), item.quantity - gone.get(item.key, 0), snapshot.currency)
        for item in snapshot.line_items
        if item.quantity > gone.get(item.key, 0)
    )

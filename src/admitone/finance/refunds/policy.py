"""How much goes back for which pieces: pure decisions.

Promise: pieces of a line that go back one after another, in whatever portions, sum to the line exactly, of its price
and of its fee. A piece that is named goes back once.
"""

from collections.abc import Mapping, Sequence

import msgspec

from admitone.finance.pricing.api import LineItem, Snapshot
from admitone.finance.refunds.errors import PieceGone, PieceUnknown
from admitone.finance.refunds.model import Gone, Piece, RefundId, RefundLine
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


def share_of(
    refund: RefundId, pieces: Sequence[Piece], snapshot: Snapshot, gone: Mapping[str, Gone]
) -> Share | Refusal:
    """What these pieces cost, when those have gone back before."""
    lines: list[RefundLine] = []
    for wanted in together(pieces).values():
        item = next((each for each in snapshot.line_items if each.key == wanted.key), None)
        before = gone.get(wanted.key, Gone())
        if item is None or not _are_of(item, wanted):
            return PieceUnknown(key=wanted.key)
        left = item.quantity - before.quantity
        is_twice = len({*wanted.pieces} - before.pieces) < len(wanted.pieces)
        if is_twice or not 0 < wanted.quantity <= left:
            return PieceGone(key=wanted.key, left=max(left, 0))
        lines.append(_line(refund, item, before, wanted, snapshot.currency))
    amount, fee = sum(each.amount_minor for each in lines), sum(each.fee_minor for each in lines)
    return Share(amount, min(fee, amount), tuple(lines))


def together(pieces: Sequence[Piece]) -> dict[str, Piece]:
    """What is asked of each line."""
    wanted: dict[str, Piece] = {}
    for each in pieces:
        before = wanted.get(each.key)
        quantity, named = (before.quantity, before.pieces) if before else (0, ())
        wanted[each.key] = Piece(each.key, quantity + each.quantity, tuple(sorted((*named, *each.pieces))))
    return wanted


def _are_of(item: LineItem, wanted: Piece) -> bool:
    return len(wanted.pieces) <= wanted.quantity and all(0 <= each < item.quantity for each in wanted.pieces)


def _line(refund: RefundId, item: LineItem, gone: Gone, wanted: Piece, currency: str) -> RefundLine:
    def part(whole: int) -> int:
        money = Money(whole, currency)
        after = money.part(gone.quantity + wanted.quantity, item.quantity)
        return (after - money.part(gone.quantity, item.quantity)).minor

    return RefundLine(refund.uuid, item.key, wanted.quantity, part(item.total), part(item.fee), wanted.pieces)


def all_left(refund: RefundId, snapshot: Snapshot, gone: Mapping[str, Gone]) -> tuple[RefundLine, ...]:
    """Every piece that has not gone back."""
    before = {item.key: gone.get(item.key, Gone()) for item in snapshot.line_items}
    return tuple(
        _line(refund, item, before[item.key], Piece(item.key, left), snapshot.currency)
        for item in snapshot.line_items
        if (left := item.quantity - before[item.key].quantity) > 0
    )

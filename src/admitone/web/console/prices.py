"""Prices as people type them: whole units with a comma or a point, as the currency has decimals."""

import re
from decimal import Decimal

from admitone.kernel.contracts import ValidationFailed
from admitone.kernel.money import Money, digits

_PRICE = re.compile(r"(\d{1,12})(?:[.,](\d{1,3}))?", re.ASCII)


def typed_price(minor: int, currency: str) -> str:
    return f"{Money(minor, currency).decimal():f}"


def minor_of(text: str, currency: str, name: str) -> int:
    """In the smallest unit. Groups of thousands are not guessed at, nor is more rounded than the currency has."""
    places = digits(currency)
    match = _PRICE.fullmatch(text.strip())
    if match is None or len(match[2] or "") > places:
        raise ValidationFailed.at(f"$.{name}", "Expected an amount")
    return int(Decimal(f"{match[1]}.{match[2] or 0}").scaleb(places))

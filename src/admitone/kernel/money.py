"""Money: whole minor units and a currency.

Promise: an amount is never a float, never mixes currencies, never leaves the 64 bits that the database keeps, and
no cent is lost or invented by dividing it (FIN-030). Halves round up, which for a debt means away from zero: the
mirror of a fee is exactly the fee, so a reversal leaves nothing behind. PostgreSQL's `round(numeric)` does the same.

    price = Money(1250, "EUR")               { "minor": 1250, "currency": "EUR" } on the wire
    price * 3                                never by a float
    price.share(basis_points=250)            2.5 %, rounded half up
    price.allocate([1, 1, 1])                three parts that sum to the price
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import cache
from typing import Annotated, Self

import msgspec
from babel.core import get_global

from admitone.kernel.errors import Invalid

SMALLEST, LARGEST = -(2**63), 2**63 - 1
"""What a bigint holds."""

BASIS_POINTS = 10_000
"""The whole, in basis points."""

Minor = Annotated[int, msgspec.Meta(ge=SMALLEST, le=LARGEST, description="In the smallest unit of the currency.")]
Currency = Annotated[
    str, msgspec.Meta(pattern="^[A-Z]{3}$", max_length=3, description="ISO 4217, such as EUR.", examples=["EUR"])
]

# Babel says how many digits people print; for these, ISO 4217 (and with it every card network) counts more.
_ISO_DIGITS = dict.fromkeys(("AFN", "ALL", "IRR", "KPW", "LAK", "LBP", "MGA", "MMK", "RSD", "SOS", "SYP", "YER"), 2)
_ISO_DIGITS["IQD"] = 3


class AmountTooLarge(Invalid):
    """The amount is larger than any account can hold."""

    code = "AMOUNT_TOO_LARGE"


class CurrenciesDiffer(Exception):
    """Two currencies met in one sum. That is a bug: whoever adds has checked before."""


@cache
def currencies() -> frozenset[str]:
    """The currencies that are legal tender somewhere today."""
    ranges = (entry for country in get_global("territory_currencies").values() for entry in country)
    return frozenset(code for code, _since, until, tender in ranges if tender and until is None)


@cache
def digits(currency: Currency) -> int:
    """How many decimal places the minor unit stands behind: 2 for EUR, 0 for JPY, 3 for BHD; else ValueError."""
    if currency not in currencies():
        raise ValueError("is not a currency that we know")
    fractions = get_global("currency_fractions")
    printed: int = fractions.get(currency, fractions["DEFAULT"])[0]
    return _ISO_DIGITS.get(currency, printed)


class Money(msgspec.Struct, frozen=True):
    """An amount in one currency; negative is a debt."""

    minor: Minor
    currency: Currency

    def __post_init__(self) -> None:
        _whole(self.minor)
        if not SMALLEST <= self.minor <= LARGEST:
            raise AmountTooLarge
        digits(self.currency)

    @classmethod
    def zero(cls, currency: Currency) -> Self:
        return cls(0, currency)

    @classmethod
    def total(cls, amounts: Iterable["Money"], currency: Currency) -> "Money":
        """The sum, also of nothing; that is why it needs to be told the currency."""
        return sum(amounts, start=cls.zero(currency))

    def __add__(self, other: "Money") -> "Money":
        return Money(self.minor + self._same(other), self.currency)

    def __sub__(self, other: "Money") -> "Money":
        return Money(self.minor - self._same(other), self.currency)

    def __mul__(self, times: int) -> "Money":
        return Money(self.minor * _whole(times), self.currency)

    __rmul__ = __mul__

    def __neg__(self) -> "Money":
        return Money(-self.minor, self.currency)

    def __abs__(self) -> "Money":
        return Money(abs(self.minor), self.currency)

    def __lt__(self, other: "Money") -> bool:
        return self.minor < self._same(other)

    def __le__(self, other: "Money") -> bool:
        return self.minor <= self._same(other)

    def __gt__(self, other: "Money") -> bool:
        return self.minor > self._same(other)

    def __ge__(self, other: "Money") -> bool:
        return self.minor >= self._same(other)

    def share(self, basis_points: int) -> "Money":
        """So many hundredths of a percent of it, rounded half up."""
        return self.part(basis_points, BASIS_POINTS)

    def part(self, numerator: int, denominator: int) -> "Money":
        """The fraction `numerator / denominator` of it, rounded half up (a debt: half away from zero)."""
        if _whole(numerator) < 0 or _whole(denominator) <= 0:
            raise ValueError("a part is a fraction that is not negative")
        half_up = (2 * abs(self.minor) * numerator + denominator) // (2 * denominator)
        return Money(half_up if self.minor >= 0 else -half_up, self.currency)

    def allocate(self, weights: Sequence[int]) -> list["Money"]:
        """Split it by weight into parts that sum to it exactly.

        Each part is its exact share rounded down or up; the cents that rounding down leaves over go to the largest
        remainders, earlier parts first. A part without weight gets nothing.
        """
        whole = sum(_whole(weight) for weight in weights)
        if whole <= 0 or min(weights) < 0:
            raise ValueError("weights are not negative, and at least one is positive")
        shares = [divmod(abs(self.minor) * weight, whole) for weight in weights]
        left_over = abs(self.minor) - sum(share for share, _ in shares)
        by_remainder = sorted(range(len(shares)), key=lambda index: -shares[index][1])
        lucky = set(by_remainder[:left_over])
        sign = 1 if self.minor >= 0 else -1
        return [Money(sign * (share + (index in lucky)), self.currency) for index, (share, _) in enumerate(shares)]

    def decimal(self) -> Decimal:
        """In major units, for people and for exports that want a decimal point; we never calculate with it."""
        # Built from text, because arithmetic would round to the precision of the decimal context.
        return Decimal(f"{self.minor}e-{digits(self.currency)}")

    def __str__(self) -> str:
        return f"{self.decimal():f} {self.currency}"

    def _same(self, other: "Money") -> int:
        """The other's minor units, once it is certain that they may be put beside ours."""
        if not isinstance(other, Money):
            raise TypeError(f"money goes with money, not with {type(other).__name__}")
        if other.currency != self.currency:
            raise CurrenciesDiffer(f"{self.currency} and {other.currency}")
        return other.minor


def _whole(number: int) -> int:
    """The number, if it is a plain integer. A bool is no amount, and a float has already lost the cent."""
    if type(number) is not int:
        raise TypeError(f"money is counted in whole numbers, not in {type(number).__name__}")
    return number

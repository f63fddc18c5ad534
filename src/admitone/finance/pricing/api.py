"""The door for other packages: prices for many offers, and how to read one that was kept."""

from admitone.finance.pricing.errors import (
    AmountInvalid,
    CurrenciesMixed,
    CurrencyUnknown,
    FeeUnknown,
    NothingToPrice,
    TaxesExceedPrice,
    TooManyLines,
)
from admitone.finance.pricing.model import (
    FeeBase,
    FeeMode,
    LineItem,
    Priced,
    Promotion,
    Snapshot,
    Tampered,
    TaxItem,
)
from admitone.finance.pricing.queries import price

__all__ = (
    "AmountInvalid",
    "CurrenciesMixed",
    "CurrencyUnknown",
    "FeeBase",
    "FeeMode",
    "FeeUnknown",
    "LineItem",
    "NothingToPrice",
    "Priced",
    "Promotion",
    "Snapshot",
    "Tampered",
    "TaxItem",
    "TaxesExceedPrice",
    "TooManyLines",
    "price",
)

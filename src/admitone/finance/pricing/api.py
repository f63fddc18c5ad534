"""The door for other packages: prices for many offers, how to read one that was kept, and for operators, policies."""

from admitone.finance.pricing.commands import set_policies
from admitone.finance.pricing.errors import (
    AmountInvalid,
    CurrenciesMixed,
    CurrencyUnknown,
    FeeUnknown,
    NothingToPrice,
    TaxesExceedPrice,
    TaxNotWithheld,
    TooManyLines,
)
from admitone.finance.pricing.model import (
    FeeBase,
    FeeMode,
    LineItem,
    Policy,
    PolicyChange,
    Priced,
    Promotion,
    Snapshot,
    Tampered,
    Target,
    TaxItem,
    Terms,
)
from admitone.finance.pricing.policy import MOST_LINES
from admitone.finance.pricing.queries import find_to_pay, price
from admitone.finance.pricing.store import NEWEST, list_policies

__all__ = (
    "MOST_LINES",
    "NEWEST",
    "AmountInvalid",
    "CurrenciesMixed",
    "CurrencyUnknown",
    "FeeBase",
    "FeeMode",
    "FeeUnknown",
    "LineItem",
    "NothingToPrice",
    "Policy",
    "PolicyChange",
    "Priced",
    "Promotion",
    "Snapshot",
    "Tampered",
    "Target",
    "TaxItem",
    "TaxNotWithheld",
    "TaxesExceedPrice",
    "Terms",
    "TooManyLines",
    "find_to_pay",
    "list_policies",
    "price",
    "set_policies",
)

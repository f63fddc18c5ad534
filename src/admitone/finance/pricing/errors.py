"""What pricing refuses."""

from admitone.kernel.errors import Conflict, Invalid


class NothingToPrice(Invalid):
    """There is nothing here to pay for."""

    code = "NOTHING_TO_PRICE"


class TooManyLines(Invalid):
    """This is more than one payment can list."""

    code = "TOO_MANY_LINES"
    most: int


class AmountInvalid(Invalid):
    """An amount, a quantity or a rate is none that can be charged."""

    code = "AMOUNT_INVALID"
    what: str


class CurrencyUnknown(Invalid):
    """Nothing can be paid in this currency."""

    code = "CURRENCY_UNKNOWN"


class CurrenciesMixed(Invalid):
    """Everything that is paid at once is in one currency."""

    code = "CURRENCIES_MIXED"


class TaxesExceedPrice(Invalid):
    """More tax would be withheld than is paid."""

    code = "TAXES_EXCEED_PRICE"


class FeeUnknown(Conflict):
    """There is no fee policy for this."""

    code = "FEE_UNKNOWN"
    next_step = "Whoever runs the installation can set one."

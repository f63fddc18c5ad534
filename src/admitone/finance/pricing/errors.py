"""What pricing refuses."""

from admitone.kernel.errors import Conflict, Invalid, NotFound


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


class TaxNotWithheld(Invalid):
    """Nobody would withhold this tax: the money goes to whoever sells."""

    code = "TAX_NOT_WITHHELD"


class FeeUnknown(Conflict):
    """There is no fee policy for this."""

    code = "FEE_UNKNOWN"
    next_step = "Whoever runs the installation can set one."


class FeePolicyInvalid(Invalid):
    """This is no rule for a fee."""

    code = "FEE_POLICY_INVALID"
    what: str


class CommissionOutOfRange(Invalid):
    """The commission of a stay is not within its bounds."""

    code = "COMMISSION_OUT_OF_RANGE"
    least_bps: int
    most_bps: int


class AbsorbedNotAllowed(Conflict):
    """The fee policy does not allow to absorb the fee."""

    code = "ABSORBED_NOT_ALLOWED"
    next_step = "Whoever runs the installation can allow it."


class FeeModeFixed(Conflict):
    """How this is charged is the platform's to say, which is the merchant."""

    code = "FEE_MODE_FIXED"


class FeePolicyNotFound(NotFound):
    """There is no such fee policy to retire."""

    code = "FEE_POLICY_NOT_FOUND"


class FeePolicyNeeded(Conflict):
    """This rule cannot be retired, only changed."""

    code = "FEE_POLICY_NEEDED"

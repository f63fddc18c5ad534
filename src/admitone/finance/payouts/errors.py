"""What payouts refuse."""

from admitone.kernel.errors import Conflict, Invalid, NotFound, Unavailable


class PayoutNotFound(NotFound):
    """There is no such payout."""

    code = "PAYOUT_NOT_FOUND"


class ScheduleInvalid(Invalid):
    """A weekly schedule has a day of the week, a monthly one a day of the month, and others have none."""

    code = "PAYOUT_SCHEDULE_INVALID"


class ScheduleChanged(Conflict):
    """Somebody has changed this schedule meanwhile."""

    code = "PAYOUT_SCHEDULE_CHANGED"
    next_step = "Look at it again, and change it if you still want to."
    version: int


class OwedOtherwise(Conflict):
    """This payment became due before, on other terms."""

    code = "OWED_OTHERWISE"


class NothingFrozen(Conflict):
    """Nothing of this payment is frozen for this reason."""

    code = "NOTHING_FROZEN"


class PayoutUnanswered(Unavailable):
    """The payment provider gave no answer about a payout that we understand."""

    code = "PAYOUT_UNANSWERED"


class PayoutMismatch(Conflict):
    """The payment provider has this payout with another amount or currency."""

    code = "PAYOUT_MISMATCH"


class WeekNotOver(Conflict):
    """A statement is of a week that is over, from Monday on."""

    code = "STATEMENT_WEEK_NOT_OVER"

"""What providers and operators are refused."""

from admitone.kernel.errors import Conflict, Malformed, NotFound, Unavailable


class InvalidSignature(Malformed):
    """The signature does not fit what was sent."""

    code = "INVALID_SIGNATURE"


class LivemodeMismatch(Malformed):
    """This event belongs to the other mode: test or live."""

    code = "LIVEMODE_MISMATCH"


class AccountUnresolved(Unavailable):
    """It is not clear to which organisation this account belongs; send the event again later."""

    code = "ORG_UNRESOLVED"
    retry_after_seconds: int = 60


class NotYetResolved(Unavailable):
    """Nobody knows whose event this is."""

    code = "WEBHOOK_NOT_RESOLVED"


class ClaimedByTwo(Conflict):
    """What we know of this event and what it says itself name different owners."""

    code = "WEBHOOK_CLAIMED_BY_TWO"


class NotTheirPayment(Conflict):
    """The organisation that this event names has no such payment."""

    code = "WEBHOOK_NOT_THEIR_PAYMENT"


class PayloadGone(Conflict):
    """What this event said is no longer kept."""

    code = "WEBHOOK_PAYLOAD_GONE"
    next_step = "Fetch the payment from its provider instead."


class NotUnderstood(Conflict):
    """This event uses a word that we do not know."""

    code = "WEBHOOK_NOT_UNDERSTOOD"
    next_step = "Somebody must look what the provider means by it."


class ReceiptNotFound(NotFound):
    """There is no receipt of that id."""

    code = "WEBHOOK_RECEIPT_NOT_FOUND"


class NothingToReplay(Conflict):
    """This event was processed, or waits to be."""

    code = "WEBHOOK_NOTHING_TO_REPLAY"


UNRESOLVED = (NotYetResolved, ClaimedByTwo, NotTheirPayment)
"""Whose event it is, is the trouble; everything else is trouble with what it says."""

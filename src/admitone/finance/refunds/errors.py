"""What refunds refuse."""

from admitone.kernel.errors import Conflict, Invalid, NotFound


class ReasonNotAllowed(Invalid):
    """For this reason nothing is given back by hand."""

    code = "REFUND_REASON_NOT_ALLOWED"
    allowed: tuple[str, ...]


class PieceUnknown(Invalid):
    """This was not a part of what was paid for."""

    code = "REFUND_PIECE_UNKNOWN"
    key: str


class PieceGone(Conflict):
    """So many of these have not been paid for, or have been given back."""

    code = "REFUND_PIECE_GONE"
    key: str
    left: int


class RefundIdTaken(Conflict):
    """Something else was given back under this id."""

    code = "REFUND_ID_TAKEN"


class RefundNotFound(NotFound):
    """There is no such refund."""

    code = "REFUND_NOT_FOUND"


class RefundNotFailed(Conflict):
    """This refund has not failed, so there is nothing to try again."""

    code = "REFUND_NOT_FAILED"

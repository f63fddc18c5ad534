"""What disputes refuse."""

from datetime import datetime

from admitone.kernel.errors import Conflict, NotFound


class DisputeNotFound(NotFound):
    """There is no such dispute."""

    code = "DISPUTE_NOT_FOUND"


class DisputeDecided(Conflict):
    """This dispute is decided."""

    code = "DISPUTE_DECIDED"


class AlreadySubmitted(Conflict):
    """Evidence was submitted; it cannot be changed any more."""

    code = "EVIDENCE_ALREADY_SUBMITTED"


class EvidenceTooLate(Conflict):
    """Evidence is not taken any more."""

    code = "EVIDENCE_TOO_LATE"
    due_at: datetime


class EvidenceMissing(Conflict):
    """There is no evidence to submit."""

    code = "EVIDENCE_MISSING"
    next_step = "Write something first, or take over the draft."

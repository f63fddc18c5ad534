"""What reconciliation refuses."""

from admitone.kernel.errors import NotFound


class IssueNotFound(NotFound):
    """There is no such reconciliation issue."""

    code = "RECONCILIATION_ISSUE_NOT_FOUND"

"""The door for other packages and for operators: compare, reconcile, and say what differs."""

from admitone.finance.reconciliation.comparing.comparing import Comparison, compare
from admitone.finance.reconciliation.comparing.streams import Look
from admitone.finance.reconciliation.differences import Difference, DifferenceClass, differences_of
from admitone.finance.reconciliation.model import Beginning, IssueId, Run, RunId, RunState
from admitone.finance.reconciliation.running import Reconciler

__all__ = (
    "Beginning",
    "Comparison",
    "Difference",
    "DifferenceClass",
    "IssueId",
    "Look",
    "Reconciler",
    "Run",
    "RunId",
    "RunState",
    "compare",
    "differences_of",
)

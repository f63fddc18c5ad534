"""The door for other packages: compare, and say what differs."""

from admitone.finance.reconciliation.comparing.comparing import Comparison, compare
from admitone.finance.reconciliation.comparing.streams import Look
from admitone.finance.reconciliation.differences import Difference, DifferenceClass, differences_of

__all__ = ("Comparison", "Difference", "DifferenceClass", "Look", "compare", "differences_of")

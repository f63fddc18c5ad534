"""Reconciliation: the ledger against what providers moved, row by row; what is found is kept until somebody closes it.

Owns runs, issues (LedgerReconciliationIssue) and how far each organisation was compared. Words: an *object* is what a
provider's movement and our transfers have in common (a charge, a refund, a fee, a payout, by its id there); what is not
the same on both sides is a *difference*, of one class; an *issue* is a difference that is kept; what happened a moment
ago, or is cut by the edge of a window, is *timing*; what *stayed* is money on an account that must return to zero.

Invariants: nothing in the ledger is edited: what is less than a unit is posted as rounding, under the issue as its
cause. Of one object there is one open issue. Memory does not grow with the number of rows. What could not be compared
is said so, and closes nothing.
"""

"""Sales: payments as people look at them, one row for each (FIN-044, FUL-003).

Owns sale summaries and their lines. Words: a *sale* is a payment whose money came, or that cost nothing; its summary is
*rebuilt*, from the payment as it stands and the ledger as it stands, whenever something happened to it.

Invariants: a summary follows from payment and ledger alone, so that in whatever order and however often facts come, and
after all of it was thrown away, the rows are the same; nothing is ever decided by one, and nobody but pages imports
this package.
"""

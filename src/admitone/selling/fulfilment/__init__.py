"""Fulfilment: what was paid for is handed over, once.

Owns operations: one for each payment, with its steps and its end. Words: a *purchase* is a payment whose money came, or
that cost nothing; its *scenario* says which row of the matrix it is; a *recipe* is what a vertical does for it, step by
step; a vertical's recipes are its *book*. What cannot be handed over is *undeliverable*, and its money goes back.

Invariants: nothing is handed over before the payment is paid, applied and in the ledger (FUL-001); a payment is
fulfilled once, for ever, by whatever it is told of and however often (FUL-005); whoever paid has what they paid for,
has their money back, or stands in the dead letters and pages somebody.
Never: a word of what is sold, which is the verticals'.
"""

"""Payouts: money that the platform holds for owners is paid to them; money that never passes us is only shown.

Owns obligations, schedules, payouts, freezes, and what providers say of payouts. Words: an *owner* is whoever a
payment is for, the payee of the ledger; an *obligation* is what is owed to an owner of one payment; a *property key*
is the vertical's own word for what it was paid for, opaque to us; a *period* is a payout day; a *payout* is one
transfer to one owner for one period in one currency; what is *recovered* is a debt of the owner's that a payout is
smaller by.

Invariants: an obligation is paid once; a payout is made once for an owner, a period and a currency (MOR-036), and is
never more than the ledger owes its owner; the provider is asked only for what stands in a row, under that row's id; a
payout is in the ledger exactly if the provider took it; what the organisation sells itself is never paid out by us
(FIN-006).
"""

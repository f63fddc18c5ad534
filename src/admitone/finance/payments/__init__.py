"""Payments: from somebody who wants to pay to money that is captured, and what became of it.

Owns payments, the facts from which their status follows, what is asked of providers, receipts that belong to nothing,
and organisations' accounts. Words: a *checkout* begins a payment; a *gateway intent* is a call that we are about to
make, written before it is made; a *fact* is something that happened to a payment, told by its provider or decided
here; the *standing* of a payment is the fold of its facts; money is *applied* when it paid for its source, and
*unapplied* when it came late, in another amount, or for what was paid already.

Invariants: the status is the fold of the facts, in whatever order they came (FIN-050, FIN-051); a source is paid once;
what may have been charged is unknown until the provider has said (no second charge, nothing lost); ledger, status
and facts commit together (FIN-052); nothing here names what is sold.
"""

"""Refunds: what is given back, why, of which pieces, and what became of it.

Owns `refunds.refund` and `refunds.refund_line`. Words: a *refund* is one decision to give back a part of one payment; a
*cancellation* gives back everything that was paid for one subject.

Invariants: every piece of a price goes back once, and all pieces together are the price and the fee, to the cent
(GAP-6); a person gives back only for one of the reasons on the list (FIN-071); what is shown before is what is done, or
nothing is. The money itself is moved by payments: here it is decided.
"""

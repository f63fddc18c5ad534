"""Gateways: the only way to a payment provider (FIN-002, PAY-074).

Owns no table of ours. Words: a *charge* is what a provider calls a payment intent or a PIX charge; a *trouble* is
what is not an answer: refused, not sent, or unknown; a *provider fact* is something that a provider says happened, in
words that are the same for all of them, with the provider's own time; a *movement* is a row of a provider's own
books.

Invariants: an order carries a key that is the same whenever it is repeated, so asking twice acts once; what may have
been done is *unknown* and never reported as failed; a webhook counts when its signature does, and means what its
provider says it means.
"""

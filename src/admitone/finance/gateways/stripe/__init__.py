"""Stripe: charges, Connect accounts, PIX, refunds, disputes, transfers, and its own books.

The official SDK writes the requests; `way` sends them, as everything here is sent, through `kernel.outbound`
(docs/decisions/0028). Words: an *intent* is what is to be paid, an *attempt* is what Stripe calls a charge, a *session*
is a page of Stripe's on which an intent is paid, a *transaction* is a row of its books.
"""

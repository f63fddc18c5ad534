"""The ledger: what every cent is, since when, and why.

Owns transfers, balances and seals. Words: a *transfer* moves a positive amount from the credited account to the
debited one, so debits equal credits by construction; an *event* is something that happened to money, and its
*template* the transfers that follow from it; the *position* of a payee is what DEP and ORG say is theirs; a *cause*
is what an event may be posted for only once.

Invariants: transfers are only ever added; one organisation's ledger is balanced in every currency; a balance is the
fold of its transfers, whether folded already or still open; the sealed transfers hash to the seals, each to the one
before.
"""

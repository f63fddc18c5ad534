"""The sandbox: a payment provider of our own, to play with and to break.

It speaks as Stripe does, takes no money, and keeps books of its own in a file outside of our database, so that what it
says can be compared with what we say (docs/decisions/0021). Words: a *deed* is something that happens to what it has,
and the page has a button for each; a *step* is what follows from a deed; *faults* are how it misbehaves.
"""

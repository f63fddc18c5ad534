"""The comparison of the ledger with what providers say that they moved: one mechanism, for runs and for the proof.

likeness   what in the ledger a movement of a provider's is, and what is compared with nothing
sums       both sides in buckets: nothing is held but sums
suspects   the objects of buckets that are not nothing, as many as fit
streams    pages of either side, each in a read of its own
comparing  a comparison from its beginning to what differs
"""

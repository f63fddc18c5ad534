"""Disputes: the case around each chargeback. Who must answer it, with what, until when, and what was done.

What happens to the money of a dispute is recorded and posted by payments; here is the process. Words: a *case* is one
dispute as we keep it; its *file* is what the provider has of it; *evidence* is what is said to it, put on file as often
as one likes and submitted once; a *step* is a line of the case's trail; a *witness* is a vertical that knows what
became of what was sold.

Invariants: a dispute has one case, however often and in whatever order it is told of. A case is closed by the facts of
its payment alone, never by what a file says. Evidence is submitted at most once. Whoever has access because of the
payment is decided elsewhere, by the facts that are published here.
"""

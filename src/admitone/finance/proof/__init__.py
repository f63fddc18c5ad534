"""The proof: an organisation's books, recomputed by whoever doubts them.

Owns verdicts, the latest of each check. Words: a *check* compares two things that must say the same and have nothing to
do with each other; a *finding* is what came of one: its verdict, its figures, and what differs; what happened a moment
ago and is known on one side only is *in flight*, and is shown, not red.

Invariants: nothing is believed but what is read anew; no transaction lasts longer than a page; memory does not grow
with the number of transfers; a check that could not be made is unknown, and never green.
"""

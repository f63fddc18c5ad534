"""Money, broken on purpose: buyers who repeat themselves, a provider that loses its answers, and two sets of books.

Promise: whatever is lost, repeated, late or in the wrong order between us and the provider, in the end the provider's
own books and our ledger say the same, row by row, and nobody has paid, or was paid, twice.

    market       everything in one process: the API, the provider with books of its own, a clock that can be moved
    buyers       what they want and how they go about it, from a seed
    books        the invariants: the provider's file against our ledger
    game         one run: trouble, then quiet, then the books
    lives        the API and the worker as processes that can be killed
    traps        what is the same for all who kill
    killing      both killed at every point, over real HTTP, while the provider lives on
    owners       who is to be paid on a Monday, and what they must have in the end
    payout_books the invariants of payouts
    batch        two workers killed at every point of a weekly batch, and again

    python -m bench.faults.money --cases 5000 --seed 1
    python -m bench.faults.money --kill --seed 1
    python -m bench.faults.money --payday --seed 1
"""

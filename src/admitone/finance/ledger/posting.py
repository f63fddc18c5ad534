"""Posting: what happened to money becomes transfers, once for its cause."""

from collections.abc import Sequence

from admitone.finance.ledger import policy
from admitone.finance.ledger.model import Posted, Posting, Transfer
from admitone.finance.ledger.store import balances, transfers
from admitone.kernel.db import Tx


async def post(tx: Tx, postings: Sequence[Posting]) -> list[Posted]:
    """Add what is not there yet, in the caller's transaction: one statement for all transfers, one row for what they
    move. A replay adds nothing and says so; the same cause with other amounts, or of another event, is a bug and
    raises."""
    own = tx.scope.organization.uuid
    named = [policy.transaction_of(own, posting) for posting in postings]
    asked = [policy.transfers_of(own, *pair, tx.now) for pair in zip(postings, named, strict=True)]
    moving = [transfer for legs in asked for transfer in legs if transfer.amount_minor]
    # Sorted, so that two transactions that post for the same causes cannot deadlock.
    added = await transfers.insert_transfers(tx, sorted(moving, key=policy.once))
    fresh = [each for each in moving if each.id in added]
    await balances.insert_deltas(tx, list(policy.deltas_of(fresh)))
    if replayed := [transfer for legs in asked if policy.is_replay(legs, added) for transfer in legs]:
        await _check_replays(tx, replayed)
    new = {each.transaction_id for each in fresh}
    return [Posted(transaction, transaction in new) for transaction in named]


async def _check_replays(tx: Tx, asked: Sequence[Transfer]) -> None:
    known = {policy.once(each): each for each in await transfers.find_by_cause(tx, asked)}
    policy.check_replays(asked, known)

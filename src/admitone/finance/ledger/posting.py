"""Posting: what happened to money becomes transfers, once for its cause."""

from collections.abc import Sequence

from admitone.finance.ledger import policy
from admitone.finance.ledger.model import Posted, Posting, Transfer
from admitone.finance.ledger.store import balances, transfers
from admitone.kernel.db import Tx


async def post(tx: Tx, postings: Sequence[Posting]) -> list[Posted]:
    """Add what is not there yet, in the caller's transaction: one statement for all transfers, one row for what they
    move. A replay adds nothing and says so; the same cause with other amounts is a bug and raises."""
    own = tx.scope.organization.uuid
    named = [policy.transaction_of(own, posting) for posting in postings]
    asked = [
        transfer
        for posting, transaction in zip(postings, named, strict=True)
        for transfer in policy.transfers_of(own, posting, transaction, tx.now)
    ]
    # Sorted, so that two transactions that post for the same causes cannot deadlock.
    added = await transfers.insert_transfers(tx, sorted(asked, key=policy.once))
    fresh = [each for each in asked if each.id in added]
    await balances.insert_deltas(tx, list(policy.deltas_of(fresh)))
    if len(fresh) < len(asked):
        await _check_replays(tx, [each for each in asked if each.id not in added])
    new = {each.transaction_id for each in fresh}
    return [Posted(transaction, transaction in new) for transaction in named]


async def _check_replays(tx: Tx, asked: Sequence[Transfer]) -> None:
    known = {policy.once(each): each for each in await transfers.find_by_cause(tx, asked)}
    policy.check_replays(asked, known)

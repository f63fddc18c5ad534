"""How owners stand, read while they are held."""

from collections.abc import Collection
from uuid import UUID

from admitone.finance.ledger import api as ledger
from admitone.finance.ledger.api import Account
from admitone.finance.payouts.policy import Position
from admitone.finance.payouts.store import obligations as obligation_store
from admitone.finance.payouts.store import payouts as payout_store
from admitone.kernel.db import Tx

Sums = dict[tuple[UUID, str], int]


class Positions:
    """By owner and currency; of whom nothing is known, nothing."""

    def __init__(self, owed: Sums, open_: Sums, committed: Sums) -> None:
        self._known = {
            own: Position(owed.get(own, 0), open_.get(own, 0), committed.get(own, 0))
            for own in owed.keys() | open_.keys() | committed.keys()
        }

    def of(self, owner: UUID, currency: str) -> Position:
        return self._known.get((owner, currency), Position(0, 0, 0))

    def put(self, owner: UUID, currency: str, position: Position) -> None:
        """After something was decided about them."""
        self._known[owner, currency] = position


async def find_positions(tx: Tx, owners: Collection[UUID]) -> Positions:
    """Of owners who are held, so that nothing of ours changes between these looks: the ledger's may fall by what is
    refunded or lost meanwhile, and is looked at once more before anybody is asked."""
    balances = await ledger.balances_of(tx, [Account.ORG, Account.SETL], sorted({*owners}))
    owed: Sums = {}
    for holding, balance in balances.items():
        own = holding.payee, holding.currency
        owed[own] = owed.get(own, 0) + (balance.minor if holding.account is Account.ORG else -balance.minor)
    open_ = await obligation_store.sum_open(tx, owners)
    return Positions(owed, open_, await payout_store.sum_committed(tx, owners))

"""Statements are announced: of every owner for whom something moved in a week that is over, once (MOR-046, KPI-041).

Promise: a week is announced to an owner once in each currency, however often and by however many it is done. What is
announced is what the statement sums to. Who is told, and how, is for those who hear of it: finance knows no addresses.
"""

from datetime import date, datetime, timedelta
from typing import Final
from uuid import UUID

from admitone.finance.ledger import api as ledger
from admitone.finance.ledger.api import Account
from admitone.finance.payouts.facts import StatementReady
from admitone.finance.payouts.statements import OWED, WEEK
from admitone.finance.payouts.store import owners as owner_store
from admitone.finance.payouts.store import statements as store
from admitone.finance.payouts.store.statements import Announced
from admitone.kernel.db import Tx
from admitone.kernel.scope import Caller

OWNERS: Final = 500
"""In one transaction."""


def last_week(at: datetime) -> date:
    """The Monday of the last week that was over then."""
    return at.date() - timedelta(days=at.weekday()) - WEEK


async def announce(tx: Tx, week: date, after: UUID, caller: Caller) -> UUID | None:
    """To the next owners; after whom it goes on, if there may be more."""
    owners = await owner_store.list_owners(tx, after, OWNERS)
    moved = await ledger.moved_between(tx, OWED, owners, week, week + WEEK)
    sums: dict[tuple[UUID, str], int] = {}
    for holding, each in moved.items():
        own = holding.payee, holding.currency
        sums[own] = sums.get(own, 0) + (each.minor if holding.account is Account.ORG else -each.minor)
    statements = [Announced(owner, week, currency, minor, tx.now) for (owner, currency), minor in sums.items()]
    for new in await store.insert_statements(tx, statements):
        tx.publish(
            caller,
            StatementReady(owner_id=new.payee_id, week=week, moved_minor=new.moved_minor, currency=new.currency),
        )
    return owners[-1] if len(owners) == OWNERS else None

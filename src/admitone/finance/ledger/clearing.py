"""Clearing: what stands on accounts through which money only passes, and whose it is.

Promise: a payment is added up whole, however its transfers fall into pages; a page is one short read.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from admitone.finance.ledger.model import CHART, Account
from admitone.finance.ledger.store import clearing as store
from admitone.finance.sources.api import PaymentId
from admitone.kernel.db import Tx

FIRST: Final = UUID(int=0)
PAGE: Final = 20_000
MOST: Final = 10_000


class Uncleared(msgspec.Struct, frozen=True):
    """What stands on an account for one payment, or under one reference."""

    account: Account
    currency: str
    minor: int
    """Positive on the side on which accounts of its class grow."""
    last_at: datetime
    """When the last of it was posted."""
    payment: PaymentId | None = None
    reference: str | None = None


class UnclearedPage(msgspec.Struct, frozen=True):
    looked_at: int
    """Transfers; none: there are no more."""
    uncleared: tuple[Uncleared, ...]
    last: UUID


async def list_uncleared(tx: Tx, accounts: Sequence[Account], after: UUID = FIRST, most: int = PAGE) -> UnclearedPage:
    """Of the payments after that one, by their ids."""
    rows = await store.list_uncleared(tx, after, most, [account.value for account in accounts])
    looked_at, last = rows[0]["looked_at"], rows[0]["last"]
    if looked_at and last is None:
        raise AssertionError(f"a payment with {most} transfers does not fit into one page")
    uncleared = [
        Uncleared(
            Account(row["account"]),
            row["currency"],
            _grown(Account(row["account"]), row["minor"]),
            row["last_at"],
            PaymentId(row["payment_id"]),
        )
        for row in rows
        if row["account"]
    ]
    return UnclearedPage(looked_at, tuple(uncleared), last or after)


async def list_uncleared_by_reference(tx: Tx, account: Account) -> list[Uncleared]:
    """Of what belongs to no payment."""
    rows = await store.list_uncleared_by_reference(tx, account.value, MOST)
    return [
        Uncleared(
            account, row["currency"], _grown(account, row["minor"]), row["last_at"], reference=row["reference"] or ""
        )
        for row in rows
    ]


def _grown(account: Account, debits_less_credits: int) -> int:
    return debits_less_credits if CHART[account].grows_by_debit else -debits_less_credits

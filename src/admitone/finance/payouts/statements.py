"""Owners' statements: a week of the ledger, as its owner reads it (MOR-046).

Promise: the total of a statement is what the ledger moved for its owner in the week, no more and no less: the lines are
read from it, and must sum to the difference between what it owed at the beginning and at the end, or there is no
statement. A week is from Monday to Monday in UTC, and over.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final
from uuid import UUID

import msgspec

from admitone.finance.ledger import api as ledger
from admitone.finance.ledger.api import Account, EntryType, Holding, Transfer
from admitone.finance.payouts.errors import WeekNotOver
from admitone.finance.sources.api import PaymentId
from admitone.kernel.db import Tx

WEEK: Final = timedelta(days=7)
MOMENT: Final = timedelta(microseconds=1)
PAGE: Final = 1_000
FIRST: Final = UUID(int=0)
Read = Callable[..., Awaitable[Any]]


class Unbalanced(Exception):
    """The lines of a statement do not sum to what the ledger moved. That is a bug, or somebody wrote past us."""


class Line(msgspec.Struct, frozen=True):
    """What moved for the owner: positive, if more is owed to them."""

    at: datetime
    entry_type: EntryType
    change_minor: int
    payment: PaymentId | None
    source_id: str | None
    reference: str | None

    @classmethod
    def of(cls, transfer: Transfer) -> "Line":
        credited = transfer.credit_account in OWED
        change = transfer.amount_minor if credited else -transfer.amount_minor
        return cls(
            transfer.posted_at,
            transfer.entry_type,
            change,
            transfer.payment_id,
            transfer.source_id,
            transfer.reference,
        )


OWED: Final = (Account.ORG, Account.SETL)
"""What is payable to an owner, and what was settled: the one less the other is owed. What credits either owes more."""


class Week(msgspec.Struct, frozen=True):
    """Whose, and which."""

    owner: UUID
    currency: str
    monday: date

    @property
    def start(self) -> datetime:
        return datetime.combine(self.monday, time(), UTC)

    @property
    def end(self) -> datetime:
        return self.start + WEEK


class Totals(msgspec.Struct, frozen=True):
    before_minor: int
    after_minor: int

    @property
    def moved_minor(self) -> int:
        return self.after_minor - self.before_minor


async def find_totals(tx: Tx, week: Week) -> Totals:
    """Raises for a week that is not over, or does not begin on a Monday."""
    if week.monday.weekday() or week.end > tx.now:
        raise WeekNotOver
    return Totals(await _owed(tx, week, week.start), await _owed(tx, week, week.end))


async def _owed(tx: Tx, week: Week, before: datetime) -> int:
    payable, settled = [
        await ledger.balance_as_of(tx, account, week.owner, week.currency, before - MOMENT) for account in OWED
    ]
    return payable.minor - settled.minor


class Statement:
    """A week, line by line, the newest first."""

    def __init__(self, week: Week, totals: Totals, read: Read) -> None:
        self.week = week
        self.totals = totals
        self._read = read

    @classmethod
    async def of(cls, week: Week, read: Read) -> "Statement":
        return cls(week, await read(find_totals, week), read)

    async def lines(self) -> AsyncIterator[Line]:
        """All of them, however many; raises at the end if they are not what moved."""
        summed = 0
        async for transfer in self._merged():
            line = Line.of(transfer)
            summed += line.change_minor
            yield line
        if summed != self.totals.moved_minor:
            raise Unbalanced(f"{summed} in lines, {self.totals.moved_minor} in the ledger")

    async def _merged(self) -> AsyncIterator[Transfer]:
        streams = [self._through(account) for account in OWED]
        heads = [await anext(stream, None) for stream in streams]
        while any(heads):
            at = max((n for n in range(len(heads)) if heads[n]), key=lambda n: _place(heads[n]))
            head = heads[at]
            assert head is not None
            yield head
            heads[at] = await anext(streams[at], None)

    async def _through(self, account: Account) -> AsyncIterator[Transfer]:
        holding = Holding(account, self.week.owner, self.week.currency)
        before = (self.week.end, FIRST)
        while page := await self._read(ledger.statement, holding, before, PAGE):
            for transfer in page:
                if transfer.posted_at < self.week.start:
                    return
                yield transfer
            before = page[-1].posted_at, page[-1].id.uuid


def _place(transfer: Transfer | None) -> tuple[datetime, UUID]:
    assert transfer is not None
    return transfer.posted_at, transfer.id.uuid

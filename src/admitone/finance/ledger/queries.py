"""What can be asked of the ledger. A balance is the fold of its transfers at any moment, rolled or not."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from typing import Final
from uuid import UUID

import msgspec

from admitone.finance.ledger import policy
from admitone.finance.ledger.model import CHART, Account, AccountClass, Balance, EntryType, Holding, Transfer
from admitone.finance.ledger.store import balances as balance_store
from admitone.finance.ledger.store import transfers as transfer_store
from admitone.finance.ledger.store.transfers import BEGINNING, END, Place
from admitone.finance.sources.api import PaymentId
from admitone.kernel.db import Tx
from admitone.kernel.money import Currency, Money
from admitone.kernel.statements import ListOrder

MOST_TRANSFERS: Final = 10_000
MOST_BALANCES: Final = 1_000


class TrialBalance(msgspec.Struct, frozen=True):
    """One currency: what stands on each account that was ever touched, and on each class (MOR-006)."""

    currency: Currency
    accounts: dict[Account, int]
    """Positive on the side on which accounts of the class grow."""
    classes: dict[AccountClass, int]
    debits_minor: int
    credits_minor: int


async def net_of(tx: Tx, payments: Sequence[PaymentId]) -> dict[tuple[PaymentId, Currency], Money]:
    """`netToOrg`: what of each payment is the payee's, by the lines on the position and no type of entry (FIN-036), in
    each currency in which something was posted for it: a processor may take its fee in another. A payment for which
    nothing was posted is not among them."""
    sums = await transfer_store.sum_positions(tx, payments)
    return {(payment, net.currency): net for payment, net in sums}


async def net_by_type(tx: Tx, payments: Sequence[PaymentId]) -> dict[tuple[PaymentId, Currency], dict[EntryType, int]]:
    """What `net_of` is made of, by the type of entry, at one moment: what came is positive, what went is negative."""
    found: dict[tuple[PaymentId, Currency], dict[EntryType, int]] = {}
    for payment, currency, entry_type, minor in await transfer_store.sum_positions_by_type(tx, payments):
        found.setdefault((payment, currency), {})[entry_type] = minor
    return found


async def list_transfers_of(tx: Tx, payments: Sequence[PaymentId]) -> list[Transfer]:
    """In the order in which they were posted."""
    return await transfer_store.list_by_payment(tx, payments, MOST_TRANSFERS)


async def balances(
    tx: Tx,
    accounts: Sequence[Account] | None = None,
    payee: UUID | None = None,
    after: Holding | None = None,
    limit: int = MOST_BALANCES,
) -> list[Balance]:
    """By account, payee and currency; left out, of all accounts and payees."""
    wanted = list(Account) if accounts is None else accounts
    if payee is None:
        return await balance_store.list_balances(tx, wanted, after, limit)
    return await balance_store.list_balances_of_payee(tx, wanted, payee, after, limit)


async def balances_of(tx: Tx, accounts: Sequence[Account], payees: Sequence[UUID]) -> dict[Holding, Balance]:
    """Of many payees at once; what was never touched is not among them."""
    found = await balance_store.sum_balances_of_payees(tx, accounts, sorted({*payees}))
    return {balance.holding: balance for balance in found}


async def moved_between(
    tx: Tx, accounts: Sequence[Account], payees: Sequence[UUID], first: date, end: date
) -> dict[Holding, Balance]:
    """What moved for many payees at once from the first of these days on, and before the other; what was not touched is
    not among them."""
    found = await balance_store.sum_moved_between(tx, accounts, sorted({*payees}), first, end)
    return {balance.holding: balance for balance in found}


async def accounts_of(tx: Tx, payments: Sequence[PaymentId]) -> dict[tuple[PaymentId, Currency], dict[Account, int]]:
    """What stands on each account of what was posted for a payment, positive on the side on which the account grows."""
    found: dict[tuple[PaymentId, Currency], dict[Account, int]] = {}
    for payment, currency, account, debits, credits_ in await transfer_store.sum_accounts(tx, payments):
        stands = debits - credits_ if CHART[account].grows_by_debit else credits_ - debits
        found.setdefault((payment, currency), {})[account] = stands
    return found


async def balance_as_of(tx: Tx, account: Account, payee: UUID, currency: Currency, instant: datetime) -> Balance:
    """What stood there at that instant: the days before it, and the transfers of its own day."""
    day = policy.day_of(instant)
    midnight = datetime.combine(day, time(), UTC)
    return await balance_store.sum_moved_until(tx, Holding(account, payee, currency), day, midnight, instant)


async def count_transfers(tx: Tx) -> int:
    """How many there are in all."""
    return await transfer_store.sum_transfers(tx)


async def statement(
    tx: Tx,
    holding: Holding,
    before: Place = END,
    limit: int = 100,
    after: Place = BEGINNING,
    order: ListOrder = ListOrder.NEWEST,
) -> list[Transfer]:
    """What went through an account for a payee between two places. As quick for the first page of ten million as of
    ten."""
    return await transfer_store.list_statement(tx, holding, after, before, limit, order)


async def trial_balance(tx: Tx) -> list[TrialBalance]:
    """One for each currency; debits equal credits in each."""
    sums = await balance_store.sum_accounts(tx)
    return [_trial(currency, sums) for currency in sorted({currency for _, currency, *_ in sums})]


def _trial(currency: Currency, sums: Sequence[tuple[Account, Currency, int, int]]) -> TrialBalance:
    accounts: dict[Account, int] = {}
    classes = dict.fromkeys(AccountClass, 0)
    debits = credits_ = 0
    for account, _, debit, credit in (each for each in sums if each[1] == currency):
        amount = debit - credit if CHART[account].grows_by_debit else credit - debit
        accounts[account] = amount
        classes[CHART[account]] += amount
        debits, credits_ = debits + debit, credits_ + credit
    return TrialBalance(currency, accounts, classes, debits, credits_)

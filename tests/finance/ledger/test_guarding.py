"""What the database itself refuses, whoever asks: other signs, other rows, other cities, and every change."""

import asyncio
from functools import partial
from itertools import product

import asyncpg
import pytest

from admitone.finance.ledger.api import (
    Account,
    EntryType,
    Event,
    Posted,
    balances,
    list_transfers_of,
    net_of,
    post,
    roll,
    trial_balance,
    verify_chain,
)
from admitone.finance.ledger.templates import TEMPLATES
from admitone.finance.sources.api import Flow, PaymentId
from admitone.kernel.db import Database, Tx
from admitone.kernel.ids import uuid7
from admitone.kernel.scope import Scope
from tests.builders import an_organization, at_the_same_time, rows_of
from tests.finance.ledger.books import a_posting, booked, the_trial

A_TRANSFER = """
    INSERT INTO ledger.transfer
           (organization_id, id, transaction_id, city_code, payee_id, entry_type, event, flow, line, debit_account,
            credit_account, amount_minor, currency, causation_id, correlation_id, posted_at)
    VALUES ($1, $2, $2, 'GLOBAL', $2, $3, 'CAPTURED', 'SALE', 0, $4, $5, $6, 'EUR', $2::uuid::text, $2, now())
"""

ALLOWED = {(leg.entry, leg.debit, leg.credit) for legs in TEMPLATES.values() for leg in legs}


async def by_hand(tx: Tx, entry: str, debit: str, credit: str, amount: int = 1) -> None:
    await tx.execute(A_TRANSFER, uuid7(), entry, debit, credit, amount)


async def is_refused(tx: Tx, entry: str, debit: str, credit: str) -> bool:
    async def work() -> None:
        await by_hand(tx, entry, debit, credit)

    [error] = await tx.each([work])
    assert error is None or isinstance(error, asyncpg.CheckViolationError)
    return error is not None


@pytest.mark.covers("FIN-040", "MOR-001")
@pytest.mark.parametrize("entry", EntryType)
async def test_a_type_is_stored_with_its_own_accounts_and_no_others(database: Database, entry: EntryType):
    """By direct SQL as the app: all pairs of accounts, of which only those of a template pass."""
    scope = await an_organization(database)

    async def try_all(tx: Tx) -> set[tuple[Account, Account]]:
        pairs = product(Account, Account)
        return {pair for pair in pairs if not await is_refused(tx, entry, *pair)}

    allowed = {(debit, credit) for type_, debit, credit in ALLOWED if type_ is entry}
    assert await database.run(scope, try_all) == allowed


@pytest.mark.covers("MOR-001", "MOR-002")
@pytest.mark.parametrize("amount", [0, -1, 2**53])
async def test_an_amount_is_positive(database: Database, amount: int):
    scope = await an_organization(database)
    with pytest.raises(asyncpg.CheckViolationError):
        await database.run(scope, partial(by_hand, entry="GROSS", debit=Account.MA, credit=Account.ORG, amount=amount))


@pytest.mark.covers("MOR-003")
@pytest.mark.parametrize("table", ["transfer", "seal", "seal_member"])
@pytest.mark.parametrize(
    "change",
    [
        "UPDATE ledger.{} SET organization_id = organization_id WHERE organization_id = $1",
        "DELETE FROM ledger.{} WHERE organization_id = $1",
        "TRUNCATE ledger.{}",
    ],
)
async def test_nobody_changes_what_was_posted(database: Database, table: str, change: str):
    scope = await an_organization(database)
    await booked(database, scope, a_posting(Event.CAPTURED, gross=500, fee=30, transfer=470))
    await database.run(scope, roll)

    async def meddle(tx: Tx) -> None:
        if "$1" in change:
            await tx.execute(change.format(table))
        else:
            tx._bound = ()
            await tx.execute(change.format(table))

    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await database.run(scope, meddle)


@pytest.mark.covers("FIN-041")
async def test_twenty_who_post_one_capture_post_it_once(database: Database, database_url: str):
    scope, payment = await an_organization(database), PaymentId.new()
    posting = a_posting(Event.CAPTURED, gross=500, fee=30, transfer=470, payment=payment)

    async def one(tx: Tx) -> Posted:
        tx.patient = True
        await tx.execute("SELECT set_config('lock_timeout', '5s', true) WHERE $1::uuid IS NOT NULL")
        [posted] = await post(tx, [posting])
        return posted

    async with Database(database_url) as another:  # One pool has twelve connections.
        halves = [at_the_same_time(10, one, each, scope) for each in (database, another)]
        outcomes = [outcome for half in await asyncio.gather(*halves) for outcome in half]
    assert not [each for each in outcomes if isinstance(each, BaseException)]
    assert sum(isinstance(each, Posted) and each.new for each in outcomes) == 1
    assert await rows_of(database, scope, "ledger.transfer") == 3
    assert (await the_trial(database, scope)).debits_minor == 1000


async def test_one_cause_may_concern_many_items_and_many_types(database: Database):
    """CF-38: unique is the payment, the type, the cause and the item together, and none of them alone."""
    scope, payment = await an_organization(database), PaymentId.new()
    refund = {"gross": 100, "fee": 5, "transfer": 95}
    items = [
        a_posting(Event.REFUND_ACCRUED, cause="re_1", payment=payment, line=line, **{**refund, "gross": 100 + line})
        for line in (1, 2, 2)
    ]
    failed = a_posting(Event.REFUND_FAILED, cause="re_1", payment=payment, **refund)
    posted = await booked(database, scope, *items, failed)
    assert [each.new for each in posted] == [True, True, True, True]
    assert posted[1].transaction_id == posted[2].transaction_id
    assert [each.new for each in await booked(database, scope, *items, failed)] == [False] * 4
    assert await rows_of(database, scope, "ledger.transfer") == 9
    payout = a_posting(Event.PAYOUT_PAID, Flow.STAY, cause="po_1", payment=None, paid=100)
    assert [each.new for each in await booked(database, scope, payout)] == [True]
    assert [each.new for each in await booked(database, scope, payout)] == [False]


@pytest.mark.covers("TEN-T03")
async def test_another_organisation_sees_nothing(database: Database):
    ours, theirs = await an_organization(database), await an_organization(database)
    payment = PaymentId.new()
    await booked(database, ours, a_posting(Event.CAPTURED, gross=500, fee=30, transfer=470, payment=payment))
    assert await database.read(theirs, net_of, [payment]) == {}
    assert await database.read(theirs, list_transfers_of, [payment]) == []
    assert await database.read(theirs, balances) == []
    assert await database.read(theirs, trial_balance) == []

    async def views(tx: Tx) -> list[int]:
        tx._bound = ()
        found = [
            await tx.fetch(f"SELECT 1 FROM ledger.{view}") for view in ("ledger_entry", "journal_line", "transfer")
        ]
        return [len(rows) for rows in found]

    assert await database.read(theirs, views) == [0, 0, 0]
    assert await database.read(ours, views) == [2, 6, 3]


@pytest.mark.covers("CITY-018")
async def test_a_scope_of_one_city_sees_and_posts_only_there(database: Database):
    everywhere = await an_organization(database)
    lisbon = Scope(everywhere.organization, "test", ("LIS",))
    for city, gross in (("LIS", 500), ("PRT", 700)):
        amounts = {"gross": gross, "fee": 0, "transfer": gross}
        await booked(database, everywhere, a_posting(Event.CAPTURED, city_code=city, **amounts))
    for rolled in (False, True):
        if rolled:
            await database.run(everywhere, roll)
        [owed] = await database.read(lisbon, balances, [Account.ORG])
        assert owed.minor == 500
        [owed] = await database.read(everywhere, balances, [Account.ORG])
        assert owed.minor == 1200
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await booked(database, lisbon, a_posting(Event.FEES_FINAL, city_code="PRT", fee=1))
    with pytest.raises(AssertionError, match="every city"):
        await database.read(lisbon, verify_chain)

"""What is posted is posted once, whole, and never changed."""

import pytest

from admitone.finance.ledger.api import (
    Account,
    Event,
    NoSuchTemplate,
    PostedOtherwise,
    WrongAmounts,
    balances,
    list_transfers_of,
    net_of,
)
from admitone.finance.sources.api import Flow, PaymentId
from admitone.kernel.db import Database
from admitone.kernel.money import Money
from tests.builders import an_organization, rows_of
from tests.finance.ledger.books import a_posting, booked, the_trial


@pytest.mark.covers("FIN-036", "FIN-041")
async def test_a_capture_is_three_transfers_and_a_net(database: Database):
    scope, payment = await an_organization(database), PaymentId.new()
    captured = a_posting(Event.CAPTURED, gross=5000, fee=300, transfer=4700, payment=payment, reference="ch_1")
    [posted] = await booked(database, scope, captured)
    assert posted.new
    transfers = await database.read(scope, lambda tx: list_transfers_of(tx, [payment]))
    assert [(t.entry_type, t.debit_account, t.credit_account, t.amount_minor) for t in transfers] == [
        ("GROSS", Account.MA, Account.ORG, 5000),
        ("PLATFORM_FEE", Account.ORG, Account.FEER, 300),
        ("TRANSFER_TO_ORG", Account.SETL, Account.MA, 4700),
    ]
    assert {t.transaction_id for t in transfers} == {posted.transaction_id}
    assert {t.reference for t in transfers} == {"ch_1"}
    assert {t.payee_id for t in transfers} == {scope.organization.uuid}
    assert await database.read(scope, lambda tx: net_of(tx, [payment, PaymentId.new()])) == {
        payment: Money(4700, "EUR")
    }


@pytest.mark.covers("FIN-041")
async def test_a_replay_adds_nothing_and_names_what_was_made(database: Database):
    scope = await an_organization(database)
    captured = a_posting(Event.CAPTURED, gross=5000, fee=300, transfer=4700)
    [first] = await booked(database, scope, captured)
    [second] = await booked(database, scope, captured)
    assert (first.new, second.new) == (True, False)
    assert first.transaction_id == second.transaction_id
    assert await rows_of(database, scope, "ledger.transfer") == 3
    assert await rows_of(database, scope, "ledger.delta") == 1
    assert (await the_trial(database, scope)).debits_minor == 10_000


async def test_a_balance_is_there_before_anybody_rolls(database: Database):
    scope = await an_organization(database)
    for cause in ("a", "b"):
        await booked(database, scope, a_posting(Event.CAPTURED, cause=cause, gross=5000, fee=300, transfer=4700))
    [owed] = await database.read(scope, lambda tx: balances(tx, [Account.ORG]))
    assert (owed.debits_minor, owed.credits_minor, owed.minor) == (600, 10_000, 9400)


async def test_nothing_is_posted_of_what_no_template_says(database: Database):
    scope = await an_organization(database)
    with pytest.raises(NoSuchTemplate):
        await booked(database, scope, a_posting(Event.CHECKED_OUT, Flow.SALE, due=1, commission=1))
    for wrong in (
        {"gross": 1, "fee": 1},
        {"gross": 1, "fee": 1, "transfer": -1},
        {"gross": 1, "fee": 1, "transfer": True},
    ):
        with pytest.raises(WrongAmounts):
            await booked(database, scope, a_posting(Event.CAPTURED, **wrong))
    again = a_posting(Event.FEES_FINAL, fee=100)
    await booked(database, scope, again)
    with pytest.raises(PostedOtherwise):
        await booked(database, scope, a_posting(Event.FEES_FINAL, fee=101, payment=again.payment))
    assert await rows_of(database, scope, "ledger.transfer") == 1


async def test_what_moves_nothing_is_no_line(database: Database):
    scope = await an_organization(database)
    [posted] = await booked(database, scope, a_posting(Event.CAPTURED, gross=0, fee=0, transfer=0))
    assert not posted.new
    assert await rows_of(database, scope, "ledger.transfer") == await rows_of(database, scope, "ledger.delta") == 0

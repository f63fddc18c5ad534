"""What is posted is posted once, whole, and never changed."""

from datetime import UTC, datetime
from uuid import UUID

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
from admitone.finance.ledger.policy import transfers_of
from admitone.finance.ledger.store.transfers import find_by_cause
from admitone.finance.sources.api import LARGEST_AMOUNT, Flow, PaymentId
from admitone.kernel.config import ROOT
from admitone.kernel.db import Database
from admitone.kernel.money import Money
from tests.builders import an_organization, rows_of
from tests.finance.ledger.books import a_posting, booked, the_trial

NOW = datetime(2026, 5, 1, 9, 30, tzinfo=UTC)


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
        (payment, "EUR"): Money(4700, "EUR")
    }


async def test_a_payment_with_a_fee_in_another_currency_has_a_net_in_each(database: Database):
    scope, payment = await an_organization(database), PaymentId.new()
    await booked(
        database,
        scope,
        a_posting(Event.CAPTURED, gross=5000, fee=300, transfer=4700, payment=payment, currency="BRL"),
        a_posting(Event.FEES_FINAL, fee=29, payment=payment, currency="EUR"),
    )
    assert await database.read(scope, net_of, [payment]) == {
        (payment, "BRL"): Money(4700, "BRL"),
        (payment, "EUR"): Money(-29, "EUR"),
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


SALE = {"gross": 5000, "fee": 0, "transfer": 5000}


@pytest.mark.covers("FIN-041")
@pytest.mark.parametrize(
    ("first", "then"),
    [
        (SALE, {**SALE, "fee": 300}),
        ({**SALE, "fee": 300}, SALE),
        ({**SALE, "fee": 300}, {"gross": 0, "fee": 0, "transfer": 0}),
        (SALE, {**SALE, "gross": 5001}),
    ],
)
@pytest.mark.parametrize("together", [False, True])
async def test_one_cause_is_never_posted_with_other_amounts_not_even_with_nothing(
    database: Database, first: dict[str, int], then: dict[str, int], together: bool
):
    scope, payment = await an_organization(database), PaymentId.new()
    one, other = (a_posting(Event.CAPTURED, payment=payment, **amounts) for amounts in (first, then))
    if not together:
        await booked(database, scope, one)
    with pytest.raises(PostedOtherwise):
        await booked(database, scope, *((one, other) if together else (other,)))
    moved = sum(minor > 0 for minor in first.values())
    assert await rows_of(database, scope, "ledger.transfer") == (0 if together else moved)


async def test_one_cause_is_not_two_events(database: Database):
    scope, payment = await an_organization(database), PaymentId.new()
    await booked(database, scope, a_posting(Event.FEES_ROSE, fee=10, payment=payment))
    with pytest.raises(PostedOtherwise):
        await booked(database, scope, a_posting(Event.FEES_FELL, fee=10, payment=payment))


async def test_what_is_replayed_is_looked_up_row_by_row(database: Database):
    """Not by every payment with every type and every cause."""
    scope = await an_organization(database)
    payments = [PaymentId.new(), PaymentId.new(), None]
    here = [a_posting(Event.FEES_FINAL, cause=f"c{n}", fee=1, payment=each) for n, each in enumerate(payments)]
    across = [a_posting(Event.FEES_FINAL, cause=f"c{2 - n}", fee=2, payment=each) for n, each in enumerate(payments)]
    await booked(database, scope, *here, *(each for each in across if each.cause != "c1"))
    asked = [each for posting in here for each in transfers_of(UUID(int=1), posting, UUID(int=2), NOW)]
    found = await database.read(scope, find_by_cause, asked)
    assert sorted((each.causation_id, each.amount_minor) for each in found) == [("c0", 1), ("c1", 1), ("c2", 1)]


@pytest.mark.covers("FIN-030")
async def test_whatever_can_be_priced_can_be_posted(database: Database):
    scope = await an_organization(database)
    [posted] = await booked(database, scope, a_posting(Event.REFUND_SETTLED, gross=LARGEST_AMOUNT))
    assert posted.new
    with pytest.raises(WrongAmounts):
        await booked(database, scope, a_posting(Event.REFUND_SETTLED, gross=LARGEST_AMOUNT + 1))
    for name in ("ledger", "payments"):
        [migration] = (ROOT / "migrations").glob(f"*_{name}.sql")
        assert f"AND {LARGEST_AMOUNT})" in migration.read_text()


async def test_what_moves_nothing_is_no_line(database: Database):
    scope = await an_organization(database)
    [posted] = await booked(database, scope, a_posting(Event.CAPTURED, gross=0, fee=0, transfer=0))
    assert not posted.new
    assert await rows_of(database, scope, "ledger.transfer") == await rows_of(database, scope, "ledger.delta") == 0

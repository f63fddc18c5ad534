"""Every scenario of the unification on the real ledger: its net, its trial balance, and its two projections."""

from collections import Counter
from functools import partial
from typing import Any

import asyncpg
import msgspec
import pytest

from admitone.finance.ledger.api import (
    CHART,
    POSITION,
    Account,
    AccountClass,
    EntryType,
    Event,
    list_transfers_of,
    net_of,
    post,
    roll,
)
from admitone.finance.ledger.projections import COUNTERPARTY, JOURNAL_ACCOUNT, JOURNAL_TYPE, case
from admitone.finance.ledger.templates import TEMPLATES, constraint
from admitone.finance.sources.api import Flow, PaymentId, Source, SourceType
from admitone.kernel.config import ROOT
from admitone.kernel.db import Database
from admitone.kernel.money import Money
from admitone.kernel.scope import Scope
from tests.builders import an_organization
from tests.finance.ledger.books import a_posting, standing, the_trial
from tests.finance.ledger.scenarios import SCENARIOS, Scenario


async def played(database: Database, scenario: Scenario, scope: Scope | None = None) -> tuple[Scope, PaymentId]:
    """Each step is posted twice: the second time changes nothing."""
    scope, payment = scope or await an_organization(database), PaymentId.new()
    for number, (event, flow, amounts) in enumerate(scenario.steps):
        posting = a_posting(event, flow, cause=f"step {number}", payment=payment, **amounts)
        for _ in range(2):
            await database.run(scope, partial(post, postings=[posting]))
    return scope, payment


@pytest.mark.covers("FIN-036", "MOR-001", "MOR-006", "MOR-040", "MOR-041", "MOR-044")
@pytest.mark.parametrize("name", SCENARIOS)
async def test_a_scenario_comes_out_as_it_is_written(database: Database, name: str):
    scenario = SCENARIOS[name]
    scope, payment = await played(database, scenario)
    nets = await database.read(scope, net_of, [payment])
    trial = await the_trial(database, scope)
    assert nets[payment, "EUR"] == Money(scenario.net, "EUR")
    assert standing(trial) == scenario.stands
    assert trial.debits_minor == trial.credits_minor
    assert sum(scenario.stands.values()) == 0
    classes = trial.classes
    assert (
        classes[AccountClass.ASSET] + classes[AccountClass.EXPENSE] + classes[AccountClass.CONTRA_LIABILITY]
        == classes[AccountClass.LIABILITY] + classes[AccountClass.REVENUE]
    )
    await database.run(scope, roll)
    assert await the_trial(database, scope) == trial


@pytest.mark.covers("FIN-036", "FIN-041", "MOR-002", "MOR-004")
@pytest.mark.parametrize("name", SCENARIOS)
async def test_both_projections_say_what_the_transfers_say(
    database: Database, superuser: asyncpg.Connection, name: str
):
    scope, payment = await played(database, SCENARIOS[name])
    transfers = await database.read(scope, list_transfers_of, [payment])
    entries, lines = (
        await projected(superuser, "ledger_entry", payment),
        await projected(superuser, "journal_line", payment),
    )

    assert sum(entry["amount_signed"] for entry in entries) == SCENARIOS[name].net
    assert Counter((e["id"], e["account"], e["amount_signed"]) for e in entries) == Counter(
        (t.id.uuid, account, sign * t.amount_minor)
        for t in transfers
        for account, sign in ((t.debit_account, -1), (t.credit_account, 1))
        if account in POSITION
    )

    assert Counter(
        (line["transfer_id"], line["direction"], line["account"], line["entry_type"], line["amount"]) for line in lines
    ) == Counter(
        (t.id.uuid, direction, JOURNAL_ACCOUNT[account], JOURNAL_TYPE[t.entry_type], t.amount_minor)
        for t in transfers
        for account, direction in ((t.debit_account, "debit"), (t.credit_account, "credit"))
    )
    assert len({line["entry_id"] for line in lines}) == len(lines)
    for transaction in {line["transaction_id"] for line in lines}:
        sides: Counter[str] = Counter()
        for line in lines:
            if line["transaction_id"] == transaction:
                sides[line["direction"]] += line["amount"]
        assert sides["debit"] == sides["credit"] > 0


async def projected(superuser: asyncpg.Connection, view: str, payment: PaymentId) -> list[Any]:
    return await superuser.fetch(f"SELECT * FROM ledger.{view} WHERE payment_id = $1 ORDER BY 2, 3", payment.uuid)


@pytest.mark.covers("MOR-005")
def test_the_types_that_004_names_are_called_as_there():
    named = {
        "payment_received": {EntryType.GROSS},
        "commission_taken": {EntryType.PLATFORM_FEE, EntryType.COMMISSION_EARNED},
        "payout_due": {EntryType.PAYOUT_DUE},
        "gateway_fee": {EntryType.PROCESSOR_FEES_FINAL},
        "refund_processed": {EntryType.REFUND_GROSS, EntryType.REFUND_SETTLED},
        "tax_withheld": {EntryType.TAX_WITHHELD},
    }
    assert {*JOURNAL_TYPE.values()} == {*named}
    assert all(JOURNAL_TYPE[each] == word for word, types in named.items() for each in types)


async def test_the_fifteen_percent_line_is_commission_taken(database: Database, superuser: asyncpg.Connection):
    _, payment = await played(database, SCENARIOS["S7 no-show"])
    lines = await projected(superuser, "journal_line", payment)
    taken = [each for each in lines if each["entry_type"] == "commission_taken"]
    assert [(each["direction"], each["account"], each["amount"]) for each in taken] == [
        ("debit", "customer_deposits", 15_000),
        ("credit", "commissions_payable", 15_000),
        ("debit", "commissions_payable", 15_000),
        ("credit", "commission_revenue", 15_000),
    ]


GOLDEN = {
    "MOR-010": (Event.CAPTURED, {"gross": 100_000}, [("cash_reserve", "customer_deposits", 100_000)]),
    "MOR-011": (Event.COMMISSION_HELD, {"fee": 15_000}, [("customer_deposits", "commissions_payable", 15_000)]),
    "MOR-012": (
        Event.CHECKED_OUT,
        {"due": 85_000, "commission": 0},
        [("customer_deposits", "payouts_receivable", 85_000)],
    ),
    "MOR-013": (
        Event.FEES_FINAL,
        {"fee": 2930},
        [
            ("gateway_fee_expense", "gateway_fees_receivable", 2930),
            ("gateway_fees_receivable", "merchant_account", 2930),
        ],
    ),
    "MOR-014": (Event.REFUND_SETTLED, {"gross": 100_000}, [("refunds_payable", "cash_reserve", 100_000)]),
    "MOR-015": (Event.TAX_WITHHELD, {"tax": 380}, [("customer_deposits", "tax_payable", 380)]),
}


METADATA: dict[str, dict[str, str | int]] = {
    "MOR-010": {"gateway": "sandbox", "fee": 2930},
    "MOR-011": {"rate": 1500, "base_amount": 100_000},
    "MOR-012": {"owner_id": "own_1", "scheduled_payout": "2026-05-02"},
    "MOR-013": {"gateway": "sandbox", "rate": 290, "fixed": 30},
    "MOR-014": {"reason": "CANCELLED", "gateway_refund_id": "re_1"},
    "MOR-015": {"tax_type": "IOF", "rate": 38, "jurisdiction": "BR"},
}


@pytest.mark.covers("MOR-004", "MOR-010", "MOR-011", "MOR-012", "MOR-013", "MOR-014", "MOR-015")
@pytest.mark.parametrize("requirement", GOLDEN)
async def test_a_template_of_004_reads_as_it_is_written_there(
    database: Database, superuser: asyncpg.Connection, requirement: str
):
    event, amounts, expected = GOLDEN[requirement]
    scope, payment = await an_organization(database), PaymentId.new()
    stay = Source(SourceType.STAY_RESERVATION, "res_1")
    posting = a_posting(event, Flow.STAY, payment=payment, source=stay, reference="pi_1", city_code="LIS", **amounts)
    posting = msgspec.structs.replace(posting, metadata=METADATA[requirement])
    for _ in range(2):
        await database.run(scope, partial(post, postings=[posting]))
    lines = await projected(superuser, "journal_line", payment)
    pairs = zip(lines[::2], lines[1::2], strict=True)
    assert [(debit["account"], credit["account"], debit["amount"]) for debit, credit in pairs] == expected
    assert {line["booking_id"] for line in lines} == {"res_1"}
    assert {line["city_code"] for line in lines} == {"LIS"}
    assert {line["counterparty"] for line in lines} <= {"customer", "owner", "gateway"}
    for line in lines:
        metadata = msgspec.json.decode(line["metadata"])
        assert metadata.items() >= {**METADATA[requirement], "reference": "pi_1", "event": event}.items()


def test_every_account_has_a_class_and_every_word_its_place():
    assert set(CHART) == set(Account) == set(JOURNAL_ACCOUNT) == set(COUNTERPARTY)
    assert set(JOURNAL_TYPE) == set(EntryType)
    assert {leg.entry for legs in TEMPLATES.values() for leg in legs} == set(EntryType)
    assert {event for event, _ in TEMPLATES} == set(Event)


@pytest.mark.parametrize(("event", "flow"), TEMPLATES)
def test_a_template_makes_each_type_once_and_moves_something(event: Event, flow: Flow):
    """Two legs of one type under one cause would be taken for a replay of each other."""
    legs = TEMPLATES[event, flow]
    assert len({leg.entry for leg in legs}) == len(legs) > 0
    assert all(leg.debit is not leg.credit for leg in legs)


SHARED = {
    EntryType.PROCESSOR_FEES_ADJUSTMENT: {Event.FEES_ROSE, Event.FEES_FELL},
    EntryType.RECON_ROUNDING: {Event.ROUNDED_UP, Event.ROUNDED_DOWN},
    EntryType.COMMISSION_SWEEP: {Event.COMMISSION_SWEPT, Event.RECOVERY_RETURNED},
    EntryType.TRANSFER_TO_ORG: {Event.CAPTURED, Event.RECEIPT_UNAPPLIED},
    EntryType.TRANSFER_REVERSAL: {
        Event.REFUND_ACCRUED,
        Event.DISPUTE_LOST,
        Event.UNAPPLIED_APPLIED,
        Event.UNAPPLIED_REFUNDED,
        Event.UNAPPLIED_LOST,
    },
    EntryType.TRANSFER_REVERSAL_MIRROR: {Event.REFUND_FAILED, Event.UNAPPLIED_REFUND_FAILED},
    EntryType.UNAPPLIED_RECEIPT: {Event.CAPTURED, Event.RECEIPT_UNAPPLIED},
}
"""Types that two events of one flow have in common: under one cause, the second would be taken for a replay."""


@pytest.mark.covers("FIN-041")
@pytest.mark.parametrize("flow", Flow)
def test_what_undoes_an_event_may_have_its_cause(flow: Flow):
    events: dict[EntryType, set[Event]] = {}
    for (event, along), legs in TEMPLATES.items():
        for leg in legs if along is flow else ():
            events.setdefault(leg.entry, set()).add(event)
    shared = {entry: together for entry, together in events.items() if len(together) > 1}
    assert shared.items() <= SHARED.items()


SIGNS = {
    EntryType.GROSS: {1},
    EntryType.PLATFORM_FEE: {-1},
    EntryType.PROCESSOR_FEES_FINAL: {-1},
    EntryType.PROCESSOR_FEES_ADJUSTMENT: {1, -1},
    EntryType.DISPUTE_FEE: {-1},
    EntryType.DISPUTE_FEE_REVERSAL: {1},
    EntryType.REFUND_GROSS: {-1},
    EntryType.REFUND_PLATFORM_FEE_REVERSAL: {1},
    EntryType.REFUND_PROCESSOR_FEES_REVERSAL: {1},
    EntryType.CHARGEBACK_GROSS: {-1},
    EntryType.CHARGEBACK_PLATFORM_FEE_REVERSAL: {1},
    EntryType.TAX_WITHHELD: {-1},
    EntryType.PAYOUT_DUE: {0},
    EntryType.RESALE_SELLER_SHARE: {-1},
    EntryType.REFUND_GROSS_MIRROR: {1},
    EntryType.REFUND_PLATFORM_FEE_MIRROR: {-1},
}
"""As FIN-040 writes them; a sign of nothing where a platform bears what is an organisation's elsewhere."""


@pytest.mark.covers("FIN-040")
@pytest.mark.parametrize("entry", EntryType)
def test_a_type_has_the_sign_that_is_written(entry: EntryType):
    signs = {
        (leg.credit in POSITION) - (leg.debit in POSITION)
        for legs in TEMPLATES.values()
        for leg in legs
        if leg.entry is entry and {leg.debit, leg.credit} & POSITION
    }
    assert signs == SIGNS.get(entry, set())


@pytest.mark.covers("FIN-040")
def test_the_migration_says_what_the_code_says():
    """The last one that says it."""
    texts = [each.read_text() for each in sorted((ROOT / "migrations").glob("*.sql"))]
    text = [each for each in texts if "CONSTRAINT transfer_is_of_a_template CHECK" in each][-1]
    assert f"CHECK ({constraint()})" in text
    for column, words in (("t.entry_type", JOURNAL_TYPE), ("s.account", JOURNAL_ACCOUNT), ("s.account", COUNTERPARTY)):
        assert case(column, words) in text
    text = [each for each in texts if "VIEW ledger.ledger_entry" in each][-1]
    assert f"s.account IN ({', '.join(repr(each.value) for each in sorted(POSITION))})" in text

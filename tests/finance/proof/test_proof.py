"""The books prove, and whoever spoils a row of them is found out: by which check, and in which row."""

import re
from collections.abc import AsyncIterator
from datetime import timedelta
from functools import partial
from typing import Any

import asyncpg
import pytest

from admitone.finance.gateways.api import MovementKind
from admitone.finance.gateways.port import GATEWAYS, Gateways
from admitone.finance.gateways.sandbox.faults import Faults
from admitone.finance.gateways.sandbox.gateway import SandboxGateway
from admitone.finance.gateways.sandbox.simulator import Simulator
from admitone.finance.ledger import api as ledger
from admitone.finance.ledger.api import Event
from admitone.finance.ledger.templates import TEMPLATES
from admitone.finance.payments.commands.receipts import Decision, apply
from admitone.finance.payments.model import Status
from admitone.finance.proof import store
from admitone.finance.proof.checks.balances import check_balances
from admitone.finance.proof.checks.provider import check_provider
from admitone.finance.proof.looking import Look
from admitone.finance.proof.model import Check, Verdict
from admitone.finance.reconciliation.comparing import likeness, streams, sums, suspects
from admitone.finance.sources.api import PaymentId
from admitone.kernel.batch import Batcher
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database
from admitone.kernel.scope import Caller
from tests.finance.ledger.books import a_posting, booked
from tests.finance.lives import FEES, PAY, a_busy_life, deed, live
from tests.finance.payments.telling import a_late_payment
from tests.finance.proof.books import AN_HOUR, Vandal, an_old_world, places, proved, red, rolled, unheard_of, words
from tests.finance.world import World, a_world

T, B, P, C = Check.TRIAL_BALANCE, Check.BALANCES, Check.PROVIDER, Check.CHAIN


@pytest.fixture
async def old(database_url: str) -> AsyncIterator[World]:
    async with an_old_world(database_url) as world:
        yield world


@pytest.fixture
async def sold(old: World) -> World:
    """Two sales with their fees, and a refund: rolled, and one more that is not."""
    await live(old, (PAY, FEES))
    await live(old, (PAY, FEES, deed("refund", amount=1000)))
    await rolled(old)
    await live(old, (PAY, FEES))
    return old


@pytest.mark.covers("MOR-006")
async def test_a_busy_life_proves(old: World, database: Database, batcher: Batcher):
    payments = await a_busy_life(old)
    await rolled(old)
    more = await live(old, (PAY, FEES))
    findings = await proved(database, batcher, old.organization)
    assert red(findings) == set(), {check: finding.figures for check, finding in findings.items()}
    counts = {check: finding.figures.counts for check, finding in findings.items()}
    assert counts[T]["currencies"] == 2
    assert counts[B]["transfers"] == counts[C]["transfers"] + counts[C]["unsealed"] > 3 * len(payments)
    assert counts[B]["openDeltas"] == counts[C]["unsealed"] - 2 == 2
    assert counts[P]["movements"] > len(payments)
    assert counts[P]["inFlight"] == 0
    assert re.fullmatch("[0-9a-f]{64}", findings[C].figures.head or "")
    sides = findings[P].figures.sides
    assert {currency: both.left_minor == both.right_minor for currency, both in sides.items()} == {
        "BRL": True,
        "EUR": True,
    }
    assert await old.net(more) > 0


SPOILT: dict[str, tuple[str, str, set[Check], str, str]] = {
    "a sealed transfer's amount is changed": (
        "ledger.transfer",
        """UPDATE ledger.transfer SET amount_minor = amount_minor + 1 WHERE organization_id = $1 AND id = (
             SELECT m.transfer_id FROM ledger.seal_member AS m JOIN ledger.transfer AS t
                 ON t.organization_id = m.organization_id AND t.id = m.transfer_id
              WHERE m.organization_id = $1 AND t.entry_type = 'GROSS' ORDER BY m.ordinal LIMIT 1) RETURNING id""",
        {B, P, C},
        "CHANGED",
        "tfr_{id}",
    ),
    "an open transfer's amount is changed": (
        "ledger.transfer",
        """UPDATE ledger.transfer SET amount_minor = amount_minor + 1 WHERE organization_id = $1 AND id = (
             SELECT t.id FROM ledger.transfer AS t WHERE t.organization_id = $1 AND t.entry_type = 'GROSS'
              ORDER BY t.id DESC LIMIT 1) RETURNING id""",
        {B, P, C},
        "DELTA",
        "org_payable EUR",
    ),
    "a transfer is deleted": (
        "ledger.transfer",
        """DELETE FROM ledger.transfer WHERE organization_id = $1 AND id = (
             SELECT m.transfer_id FROM ledger.seal_member AS m
              WHERE m.organization_id = $1 ORDER BY m.ordinal LIMIT 1) RETURNING id""",
        {B, P, C},
        "MISSING",
        "tfr_{id}",
    ),
    "a transfer is inserted past us": (
        "ledger.transfer",
        """INSERT INTO ledger.transfer
           SELECT organization_id, gen_random_uuid(), gen_random_uuid(), city_code, payee_id, entry_type, event, flow,
                  line, debit_account, credit_account, amount_minor, currency, payment_id, source_type, source_id,
                  'by nobody', correlation_id, 'ch_forged', NULL, posted_at
             FROM ledger.transfer WHERE organization_id = $1 AND entry_type = 'GROSS' ORDER BY id LIMIT 1
           RETURNING id""",
        {B, P, C},
        "STRAY",
        "tfr_{id}",
    ),
    "a balance is changed": (
        "ledger.balance",
        """UPDATE ledger.balance SET credits_minor = credits_minor + 1
            WHERE organization_id = $1 AND account = 'org_payable' RETURNING payee_id AS id""",
        {T, B},
        "BALANCE",
        "org_payable EUR GLOBAL {dashed} credits",
    ),
    "a balance is changed on both sides": (
        "ledger.balance",
        """UPDATE ledger.balance SET credits_minor = credits_minor + 1, debits_minor = debits_minor + 1
            WHERE organization_id = $1 AND account = 'org_payable' RETURNING payee_id AS id""",
        {B},
        "BALANCE",
        "org_payable EUR GLOBAL {dashed} debits",
    ),
    "a balance is deleted": (
        "ledger.balance",
        """DELETE FROM ledger.balance WHERE organization_id = $1 AND account = 'org_payable'
           RETURNING payee_id AS id""",
        {T, B},
        "BALANCE",
        "org_payable EUR GLOBAL {dashed}",
    ),
    "a day's balance is changed": (
        "ledger.balance_day",
        """UPDATE ledger.balance_day SET credits_minor = credits_minor + 1, debits_minor = debits_minor + 1
            WHERE organization_id = $1 AND account = 'org_payable' RETURNING payee_id AS id""",
        {B},
        "DAYS",
        "org_payable EUR GLOBAL {dashed} debits",
    ),
    "a seal is changed": (
        "ledger.seal",
        """UPDATE ledger.seal SET hash = sha256('forged') WHERE organization_id = $1 AND number = 1
           RETURNING gen_random_uuid() AS id""",
        {C},
        "BROKEN_SEAL",
        "seal 1",
    ),
    "a delta is deleted": (
        "ledger.delta",
        """DELETE FROM ledger.delta WHERE organization_id = $1 AND id = (
             SELECT id FROM ledger.delta WHERE organization_id = $1 ORDER BY id LIMIT 1)
           RETURNING transfers[1] AS id""",
        {B, C},
        "STRAY",
        "tfr_{id}",
    ),
    "a delta is changed": (
        "ledger.delta",
        """UPDATE ledger.delta SET credits[1] = credits[1] + 1, debits[1] = debits[1] + 1
            WHERE organization_id = $1 AND id = (
             SELECT id FROM ledger.delta WHERE organization_id = $1 ORDER BY id LIMIT 1) RETURNING id""",
        {B, C},
        "DELTA",
        "delta {dashed}",
    ),
}


@pytest.mark.covers("MOR-003")
@pytest.mark.parametrize("what", SPOILT)
async def test_whoever_spoils_a_row_is_found_out(
    sold: World, database: Database, batcher: Batcher, superuser: asyncpg.Connection, what: str
):
    table, statement, expected, word, where = SPOILT[what]
    assert red(await proved(database, batcher, sold.organization)) == set()
    vandal = Vandal(superuser, sold)
    [done] = await vandal.spoil(table, statement)
    findings = await proved(database, batcher, sold.organization)
    assert red(findings) == expected
    said = {each.word: each.where for check in expected for each in findings[check].figures.differences}
    assert word in said
    place = where.format(id=done["id"].hex, dashed=done["id"])
    assert place in "\n".join(places(findings[check]) for check in expected)
    await vandal.mend()
    assert red(await proved(database, batcher, sold.organization)) == set()


async def test_money_that_we_never_heard_of_is_missing_here(sold: World, database: Database, batcher: Batcher):
    unheard_of(sold, 777)
    findings = await proved(database, batcher, sold.organization)
    assert red(findings) == {P}
    [difference] = findings[P].figures.differences
    assert (difference.word, difference.where) == ("MISSING_HERE", "CHARGE ch_nobody")
    assert (difference.found, difference.expected, difference.currency) == (0, 777, "EUR")
    assert findings[P].figures.counts["missingHere"] == 1


async def test_a_lost_webhook_is_missing_here_until_somebody_asks(sold: World, database: Database, batcher: Batcher):
    payment, charge = await sold.opened(sold.shop.sells(sold.buyer.identity, 5000))
    sold.simulator.act("pay", charge)
    assert red(await proved(database, batcher, sold.organization)) == {P}
    await sold.clerk.ask(sold.organization, payment, sold.buyer.caller)
    assert red(await proved(database, batcher, sold.organization)) == set()


async def test_another_amount_and_another_currency_are_told_apart(old: World, database: Database, batcher: Batcher):
    """What a bug of ours would post: sealed, folded, balanced, and not what the provider moved."""
    unheard_of(old, 5000, "ch_amount")
    unheard_of(old, 5000, "ch_currency")
    sale = {"fee": 0, "transfer": 0, "reference": "ch_amount", "payment": PaymentId.new()}
    await booked(old.database, old.scope, a_posting(Event.CAPTURED, gross=4000, **sale))
    other = sale | {"reference": "ch_currency", "currency": "BRL", "payment": PaymentId.new()}
    await booked(old.database, old.scope, a_posting(Event.CAPTURED, gross=5000, **other))
    absent = sale | {"reference": "ch_absent", "payment": PaymentId.new()}
    await booked(old.database, old.scope, a_posting(Event.CAPTURED, gross=1, **absent))
    findings = await proved(database, batcher, old.organization)
    assert red(findings) == {P}
    found = {each.where: (each.word, each.found, each.expected) for each in findings[P].figures.differences}
    assert found == {
        "CHARGE ch_absent": ("MISSING_THERE", 1, 0),
        "CHARGE ch_amount": ("AMOUNT", 4000, 5000),
        "CHARGE ch_currency: BRL here, EUR there": ("CURRENCY", 5000, 5000),
    }


async def test_what_moved_a_moment_ago_is_in_flight_and_not_red(world: World, batcher: Batcher):
    await live(world, (PAY, FEES))
    _, charge = await world.opened(world.shop.sells(world.buyer.identity, 5000))
    world.simulator.act("pay", charge)
    findings = await proved(world.database, batcher, world.organization)
    assert red(findings) == set()
    assert findings[P].figures.counts["inFlight"] == 2  # The charge, and what went to the organisation.


async def test_what_is_in_flight_does_not_hide_what_is_not(
    sold: World, database: Database, batcher: Batcher, monkeypatch: pytest.MonkeyPatch
):
    """Also in the same bucket: there is but one here."""
    monkeypatch.setattr(sums, "BUCKETS", 1)
    unheard_of(sold, 777)
    unheard_of(sold, 888, "ch_young", after=AN_HOUR)
    findings = await proved(database, batcher, sold.organization)
    assert red(findings) == {P}
    assert places(findings[P]) == "CHARGE ch_nobody"
    assert findings[P].figures.counts["inFlight"] == 1


async def test_a_look_that_lasts_is_about_when_it_began(sold: World, database: Database, database_url: str):
    """Hours pass before the first page of the journal, and money moves meanwhile: it is left for the next look."""
    async with Database(database_url, clock=Clock(3 * AN_HOUR)) as later:

        async def read(query: Any, *args: Any, **more: Any) -> Any:
            if query is ledger.weigh and not posted:
                sale = {"fee": 0, "transfer": 0, "reference": "ch_meanwhile", "payment": PaymentId.new()}
                posted.append(await booked(later, sold.scope, a_posting(Event.CAPTURED, gross=1, **sale)))
            return await database.read(more.get("scope", sold.scope), query, *args)

        posted: list[Any] = []
        unheard_of(sold, 888, "ch_later", after=3 * AN_HOUR)
        finding = await check_provider(Look(sold.organization, Caller(), read))
    assert posted
    assert finding.verdict is Verdict.GREEN, finding.figures
    assert finding.figures.counts["inFlight"] == 0


async def test_what_says_that_it_will_move_is_not_believed(sold: World, database: Database, batcher: Batcher):
    unheard_of(sold, 888, "ch_never", after=timedelta(days=365))
    assert places((await proved(database, batcher, sold.organization))[P]) == "CHARGE ch_never"


async def test_what_does_not_fit_is_counted_and_not_named(
    sold: World, database: Database, batcher: Batcher, monkeypatch: pytest.MonkeyPatch
):
    for number in range(40):
        unheard_of(sold, 500, f"ch_{number}")
    every = (await proved(database, batcher, sold.organization))[P]
    monkeypatch.setattr(suspects, "MOST_SEEN", 10)
    some = (await proved(database, batcher, sold.organization))[P]
    assert (every.differing, set(words(every))) == (40, {"MISSING_HERE"})
    assert some.verdict is Verdict.RED
    assert 10 < some.differing <= 40
    assert {*words(some)} == {"MISSING_HERE", "MORE"}
    assert some.figures.counts["missingHere"] <= 10
    monkeypatch.setattr(sums, "BUCKETS", 1)
    none = (await proved(database, batcher, sold.organization))[P]
    assert (none.verdict, words(none)) == (Verdict.RED, ["MORE"])


def test_whatever_touches_the_providers_side_is_compared_or_says_why_not():
    touching = {
        leg.entry for legs in TEMPLATES.values() for leg in legs if {leg.debit, leg.credit} & likeness.PROVIDERS_SIDE
    }
    compared = {*likeness.KINDS, *likeness.KINDS.values(), likeness.SAYS_ITSELF, MovementKind.APPLICATION_FEE}
    assert touching | {*MovementKind} <= compared | likeness.NOT_COMPARED.keys()
    assert compared & likeness.NOT_COMPARED.keys() == set()
    assert all(likeness.NOT_COMPARED.values())


async def test_a_refund_that_had_arrived_and_came_back_is_compared(old: World, database: Database, batcher: Batcher):
    await live(old, (PAY, deed("refund", amount=1000), deed("return_refund")))
    assert red(await proved(database, batcher, old.organization)) == set()
    unheard_of(old, 1000, "re_nobody", kind=MovementKind.REFUND_RETURNED)
    findings = await proved(database, batcher, old.organization)
    assert places(findings[P]) == "REFUND_RETURNED re_nobody"


async def test_what_the_organisation_was_given_is_compared(old: World, database: Database, batcher: Batcher):
    await live(old, (PAY, FEES))
    page = await old.gateway.list_movements(Caller(), old.organization, None)
    charge = page.movements[0].reference
    unheard_of(old, 7, charge, kind=MovementKind.APPLICATION_FEE)
    findings = await proved(database, batcher, old.organization)
    assert (words(findings[P]), places(findings[P])) == (["AMOUNT"], f"TRANSFER {charge}")


async def test_money_that_paid_after_all_was_given_once(old: World, database: Database, batcher: Batcher):
    payment, _ = await a_late_payment(old)
    assert red(await proved(database, batcher, old.organization)) == set()
    await old.submit(apply, Decision(old.owner.caller, payment, "GOODWILL"))
    assert (await old.payment(payment)).status is Status.SUCCEEDED
    assert red(await proved(database, batcher, old.organization)) == set()


async def test_two_differences_do_not_cancel_each_other_out(
    sold: World, database: Database, batcher: Batcher, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sums, "BUCKETS", 1)
    unheard_of(sold, 500, "ch_more")
    unheard_of(sold, -500, "ch_less")
    findings = await proved(database, batcher, sold.organization)
    assert sorted(words(findings[P])) == ["MISSING_HERE", "MISSING_HERE"]


async def test_a_provider_that_does_not_answer_leaves_it_unknown(
    sold: World, database: Database, batcher: Batcher, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(streams, "PAUSE", timedelta(0))
    away = Simulator(sold.simulator.keys, sold.simulator.journal, faults=Faults(unreachable=10_000))
    with GATEWAYS.wired(Gateways([SandboxGateway.in_process(away)])):
        findings = await proved(database, batcher, sold.organization)
    assert {check: finding.verdict for check, finding in findings.items()} == {
        T: Verdict.GREEN,
        B: Verdict.GREEN,
        P: Verdict.UNKNOWN,
        C: Verdict.GREEN,
    }
    assert "sandbox" in (findings[P].figures.reason or "")
    with GATEWAYS.wired(Gateways([])):
        nobody = await proved(database, batcher, sold.organization)
    assert set(words(nobody[P])) == {"MISSING_THERE"}


async def test_an_old_tail_is_red_because_nobody_seals_it(
    sold: World, database_url: str, database: Database, batcher: Batcher
):
    async with Database(database_url, clock=Clock(AN_HOUR)) as later:
        findings = await proved(later, batcher, sold.organization)
    assert words(findings[C]) == ["OLD_TAIL"]
    await rolled(sold)
    assert red(await proved(database, batcher, sold.organization)) == set()


@pytest.mark.covers("TEN-T01")
async def test_another_organisation_stays_green(
    sold: World, database: Database, batcher: Batcher, superuser: asyncpg.Connection
):
    async with a_world(database, batcher) as other:
        await live(other, (PAY, FEES))
        vandal = Vandal(superuser, sold)
        table, statement, *_ = SPOILT["a sealed transfer's amount is changed"]
        await vandal.spoil(table, statement)
        assert red(await proved(database, batcher, other.organization)) == set()
        kept = {noted.finding.check: noted for noted in await database.read(other.scope, store.list_own)}
        assert [*kept] == [T, B, P, C]
        assert {noted.organization for noted in kept.values()} == {other.organization}


async def test_what_is_posted_and_rolled_while_we_look_is_no_difference(sold: World):
    """The balances were read at a seal, and are compared with what is under it."""
    looks = 0

    async def read(query: Any, *args: Any) -> Any:
        nonlocal looks
        looks += 1
        found = await sold.database.read(sold.scope, query, *args)
        if looks <= 3:
            await live(sold, (PAY,))
            await rolled(sold)
        return found

    finding = await check_balances(Look(sold.organization, Caller(), read))
    assert finding.verdict is Verdict.GREEN, finding.figures
    assert looks > 3


async def test_a_page_of_one_finds_what_a_page_of_many_finds(
    sold: World, database: Database, batcher: Batcher, monkeypatch: pytest.MonkeyPatch
):
    """Nothing is lost between two pages, and what is posted meanwhile is not mistaken for a fault."""
    many = await proved(database, batcher, sold.organization)
    monkeypatch.setattr(ledger, "fold_again", partial(ledger.fold_again, most=1))
    monkeypatch.setattr(ledger, "check_deltas", partial(ledger.check_deltas, most=1))
    monkeypatch.setattr(ledger, "weigh", partial(ledger.weigh, most=1))
    monkeypatch.setattr(ledger, "list_placed", partial(ledger.list_placed, most=1))
    monkeypatch.setattr(ledger, "verify_chain", partial(ledger.verify_chain, most=1))
    monkeypatch.setattr(ledger, "verify_tail", partial(ledger.verify_tail, most=1))
    one = await proved(database, batcher, sold.organization)
    for check in Check:
        counts = [
            {name: count for name, count in findings[check].figures.counts.items() if name != "oldestUnsealedSeconds"}
            for findings in (many, one)
        ]
        assert counts[0] == counts[1]
        assert one[check].verdict is many[check].verdict is Verdict.GREEN

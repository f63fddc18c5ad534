"""The platform's own balance: what its provider pays to its bank, or takes for itself, is booked by the provider's word and
then compared like everything else; what is none of these stays an issue, and so does all of it in anybody else's books."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime

import asyncpg
import pytest
from msgspec import json

from admitone.finance.gateways.api import MovementKind, Topic
from admitone.finance.gateways.sandbox.objects import BANK, Payout
from admitone.finance.ledger.api import Account, Event
from admitone.finance.reconciliation import errands
from admitone.finance.sources.api import Flow
from admitone.kernel.ids import PLATFORM_ORGANIZATION, uuid7
from admitone.kernel.jobs import Desk
from tests.finance.ledger.books import a_posting, booked, standing, the_trial
from tests.finance.lives import FEES, PAY, live
from tests.finance.reconciliation.books import AN_HOUR, Sides, firing

K = MovementKind
BOOKS = (
    "ledger.transfer",
    "ledger.delta",
    "ledger.balance",
    "ledger.balance_day",
    "ledger.seal",
    "ledger.seal_member",
    "reconciliation.issue",
    "reconciliation.run",
    "reconciliation.standing",
)


@pytest.fixture
async def platform(sides: Sides, superuser: asyncpg.Connection) -> AsyncIterator[Sides]:
    """There is one platform, and every test would see what the others left."""
    yield replace(sides, world=replace(sides.world, organization=PLATFORM_ORGANIZATION))
    for table in BOOKS:
        await superuser.execute(f"DELETE FROM {table} WHERE organization_id = $1", PLATFORM_ORGANIZATION.uuid)


def paid_to_bank(sides: Sides, minor: int = 20_000) -> str:
    """The provider pays so much of the platform's balance out, because its day has come."""
    simulator = sides.world.simulator
    order = {"destination": BANK, "amount": minor, "currency": "eur", "order_key": str(uuid7()), "metadata": {}}
    headers = {"authorization": f"Bearer {simulator.keys.api}"}
    status, said = simulator.handle("POST", "/v1/payouts", json.encode(order), headers)
    assert status == 200, said
    return json.decode(said, type=Payout).id


async def stands(sides: Sides) -> dict[Account, int]:
    return standing(await the_trial(sides.database, sides.world.scope))


@pytest.mark.covers("MOR-035", "FIN-043")
async def test_what_was_paid_to_the_platforms_bank_is_booked_once_and_is_no_issue(platform: Sides):
    paid_to_bank(platform)
    first = await platform.run()
    assert (first.counts["BOOKED"], first.counts["MISSING_HERE"]) == (1, 0)
    assert first.sums["EUR"].here_minor == first.sums["EUR"].there_minor == -20_000
    assert await stands(platform) == {Account.BANK: 20_000, Account.MA: -20_000}
    for onward in (False, True):
        again = await platform.run(onward=onward)
        assert (again.counts["BOOKED"], again.counts["MATCHED"], again.counts["MISSING_HERE"]) == (0, 1, 0)
        assert again.sums["EUR"].here_minor == again.sums["EUR"].there_minor == -20_000
    assert await platform.open() == set()
    assert await stands(platform) == {Account.BANK: 20_000, Account.MA: -20_000}


@pytest.mark.covers("MOR-035")
@pytest.mark.parametrize("deeds", [("fail",), ("arrive", "fail")], ids=["it failed", "it had arrived"])
async def test_what_the_bank_sends_back_is_on_the_balance_again(platform: Sides, deeds: tuple[str, ...]):
    payout = paid_to_bank(platform)
    await platform.run()
    for deed in deeds:
        platform.world.simulator.act(deed, payout)
    run = await platform.run()
    assert (run.counts["BOOKED"], run.counts["MATCHED"]) == (1, 1)
    assert await stands(platform) == {}
    last = await platform.run()
    assert (last.counts["BOOKED"], last.counts["MATCHED"]) == (0, 2)
    assert last.sums["EUR"].here_minor == last.sums["EUR"].there_minor == 0
    assert await platform.open() == set()


async def test_the_provider_has_nothing_left_when_everything_went_to_the_bank(platform: Sides, sides: Sides):
    """The platform's share stands in the books of those who earned it for it, and what left in its own."""
    await live(sides.world, (PAY, FEES))
    [share] = [minor for account, minor in (await stands(sides)).items() if account is Account.MA]
    paid_to_bank(platform, share)
    for each in (sides, platform):
        await each.run()
        assert await each.open() == set()
    assert (await stands(sides))[Account.MA] + (await stands(platform))[Account.MA] == 0
    assert (await stands(platform))[Account.BANK] == share > 0


async def test_what_the_provider_takes_for_itself_and_gives_back_is_booked(platform: Sides):
    platform.moved(40, "txn_monthly", K.ACCOUNT_FEE)
    platform.moved(-15, "txn_credit", K.ACCOUNT_FEE)
    for expected in (2, 0):
        run = await platform.run()
        assert run.counts["BOOKED"] == expected
        assert await platform.open() == set()
    assert await stands(platform) == {Account.GFE: 25, Account.MA: -25}


@pytest.mark.covers("FIN-043")
async def test_everything_else_of_the_platforms_is_found_as_before(platform: Sides):
    """Somebody's transfer by hand, money that came for nobody, a row that stands there twice, another amount, and what
    the provider never moved."""
    platform.moved(500, "tr_by_hand", K.PAYOUT)
    platform.moved(700, "ch_nobody")
    platform.moved(900, "po_twice", K.BANK_PAYOUT)
    platform.moved(900, "po_twice", K.BANK_PAYOUT)
    platform.moved(300, "po_other", K.BANK_PAYOUT)
    for reference, minor in (("po_other", 100), ("po_invented", 50)):
        said = {"payment": None, "source": None, "reference": reference, "cause": f"EUR:{reference}"}
        posting = a_posting(Event.BANK_PAYOUT, Flow.OWN, moved=minor, **said)
        await booked(platform.world.database, platform.world.scope, posting)
    run = await platform.run()
    assert await platform.open() == {
        ("MISSING_HERE", "PAYOUT", "tr_by_hand", 0, 500),
        ("MISSING_HERE", "CHARGE", "ch_nobody", 0, 700),
        ("MISSING_HERE", "BANK_PAYOUT", "po_twice", 0, 1800),
        ("AMOUNT", "BANK_PAYOUT", "po_other", 100, 300),
        ("MISSING_THERE", "BANK_PAYOUT", "po_invented", 50, 0),
    }
    assert run.counts["BOOKED"] == 0


async def test_a_row_that_comes_twice_after_it_was_booked_is_a_duplicate(platform: Sides):
    platform.moved(900, "po_1", K.BANK_PAYOUT)
    await platform.run()
    platform.moved(900, "po_1", K.BANK_PAYOUT)
    await platform.run(later=AN_HOUR)
    assert await platform.open() == {("DUPLICATE", "BANK_PAYOUT", "po_1", 900, 1800)}


@pytest.mark.covers("FIN-006")
async def test_in_an_organisations_books_nothing_is_booked_by_the_providers_word(sides: Sides):
    sides.moved(900, "po_1", K.BANK_PAYOUT)
    sides.moved(40, "txn_1", K.ACCOUNT_FEE)
    run = await sides.run()
    assert run.counts["BOOKED"] == 0
    assert await sides.open() == {
        ("MISSING_HERE", "BANK_PAYOUT", "po_1", 0, 900),
        ("MISSING_HERE", "ACCOUNT_FEE", "txn_1", 0, 40),
    }


async def test_two_runs_at_once_book_once(platform: Sides):
    for _ in range(3):
        paid_to_bank(platform, 1_000)
    await asyncio.gather(*(platform.run() for _ in range(4)))
    assert await stands(platform) == {Account.BANK: 3_000, Account.MA: -3_000}
    assert await platform.open() == set()


async def test_the_platforms_books_are_compared_every_day_too(platform: Sides, superuser: asyncpg.Connection):
    at = datetime(2026, 5, 2, 4, 10, tzinfo=UTC)
    await errands.reconcile_daily.work(Desk(platform.database, platform.batcher), firing(at))
    jobs = "SELECT count(*) FROM kernel.job WHERE organization_id = $1 AND kind = 'reconciliation.reconcile'"
    assert await superuser.fetchval(jobs, PLATFORM_ORGANIZATION.uuid) == 1
    await superuser.execute("DELETE FROM kernel.job WHERE kind = 'reconciliation.reconcile'")


def test_what_goes_to_the_platforms_bank_is_told_on_the_platforms_own_account(platform: Sides):
    simulator = platform.world.simulator
    payout = paid_to_bank(platform)
    simulator.act("arrive", payout)
    [told] = [each for each in simulator.due_deliveries() if b'"payout.paid"' in each.body]
    event = platform.world.gateway.read(told.body, "sandbox")
    assert (event.topic, event.envelope.account, event.organization) == (Topic.PAYOUT, None, None)
    assert event.payout is not None
    assert event.payout.to_bank

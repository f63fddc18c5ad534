"""What is less than a unit is posted as rounding and closed; the rest waits for somebody (U-18, MOR-043)."""

import asyncio
from contextlib import suppress
from datetime import timedelta

import asyncpg
import pytest

from admitone.finance.gateways.api import MovementKind
from admitone.finance.ledger.api import Account, Event
from admitone.finance.proof.model import Check
from admitone.finance.reconciliation.model import IssueState
from admitone.finance.reconciliation.store import issues as store
from admitone.finance.sources.api import Flow
from tests.finance.ledger.books import standing, the_trial
from tests.finance.proof.books import proved, red
from tests.finance.reconciliation.books import AN_HOUR, Sides

K = MovementKind
ROUNDINGS = """
    SELECT debit_account, credit_account, amount_minor, causation_id FROM ledger.transfer
     WHERE organization_id = $1 AND entry_type = 'RECON_ROUNDING' ORDER BY id
"""
DIVERGENCE, ABOVE = "reconciliation.divergence", "reconciliation.gateway_above_ledger"


@pytest.mark.covers("MOR-043", "FIN-043")
@pytest.mark.parametrize(
    ("apart", "is_corrected", "alerts"),
    [
        (-99, True, []),
        (-100, False, [DIVERGENCE]),
        (50, True, [ABOVE]),
        (500, False, [DIVERGENCE, ABOVE]),
    ],
)
async def test_a_refund_that_differs_is_corrected_or_waits(
    sides: Sides, superuser: asyncpg.Connection, apart: int, is_corrected: bool, alerts: list[str]
):
    payment = await sides.refund(here=1000, there=1000 + apart)
    run = await sides.run()
    [issue] = await sides.issues(IssueState.CLOSED if is_corrected else IssueState.OPEN)
    assert (issue.found.difference, issue.found.kind, issue.found.payment) == ("AMOUNT", "REFUND", payment)
    assert (issue.found.here_minor, issue.found.there_minor) == (1000, 1000 + apart)
    assert issue.closed_how == ("ROUNDING" if is_corrected else None)
    rounded = await superuser.fetch(ROUNDINGS, sides.world.organization.uuid)
    assert [row["causation_id"] for row in rounded] == ([f"reconciliation:{issue.id}"] if is_corrected else [])
    assert await sides.alerts(superuser) == alerts
    assert run.counts["ROUNDED"] == is_corrected
    assert run.counts["AMOUNT"] == 1


@pytest.mark.covers("MOR-043")
async def test_a_refund_above_expectation_leaves_less_with_the_provider(sides: Sides, superuser: asyncpg.Connection):
    """R1: the ledger stood above the gateway by 37."""
    await sides.refund(here=1000, there=1037, flow=Flow.STAY)
    before = standing(await the_trial(sides.database, sides.world.scope))
    await sides.run()
    after = standing(await the_trial(sides.database, sides.world.scope))
    moved = {account: after[account] - before.get(account, 0) for account in (Account.CASH, Account.RND)}
    assert moved == {Account.CASH: -37, Account.RND: 37}


@pytest.mark.parametrize(
    ("kind", "event", "amounts", "there", "clearing"),
    [
        (K.CHARGE, Event.CAPTURED, {"gross": 1000, "fee": 0, "transfer": 0}, 1037, 37),
        (K.CHARGE, Event.CAPTURED, {"gross": 1000, "fee": 0, "transfer": 0}, 963, -37),
        (K.REFUND, Event.REFUND_SETTLED, {"gross": 1000}, 963, 37),
        (K.FEE, Event.FEES_FINAL, {"fee": 100}, 137, -37),
        (K.FEE, Event.FEES_FINAL, {"fee": 100}, 63, 37),
        (K.DISPUTE_RETURNED, Event.DISPUTE_WON, {"gross": 1000}, 1037, 37),
    ],
)
async def test_rounding_moves_the_clearing_account_to_what_the_provider_has(
    sides: Sides, kind: MovementKind, event: Event, amounts: dict[str, int], there: int, clearing: int
):
    await sides.posted(event, "obj_1", **amounts)
    sides.moved(there, "obj_1", kind)
    before = standing(await the_trial(sides.database, sides.world.scope))
    await sides.run()
    after = standing(await the_trial(sides.database, sides.world.scope))
    assert after.get(Account.MA, 0) - before.get(Account.MA, 0) == clearing
    assert [each.closed_how for each in await sides.issues(IssueState.CLOSED)] == ["ROUNDING"]


async def test_what_was_rounded_agrees_from_then_on(sides: Sides, batcher, superuser: asyncpg.Connection):
    await sides.refund(here=1000, there=1037, flow=Flow.STAY)
    await sides.run()
    again = await sides.run()
    assert (again.counts["AMOUNT"], again.counts["MATCHED"], again.counts["ROUNDED"]) == (0, 1, 0)
    assert len(await superuser.fetch(ROUNDINGS, sides.world.organization.uuid)) == 1
    assert ABOVE not in await sides.alerts(superuser)
    assert Check.PROVIDER not in red(await proved(sides.database, batcher, sides.world.organization))


async def test_many_little_differences_are_not_little(sides: Sides, superuser: asyncpg.Connection):
    """A provider that takes some cents more each day is noticed, not rounded for ever."""
    payment = await sides.refund(here=1000, there=1060)
    await sides.run()
    sides.moved(60, "re_1", K.REFUND, payment=payment)
    await sides.run(later=AN_HOUR)
    [issue] = await sides.issues()
    assert (issue.found.here_minor, issue.found.there_minor) == (1060, 1120)
    assert len(await superuser.fetch(ROUNDINGS, sides.world.organization.uuid)) == 1


async def test_what_is_rounded_too_much_is_posted_back(sides: Sides, superuser: asyncpg.Connection):
    payment = await sides.refund(here=1000, there=1037)
    await sides.run()
    await sides.refunded(37, payment=payment, cause="evt_late")
    await sides.run(later=AN_HOUR)
    rounded = await superuser.fetch(ROUNDINGS, sides.world.organization.uuid)
    assert [row["amount_minor"] for row in rounded] == [37, 37]
    assert rounded[0]["debit_account"] == rounded[1]["credit_account"] == "rounding_adjustment"
    assert (await sides.run(later=2 * AN_HOUR)).counts["MATCHED"] == 1


async def test_little_money_that_is_missing_is_not_rounding(sides: Sides, superuser: asyncpg.Connection):
    """Somebody's fifty cents are somebody's."""
    sides.moved(50, "ch_little")
    await sides.posted(Event.CAPTURED, "ch_other", gross=50, fee=0, transfer=0)
    await sides.posted(Event.CAPTURED, "ch_twice", gross=30, fee=0, transfer=0)
    await sides.posted(Event.CAPTURED, "ch_twice", gross=30, fee=0, transfer=0)
    sides.moved(30, "ch_twice")
    await sides.run()
    assert {each[0] for each in await sides.open()} == {"MISSING_HERE", "MISSING_THERE", "DUPLICATE"}
    assert await superuser.fetch(ROUNDINGS, sides.world.organization.uuid) == []


async def test_two_runs_at_once_round_once(
    sides: Sides, superuser: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
):
    """The second has looked what is known before the first has written, and would write after it: it has to wait."""
    await sides.refund(here=1000, there=1037)
    real, looked, written, callers = store.find_of_objects, asyncio.Event(), asyncio.Event(), []

    async def find(tx, names):
        callers.append(tx)
        found = await real(tx, names)
        awaited = looked if len(callers) == 1 else written
        looked.set() if len(callers) > 1 else None
        with suppress(TimeoutError):
            await asyncio.wait_for(awaited.wait(), 0.5)
        return found

    async def one() -> None:
        await sides.run(later=timedelta(0))
        written.set()

    monkeypatch.setattr(store, "find_of_objects", find)
    await asyncio.gather(one(), one())
    assert len(await superuser.fetch(ROUNDINGS, sides.world.organization.uuid)) == 1
    assert len(await sides.issues(IssueState.CLOSED)) == 1
    assert await sides.open() == set()


async def test_what_was_posted_since_it_was_compared_is_not_rounded(
    sides: Sides, superuser: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
):
    payment = await sides.refund(here=1000, there=1037)
    real = sides.batcher.submit

    async def submit(command, scope, each, *more):
        if command.name.endswith("note"):
            await sides.refunded(37, payment=payment, cause="evt_meanwhile")
        return await real(command, scope, each, *more)

    monkeypatch.setattr(sides.batcher, "submit", submit)
    await sides.run()
    assert await superuser.fetch(ROUNDINGS, sides.world.organization.uuid) == []
    monkeypatch.undo()
    await sides.run()
    assert await sides.open() == set()
    assert [each.closed_how for each in await sides.issues(IssueState.CLOSED)] == ["RESOLVED_BY_ITSELF"]

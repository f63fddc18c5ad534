"""When books are compared, and whether it was done: every day, PIX every hour, and somebody watches."""

from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from admitone.finance.gateways.api import Method, MovementKind
from admitone.finance.gateways.sandbox.faults import Faults
from admitone.finance.ledger.api import Event
from admitone.finance.payments.model import Status
from admitone.finance.payouts.facts import PayoutUnknown
from admitone.finance.reconciliation import errands
from admitone.finance.reconciliation.alerting import EVENTS_WAITING, LAG, is_overdue
from admitone.finance.reconciliation.commands import want
from admitone.finance.reconciliation.model import Wanting
from admitone.finance.reconciliation.module import MODULE
from admitone.finance.reconciliation.store.issues import LAST
from admitone.finance.reconciliation.store.runs import list_runs
from admitone.finance.sources.api import PaymentId
from admitone.kernel.alerts import AlertClass, AlertRule
from admitone.kernel.batch import Batcher
from admitone.kernel.ids import PLATFORM_ORGANIZATION, uuid7
from admitone.kernel.jobs import Delivered, Desk
from admitone.kernel.scope import Caller, Scope
from tests.finance.payments.telling import published
from tests.finance.reconciliation.books import WAITING, Sides, firing
from tests.finance.world import World

DUE = datetime(2026, 11, 16, 4, 10, tzinfo=UTC)
JOBS = "SELECT count(*) FROM kernel.job WHERE organization_id = $1 AND kind = 'reconciliation.reconcile'"


async def pix(world: World) -> tuple[PaymentId, str]:
    order = world.shop.sells(world.buyer.identity, 5000, currency="BRL")
    return await world.opened(order, method=Method.PIX)


@pytest.mark.covers("PAY-055", "PAY-054")
async def test_pix_that_was_paid_or_ended_there_is_so_here_within_the_hour(world: World, batcher: Batcher):
    """Both webhooks are lost; each divergence is repaired, and once."""
    world.simulator.misbehave(Faults(dropped=10_000))
    (paid, charge), (ended, other), (waiting, _) = [await pix(world) for _ in range(3)]
    world.simulator.act("pay", charge)
    world.simulator.act("expire", other)
    desk = Desk(world.database, batcher)
    for _ in range(2):
        await errands.reconcile_pix.work(desk, firing(datetime.now(UTC)))
    states = [(await world.payment(each)).status for each in (paid, ended, waiting)]
    assert states == [Status.SUCCEEDED, Status.EXPIRED, Status.PENDING]
    assert await published(world, "payment.succeeded") == 1
    assert await published(world, "payment.expired") == 1


@pytest.mark.covers("PAY-055")
async def test_pix_is_asked_for_a_day(world: World, batcher: Batcher):
    payment, charge = await pix(world)
    world.simulator.act("pay", charge)
    desk = Desk(world.database, batcher)
    await errands.reconcile_pix.work(desk, firing(datetime.now(UTC) + timedelta(days=2)))
    assert (await world.payment(payment)).status is Status.PENDING


@pytest.mark.covers("FUN-049")
def test_pix_is_reconciled_hourly_and_everything_daily():
    crons = {each.name: each.cron for each in MODULE.schedules}
    assert crons["reconciliation.pix"] == "25 * * * *"
    assert crons["reconciliation.daily"] == "10 4 * * *"


async def test_every_organisation_is_compared_once_a_day(sides: Sides, superuser: asyncpg.Connection):
    own, desk = sides.world.organization.uuid, Desk(sides.database, sides.batcher)
    for _ in range(2):
        await errands.reconcile_daily.work(desk, firing(DUE))
    assert await superuser.fetchval(JOBS, own) == 1
    await errands.reconcile_daily.work(desk, firing(DUE + timedelta(days=1)))
    assert await superuser.fetchval(JOBS, own) == 2
    await superuser.execute("DELETE FROM kernel.job WHERE kind = 'reconciliation.reconcile'")


async def test_whoever_was_left_behind_is_compared_within_the_hour(sides: Sides, superuser: asyncpg.Connection):
    """A provider that was silent in the night costs no day."""
    await superuser.execute("DELETE FROM reconciliation.standing")
    await sides.run()
    own, desk = sides.world.organization.uuid, Desk(sides.database, sides.batcher)
    behind = "UPDATE reconciliation.standing SET compared_until = $2 WHERE organization_id = $1"
    await superuser.execute(behind, own, DUE + timedelta(minutes=1))
    await errands.catch_up.work(desk, firing(DUE + timedelta(minutes=35)))
    assert await superuser.fetchval(JOBS, own) == 0, "it was compared"
    await superuser.execute(behind, own, DUE - timedelta(minutes=1))
    await errands.catch_up.work(desk, firing(DUE + timedelta(minutes=20)))
    assert await superuser.fetchval(JOBS, own) == 0, "it has its time"
    for _ in range(2):
        await errands.catch_up.work(desk, firing(DUE + timedelta(minutes=35)))
    assert await superuser.fetchval(JOBS, own) == 1
    await superuser.execute("DELETE FROM kernel.job WHERE kind = 'reconciliation.reconcile'")


@pytest.mark.covers("MOR-046")
async def test_the_daily_report_has_counts_sums_and_what_is_open(sides: Sides):
    sides.moved(5000, "ch_1")
    await sides.posted(Event.CAPTURED, "ch_1", gross=5000, fee=0, transfer=0)
    sides.moved(700, "ch_2")
    run = await sides.run(onward=True)
    [report] = await sides.database.read(sides.world.scope, list_runs, LAST, 10)
    assert report == run
    assert (report.counts["MATCHED"], report.counts["MISSING_HERE"]) == (1, 1)
    assert (report.sums["EUR"].here_minor, report.sums["EUR"].there_minor) == (5000, 5700)
    [missing] = report.open_issues
    assert (missing.difference, missing.issues, missing.apart_minor, missing.currency) == (
        "MISSING_HERE",
        1,
        700,
        "EUR",
    )
    assert missing.oldest_at == run.until
    assert await published(sides.world, "reconciliation.finished") == 1


async def test_whoever_wants_it_for_all_has_it_for_each(sides: Sides, superuser: asyncpg.Connection):
    desk = Desk(sides.database, sides.batcher)
    platform = Scope(PLATFORM_ORGANIZATION, "test")
    run = (await sides.batcher.submit(want, platform, Wanting(Caller(), None))).outcome
    fact = errands.ReconciliationOfAllWanted(run_id=run)
    told = Delivered(uuid7(), PLATFORM_ORGANIZATION, fact, Caller(), "k", None, 1, DUE)
    for _ in range(2):
        await errands.reconcile_all.work(desk, told)
    assert await superuser.fetchval(JOBS, sides.world.organization.uuid) == 1
    await superuser.execute("DELETE FROM kernel.job WHERE kind = 'reconciliation.reconcile'")


@pytest.mark.covers("MOR-035")
async def test_a_payout_that_is_not_ours_has_books_compared_and_is_an_issue(
    sides: Sides, superuser: asyncpg.Connection
):
    """Told as often as it is: once compared, when nothing of it can be in flight."""
    desk, own, now = Desk(sides.database, sides.batcher), sides.world.organization, datetime.now(UTC)
    sides.moved(85_000, "po_unknown", MovementKind.PAYOUT)
    said = {"provider": "sandbox", "reference": "po_unknown", "status": "PAID", "amount_minor": 85_000}
    fact = PayoutUnknown(currency="EUR", at=now, **said)
    for _ in range(2):
        await errands.see_to_payout.work(desk, Delivered(uuid7(), own, fact, Caller(), "k", None, 1, now))
    rows = await superuser.fetch(
        "SELECT id, payload, run_at FROM kernel.job WHERE organization_id = $1 AND kind = $2",
        own.uuid,
        "reconciliation.reconcile",
    )
    [job] = rows
    assert job["run_at"] - now >= timedelta(minutes=30)
    wanted = errands.reconcile.decode(job["payload"])
    await errands.reconcile.work(desk, Delivered(job["id"], own, wanted, Caller(), "k", None, 1, now))
    assert await sides.open() == {("MISSING_HERE", "PAYOUT", "po_unknown", 0, 85_000)}
    await superuser.execute("DELETE FROM kernel.job WHERE kind = 'reconciliation.reconcile'")


# -- Whether it was done


@pytest.mark.covers("OPS-002")
@pytest.mark.parametrize(
    ("rule", "minutes", "breached"),
    [(LAG, 15, False), (LAG, 74, False), (LAG, 75, True), (EVENTS_WAITING, 15, False), (EVENTS_WAITING, 16, True)],
)
def test_a_lag_is_told_of_by_how_long_it_lasts(rule: AlertRule, minutes: int, breached: bool):
    assert rule.alert_class is AlertClass.TICKET
    assert is_overdue(rule, DUE, DUE + timedelta(minutes=minutes)) is breached


@pytest.mark.covers("OPS-002")
async def test_somebody_is_told_while_comparisons_and_events_are_late(sides: Sides, superuser: asyncpg.Connection):
    desk, tomorrow = Desk(sides.database, sides.batcher), datetime.now(UTC) + timedelta(days=1)
    due = tomorrow.replace(hour=4, minute=10, second=0, microsecond=0)
    if due > tomorrow:
        due -= timedelta(days=1)
    rules = "SELECT rule FROM kernel.alert WHERE subject = 'all' AND resolved_at IS NULL ORDER BY rule"

    async def told(at: datetime) -> list[str]:
        await errands.watch.work(desk, firing(at))
        return [row["rule"] for row in await superuser.fetch(rules)]

    await superuser.execute("DELETE FROM reconciliation.standing")
    await sides.run()
    own = uuid7()
    await superuser.execute(WAITING, own, sides.world.organization.uuid)
    behind = "UPDATE reconciliation.standing SET compared_until = $2 WHERE organization_id = $1"
    await superuser.execute(behind, sides.world.organization.uuid, due - timedelta(days=3))
    at = due + timedelta(minutes=74)
    assert await told(at) == ["reconciliation.events_waiting"]
    assert await told(due + timedelta(minutes=76)) == ["reconciliation.events_waiting", "reconciliation.lag"]
    await superuser.execute(behind, sides.world.organization.uuid, due + timedelta(minutes=1))
    await superuser.execute("DELETE FROM webhooks.receipt WHERE id = $1", own)
    assert await told(due + timedelta(minutes=80)) == []

"""When books are compared: when somebody wants it, every day, and PIX every hour; and whether it was done.

Promise: a day's run of an organisation is made once, under the key of that day; cut off and begun anew, nothing is
compared twice. One organisation that cannot be compared keeps nobody else waiting.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final
from uuid import UUID

from admitone.finance.payments import api as payments
from admitone.finance.payouts.facts import PayoutUnknown
from admitone.finance.reconciliation.alerting import EVENTS_WAITING, LAG, is_overdue
from admitone.finance.reconciliation.comparing.comparing import IN_FLIGHT
from admitone.finance.reconciliation.facts import ReconciliationOfAllWanted, ReconciliationWanted
from admitone.finance.reconciliation.model import Beginning, Figures, Late, OpenOverall, RunId
from admitone.finance.reconciliation.running import Reconciler
from admitone.finance.reconciliation.store.watching import ACROSS, START, count_late, count_open, list_late
from admitone.finance.webhooks import api as webhooks
from admitone.kernel.alerts import ALERTS, Alert, AlertRule, Resolution, raise_alerts, resolve_alerts
from admitone.kernel.bulk import store as organizations
from admitone.kernel.ids import PLATFORM_ORGANIZATION
from admitone.kernel.jobs import Delivered, Desk, Job, Lane, Schedule, enqueue, errand
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.scope import Caller, Scope
from admitone.kernel.telemetry import logger

RECONCILING: Final = Lane("reconciliation", places=2)
ERRANDS: Final = Lane("reconciliation_errands", places=3)
"""What is short, and must not wait behind a run that lasts."""
PAGE: Final = 500
SETTLED: Final = 2 * IN_FLIGHT
"""After which nothing that moved is excused by its age."""
A_DAY: Final = timedelta(days=1)
GRACE: Final = timedelta(minutes=30)
"""How long the daily runs have before anybody is thought to be left behind."""


@errand("reconciliation.reconcile", lane=RECONCILING, seconds=7_200)
async def reconcile(desk: Desk, wanted: Delivered[ReconciliationWanted]) -> None:
    said = wanted.payload
    await Reconciler(desk).reconcile(
        wanted.organization, Beginning(wanted.caller, said.run_id, said.since, said.onward)
    )


@errand("reconciliation.reconcile_all", lane=ERRANDS, seconds=3_600)
async def reconcile_all(desk: Desk, wanted: Delivered[ReconciliationOfAllWanted]) -> None:
    """Somebody wants everybody's."""
    said = wanted.payload
    await _enqueue_each(desk, wanted.caller, f"reconciliation:{said.run_id}", said.since, onward=False)


@errand("reconciliation.daily", lane=ERRANDS, seconds=3_600)
async def reconcile_daily(desk: Desk, firing: Delivered[Firing]) -> None:
    """By schedule: what moved since the last time, of every organisation, with its report (MOR-043, MOR-046)."""
    key = f"reconciliation.daily:{firing.payload.at:%Y-%m-%dT%H:%MZ}"
    await _enqueue_each(desk, firing.caller, key, None, onward=True)


DAILY: Final = Schedule("reconciliation.daily", "10 4 * * *", reconcile_daily)


async def _enqueue_each(desk: Desk, caller: Caller, key: str, since: datetime | None, *, onward: bool) -> None:
    """Also of the platform's own books, which stand beside those of the organisations."""
    await _enqueue(desk, caller, key, [PLATFORM_ORGANIZATION.uuid], since, onward=onward)
    after = UUID(int=0)
    while page := await desk.database.read(ACROSS, organizations.list_organizations, after, PAGE):
        await _enqueue(desk, caller, key, [each.uuid for each in page], since, onward=onward)
        after = page[-1].uuid


async def _enqueue(
    desk: Desk, caller: Caller, key: str, whose: Sequence[UUID], since: datetime | None = None, *, onward: bool
) -> None:
    wanted = [ReconciliationWanted(run_id=RunId.new(), since=since, onward=onward) for _ in whose]
    jobs = [
        replace(Job.of(reconcile, each, caller, key=key), organization_id=own)
        for own, each in zip(whose, wanted, strict=True)
    ]
    await desk.database.run(ACROSS, partial(enqueue, jobs=jobs))


@errand("reconciliation.catch_up", lane=ERRANDS, seconds=600)
async def catch_up(desk: Desk, firing: Delivered[Firing]) -> None:
    """By schedule, every hour: whom a silent provider, or a worker that died, left behind is compared once more."""
    at, after = firing.payload.at, START
    [due] = DAILY.due(at - 2 * A_DAY, at - GRACE)
    key = f"reconciliation.catch_up:{at:%Y-%m-%dT%H:%MZ}"
    while page := await desk.database.read(ACROSS, list_late, due, after, PAGE):
        await _enqueue(desk, firing.caller, key, [own for _, own in page], onward=True)
        after = page[-1]


@errand("reconciliation.see_to_payout", lane=ERRANDS)
async def see_to_payout(desk: Desk, told: Delivered[PayoutUnknown]) -> None:
    """A provider tells of a payout that we do not know, or know otherwise: when nothing of it can be in flight, books
    are compared, and what is not ours there is an issue (MOR-035)."""
    scope, wanted = Scope(told.organization, "compare payouts"), ReconciliationWanted(run_id=RunId.new(), onward=True)
    key = f"reconciliation.payout:{told.payload.provider}:{told.payload.reference}:{told.payload.status}"
    job = Job.of(reconcile, wanted, told.caller, key=key, run_at=told.created_at + SETTLED)
    await desk.database.run(scope, partial(enqueue, jobs=[job]))


@errand("reconciliation.pix", lane=ERRANDS, seconds=600)
async def reconcile_pix(desk: Desk, firing: Delivered[Firing]) -> None:
    """By schedule, every hour: PIX of the last day that waits for its buyer, as far as we know (PAY-055, U-31)."""
    asked = await payments.ask_about_pix(desk, firing.caller, firing.payload.at - A_DAY)
    logger().info("reconciliation.pix", asked=asked)


# -- Whether it was done (OPS-002)


@errand("reconciliation.watch", lane=ERRANDS)
async def watch(desk: Desk, firing: Delivered[Firing]) -> None:
    """By schedule, every few minutes."""

    async def read(query: Any, *args: Any, scope: Any) -> Any:
        return await desk.database.read(scope, query, *args)

    figures = await measure(read, firing.payload.at)
    detail = f"{figures.late_organizations} organisations were to be compared at {figures.due_at:%F %T} UTC"
    await _change(desk, LAG, figures.due_at if figures.late_organizations else None, figures.at, detail)
    detail = f"the oldest came at {figures.waiting_since:%F %T} UTC" if figures.waiting_since else ""
    await _change(desk, EVENTS_WAITING, figures.waiting_since, figures.at, detail)


async def measure(read: Callable[..., Awaitable[Any]], at: datetime) -> Figures:
    """How far behind everything is at that instant."""
    [due] = DAILY.due(at - 2 * A_DAY, at)
    late: Late = await read(count_late, due, scope=ACROSS)
    open_ones: OpenOverall = await read(count_open, scope=ACROSS)
    waiting = await read(webhooks.list_receipts, webhooks.ReceiptState.RECEIVED, None, 1, scope=webhooks.PLATFORM)
    return Figures(
        at,
        due,
        late.organizations,
        late.behind_at,
        waiting[0]["received_at"] if waiting else None,
        open_ones.issues,
        open_ones.oldest_at,
    )


async def _change(desk: Desk, rule: AlertRule, since: datetime | None, now: datetime, detail: str) -> None:
    if since is not None and is_overdue(rule, since, now):
        await desk.batcher.submit(raise_alerts, ALERTS, Alert(rule, "all", detail))
    else:
        await desk.batcher.submit(resolve_alerts, ALERTS, Resolution(rule, "all"))

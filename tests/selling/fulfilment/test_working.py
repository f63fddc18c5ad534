"""Fulfilment as workers run it: from the money to the ticket, with what goes wrong in plain sight."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.entrypoints.duties import duties_of
from admitone.finance.payments.facts import PaymentRefunded, PaymentSucceeded
from admitone.finance.sources.api import PaymentId
from admitone.kernel import telemetry
from admitone.kernel.alerts import Watch, rules
from admitone.kernel.alerts.figures import MEASURING, Figures, Head, Outbox, readings_of
from admitone.kernel.alerts.policy import breached
from admitone.kernel.ids import uuid7
from admitone.kernel.jobs import Priority
from admitone.kernel.jobs.dead import DeadLetterId, Replay, replay
from admitone.kernel.jobs.worker import Duties
from admitone.kernel.scope import Caller
from admitone.kernel.telemetry import Metrics, render
from admitone.selling.fulfilment import alerts, handlers
from admitone.selling.fulfilment.model import Scenario, State
from admitone.selling.fulfilment.store import Fruitless, list_fruitless
from admitone.selling.fulfilment.telling import REVERSED
from tests.alerts import alerts_about
from tests.finance.lives import PAY, live
from tests.finance.world import World
from tests.jobs import a_worker, until
from tests.people import a_person, a_platform_admin
from tests.selling.fulfilment.booth import Booth, notes_of, operation_of, refunds_of, tell, tickets_of
from tests.selling.fulfilment.test_fulfilling import source_of
from tests.selling.fulfilment.worker import DUTIES

SOONER = (
    "UPDATE kernel.job SET run_at = now() WHERE organization_id = $1 AND worker IS NULL AND kind LIKE 'fulfilment.%'"
)
LETTERS = "SELECT id, kind, reason, error FROM kernel.dead_letter WHERE organization_id = $1 ORDER BY id"
ENDED = "SELECT count(*) FROM fulfilment.operation WHERE organization_id = $1 AND state <> 'OPEN'"


def its_duties() -> Duties:
    return duties_of([DUTIES])


async def until_ended(world: World, superuser: asyncpg.Connection, operations: int) -> None:
    """Retries are not waited for."""
    async with asyncio.timeout(60):
        while await superuser.fetchval(ENDED, world.organization.uuid) < operations:
            await superuser.execute(SOONER, world.organization.uuid)
            await asyncio.sleep(0.02)


async def state_of(world: World, payment: PaymentId) -> State | None:
    operation = await operation_of(world, payment)
    return operation.state if operation else None


@pytest.mark.covers("FUL-005", "FUL-010")
async def test_money_that_came_becomes_tickets_and_one_poisoned_purchase_hurts_no_other(
    world: World, booth: Booth, superuser: asyncpg.Connection
):
    payments = [await live(world, (PAY,)) for _ in range(5)]
    bad, sold_out, *good = payments
    booth.poisoned.add(await source_of(world, bad))
    booth.out_of.add(await source_of(world, sold_out))
    async with a_worker(world.database, its_duties()):
        await until_ended(world, superuser, 5)
    assert [await state_of(world, each) for each in payments] == [State.FAILED, State.RETURNED, *[State.DONE] * 3]
    assert [await tickets_of(world, each) for each in payments] == [[], [], *[["ACTIVE"]] * 3]
    assert [await notes_of(world, each) for each in good] == [["mail", "promo"]] * 3
    assert await refunds_of(world, sold_out) == [("NOT_DELIVERED", 5000)]
    [letter] = await superuser.fetch(LETTERS, world.organization.uuid)
    assert (letter["kind"], letter["reason"]) == ("fulfilment.payment_succeeded", "RETRIES_EXHAUSTED")
    operation = await operation_of(world, bad)
    assert operation is not None
    assert operation.reason is not None
    assert operation.reason.startswith("Poisoned")
    assert operation.attempts == handlers.SUBSCRIPTIONS[0].kind.retry.executions


@pytest.mark.covers("FUL-006")
@pytest.mark.parametrize("wired", [True, False], ids=["scenario", "source"])
async def test_what_nobody_knows_how_to_hand_over_dies_at_once_and_is_handed_over_when_somebody_does(
    world: World, superuser: asyncpg.Connection, request: pytest.FixtureRequest, wired: bool
):
    payment = await live(world, (PAY,))
    if wired:
        booth: Booth = request.getfixturevalue("booth")
        booth.says[await source_of(world, payment)] = Scenario.GROUP_FULL
    async with a_worker(world.database, its_duties()):
        await until_ended(world, superuser, 1)
    assert await state_of(world, payment) is State.FAILED
    [letter] = await superuser.fetch(LETTERS, world.organization.uuid)
    assert letter["reason"] == "NOT_RETRYABLE"
    assert letter["error"].startswith("NoRecipe")
    booth = request.getfixturevalue("booth")
    booth.says.clear()
    await world.submit(replay, Replay(Caller(), DeadLetterId(letter["id"]), "ana", "it is wired now"))
    async with a_worker(world.database, its_duties()):
        await until(superuser, f"{ENDED} AND state = 'FAILED'", world.scope)
    assert await state_of(world, payment) is State.DONE
    assert await tickets_of(world, payment) == ["ACTIVE"]


async def test_one_that_failed_and_was_refunded_by_hand_is_over(
    world: World, booth: Booth, superuser: asyncpg.Connection
):
    payment = await live(world, (PAY,))
    booth.poisoned.add(await source_of(world, payment))
    async with a_worker(world.database, its_duties()):
        await until_ended(world, superuser, 1)
    charge = (await world.payment(payment)).charge_id
    assert charge
    world.simulator.act("refund", charge)
    await world.clerk.ask(world.organization, payment, Caller())
    await tell(world, PaymentRefunded, payment)
    assert await state_of(world, payment) is State.RETURNED


# -- FUL-018


@pytest.fixture
async def said() -> AsyncIterator[BytesIO]:
    stream = BytesIO()
    before = telemetry._output.stream
    telemetry._output.stream = stream
    yield stream
    telemetry._output.stream = before


def lines_about(said: BytesIO, payment: PaymentId) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in said.getvalue().splitlines()]
    return [line for line in lines if line.get("purchaseId") == str(payment)]


@pytest.mark.covers("FUL-018")
async def test_every_purchase_says_who_it_is_and_how_often_it_was_tried(
    world: World, booth: Booth, superuser: asyncpg.Connection, said: BytesIO
):
    good, bad = await live(world, (PAY,)), await live(world, (PAY,))
    booth.poisoned.add(await source_of(world, bad))
    async with a_worker(world.database, its_duties()):
        await until_ended(world, superuser, 2)
    [line] = lines_about(said, good)
    assert line["event"] == "fulfilment.done"
    assert (line["scenario"], line["dedupeKey"], line["attemptNo"]) == ("SINGLE", f"ISSUE_TICKETS:{good}", 1)
    assert line["paymentIntentId"] == (await world.payment(good)).charge_id
    assert line["correlationId"]
    assert line["orgId"] == str(world.organization)
    [line] = lines_about(said, bad)
    assert (line["event"], line["level"], line["attemptNo"]) == ("fulfilment.failed", "error", 5)


def figures(metrics: Metrics) -> dict[str, float]:
    """By name and label."""
    shown = render(metrics.registry).decode().splitlines()
    mine = [line for line in shown if line.startswith(("sale_paid", "fulfillment_failed", "operations_backlog"))]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in mine)}


async def looked(world: World) -> dict[str, float]:
    metrics = Metrics()
    await Watch(world.database, metrics, sights=[alerts.OPERATIONS]).look(uuid7())
    return figures(metrics)


@pytest.mark.covers("FUL-018")
async def test_what_was_paid_what_failed_and_what_waits_is_measured(
    world: World, booth: Booth, superuser: asyncpg.Connection
):
    before = await looked(world)
    good, bad, late, disputed = [await live(world, (PAY,)) for _ in range(4)]
    booth.poisoned.add(await source_of(world, bad))
    booth.out_of.add(await source_of(world, late))
    await world_disputes(world, disputed)
    async with a_worker(world.database, its_duties()):
        await until_ended(world, superuser, 3)
        await until(
            superuser,
            "SELECT count(*) FROM kernel.job WHERE organization_id = $1 AND kind LIKE 'fulfilment.%'",
            world.scope,
        )
    after = await looked(world)

    def grew(name: str) -> float:
        return after.get(name, 0) - before.get(name, 0)

    assert grew('sale_paid_total{scenario="SINGLE"}') >= 2
    assert grew('fulfillment_failed_total{reason="UNDELIVERABLE"}') >= 1
    assert grew('fulfillment_failed_total{reason="RETRIES_EXHAUSTED"}') >= 1
    assert grew('operations_backlog_total{state="FAILED"}') >= 1
    assert grew('operations_backlog_total{state="OPEN"}') >= 1
    await tell(world, PaymentSucceeded, good)
    assert (await looked(world))['sale_paid_total{scenario="SINGLE"}'] == after['sale_paid_total{scenario="SINGLE"}']


async def world_disputes(world: World, payment: PaymentId) -> None:
    charge = (await world.payment(payment)).charge_id
    assert charge
    world.simulator.act("dispute", charge)
    await world.clerk.ask(world.organization, payment, Caller())


# -- FUL-019


def fruitless(count: int) -> list[Fruitless]:
    return [Fruitless(uuid7(), PaymentId.new(), uuid7()) for _ in range(count)]


@pytest.mark.covers("FUL-019")
@pytest.mark.parametrize(
    ("bad", "every", "pages"),
    [(0, 0, False), (1, 99, False), (1, 100, False), (2, 200, False), (2, 199, True), (100, 100, True)],
)
def test_more_than_one_in_a_hundred_pages(bad: int, every: int, pages: bool):
    readings = alerts.readings_of(fruitless(bad), every, datetime.now(UTC))
    assert any(breached(each.rule.threshold, each.samples) for each in readings) is pages
    assert all(each.rule is alerts.FAILING and each.organization for each in readings)


async def fruitless_of(world: World) -> int:
    """Within five minutes; other tests have theirs."""
    since = datetime.now(UTC) - alerts.WINDOW
    found = await world.database.read(MEASURING, list_fruitless, since, REVERSED)
    return sum(each.organization == world.organization.uuid for each in found)


@pytest.mark.covers("FUL-019")
async def test_who_paid_within_five_minutes_and_has_nothing_is_counted(
    world: World, booth: Booth, superuser: asyncpg.Connection
):
    payment = await live(world, (PAY,))
    booth.out_of.add(await source_of(world, payment))
    await tell(world, PaymentSucceeded, payment)
    await superuser.execute(
        "INSERT INTO fulfilment.operation (organization_id, payment_id, source_type, source_id, state, steps, reason,"
        " attempts, correlation_id, begun_at, changed_at)"
        " SELECT $1, gen_random_uuid(), 'TICKET_ORDER', 's', 'RETURNED', '{}', v.reason, 1, gen_random_uuid(),"
        " now() - v.age, now() - v.age FROM (VALUES ('REFUNDED', interval '0'), ('SOLD_OUT', interval '6 minutes'))"
        " AS v(reason, age), generate_series(1, 120)",
        world.organization.uuid,
    )
    assert await fruitless_of(world) == 1, "what was refunded before, or came to nothing earlier, does not count"
    await superuser.execute(
        "UPDATE fulfilment.operation SET reason = 'SOLD_OUT' WHERE organization_id = $1 AND reason = 'REFUNDED'",
        world.organization.uuid,
    )
    assert await fruitless_of(world) == 121
    await Watch(world.database, Metrics(), sights=[alerts.OPERATIONS]).look(uuid7())
    [alert, *_] = await alerts_about(superuser, "fulfilment", "fulfilment.failing")
    assert alert["class"] == "PAGER"
    await superuser.execute(
        "UPDATE fulfilment.operation SET changed_at = now() - interval '1 hour' WHERE organization_id = $1",
        world.organization.uuid,
    )


@pytest.mark.covers("FUL-019")
@pytest.mark.parametrize(("seconds", "alerts_of_it"), [(119, False), (121, True)])
def test_jobs_of_ours_that_wait_for_more_than_two_minutes_alert(seconds: int, alerts_of_it: bool):
    now = datetime.now(UTC)
    for kind in handlers.JOBS:
        assert kind.priority is Priority.CRITICAL
        due = now - timedelta(seconds=seconds)
        head = Head(kind.lane.name, kind.priority, due, kind.name, uuid7(), uuid7(), uuid7())
        figures = Figures(now, [], [head], [], Outbox(0, None, None, 0, None), None, [])
        late = [each for each in readings_of(figures) if each.rule is rules.CRITICAL_DELAY]
        assert any(breached(each.rule.threshold, each.samples) for each in late) is alerts_of_it


# -- What support sees


async def test_support_sees_what_became_of_a_payment_and_nobody_else_does(
    world: World, booth: Booth, site: httpx.AsyncClient
):
    payment, other = await live(world, (PAY,)), await live(world, (PAY,))
    booth.out_of.add(await source_of(world, payment))
    await tell(world, PaymentSucceeded, payment)
    admin, stranger = await a_platform_admin(world.database), await a_person(world.database)
    ask = {"organization": str(world.organization), "paymentId": str(payment)}
    path = "/api/admin/fulfilment/operations"
    answer = await site.get(path, params=ask, headers=admin.headers)
    [shown] = answer.json()["operations"]
    assert (shown["state"], shown["reason"], shown["dedupeKey"]) == ("RETURNED", "SOLD_OUT", f"ISSUE_TICKETS:{payment}")
    assert shown["refundId"].startswith("rfd_")
    nothing = await site.get(path, params=ask | {"paymentId": str(other)}, headers=admin.headers)
    assert nothing.json() == {"operations": []}
    for who in (stranger, world.owner):
        assert (await site.get(path, params=ask, headers=who.headers)).status_code == 403

"""What is given back: by pieces, as a whole, for a whole subject, shown before and done after."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import asyncpg
import httpx
import msgspec
import pytest

from admitone.entrypoints.duties import duties_of
from admitone.finance.gateways.api import NotSent, Refused
from admitone.finance.ledger.api import Account
from admitone.finance.payments import errands
from admitone.finance.payments.facts import DisputeRecorded, RefundBegun, RefundFailed, RefundSettled
from admitone.finance.payments.model import Status
from admitone.finance.payments.module import MODULE as PAYMENTS
from admitone.finance.refunds import handlers, store
from admitone.finance.refunds.api import (
    CANCELLATION,
    REFUND,
    Asked,
    Cancellation,
    CancellationId,
    Piece,
    Reason,
    Refund,
    RefundId,
    RefundState,
    Request,
    find_called_off,
    request_refunds,
)
from admitone.finance.refunds.cancelling import cancel
from admitone.finance.refunds.commands import Retry, retry_refunds
from admitone.finance.refunds.errors import PieceGone, PieceUnknown, RefundIdTaken, RefundNotFailed
from admitone.finance.refunds.module import MODULE as REFUNDS
from admitone.finance.sources.api import PaymentId
from admitone.finance.sources.port import Line
from admitone.kernel.breaker import DependencyUnavailable
from admitone.kernel.db import Database
from admitone.kernel.ids import uuid7
from admitone.kernel.jobs import Delivered, Subscription
from admitone.kernel.jobs.worker import Duties
from admitone.kernel.manifest import Module
from admitone.kernel.plans import Applied, Draft, Order, Plan, PlanOvertaken, apply, make
from admitone.kernel.scope import Caller
from tests.finance.payments.saying import saying
from tests.finance.payments.telling import balances, published
from tests.finance.payments.test_trouble import run
from tests.finance.world import World
from tests.jobs import a_worker, duties, until
from tests.people import a_platform_admin

TWO = (Line("adult", "Adults", 2000, 2), Line("child", "A child", 1000, 1))
WHY = Reason.TECHNICAL_PROBLEM
SOONER = "UPDATE kernel.job SET run_at = now() WHERE organization_id = $1 AND worker IS NULL"


async def a_sale_of(world: World, *lines: Line, **more: Any) -> PaymentId:
    payment, charge = await world.opened(world.shop.sells(world.buyer.identity, *lines, **more))
    for act in ("pay", "tell_fees"):
        world.simulator.act(act, charge)
    await world.clerk.ask(world.organization, payment, Caller())
    return payment


async def ask(world: World, payment: PaymentId, *pieces: Piece, **more: Any) -> Refund:
    request = Request(world.owner.caller, payment, RefundId.new(), WHY, pieces, **more)
    refund: Refund = await world.submit(request_refunds, request)
    return refund


async def see_to(world: World, refund: Refund) -> None:
    """As the workers do."""
    own, payment = str(refund.id), PaymentId(refund.payment_id)
    await run(world, errands.refund, RefundBegun(payment_id=payment, refund_id=own))
    status = (await world.payment(payment)).refund_state.value
    told = RefundSettled(payment_id=payment, refund_id=own)
    failed = RefundFailed(payment_id=payment, refund_id=own, reason="no")
    if status == "FAILED":
        await hear(world, handlers.not_settled, failed)
    else:
        await hear(world, handlers.settled, told)


async def hear(world: World, handler: Any, payload: Any) -> None:
    delivered = Delivered(uuid7(), world.organization, payload, Caller(), "key", None, 1, datetime.now(UTC))
    await world.database.run(world.scope, lambda tx: handler.work(tx, [delivered]))


async def found(world: World, refund: Refund) -> Refund:
    return (await world.database.read(world.scope, store.find_refunds, [refund.id]))[refund.id]


@pytest.mark.covers("FIN-072")
async def test_each_piece_goes_back_once_and_all_of_them_are_the_price_and_the_fee(world: World):
    payment = await a_sale_of(world, *TWO)
    for pieces in ([Piece("adult", 1)], [Piece("child", 1)], [Piece("adult", 1)]):
        refund = await ask(world, payment, *pieces)
        assert refund.amount_minor == (1000 if pieces[0].key == "child" else 2000)
        await see_to(world, refund)
        assert (await found(world, refund)).state is RefundState.SUCCEEDED
    assert (await world.payment(payment)).status is Status.REFUNDED
    assert {*await balances(world)} == {Account.ORG, Account.MA}
    with pytest.raises(PieceGone):
        await ask(world, payment, Piece("adult", 1))


@pytest.mark.covers("FIN-072")
@pytest.mark.parametrize("portions", [(1, 1, 1), (2, 1), (1, 2), (3,)], ids=str)
async def test_odd_cents_are_never_lost_between_portions(world: World, portions: tuple[int, ...]):
    payment = await a_sale_of(world, Line("odd", "Odd ones", 1117, 3))
    refunds = [await ask(world, payment, Piece("odd", quantity)) for quantity in portions]
    assert sum(each.amount_minor for each in refunds) == 3351
    assert sum(each.fee_minor for each in refunds) == (await world.payment(payment)).fee_minor


@pytest.mark.parametrize(
    ("piece", "refusal"),
    [(Piece("adult", 3), PieceGone), (Piece("senior", 1), PieceUnknown), (Piece("child", 2), PieceGone)],
)
async def test_what_was_not_sold_does_not_go_back(world: World, piece: Piece, refusal: type[Exception]):
    payment = await a_sale_of(world, *TWO)
    before = await balances(world)
    with pytest.raises(refusal):
        await ask(world, payment, piece)
    with pytest.raises(PieceGone):
        await ask(world, payment, Piece("child", 1), Piece("child", 1))
    assert await balances(world) == before


async def test_the_whole_is_what_is_left(world: World):
    payment = await a_sale_of(world, *TWO)
    await see_to(world, await ask(world, payment, Piece("adult", 1)))
    rest = await ask(world, payment)
    assert rest.amount_minor == 3000
    await see_to(world, rest)
    assert (await world.payment(payment)).status is Status.REFUNDED


async def test_fifty_who_want_the_same_piece_get_it_once(world: World):
    payment = await a_sale_of(world, *TWO)
    requests = [Request(Caller(), payment, RefundId.new(), WHY, (Piece("child", 1),)) for _ in range(50)]
    outcomes = await asyncio.gather(*(world.submit(request_refunds, each) for each in requests), return_exceptions=True)
    assert sum(isinstance(each, Refund) for each in outcomes) == 1
    assert sum(isinstance(each, PieceGone) for each in outcomes) == 49


async def test_what_was_asked_twice_under_one_id_is_one(world: World):
    payment = await a_sale_of(world, *TWO)
    request = Request(world.owner.caller, payment, RefundId.new(), WHY, (Piece("child", 1),))
    first, again = await world.submit(request_refunds, request), await world.submit(request_refunds, request)
    assert first.id == again.id
    assert (await world.payment(payment)).refund_state.value == "PENDING"
    assert await published(world, "refund.requested") == 1


@pytest.mark.covers("MOR-045")
async def test_a_refund_that_failed_wakes_somebody_and_is_ordered_anew(world: World):
    payment = await a_sale_of(world, *TWO)
    refund = await ask(world, payment, Piece("adult", 2))
    with pytest.raises(RefundNotFailed):
        await world.submit(retry_refunds, Retry(Caller(), RefundId(refund.id), RefundId.new()))
    with saying(world, refund=Refused("insufficient_funds")):
        for _ in range(2):
            with pytest.raises(Exception, match="asked again"):
                await run(world, errands.refund, RefundBegun(payment_id=payment, refund_id=str(refund.id)))
        await see_to(world, refund)
    assert (await found(world, refund)).state is RefundState.FAILED
    assert await published(world, "refund.failed") == 1
    anew = await world.submit(retry_refunds, Retry(Caller(), RefundId(refund.id), RefundId.new()))
    assert (anew.amount_minor, anew.fee_minor) == (refund.amount_minor, refund.fee_minor)
    await see_to(world, anew)
    assert await published(world, "refund.succeeded") == 1
    assert await published(world, "refund.seen_to") == 1


@pytest.mark.covers("FIN-072")
async def test_a_piece_that_is_named_goes_back_once_whoever_counts_besides(world: World):
    payment = await a_sale_of(world, Line("adult", "Adults", 2000, 4))
    await see_to(world, await ask(world, payment, Piece("adult", 1, (2,))))
    for pieces in (Piece("adult", 1, (2,)), Piece("adult", 2, (0, 0)), Piece("adult", 4, (1,))):
        with pytest.raises(PieceGone):
            await ask(world, payment, pieces)
    for pieces in (Piece("adult", 1, (4,)), Piece("adult", 1, (0, 1))):
        with pytest.raises(PieceUnknown):
            await ask(world, payment, pieces)
    rest = await ask(world, payment, Piece("adult", 1, (3,)), Piece("adult", 1, (0,)), Piece("adult", 1))
    [line] = (await world.database.read(world.scope, store.find_lines, [rest.id]))[rest.id]
    assert (rest.amount_minor, line.quantity, line.pieces) == (6000, 3, (0, 3))


@pytest.mark.covers("FIN-072")
async def test_what_failed_is_ordered_anew_for_the_same_pieces(world: World):
    payment = await a_sale_of(world, *TWO)
    request = Request(world.owner.caller, payment, RefundId.new(), WHY, (Piece("adult", 1, (0,)),))
    refund = await world.submit(request_refunds, request)
    assert await world.submit(request_refunds, request) == refund, "asked twice, it is one"
    with pytest.raises(RefundIdTaken):
        await world.submit(request_refunds, msgspec.structs.replace(request, pieces=(Piece("adult", 1, (1,)),)))
    await world.database.run(
        world.scope, lambda tx: store.move_refunds(tx, {refund.id: "no"}, RefundState.FAILED, [RefundState.PENDING])
    )
    anew = await world.submit(retry_refunds, Retry(Caller(), RefundId(refund.id), RefundId.new()))
    [line] = (await world.database.read(world.scope, store.find_lines, [anew.id]))[anew.id]
    assert line.pieces == (0,)


# -- Shown before


async def planned(world: World, planner: Any, request: Any) -> Plan:
    plan: Plan = await world.submit(make, Draft(world.owner.caller, planner, request))
    return plan


async def applied(world: World, plan: Plan) -> Applied:
    done: Applied = await world.submit(apply, Order(world.owner.caller, plan.id, "AGREED"))
    return done


async def test_a_plan_is_done_as_it_was_shown_or_not_at_all(world: World):
    payment = await a_sale_of(world, *TWO)
    asked = Asked(payment_id=payment, refund_id=RefundId.new(), reason=WHY, pieces=(Piece("adult", 1),))
    plan = await planned(world, REFUND, asked)
    [step] = plan.steps
    assert (step["amountMinor"], step["calls"][0]["action"]) == (2000, "refund")
    shown = [(each["entryType"], each["debit"], each["credit"], each["amountMinor"]) for each in step["postings"]]
    before = await world.transfers(payment)
    await applied(world, plan)
    assert len(shown) > 1
    assert sorted([*before, *shown]) == await world.transfers(payment)

    other = await planned(world, REFUND, Asked(payment_id=payment, refund_id=RefundId.new(), reason=WHY))
    await ask(world, payment, Piece("child", 1))
    books = await balances(world)
    with pytest.raises(PlanOvertaken):
        await applied(world, other)
    assert await balances(world) == books


SUBJECT = "event:the-storm"


async def a_stormy_evening(world: World, number: int) -> list[PaymentId]:
    payments = [await a_sale_of(world, *TWO, subjects=(SUBJECT,)) for _ in range(number)]
    await a_sale_of(world, *TWO, subjects=("event:another",))
    return payments


def the_storm() -> Cancellation:
    return Cancellation(cancellation_id=CancellationId.new(), subject=SUBJECT, reason=Reason.CANCELLED_BY_SELLER)


@pytest.mark.covers("FIN-070")
async def test_everything_that_was_paid_for_a_subject_goes_back_once(
    world: World, superuser: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("admitone.finance.refunds.cancelling.AT_A_TIME", 2)
    monkeypatch.setattr("admitone.finance.refunds.planning.CHUNK", 3)
    evening = await a_stormy_evening(world, 5)
    await see_to(world, await ask(world, evening[0], Piece("adult", 1)))
    plan = await planned(world, CANCELLATION, the_storm())
    assert [step["payments"] for step in plan.steps] == [3, 2]
    assert sum(step["amounts"]["EUR"] for step in plan.steps) == 5 * 5000 - 2000
    await applied(world, plan)
    assert (await applied(world, plan)).already
    async with a_worker(world.database, its_duties()):
        await until_none_waits(superuser, world, "('PLANNED', 'PENDING')")
    statuses = {(await world.payment(each)).status for each in evening}
    assert statuses == {Status.REFUNDED}
    states = await superuser.fetch(
        "SELECT state FROM refunds.refund WHERE organization_id = $1", world.organization.uuid
    )
    assert [row["state"] for row in states] == ["SUCCEEDED"] * 6
    refunds = [movement for movement in await moved(world) if movement.kind == "REFUND"]
    assert sum(each.amount_minor for each in refunds) == 5 * 5000


def its_duties() -> Duties:
    """All that hears of refunds, and no sweep that would see to other tests' payments."""
    jobs = (errands.refund, handlers.settled, handlers.not_settled, handlers.tell_of_failure, handlers.seen_to, cancel)
    subscriptions = [*PAYMENTS.subscriptions, *REFUNDS.subscriptions]
    mine = tuple(each for each in subscriptions if each.kind in jobs)
    facts = (*PAYMENTS.facts, *REFUNDS.facts)
    return duties_of([Module("refunds", jobs=jobs, subscriptions=mine, facts=facts)])


async def until_none_waits(superuser: asyncpg.Connection, world: World, states: str) -> None:
    left = f"SELECT count(*) FROM refunds.refund WHERE organization_id = $1 AND state IN {states}"
    await until(superuser, left, world.scope)


async def moved(world: World) -> list[Any]:
    page = await world.gateway.list_movements(Caller(), world.organization, None)
    return [*page.movements]  # type: ignore[union-attr]


async def test_a_cancellation_that_the_world_has_overtaken_does_nothing(world: World):
    evening = await a_stormy_evening(world, 3)
    plan = await planned(world, CANCELLATION, the_storm())
    await ask(world, evening[1], Piece("child", 1))
    with pytest.raises(PlanOvertaken):
        await applied(world, plan)
    assert await published(world, "refund.requested") == 1


@pytest.mark.covers("FIN-070")
async def test_of_what_changes_after_it_was_decided_the_rest_goes_back(world: World, superuser: asyncpg.Connection):
    evening, storm = await a_stormy_evening(world, 2), the_storm()
    await applied(world, await planned(world, CANCELLATION, storm))
    await ask(world, evening[0], Piece("child", 1))
    async with a_worker(world.database, its_duties()):
        await until_none_waits(superuser, world, "('PLANNED', 'PENDING')")
    assert await states_of_cancelled(world, superuser) == {evening[0].uuid: "OVERTAKEN", evening[1].uuid: "SUCCEEDED"}
    assert {(await world.payment(each)).status for each in evening} == {Status.REFUNDED}
    refunds = [movement.amount_minor for movement in await moved(world) if movement.kind == "REFUND"]
    assert sorted(refunds) == [1000, 4000, 5000]
    assert Account.REF not in await balances(world)
    seen = await world.database.read(world.scope, find_called_off, storm.cancellation_id)
    assert seen and dict(seen.refunds) == {"SUCCEEDED": 2}, "the rest stands for what was overtaken"


async def states_of_cancelled(world: World, superuser: asyncpg.Connection) -> dict[Any, str]:
    rows = await superuser.fetch(
        "SELECT payment_id, state FROM refunds.refund WHERE organization_id = $1 AND cancellation_id IS NOT NULL",
        world.organization.uuid,
    )
    return {row["payment_id"]: row["state"] for row in rows}


BANKS_ARE_QUICK = (
    "before it is planned",
    "before it is ordered",
    "before it is asked for",
    "before its rest is asked for",
)


@pytest.mark.covers("FIN-070", "FIN-074")
@pytest.mark.parametrize("when", BANKS_ARE_QUICK)
@pytest.mark.parametrize("end", ["win", "lose"])
async def test_what_a_bank_had_when_it_was_cancelled_goes_back_once_it_is_ours_again(
    world: World, superuser: asyncpg.Connection, when: str, end: str
):
    """Also of what had gone back in part: lost, the customer has it from the bank, and gets it once."""
    evening = await a_stormy_evening(world, 2)
    charge = (await world.payment(evening[0])).charge_id or ""

    async def befall(deed: str) -> None:
        world.simulator.act(deed, charge)
        await world.clerk.ask(world.organization, evening[0], Caller())

    async def a_part_goes_back() -> None:
        await see_to(world, await ask(world, evening[0], Piece("child", 1)))

    steps = BANKS_ARE_QUICK
    if when != steps[3]:
        await a_part_goes_back()
    if when == steps[0]:
        await befall("dispute")
    plan = await planned(world, CANCELLATION, the_storm())
    assert plan.steps[0]["disputed"] == (when == steps[0])
    await applied(world, plan)
    if when == steps[3]:
        await a_part_goes_back()
    if when == steps[1]:
        await befall("dispute")
    async with a_worker(world.database, duties(cancel)):
        await until_none_waits(superuser, world, "('PLANNED')")
    if when in steps[2:]:
        await befall("dispute")
    other = "SELECT count(*) FROM refunds.refund WHERE organization_id = $1 AND state IN ('PLANNED', 'PENDING')"
    async with a_worker(world.database, its_duties()), asyncio.timeout(60):
        while await superuser.fetchval(other, world.organization.uuid):
            await superuser.execute(SOONER, world.organization.uuid)
            await asyncio.sleep(0.05)
    stands = "FAILED" if when == steps[2] else "OVERTAKEN"
    assert await states_of_cancelled(world, superuser) == {evening[0].uuid: stands, evening[1].uuid: "SUCCEEDED"}
    assert (await world.payment(evening[0])).refunded_minor == 1000
    await befall(end)
    assert Subscription(DisputeRecorded, handlers.dispute_recorded) in REFUNDS.subscriptions
    for _ in range(2):
        await hear(world, handlers.dispute_recorded, DisputeRecorded(payment_id=evening[0]))
    async with a_worker(world.database, its_duties()):
        await until_none_waits(superuser, world, "('PLANNED', 'PENDING')")
    refunds = sorted(movement.amount_minor for movement in await moved(world) if movement.kind == "REFUND")
    assert refunds == ([1000, 4000, 5000] if end == "win" else [1000, 5000])
    assert (await world.payment(evening[0])).status is (Status.REFUNDED if end == "win" else Status.CHARGEBACK_LOST)


# -- At the edge


@pytest.mark.covers("FIN-071")
async def test_a_person_gives_back_for_a_reason_that_is_on_the_list(site: httpx.AsyncClient, world: World):
    payment = await a_sale_of(world, *TWO)
    path = f"/api/org/{world.organization}/payments/{payment}/refund"
    for reason in ("NO_SHOW", "DID_NOT_ATTEND", "GOODWILL", "ADMIN_OVERRIDE"):
        refused = await site.post(
            path, json={"reasonCode": reason, "idempotencyKey": "one"}, headers=world.owner.headers
        )
        assert (refused.status_code, refused.json()["errorCode"]) == (422, "REFUND_REASON_NOT_ALLOWED")
    body: dict[str, Any] = {"reasonCode": "TECHNICAL_PROBLEM", "pieces": [{"key": "adult", "quantity": 1}]}
    shown = await site.post(f"{path}/plan", json=body, headers=world.owner.headers)
    assert (shown.status_code, shown.json()["steps"][0]["amountMinor"]) == (200, 2000)
    given = await site.post(path, json=body | {"idempotencyKey": "one"}, headers=world.owner.headers)
    assert (given.status_code, given.json()["amountMinor"], given.json()["state"]) == (200, 2000, "PENDING")
    listed = await site.get(f"/api/org/{world.organization}/finance/refunds", headers=world.owner.headers)
    assert [each["refundId"] for each in listed.json()["items"]] == [given.json()["refundId"]]


@pytest.mark.covers("PAY-068")
async def test_whoever_runs_the_platform_gives_back_any_amount(
    site: httpx.AsyncClient, world: World, database: Database
):
    payment = await a_sale_of(world, *TWO)
    admin = await a_platform_admin(database)
    body = {"organization": str(world.organization), "paymentId": str(payment), "reasonCode": "GOODWILL"}
    body["idempotencyKey"] = "one"
    given = await site.post("/api/admin/payments/refund", json={**body, "amountMinor": 777}, headers=admin.headers)
    assert (given.status_code, given.json()["amountMinor"], given.json()["reason"]) == (200, 777, "ADMIN_OVERRIDE")
    assert (given.json()["state"], (await world.payment(payment)).refund_state.value) == ("PENDING", "PENDING")
    much = await site.post(
        "/api/admin/payments/refund", json={**body, "amountMinor": 4224, "idempotencyKey": "two"}, headers=admin.headers
    )
    assert much.json()["errorCode"] == "REFUND_TOO_MUCH"
    refused = await site.post("/api/admin/payments/refund", json=body, headers=world.owner.headers)
    assert refused.status_code == 403


@pytest.mark.covers("MOR-045")
async def test_while_the_provider_is_away_orders_wait_and_lose_no_attempt(world: World, superuser: asyncpg.Connection):
    payment = await a_sale_of(world, *TWO)
    away = NotSent(DependencyUnavailable(dependency="gateway:sandbox"))
    tries = "SELECT attempts FROM kernel.job WHERE organization_id = $1 AND kind = 'payments.refund'"
    with saying(world, refund=away) as provider:
        refund = await ask(world, payment)
        async with a_worker(world.database, its_duties()), asyncio.timeout(60):
            while len(provider.asked) < 5:
                await superuser.execute(SOONER, world.organization.uuid)
                await asyncio.sleep(0.05)
    assert await superuser.fetchval(tries, world.organization.uuid) == 0
    async with a_worker(world.database, its_duties()):
        await superuser.execute(SOONER, world.organization.uuid)
        await until_none_waits(superuser, world, "('PENDING')")
    assert (await found(world, refund)).state is RefundState.SUCCEEDED

"""What was paid for is handed over, once; what cannot be goes back, once; what was not paid stays here."""

import asyncio
from collections.abc import Sequence
from typing import Any

import asyncpg
import pytest

from admitone.finance.payments.api import Payment
from admitone.finance.payments.errors import FreeLimitReached
from admitone.finance.payments.facts import (
    ChargebackLost,
    ChargebackWon,
    PaymentPartlyRefunded,
    PaymentRefunded,
    PaymentSucceeded,
)
from admitone.finance.refunds.api import Reason, RefundId, Request, request_refunds
from admitone.finance.sales.rebuilding import rebuild
from admitone.finance.sources.api import PaymentId, Source, SourceType
from admitone.finance.sources.port import Guard, Line
from admitone.kernel import failpoints
from admitone.kernel.authority import FeatureDisabled
from admitone.kernel.db import Tx
from admitone.kernel.ids import uuid7
from admitone.kernel.scope import Caller
from admitone.selling.fulfilment.commands import fulfil
from admitone.selling.fulfilment.errors import NoRecipe, NotInLedger, NotPaid
from admitone.selling.fulfilment.model import LEDGER_STEP, Operation, Scenario, State, Wanted
from admitone.selling.fulfilment.port import RECIPES, Book, Purchase, Recipe, Step, Undeliverable
from tests.finance.lives import DISPUTE, LIVES, PAY, a_free_one, deed, live
from tests.finance.world import World
from tests.selling.fulfilment.booth import Booth, notes_of, operation_of, refunds_of, tell, tickets_of

TWO_LINES = (Line("adult", "Adults", 2000, 3), Line("child", "Children", 1000, 3))
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
STEPS = (LEDGER_STEP, "ISSUE_TICKETS", "APPLY_PROMO_REDEMPTION", "NOTIFY")


class PowerCut(Exception):
    """Whatever was under way is gone; what was committed is not."""


async def source_of(world: World, payment: PaymentId) -> Source:
    return (await world.payment(payment)).source


async def done(world: World, payment: PaymentId) -> Operation:
    operation = await operation_of(world, payment)
    assert operation is not None
    return operation


@pytest.mark.covers("FUL-010", "FUL-005")
async def test_two_lines_of_three_told_thrice_are_six_tickets_one_redemption_and_one_mail(world: World, booth: Booth):
    payment = await live(world, (PAY,), *TWO_LINES)
    for _ in range(2):
        await tell(world, PaymentSucceeded, payment)
    await tell(world, PaymentSucceeded, payment, payment, payment)
    assert await tickets_of(world, payment) == ["ACTIVE"] * 6
    assert await notes_of(world, payment) == ["mail", "promo"]
    operation = await done(world, payment)
    assert (operation.state, operation.scenario) == (State.DONE, Scenario.SINGLE)
    assert (operation.key, operation.steps) == (f"ISSUE_TICKETS:{payment}", STEPS)
    assert not await refunds_of(world, payment)
    assert booth.batches == [1]


@pytest.mark.covers("FUL-011")
async def test_what_costs_nothing_is_handed_over_without_a_processor_or_a_posting(world: World, booth: Booth):
    payment = await a_free_one(world)
    for _ in range(2):
        await tell(world, PaymentSucceeded, payment)
    assert await tickets_of(world, payment) == ["ACTIVE"]
    assert await notes_of(world, payment) == ["promo"]
    assert (await done(world, payment)).key == f"ISSUE_TICKETS_FREE:{payment}"
    assert not await world.transfers(payment)
    assert (await world.payment(payment)).charge_id is None


async def test_many_purchases_go_together(world: World, booth: Booth):
    payments = [await live(world, (PAY,)) for _ in range(3)] + [await a_free_one(world)]
    await tell(world, PaymentSucceeded, *payments, attempt=3)
    assert [await tickets_of(world, each) for each in payments] == [["ACTIVE"]] * 4
    assert [(await done(world, each)).attempts for each in payments] == [3] * 4
    assert booth.batches == [4]


async def test_however_many_go_together_as_many_statements_are_sent(world: World):
    """Four of ours, beside what the recipe sends: the payments, what was done, the ledger, the end."""

    async def nothing(tx: Tx, purchases: Sequence[Purchase]) -> Sequence[None]:
        return [None] * len(purchases)

    async def single(tx: Tx, payments: Sequence[Payment]) -> Sequence[Scenario]:
        return [Scenario.SINGLE] * len(payments)

    sent: list[str] = []

    async def counted(tx: Tx) -> None:
        for name in ("fetch", "execute"):
            setattr(tx, name, _noting(sent, getattr(tx, name)))
        await fulfil(tx, [Wanted(Caller(), each) for each in payments])

    book = Book(single, {Scenario.SINGLE: Recipe("ISSUE_TICKETS", (Step("ISSUE_TICKETS", nothing),))})
    with RECIPES.wired({SourceType.TICKET_ORDER: book}):
        for many in (1, 12):
            payments = [await live(world, (PAY,)) for _ in range(many)]
            await world.database.run(world.scope, counted, patient=True)
    assert len(sent) == 2 * 4


def _noting(sent: list[str], send: Any) -> Any:
    async def note(sql: str, *values: Any) -> Any:
        sent.append(sql)
        return await send(sql, *values)

    return note


@pytest.mark.covers("FUL-005")
async def test_whoever_works_at_the_same_time_hands_over_once(
    world: World, booth: Booth, superuser: asyncpg.Connection
):
    payments = [await live(world, (PAY,)) for _ in range(4)]

    async def until_somebody_comes() -> None:
        async with asyncio.timeout(30):
            while len(booth.batches) < 2 and not await superuser.fetchval(WAITING):  # noqa: ASYNC110  A lock tells nobody.
                await asyncio.sleep(0.01)

    booth.lingers = until_somebody_comes
    at_once = (tell(world, PaymentSucceeded, *payments[first:], *payments[:first]) for first in range(4))
    await asyncio.gather(*at_once)
    assert [await tickets_of(world, each) for each in payments] == [["ACTIVE"]] * 4
    assert [await notes_of(world, each) for each in payments] == [["mail", "promo"]] * 4
    assert booth.batches == [4]


# -- FUL-001: nothing before the money


@pytest.mark.covers("FUL-001")
@pytest.mark.parametrize(
    "life", [(), (deed("expire"),), (deed("cancel"),), LIVES["late"], LIVES["too little"]], ids=str
)
async def test_what_is_not_paid_is_not_handed_over_whatever_is_told(world: World, booth: Booth, life: tuple):
    payment = await live(world, life)
    with pytest.raises(NotPaid):
        await tell(world, PaymentSucceeded, payment)
    assert not await tickets_of(world, payment)
    assert await operation_of(world, payment) is None


@pytest.mark.covers("FUL-001")
async def test_a_payment_that_does_not_exist_hands_over_nothing(world: World, booth: Booth):
    with pytest.raises(NotPaid):
        await tell(world, PaymentSucceeded, PaymentId(uuid7()))


@pytest.mark.covers("FUL-001")
async def test_a_sale_that_is_shown_as_paid_hands_over_nothing_without_its_payment(
    world: World, booth: Booth, superuser: asyncpg.Connection
):
    payment = await live(world, (PAY,))
    await world.database.run(world.scope, lambda tx: rebuild(tx, {payment}, Caller()))
    await superuser.execute(
        "UPDATE payments.payment SET status = 'PROCESSING', applied = false WHERE id = $1", payment.uuid
    )
    with pytest.raises(NotPaid):
        await tell(world, PaymentSucceeded, payment)
    assert (
        await superuser.fetchval("SELECT status FROM sales.sale_summary WHERE payment_id = $1", payment.uuid)
        == "SUCCEEDED"
    )
    assert not await tickets_of(world, payment)


@pytest.mark.covers("FUL-001", "FIN-052")
async def test_what_the_ledger_does_not_have_is_handed_over_when_it_has(
    world: World, booth: Booth, superuser: asyncpg.Connection
):
    payment = await live(world, (PAY,))
    away = "UPDATE ledger.transfer SET payment_id = $2 WHERE payment_id = $1"
    await superuser.execute(away, payment.uuid, elsewhere := uuid7())
    with pytest.raises(NotInLedger):
        await tell(world, PaymentSucceeded, payment)
    assert not await tickets_of(world, payment)
    await superuser.execute(away, elsewhere, payment.uuid)
    await tell(world, PaymentSucceeded, payment)
    assert await tickets_of(world, payment) == ["ACTIVE"]


# -- The money went elsewhere before anybody came


@pytest.mark.parametrize("life", ["refunded", "lost"])
async def test_what_went_back_before_is_never_handed_over(world: World, booth: Booth, life: str):
    payment = await live(world, LIVES[life])
    for _ in range(2):
        await tell(world, PaymentSucceeded, payment)
    operation = await done(world, payment)
    assert (operation.state, operation.key, operation.refund_id) == (State.RETURNED, None, None)
    assert not await tickets_of(world, payment)
    assert not await refunds_of(world, payment)
    assert booth.batches == []


@pytest.mark.parametrize(
    ("deeds", "fact", "state", "tickets"),
    [
        ((deed("win"),), ChargebackWon, State.DONE, ["ACTIVE"]),
        ((deed("lose"),), ChargebackLost, State.RETURNED, []),
        ((deed("win"), deed("refund")), PaymentRefunded, State.RETURNED, []),
    ],
    ids=["won", "lost", "refunded"],
)
async def test_what_is_disputed_waits_until_it_is_decided(
    world: World, booth: Booth, deeds: tuple, fact: type, state: State, tickets: list[str]
):
    payment = await live(world, (PAY, DISPUTE))
    await tell(world, PaymentSucceeded, payment)
    assert (await done(world, payment)).state is State.OPEN
    assert not await tickets_of(world, payment)
    charge = (await world.payment(payment)).charge_id
    for name, options in deeds:
        world.simulator.act(name, charge, **options)
    await world.clerk.ask(world.organization, payment, world.buyer.caller)
    for _ in range(2):
        await tell(world, fact, payment)
    assert (await done(world, payment)).state is state
    assert await tickets_of(world, payment) == tickets


@pytest.mark.parametrize("fact", [ChargebackWon, ChargebackLost, PaymentRefunded, PaymentPartlyRefunded])
async def test_what_becomes_of_money_repeats_nothing_and_begins_nothing_unpaid(world: World, booth: Booth, fact: type):
    begun, unpaid = await live(world, (PAY,)), await live(world, ())
    await tell(world, PaymentSucceeded, begun)
    await tell(world, fact, begun, unpaid)
    assert await operation_of(world, unpaid) is None
    assert await notes_of(world, begun) == ["mail", "promo"]


@pytest.mark.covers("FUL-001")
@pytest.mark.parametrize("fact", [ChargebackWon, PaymentPartlyRefunded])
async def test_who_paid_has_it_also_if_the_end_of_it_is_all_that_is_told(world: World, booth: Booth, fact: type):
    payment = await live(world, (PAY,))
    for _ in range(2):
        await tell(world, fact, payment)
    await tell(world, PaymentSucceeded, payment)
    assert (await done(world, payment)).state is State.DONE
    assert await tickets_of(world, payment) == ["ACTIVE"]


async def test_of_what_was_refunded_in_part_the_rest_is_handed_over(world: World, booth: Booth):
    payment = await live(world, LIVES["refunded in two parts"])
    await tell(world, PaymentSucceeded, payment)
    assert (await done(world, payment)).state is State.DONE


async def test_what_is_free_and_what_is_paid_are_handed_over_by_one_step_together(world: World, booth: Booth):
    """Twice in one transaction it would lock orders while it holds their stock, and wait for who waits for it."""
    payments = [await live(world, (PAY,)), await a_free_one(world), await live(world, (PAY,))]
    await tell(world, PaymentSucceeded, *payments)
    assert booth.batches == [3]
    assert [await tickets_of(world, each) for each in payments] == [["ACTIVE"]] * 3
    assert [await notes_of(world, each) for each in payments] == [["mail", "promo"], ["promo"], ["mail", "promo"]]


# -- What cannot be delivered


@pytest.mark.covers("FUL-005", "PAY-064")
async def test_what_cannot_be_delivered_gives_the_money_back_once_and_the_others_are_served(world: World, booth: Booth):
    payment, other = await live(world, (PAY,), *TWO_LINES), await live(world, (PAY,))
    booth.out_of.add(await source_of(world, payment))
    for _ in range(2):
        await tell(world, PaymentSucceeded, payment, other)
    booth.out_of.clear()
    await tell(world, PaymentSucceeded, payment)
    operation = await done(world, payment)
    assert (operation.state, operation.reason, operation.steps) == (State.RETURNED, "SOLD_OUT", (LEDGER_STEP,))
    assert operation.refund_id is not None
    assert await refunds_of(world, payment) == [("NOT_DELIVERED", 9000)]
    assert not await tickets_of(world, payment)
    assert not await notes_of(world, payment)
    assert await tickets_of(world, other) == ["ACTIVE"]
    assert not await refunds_of(world, other)


async def test_what_cost_nothing_and_cannot_be_delivered_gives_nothing_back(world: World, booth: Booth):
    payment = await a_free_one(world)
    booth.out_of.add(await source_of(world, payment))
    await tell(world, PaymentSucceeded, payment)
    operation = await done(world, payment)
    assert (operation.state, operation.refund_id) == (State.RETURNED, None)
    assert not await refunds_of(world, payment)
    assert not await tickets_of(world, payment)


@pytest.mark.covers("FIN-082", "FUL-005")
@pytest.mark.parametrize("point", ["fulfilment.given_back", "fulfilment.recorded", "commit.before"])
async def test_what_cost_nothing_and_was_not_delivered_may_be_had_once_more_and_once_only(
    world: World, booth: Booth, point: str
):
    def sells() -> Source:
        return world.shop.sells(world.buyer.identity, 0, guards=(Guard("show-1 standing", 2, most=3),))

    def cut() -> None:
        raise PowerCut

    lost, source = (await world.begin(sells(), counted=True)).payment, sells()
    booth.out_of.add(lost.source)
    with pytest.raises(FreeLimitReached):
        await world.begin(source, counted=True)
    with failpoints.armed(point, cut), pytest.raises(PowerCut):
        await tell(world, PaymentSucceeded, lost.id)
    with pytest.raises(FreeLimitReached):
        await world.begin(source, counted=True)
    for _ in range(3):
        await tell(world, PaymentSucceeded, lost.id, lost.id)
    had = (await world.begin(source, counted=True)).payment
    for _ in range(2):
        await tell(world, PaymentSucceeded, had.id, lost.id)
    assert len(await tickets_of(world, had.id)) == 1
    with pytest.raises(FreeLimitReached):
        await world.begin(sells(), counted=True)


async def test_money_that_is_on_its_way_back_already_is_not_given_back_twice(world: World, booth: Booth):
    payment = await live(world, (PAY,))
    booth.out_of.add(await source_of(world, payment))
    by_hand = Request(world.owner.caller, payment, RefundId.new(), Reason.CANCELLED_BY_SELLER)
    await world.submit(request_refunds, by_hand)
    await tell(world, PaymentSucceeded, payment)
    operation = await done(world, payment)
    assert (operation.state, operation.refund_id) == (State.RETURNED, None)
    assert await refunds_of(world, payment) == [("CANCELLED_BY_SELLER", 5000)]


async def test_a_step_that_takes_back_what_was_promised_undoes_everything(world: World, booth: Booth):
    async def too_late(tx: object, purchases: list) -> list[Undeliverable]:
        return [Undeliverable("TOO_LATE") for _ in purchases]

    steps = (Step("ISSUE_TICKETS", booth.issue), Step("CONFIRM_PAIRING", too_late))
    book = Book(booth.scenario_of, {Scenario.SINGLE: Recipe("ISSUE_TICKETS", steps)})
    payment = await live(world, (PAY,))
    kind = (await source_of(world, payment)).type
    with RECIPES.wired({kind: book}), pytest.raises(AssertionError, match="CONFIRM_PAIRING"):
        await tell(world, PaymentSucceeded, payment)
    assert not await tickets_of(world, payment)
    assert not await refunds_of(world, payment)


# -- FUL-006: the matrix


@pytest.mark.covers("FUL-006")
def test_the_scenarios_are_those_of_the_matrix():
    assert [*Scenario] == [
        "SINGLE",
        "FREE",
        "RESALE",
        "GROUP_FULL",
        "GROUP_SPLIT",
        "GROUP_SPLIT_SECOND_CHARGE",
        "SUBSCRIPTION",
    ]


@pytest.mark.covers("FUL-006")
@pytest.mark.parametrize("scenario", [Scenario.RESALE, Scenario.FREE])
async def test_a_scenario_without_a_recipe_or_that_gives_away_what_has_a_price_is_refused(
    world: World, booth: Booth, scenario: Scenario
):
    payment = await live(world, (PAY,))
    booth.says[await source_of(world, payment)] = scenario
    with pytest.raises(NoRecipe):
        await tell(world, PaymentSucceeded, payment)
    assert not await tickets_of(world, payment)


@pytest.mark.covers("FUL-006")
async def test_what_nobody_sells_is_refused(world: World):
    payment = await live(world, (PAY,))
    with pytest.raises(NoRecipe):
        await tell(world, PaymentSucceeded, payment)


@pytest.mark.covers("FUL-016")
async def test_subscriptions_are_off_whoever_has_a_recipe_for_them(world: World, booth: Booth):
    payment = await live(world, (PAY,))
    source = await source_of(world, payment)
    booth.says[source] = Scenario.SUBSCRIPTION
    book = Book(
        booth.scenario_of,
        {**booth.book.recipes, Scenario.SUBSCRIPTION: Recipe("RENEW", booth.book.recipes[Scenario.SINGLE].steps)},
    )
    with RECIPES.wired({source.type: book}), pytest.raises(FeatureDisabled):
        await tell(world, PaymentSucceeded, payment)
    assert not await tickets_of(world, payment)


@pytest.mark.covers("FUL-006")
def test_a_book_has_one_recipe_for_each_scenario_and_a_recipe_each_step_once(booth: Booth):
    step = Step("ISSUE_TICKETS", booth.issue)
    for steps in ((), (step, step), (Step(LEDGER_STEP, booth.issue),)):
        with pytest.raises(TypeError):
            Recipe("ISSUE_TICKETS", steps)
    for word in ("issue", "", "A B", "X" * 65):
        with pytest.raises(TypeError):
            Step(word, booth.issue)
        with pytest.raises(TypeError):
            Undeliverable(word)
    twice = {each: Recipe("ISSUE_TICKETS", (step,)) for each in (Scenario.SINGLE, Scenario.FREE)}
    with pytest.raises(TypeError):
        Book(booth.scenario_of, twice)

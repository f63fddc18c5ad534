"""Payments by PIX through Mercado Pago and OpenPix: from the order to the books, whether or not the provider tells us."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import asyncpg
import httpx
import pytest

from admitone.entrypoints.duties import duties_of
from admitone.finance.gateways.api import Method, Provider
from admitone.finance.gateways.port import GATEWAYS, Gateways
from admitone.finance.ledger.api import Account, EntryType
from admitone.finance.payments import errors
from admitone.finance.payments.errands import ask_provider, expire
from admitone.finance.payments.errors import ProviderUnanswered
from admitone.finance.payments.facts import FACTS as PAYMENT_FACTS
from admitone.finance.payments.facts import PaymentIncomplete
from admitone.finance.payments.model import RefundState, Status
from admitone.finance.proof.model import Check
from admitone.finance.sources.api import PaymentId, Source, SourceType
from admitone.finance.webhooks.handlers.applying import apply
from admitone.finance.webhooks.handlers.mourning import tell
from admitone.finance.webhooks.handlers.resolving import resolve
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from admitone.kernel.ids import PLATFORM_ORGANIZATION, uuid7
from admitone.kernel.jobs import Delivered, Desk, Subscription
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.manifest import Module
from admitone.kernel.scope import Caller
from tests.finance.gateways.openpix.peer import signed
from tests.finance.gateways.pix_peer import Fault
from tests.finance.gateways.pix_stage import STAGES, PixStage
from tests.finance.gateways.stage import Webhook
from tests.finance.lives import FEES, PAY, live
from tests.finance.payments.telling import receipts, see_to_receipt
from tests.finance.payments.test_refunding import give_back, order
from tests.finance.proof.books import proved, red
from tests.finance.webhooks.ground import settled
from tests.finance.world import World, a_world
from tests.jobs import DEADLINE_SECONDS, a_worker

STAY = SourceType.STAY_RESERVATION
MINUTE = timedelta(minutes=1)


@dataclass
class Pix:
    """A world in which PIX goes through one of the two, and everything else through the sandbox."""

    world: World
    stage: PixStage
    site: httpx.AsyncClient

    async def begun(self, minor: int = 10_001) -> tuple[PaymentId, str]:
        """Somebody looks at a code; until it is paid, nobody has told us anything."""
        stay = self.world.shop.sells(self.world.buyer.identity, minor, type=STAY, currency="BRL")
        payment, charge = await self.world.opened(stay, method=Method.PIX)
        self.stage.peer.sent.clear()
        return payment, charge

    async def deliver(self, *webhooks: Webhook) -> list[httpx.Response]:
        return [await self.site.post(each.path, content=each.body, headers=dict(each.headers)) for each in webhooks]

    async def heard(self, payment: PaymentId, status: Status) -> None:
        """Everything that came goes through the worker, until the payment stands so."""
        module = Module(
            "test",
            jobs=(resolve, apply, tell, ask_provider),
            subscriptions=(Subscription(PaymentIncomplete, ask_provider),),
            facts=PAYMENT_FACTS,
        )
        async with a_worker(self.world.database, duties_of([module])), asyncio.timeout(DEADLINE_SECONDS):
            while (await self.world.payment(payment)).status is not status:  # noqa: ASYNC110  The worker tells nobody.
                await asyncio.sleep(0.02)

    async def sweep(self, after: timedelta) -> None:
        """As the schedule does, so much later."""
        firing = Firing("payments.expire", datetime.now(UTC) + after)
        job = Delivered(uuid7(), PLATFORM_ORGANIZATION, firing, Caller(), "key", None, 1, datetime.now(UTC))
        await expire.work(Desk(self.world.database, self.world.batcher), job)


@pytest.fixture(params=STAGES)
async def pix(
    request: pytest.FixtureRequest, database: Database, batcher: Batcher, site: httpx.AsyncClient
) -> AsyncIterator[Pix]:
    async with a_world(database, batcher) as world, STAGES[request.param](database) as stage:
        with GATEWAYS.wired(Gateways([stage.gateway, world.gateway])):
            yield Pix(world, stage, site)


@pytest.mark.covers("PAY-019", "PAY-050")
async def test_a_code_that_is_paid_and_told_of_is_in_the_books(pix: Pix):
    payment, charge = await pix.begun()
    await pix.stage.do("pay", charge)
    answers = await pix.deliver(*pix.stage.peer.sent)
    assert {answer.status_code for answer in answers} == {200}
    await pix.heard(payment, Status.SUCCEEDED)
    paid = await pix.world.payment(payment)
    assert (paid.provider, paid.captured_minor, paid.currency) == (pix.stage.gateway.provider, 10_001, "BRL")
    assert (EntryType.GROSS, Account.CASH, Account.DEP, 10_001) in await pix.world.transfers(payment)


async def test_what_is_told_twice_or_under_another_id_counts_once(pix: Pix):
    payment, charge = await pix.begun()
    await pix.stage.do("pay", charge)
    [webhook] = pix.stage.peer.sent
    again = webhook
    if pix.stage.gateway.provider is Provider.MERCADOPAGO:
        again = Webhook(webhook.path, webhook.headers, json.dumps(json.loads(webhook.body) | {"id": 999_999}).encode())
    first, second = await pix.deliver(webhook, again)
    assert "idempotency_hit" not in first.json()
    assert second.json()["idempotency_hit"]
    await pix.heard(payment, Status.SUCCEEDED)
    assert [entry for entry, *_ in await pix.world.transfers(payment)].count("GROSS") == 1


async def test_a_refund_that_somebody_made_over_there_is_heard_of(pix: Pix):
    payment, charge = await pix.begun()
    await pix.stage.do("pay", charge)
    await pix.deliver(*pix.stage.peer.sent)
    await pix.heard(payment, Status.SUCCEEDED)
    pix.stage.peer.sent.clear()
    await pix.stage.do("refund", charge, amount=4_000)
    await pix.deliver(*pix.stage.peer.sent)
    await pix.heard(payment, Status.PARTIAL_REFUND)
    assert (await pix.world.payment(payment)).refunded_minor == 4_000


@pytest.mark.parametrize("fault", [Fault.NONE, Fault.LOST, Fault.ERROR_AFTER])
async def test_two_refunds_of_one_amount_that_we_order_go_back_each_once(pix: Pix, fault: Fault):
    """Also where the list over there does not say which order made one, and where an answer is lost."""
    payment, charge = await pix.begun()
    await pix.stage.do("pay", charge)
    await pix.world.clerk.ask(pix.world.organization, payment, Caller())
    for number in range(2):
        refund = await order(pix.world, payment, 3_000)
        pix.stage.peer.faults = [fault] if number else []
        if number and fault is not Fault.NONE:
            with pytest.raises(ProviderUnanswered):
                await give_back(pix.world, payment, refund)
        for _ in range(2):
            await give_back(pix.world, payment, refund)
    await pix.world.clerk.ask(pix.world.organization, payment, Caller())
    left = await pix.world.payment(payment)
    assert (left.status, left.refunded_minor, left.refund_state) == (Status.PARTIAL_REFUND, 6_000, RefundState.NONE)
    assert pix.stage.peer.charges[charge].given_back == 6_000


async def test_an_event_of_the_other_mode_leaves_no_trace(pix: Pix):
    _, charge = await pix.begun()
    await pix.stage.do("pay", charge)
    [webhook] = pix.stage.peer.sent
    if pix.stage.gateway.provider is Provider.MERCADOPAGO:
        live = Webhook(webhook.path, webhook.headers, webhook.body.replace(b'"live_mode": false', b'"live_mode": true'))
    else:
        body = webhook.body.replace(b"TESTING", b"PRODUCTION")
        live = Webhook(webhook.path, signed(body, pix.stage.peer.key), body)
    [answer] = await pix.deliver(live)
    assert (answer.status_code, answer.json()["errorCode"]) == (400, "LIVEMODE_MISMATCH")


@pytest.mark.parametrize("provider", ["openpix"])
async def test_another_customers_charge_under_our_name_pays_for_nothing(
    database: Database, batcher: Batcher, site: httpx.AsyncClient, superuser: asyncpg.Connection, provider: str
):
    """They sign the events of all their customers with one key, and any of these may choose our correlation id."""
    async with a_world(database, batcher) as world, STAGES[provider](database) as stage:
        with GATEWAYS.wired(Gateways([stage.gateway, world.gateway])):
            pix = Pix(world, stage, site)
            payment, charge = await pix.begun()
            kept = stage.peer.charges[charge]
            truth = kept.id
            kept.id = uuid7().hex
            await stage.do("pay", charge)
            [webhook] = stage.peer.sent
            assert charge.encode() in webhook.body
            kept.id, kept.status, kept.paid_at = truth, "ACTIVE", None
            [answer] = await pix.deliver(webhook)
            assert answer.status_code == 200
            async with a_worker(database, duties_of([Module("test", jobs=(resolve, apply, tell))])):
                receipt = await settled(superuser, {"id": answer.json()["stripeEventId"]}, provider)
            assert receipt["state"] == "ORG_UNRESOLVED"
            assert (await world.payment(payment)).status is Status.PENDING


async def test_the_proof_compares_what_is_shown_and_counts_what_is_not(pix: Pix):
    """Neither shows books of its own: what came through them is red for nobody, and not called proved."""
    payment, charge = await pix.begun()
    await pix.stage.do("pay", charge)
    await pix.world.clerk.ask(pix.world.organization, payment, Caller())
    await live(pix.world, (PAY, FEES))
    findings = await proved(pix.world.database, pix.world.batcher, pix.world.organization)
    assert red(findings) == set()
    counts = findings[Check.PROVIDER].figures.counts
    assert min(counts["movements"], counts["transfers"], counts["notCompared"]) > 0


# -- When nobody tells


@pytest.mark.covers("PAY-054", "PAY-055")
async def test_a_code_that_was_paid_and_not_told_of_is_found_when_its_time_is_over(pix: Pix):
    payment, charge = await pix.begun()
    await pix.stage.do("pay", charge)
    for _ in range(2):
        await pix.sweep(16 * MINUTE)
    paid = await pix.world.payment(payment)
    assert (paid.status, paid.applied) == (Status.SUCCEEDED, True)
    assert [entry for entry, *_ in await pix.world.transfers(payment)].count("GROSS") == 1


@pytest.mark.covers("PAY-052", "PAY-055")
async def test_a_code_that_nobody_paid_ends_after_a_quarter_of_an_hour_there_and_here(pix: Pix):
    payment, charge = await pix.begun()
    asked = len(pix.stage.peer.received)
    await pix.sweep(14 * MINUTE)
    assert (await pix.world.payment(payment)).status is Status.PENDING
    assert len(pix.stage.peer.received) == asked
    for _ in range(2):
        await pix.sweep(16 * MINUTE)
    assert (await pix.world.payment(payment)).status is Status.EXPIRED
    kept = pix.stage.peer.charges.get(charge)
    assert kept is None or kept.status == "cancelled", "and the code cannot be paid any more"
    assert await pix.world.transfers(payment) == []


@pytest.mark.covers("PAY-055")
async def test_a_code_that_expired_over_there_is_expired_here(pix: Pix):
    payment, charge = await pix.begun()
    await pix.stage.do("expire", charge)
    await pix.sweep(16 * MINUTE)
    assert (await pix.world.payment(payment)).status is Status.EXPIRED


@pytest.mark.covers("PAY-053")
async def test_money_that_came_after_the_end_goes_back(pix: Pix):
    payment, charge = await pix.begun()
    await pix.stage.do("expire", charge)
    await pix.sweep(16 * MINUTE)
    await pix.stage.do("pay", charge, late=True)
    await pix.world.clerk.ask(pix.world.organization, payment, Caller())
    assert (await pix.world.payment(payment)).status is Status.NEEDS_MANUAL
    await see_to_receipt(pix.world, payment)
    assert [(minor, state) for _, minor, state in await receipts(pix.world, payment)] == [(10_001, "RETURNED")]
    assert (await pix.world.payment(payment)).status is Status.REFUNDED
    assert pix.stage.peer.charges[charge].given_back == 10_001


# -- Who takes what


async def test_an_organisations_own_sale_goes_to_whoever_has_its_account(pix: Pix):
    sale = await pix.world.begin(
        pix.world.shop.sells(pix.world.buyer.identity, 5_000, currency="BRL"), method=Method.PIX
    )
    assert (sale.payment.provider, bool(sale.payment.account)) == (Provider.SANDBOX, True)
    stay = pix.world.shop.sells(pix.world.buyer.identity, 5_000, type=STAY, currency="BRL")
    held = await pix.world.begin(stay, method=Method.PIX)
    assert (held.payment.provider, held.payment.account) == (pix.stage.gateway.provider, None)


async def test_where_nobody_has_an_account_only_the_platforms_own_is_sold(pix: Pix):
    def something(type: SourceType) -> Source:  # noqa: A002  The word of the domain.
        return pix.world.shop.sells(pix.world.buyer.identity, 5_000, currency="BRL", type=type)

    with GATEWAYS.wired(Gateways([pix.stage.gateway])):
        with pytest.raises(errors.GatewayKeyMissing):
            await pix.world.begin(something(SourceType.TICKET_ORDER), method=Method.PIX)
        with pytest.raises(errors.ConnectNotReady):
            await pix.world.begin(something(STAY), method=Method.PIX)
        begun = await pix.world.begin(something(SourceType.COUPON_CAMPAIGN), method=Method.PIX)
        assert begun.payment.provider is pix.stage.gateway.provider

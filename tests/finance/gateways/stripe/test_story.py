"""A sale through Stripe, from the checkout to the books: by its own words, through the one door."""

import asyncio
import itertools
import random
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.finance.gateways.api import Charge, FactKind, Provider
from admitone.finance.payments.commands.recording import record
from admitone.finance.payments.model import FeesStatus, PaymentMethod, Status, Told
from admitone.finance.proof.model import Check, Verdict
from admitone.kernel.batch import Batcher
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database
from admitone.kernel.errors import Refusal
from admitone.kernel.outbound import Outbound
from admitone.kernel.scope import Caller
from tests.finance.gateways.builders import sure
from tests.finance.gateways.stripe.fixtures import an_event, as_sent, signed_by_stripe
from tests.finance.gateways.stripe.stages import StripeStage, a_stage
from tests.finance.gateways.stripe.world import a_stripe_world, hear
from tests.finance.proof.books import AN_HOUR, proved, rolled
from tests.finance.webhooks.ground import at_work, hurry, settled
from tests.finance.world import World
from tests.jobs import DEADLINE_SECONDS

BACK = "http://127.0.0.1:8000/back"


@pytest.fixture
async def world(database: Database, batcher: Batcher, stage: StripeStage) -> AsyncIterator[World]:
    async with a_stripe_world(database, batcher, stage) as world:
        yield world


async def told(
    site: httpx.AsyncClient, stage: StripeStage, superuser: asyncpg.Connection, known: set[bytes], **how: Any
) -> None:
    """Whatever Stripe has not told yet comes to the door, and has had its effect."""
    for each in await stage.webhooks():
        if each.body not in known:
            known.add(each.body)
            answer = await site.post(each.path, content=each.body, headers=dict(each.headers))
            assert answer.status_code == 200, answer.text
    async with asyncio.timeout(DEADLINE_SECONDS):
        while await superuser.fetchval("SELECT count(*) FROM kernel.job WHERE kind LIKE 'webhooks.%'"):
            await hurry(superuser)
            await asyncio.sleep(0.02)


@pytest.mark.covers("FIN-064", "PAY-022", "PAY-033", "PAY-035", "PAY-036", "PAY-037", "FIN-060")
@pytest.mark.parametrize("return_url", [None, BACK], ids=["an intent", "a session"])
@pytest.mark.parametrize(
    ("deeds", "status", "entry"),
    [
        ([], Status.SUCCEEDED, "GROSS"),
        ([("refund", {"amount": 2000})], Status.PARTIAL_REFUND, "REFUND_GROSS"),
        ([("refund", {})], Status.REFUNDED, "REFUND_GROSS"),
        ([("dispute", {})], Status.DISPUTED, "DISPUTE_FUNDS_WITHDRAWN"),
        ([("dispute", {}), ("win", {})], Status.CHARGEBACK_WON, "DISPUTE_FUNDS_REINSTATED"),
        ([("dispute", {}), ("lose", {})], Status.CHARGEBACK_LOST, "CHARGEBACK_GROSS"),
    ],
)
async def test_what_stripe_tells_comes_through_the_door(
    world: World,
    stage: StripeStage,
    site: httpx.AsyncClient,
    superuser: asyncpg.Connection,
    database: Database,
    return_url: str | None,
    deeds: list[tuple[str, dict[str, Any]]],
    status: Status,
    entry: str,
):
    source = world.shop.sells(world.buyer.identity, 5000)
    payment, charge = await world.opened(source, return_url=return_url)
    known: set[bytes] = {each.body for each in await stage.webhooks()}
    async with at_work(database):
        await told(site, stage, superuser, known)
        for deed, how in (("pay", {}), *deeds):
            await stage.do(deed, charge, **how)
            await told(site, stage, superuser, known)
            if deed == "pay":
                assert (await world.payment(payment)).status is Status.SUCCEEDED
    # What may end a payment for good is not taken from one event: whoever hears it asks.
    await world.clerk.ask(world.organization, payment, Caller())
    ended = await world.payment(payment)
    assert (ended.status, ended.captured_minor, ended.method) == (status, 5000, PaymentMethod.CARD)
    entries = [each for each, *_ in await world.transfers(payment)]
    assert entries.count(entry) == entries.count("GROSS") == 1, entries


@pytest.mark.covers("PAY-030", "PAY-031", "PAY-032", "PAY-021", "PAY-033", "PAY-034")
@pytest.mark.parametrize(
    ("deed", "status"), [("authenticate", Status.SUCCEEDED), ("fail_authentication", Status.FAILED)]
)
async def test_a_card_whose_owner_must_prove_who_they_are(
    world: World,
    stage: StripeStage,
    site: httpx.AsyncClient,
    superuser: asyncpg.Connection,
    database: Database,
    deed: str,
    status: Status,
):
    """Made, asked for proof, proved or not: each is told twice, and at the end all of it once more and backwards."""
    payment, charge = await world.opened(world.shop.sells(world.buyer.identity, 5000))
    known: set[bytes] = set()
    seen = [(await world.payment(payment)).status]
    async with at_work(database):
        await told(site, stage, superuser, known)
        for each, how in (("pay", {"card": "asks"}), (deed, {})):
            seen.append((await world.payment(payment)).status)
            await stage.do(each, charge, **how)
            await told(site, stage, superuser, known)
            await told(site, stage, superuser, set())
        seen.append((await world.payment(payment)).status)
        before = await world.payment(payment), await world.transfers(payment)
        for webhook in reversed(await stage.webhooks()):
            event = stage.gateway.read(webhook.body, "stripe")
            if charge in {ref.id for ref in event.refs}:
                await world.submit(record, Told(Caller(), payment, Provider.STRIPE, event.refs, event.facts))
    assert seen == [Status.PENDING, Status.PENDING, Status.REQUIRES_ACTION, status]
    assert (await world.payment(payment), await world.transfers(payment)) == before
    kinds = {stage.gateway.read(each.body, "stripe").envelope.type for each in await stage.webhooks()}
    assert {"payment_intent.created", "payment_intent.requires_action"} <= kinds
    assert before[0].failed_attempts == (status is Status.FAILED)


@pytest.mark.covers("OPS-041", "PAY-023", "FIN-051")
async def test_in_whatever_order_stripe_tells_it_the_payment_ends_the_same(world: World, stage: StripeStage):
    payments = []
    for order in random.Random(1).sample([*itertools.permutations(range(4))], 8):
        payment, charge = await world.opened(world.shop.sells(world.buyer.identity, 5000), return_url=BACK)
        await stage.do("pay", charge, card="card_declined")
        await stage.do("pay", charge)
        await stage.do("refund", charge, amount=2_000)
        webhooks = [each for each in await stage.webhooks() if str(payment).encode() in each.body]
        assert len(webhooks) >= 4
        for place in order:
            event = stage.gateway.read(webhooks[place].body, "stripe")
            await world.submit(record, Told(Caller(), payment, Provider.STRIPE, event.refs, event.facts))
        await world.clerk.ask(world.organization, payment, Caller())
        payments.append(payment)
    ends = [
        (each.status, each.refunded_minor, each.failed_attempts) for each in [await world.payment(p) for p in payments]
    ]
    assert set(ends) == {(Status.PARTIAL_REFUND, 2_000, 1)}
    books = [await world.transfers(payment) for payment in payments]
    assert all(each == books[0] for each in books)


@pytest.mark.covers("PAY-018")
async def test_a_type_that_we_do_not_deal_with_is_kept_and_ignored(
    world: World, site: httpx.AsyncClient, superuser: asyncpg.Connection, database: Database
):
    event = an_event("customer.created", {"id": "cus_1"}, id="evt_nobody_knows")
    body = as_sent(event)
    async with at_work(database):
        for hit in (False, True):
            answer = await site.post("/api/webhooks/stripe", content=body, headers=signed_by_stripe(body))
            assert answer.status_code == 200
            assert answer.json().get("idempotency_hit", False) is hit
        kept = await settled(superuser, event, "stripe")
    assert kept["state"] == "IGNORED"


@pytest.mark.covers("FIN-061", "PAY-014")
async def test_what_is_forged_or_of_the_other_mode_is_not_even_kept(
    world: World, site: httpx.AsyncClient, superuser: asyncpg.Connection
):
    forged = as_sent(an_event("payment_intent.succeeded", {}, id="evt_forged"))
    live = as_sent(an_event("payment_intent.succeeded", {}, id="evt_live", livemode=True))
    cut = as_sent(an_event("payment_intent.succeeded", {}, id="evt_cut"))[:-5]
    for body, headers, code in (
        (forged, signed_by_stripe(forged, "whsec_forged"), "INVALID_SIGNATURE"),
        (live, signed_by_stripe(live), "LIVEMODE_MISMATCH"),
        (cut, signed_by_stripe(cut), "MALFORMED_REQUEST"),
    ):
        answer = await site.post("/api/stripe/webhook", content=body, headers=headers)
        assert (answer.status_code, answer.json()["errorCode"]) == (400, code), answer.text
    kept = "SELECT count(*) FROM webhooks.receipt WHERE external_id = ANY($1)"
    assert await superuser.fetchval(kept, ["evt_forged", "evt_live", "evt_cut"]) == 0


@pytest.mark.covers("FIN-042")
async def test_the_fee_is_stripes_own_and_final_when_it_is_known(world: World, stage: StripeStage):
    payment, charge = await world.opened(world.shop.sells(world.buyer.identity, 5000))
    await stage.do("pay", charge)
    await hear(world, stage, payment, charge)
    assert (await world.payment(payment)).processor_fees_status is FeesStatus.PENDING
    await stage.do("tell_fees", charge)
    await world.clerk.ask(world.organization, payment, Caller())
    final = await world.payment(payment)
    assert (final.processor_fees_status, final.processor_fees_actual) == (FeesStatus.FINAL, 100)
    await stage.do("adjust_fee", charge, amount=7)
    await world.clerk.ask(world.organization, payment, Caller())
    assert (await world.payment(payment)).processor_fees_actual == 107
    entries = [entry for entry, *_ in await world.transfers(payment)]
    assert (entries.count("PROCESSOR_FEES_FINAL"), entries.count("PROCESSOR_FEES_ADJUSTMENT")) == (1, 1)


@pytest.mark.covers("FIN-070")
async def test_what_stripe_gives_back_of_its_fee_with_a_refund_is_the_refunds(world: World, stage: StripeStage):
    """T5b: nobody bears what the processor did not keep."""
    stage.peer.gives_back = 100
    payment, charge = await world.opened(world.shop.sells(world.buyer.identity, 5000))
    for deed in ("pay", "tell_fees", "refund"):
        await stage.do(deed, charge)
    for _ in range(2):
        await world.clerk.ask(world.organization, payment, Caller())
    entries = [entry for entry, *_ in await world.transfers(payment)]
    assert entries.count("REFUND_PROCESSOR_FEES_REVERSAL") == 1
    assert "PROCESSOR_FEES_ADJUSTMENT" not in entries
    assert (await world.payment(payment)).processor_fees_actual == 0


@pytest.mark.covers("PAY-042", "PAY-006")
@pytest.mark.parametrize("fate", ["lost", "error_before", "busy", "gone"])
@pytest.mark.parametrize("return_url", [None, BACK], ids=["an intent", "a session"])
async def test_an_answer_that_never_came_is_made_up_for(
    world: World, stage: StripeStage, fate: str, return_url: str | None
):
    begun = await world.begin(world.shop.sells(world.buyer.identity, 5000), return_url=return_url)
    stage.peer.script = [fate]
    with pytest.raises(Refusal):
        await world.open(begun)
    await world.clerk.complete(world.organization, begun.payment.id, Caller())
    found = await world.payment(begun.payment.id)
    assert found.charge_id
    known = [each for each in stage.peer._intents() if each.metadata["payment_id"] == str(begun.payment.id)]
    assert len(known) == 1, "made once"


async def test_a_payment_that_nobody_paid_is_closed_at_stripe(world: World, stage: StripeStage):
    for return_url in (None, BACK):
        payment, charge = await world.opened(world.shop.sells(world.buyer.identity, 5000), return_url=return_url)
        assert await world.clerk.close(world.organization, payment, FactKind.EXPIRED, Caller())
        assert (await world.payment(payment)).status is Status.EXPIRED
        closed = sure(Charge, await stage.gateway.find_charge(Caller(), charge))
        assert closed.facts[-1].kind in ("CANCELLED", "EXPIRED")


async def test_stripes_books_and_ours_say_the_same(
    database_url: str, database: Database, batcher: Batcher, outbound: Outbound
):
    """An hour ago, so that nothing is in flight any more."""
    async with Database(database_url, clock=Clock(-AN_HOUR)) as old, a_stage(outbound) as stage:
        stage.peer.ahead = -AN_HOUR
        books = Batcher(old)
        async with a_stripe_world(old, books, stage) as world:
            stage.peer.gives_back = 25
            for deeds in (
                ["pay", "tell_fees"],
                ["pay", "tell_fees", "refund", "return_refund"],
                ["pay", "dispute", "win", "tell_fees"],
                ["pay", "tell_fees", "dispute", "lose"],
            ):
                for return_url in (None, BACK):
                    source = world.shop.sells(world.buyer.identity, 5000)
                    payment, charge = await world.opened(source, return_url=return_url)
                    for deed in deeds:
                        await stage.do(deed, charge)
                    await hear(world, stage, payment, charge)
                    await world.clerk.ask(world.organization, payment, Caller())
            await rolled(world)
            finding = (await proved(database, batcher, world.organization))[Check.PROVIDER]
            assert finding.verdict is Verdict.GREEN, finding.figures
            assert finding.figures.counts["movements"] >= 30
            assert finding.figures.counts["inFlight"] == 0
            _, charge = await world.opened(world.shop.sells(world.buyer.identity, 4321))
            await stage.do("pay", charge)
            late = (await proved(database, batcher, world.organization))[Check.PROVIDER]
            assert late.verdict is Verdict.RED, "what Stripe moved and we did not hear of is missing here"
        await books.drain()

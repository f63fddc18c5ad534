"""The adapter against somebody else's Stripe: of the suite, what `localstripe` can do, and its own webhooks.

It ignores keys, takes no Connect parameters, has no sessions, disputes, transfers or search, no fee but nought, and lets
more be refunded than was paid: all of that stands on our own peer, and on Stripe's test mode once there are keys.
"""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from admitone.finance.gateways.api import Charge, EventPage, FactKind, Refund, Topic
from admitone.kernel.outbound import Outbound
from admitone.kernel.scope import Caller
from tests.finance.gateways.builders import a_charge_order, a_refund_order, kinds, sure
from tests.finance.gateways.conformance import Conformance
from tests.finance.gateways.stage import Webhook, paid
from tests.finance.gateways.stripe.localstripe_stage import LocalStage, a_localstripe
from tests.finance.gateways.webhook_conformance import WebhookConformance
from tests.jobs import DEADLINE_SECONDS


@pytest.fixture(scope="module")
async def localstripe(outbound: Outbound) -> AsyncIterator[LocalStage]:
    async with a_localstripe(outbound) as stage:
        yield stage


class TestLocalstripe:
    """The same tests as for every provider, one by one."""

    @pytest.fixture
    def stage(self, localstripe: LocalStage) -> LocalStage:
        return localstripe

    test_a_charge_waits_for_its_customer = Conformance.test_a_charge_waits_for_its_customer
    test_a_card_that_asks = Conformance.test_a_card_that_asks_is_paid_when_its_owner_has_answered
    test_who_cannot_prove_who_they_are = Conformance.test_who_cannot_prove_who_they_are_has_failed
    test_what_was_captured_cannot_be_cancelled = Conformance.test_what_was_captured_cannot_be_cancelled_and_says_so
    test_cancelling_what_does_not_exist = Conformance.test_cancelling_what_does_not_exist_is_refused
    test_nothing_is_refunded_of_what_was_not_paid = Conformance.test_nothing_is_refunded_of_what_was_not_paid
    test_the_same_refund_again = Conformance.test_the_same_refund_again_is_the_same_refund
    test_a_payload_that_is_no_event = WebhookConformance.test_a_payload_that_is_no_event_is_malformed


async def test_declines_and_then_pays(localstripe: LocalStage):
    gateway = localstripe.gateway
    charge = sure(Charge, await gateway.open_charge(a_charge_order()))
    await localstripe.do("pay", charge.id, card="card_declined")
    declined = sure(Charge, await gateway.find_charge(Caller(), charge.id))
    assert kinds(declined) == [FactKind.PENDING, FactKind.FAILED]
    assert declined.facts[-1].code == "card_declined"
    assert declined.facts[-1].key == f"failed:{declined.refs[-1].id}"


async def test_refunds_are_told_with_their_orders_and_their_totals(localstripe: LocalStage):
    order, charge = await paid(localstripe)
    orders = [a_refund_order(order, charge, amount) for amount in (2_000, 3_000)]
    made = [sure(Refund, await localstripe.gateway.refund(each)) for each in orders]
    assert [(each.fact.order, each.fact.total_minor) for each in made] == [
        (str(orders[0].key), 2_000),
        (str(orders[1].key), 5_000),
    ]
    whole = sure(Charge, await localstripe.gateway.find_charge(Caller(), charge.id))
    assert {fact.key for fact in whole.facts if fact.kind is FactKind.REFUNDED} == {each.fact.key for each in made}
    [fee] = [fact for fact in whole.facts if fact.kind is FactKind.FEE]
    assert fee.amount_minor == 0


@pytest.mark.covers("PAY-011")
async def test_what_it_signs_is_believed_and_means_what_was_found(localstripe: LocalStage):
    order, charge = await paid(localstripe)
    mine: list[Webhook] = []
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not mine:
            await asyncio.sleep(0.05)
            mine = [each for each in await localstripe.webhooks() if charge.id.encode() in each.body]
    [webhook] = mine
    gateway, now = localstripe.gateway, datetime.now(UTC)
    envelope = gateway.verify(webhook.body, webhook.headers, webhook.path, now)
    assert envelope
    assert (envelope.type, envelope.livemode) == ("payment_intent.succeeded", False)
    event = gateway.read(webhook.body, envelope.source)
    assert (event.topic, event.payment, event.organization) == (Topic.CHARGE, order.payment, order.organization)
    assert {fact.key for fact in event.facts} == {fact.key for fact in charge.facts if fact.kind is not FactKind.FEE}
    assert gateway.verify(webhook.body + b" ", webhook.headers, webhook.path, now) is None
    assert gateway.verify(webhook.body, webhook.headers, webhook.path, now + timedelta(seconds=330)) is None
    page = sure(EventPage, await gateway.list_events(Caller(), None, now - timedelta(hours=1)))
    assert event.envelope.id in {gateway.open_envelope(each, "stripe").id for each in page.payloads}

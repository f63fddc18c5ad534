"""What every provider's adapter must do with what its provider tells by itself, and with its books: webhooks, the list of
events, movements.

A test module that inherits `Conformance` inherits this, too.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from admitone.finance.gateways.api import (
    Ability,
    Account,
    Charge,
    MovementKind,
    Topic,
)
from admitone.kernel.errors import Malformed
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Caller
from tests.finance.gateways.builders import (
    a_refund_order,
    an_account_order,
    sure,
)
from tests.finance.gateways.stage import (
    CONNECT,
    YESTERDAY,
    Kind,
    Stage,
    all_events,
    all_movements,
    needs,
    paid,
    recognise,
)


class WebhookConformance:
    """The suite."""

    async def test_the_list_of_events_has_everything_that_webhooks_told(self, stage: Stage):
        needs(stage, Ability.EVENTS)
        began = datetime.now(UTC) - YESTERDAY
        order, charge = await paid(stage)
        await stage.do("tell_fees", charge.id)
        await stage.gateway.refund(a_refund_order(order, charge, 5_000))
        account = sure(Account, await stage.gateway.open_account(an_account_order()))
        await stage.do("complete", account.id)
        listens = Ability.ACCOUNT_EVENTS in stage.gateway.abilities
        told = {each.body for each in await stage.webhooks() if listens or each.path != CONNECT}
        listed = await all_events(stage.gateway, began)
        assert told <= set(listed)
        assert len(listed) == len(set(listed))
        read = [stage.gateway.read(payload, stage.gateway.provider) for payload in listed]
        updated = [event for event in read if event.account and event.account.id == account.id]
        assert bool(updated) is (Ability.ACCOUNT_EVENTS in stage.gateway.abilities)
        assert all(each.envelope.source != stage.gateway.provider for each in updated), "they came on the other route"
        assert await all_events(stage.gateway, datetime.now(UTC) + YESTERDAY) == []

    async def test_its_books_say_what_its_facts_say(self, stage: Stage):
        needs(stage, Ability.MOVEMENTS)
        organization = OrganizationId.new()
        order, charge = await paid(stage, organization=organization)
        await stage.do("tell_fees", charge.id)
        await stage.do("adjust_fee", charge.id, amount=-3)
        await stage.gateway.refund(a_refund_order(order, charge, 1_000))
        await stage.do("dispute", charge.id, amount=4_000)
        await stage.do("win", charge.id)
        facts = sure(Charge, await stage.gateway.find_charge(Caller(), charge.id)).facts
        moved = await all_movements(stage.gateway, organization)
        assert [(each.kind, each.reference, each.amount_minor) for each in moved] == list(booked(facts))
        assert {(each.payment, each.organization, each.currency) for each in moved} == {
            (order.payment, organization, "EUR")
        }
        assert [each.at for each in moved] == sorted(each.at for each in moved)
        assert await all_movements(stage.gateway, OrganizationId.new()) == []

    # -- Webhooks

    @pytest.mark.covers("PAY-011")
    async def test_a_webhook_counts_on_its_own_route_and_while_it_is_fresh(self, stage: Stage):
        await paid(stage)
        verify, now = stage.gateway.verify, datetime.now(UTC)
        webhook = (await stage.webhooks())[-1]
        envelope = await recognise(stage, webhook)
        assert envelope
        assert envelope.livemode is stage.gateway.livemode
        assert envelope.id
        assert verify(webhook.body, webhook.headers, CONNECT, now) is None
        assert verify(webhook.body, {}, webhook.path, now) is None
        assert ("body" in stage.signs) == (verify(webhook.body + b" ", webhook.headers, webhook.path, now) is None)
        for late in (timedelta(seconds=-330), timedelta(seconds=330)):
            stale = verify(webhook.body, webhook.headers, webhook.path, now + late)
            assert ("time" in stage.signs) == (stale is None)

    async def test_an_event_of_a_type_that_we_do_not_deal_with_means_nothing(self, stage: Stage):
        await paid(stage)
        webhook = (await stage.webhooks())[-1]
        strange = msgspec.json.decode(webhook.body)
        strange["event" if "event" in strange else "type"] = "customer.created"
        event = stage.gateway.read(msgspec.json.encode(strange), stage.gateway.provider)
        assert (event.topic, event.facts) == (Topic.NOTHING, ())

    @pytest.mark.parametrize("payload", [b"", b"{", b"[]", b"null", b'{"id": 1}', b"\xff\xfe"])
    async def test_a_payload_that_is_no_event_is_malformed(self, stage: Stage, payload: bytes):
        with pytest.raises(Malformed):
            stage.gateway.read(payload, stage.gateway.provider)


def booked(facts: Any) -> Any:
    """The rows that a provider's books must have for these facts."""
    for fact in facts:
        match fact.kind:
            case Kind.CAPTURED:
                yield MovementKind.CHARGE, fact.reference, fact.amount_minor
            case Kind.FEE | Kind.FEE_ADJUSTMENT:
                yield MovementKind.FEE, fact.reference, fact.amount_minor
            case Kind.REFUNDED:
                yield MovementKind.REFUND, fact.reference, fact.amount_minor
            case Kind.DISPUTE_OPENED:
                yield MovementKind.DISPUTE, fact.reference, fact.amount_minor
                yield MovementKind.DISPUTE_FEE, fact.reference, fact.fee_minor
            case Kind.DISPUTE_WON:
                yield MovementKind.DISPUTE_RETURNED, fact.reference, fact.amount_minor
                yield MovementKind.DISPUTE_FEE_RETURNED, fact.reference, fact.fee_minor

"""What every provider's adapter must do, whichever provider it is (PAY-050).

A test module gives a fixture `stage` and inherits `Conformance`, `WebhookConformance` and, where there are disputes,
`DisputeConformance`. What is about cards is asked of those who take them, what is an `Ability` of those who have it;
whoever has it not says so (`NOT_OFFERED`).
"""

import asyncio
from datetime import UTC, datetime
from uuid import uuid4

import msgspec
import pytest

from admitone.finance.gateways.api import (
    NOT_OFFERED,
    Ability,
    Account,
    AccountLink,
    Charge,
    FactKind,
    HandedOn,
    Method,
    MovementKind,
    NotSent,
    ObjectType,
    Payout,
    PayoutStatus,
    Refund,
    Refused,
    Topic,
    Unknown,
)
from admitone.finance.gateways.brcode import BrCode
from admitone.finance.sources.api import SettlementModel
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Caller
from tests.finance.gateways.builders import (
    a_charge_order,
    a_hand_on_order,
    a_payout_order,
    a_refund_order,
    an_account_order,
    an_evidence_order,
    kinds,
    sure,
)
from tests.finance.gateways.stage import (
    Kind,
    Stage,
    all_movements,
    an_order,
    an_order_by_pix,
    by_key,
    facts_of,
    needs,
    needs_cards,
    paid,
    read_webhooks,
    sold,
    takes_cards,
)


class Conformance:
    """The suite."""

    # -- Opening and finding

    @pytest.mark.covers("PAY-050")
    async def test_a_charge_waits_for_its_customer(self, stage: Stage):
        order = an_order(stage)
        charge = sure(Charge, await stage.gateway.open_charge(order))
        [pending] = charge.facts
        assert (pending.kind, pending.amount_minor, pending.currency) == (Kind.PENDING, 5_000, order.currency)
        if takes_cards(stage):
            assert charge.refs[0].type is ObjectType.INTENT
            assert charge.client_secret or charge.redirect_url, "the customer can go on, here or there"
            assert charge.pix is None

    @pytest.mark.covers("PAY-050")
    async def test_the_same_order_again_is_the_same_charge(self, stage: Stage):
        order = an_order(stage)
        first = await stage.gateway.open_charge(order)
        again = await asyncio.gather(*(stage.gateway.open_charge(order) for _ in range(5)))
        assert all(each == first for each in again)

    async def test_the_same_key_for_another_order_is_refused(self, stage: Stage):
        order = an_order(stage)
        charge = sure(Charge, await stage.gateway.open_charge(order))
        other = msgspec.structs.replace(order, amount_minor=6_000)
        refused = sure(Refused, await stage.gateway.open_charge(other))
        assert refused.code
        found = sure(Charge, await stage.gateway.find_ordered(order))
        assert (found.id, found.facts[0].amount_minor) == (charge.id, 5_000)

    async def test_a_charge_is_found_by_its_id_and_by_its_order(self, stage: Stage):
        order = an_order(stage)
        charge = sure(Charge, await stage.gateway.open_charge(order))
        assert await stage.gateway.find_charge(Caller(), charge.id) == charge
        assert await stage.gateway.find_ordered(order) == charge

    async def test_what_was_never_ordered_is_not_found(self, stage: Stage):
        assert await stage.gateway.find_charge(Caller(), "pi_0000000000000000") is None
        assert await stage.gateway.find_ordered(an_order(stage)) is None

    async def test_an_order_that_cannot_be_is_refused_and_makes_nothing(self, stage: Stage):
        order = a_charge_order(application_fee_minor=6_000)
        sure(Refused, await stage.gateway.open_charge(order))
        assert await stage.gateway.find_ordered(order) is None

    async def test_a_charge_for_an_account_that_nobody_knows_is_refused(self, stage: Stage):
        sure(Refused, await stage.gateway.open_charge(a_charge_order(account="acct_0000000000000000")))

    # -- Paying

    async def test_money_is_captured_once_and_told_by_every_way_alike(self, stage: Stage):
        order, charge = await paid(stage)
        [captured] = [fact for fact in charge.facts if fact.kind is Kind.CAPTURED]
        assert (captured.amount_minor, captured.currency) == (5_000, order.currency)
        assert captured.key == f"captured:{captured.reference}"
        events = await read_webhooks(stage, charge)
        told = by_key(fact for event in events for fact in event.facts)
        assert told == by_key(charge.facts)
        assert {event.topic for event in events} == {Topic.CHARGE}
        if takes_cards(stage):
            assert {"payment_intent.created", "payment_intent.succeeded"} <= {event.envelope.type for event in events}
            assert {(event.payment, event.organization) for event in events} == {(order.payment, order.organization)}

    async def test_a_declined_card_may_be_followed_by_a_good_one(self, stage: Stage):
        needs_cards(stage)
        charge = sure(Charge, await stage.gateway.open_charge(a_charge_order()))
        await stage.do("pay", charge.id, card="card_declined")
        await stage.do("pay", charge.id, card="insufficient_funds")
        declined = sure(Charge, await stage.gateway.find_charge(Caller(), charge.id))
        assert kinds(declined) == [Kind.PENDING, Kind.FAILED, Kind.FAILED]
        assert [fact.code for fact in declined.facts[1:]] == ["card_declined", "insufficient_funds"]
        assert len({fact.key for fact in declined.facts}) == 3, "the second failure is another one (U-35)"
        await stage.do("pay", charge.id)
        assert kinds(await stage.gateway.find_charge(Caller(), charge.id))[-1] is Kind.CAPTURED

    async def test_a_card_that_asks_is_paid_when_its_owner_has_answered(self, stage: Stage):
        needs_cards(stage)
        charge = sure(Charge, await stage.gateway.open_charge(a_charge_order()))
        await stage.do("pay", charge.id, card="asks")
        assert kinds(await stage.gateway.find_charge(Caller(), charge.id))[-1] is Kind.REQUIRES_ACTION
        await stage.do("authenticate", charge.id)
        paid = kinds(await stage.gateway.find_charge(Caller(), charge.id))
        # That it had asked need not be known any more; what it cost may be at once.
        assert [kind for kind in paid if kind not in (Kind.REQUIRES_ACTION, Kind.FEE)] == [Kind.PENDING, Kind.CAPTURED]

    async def test_who_cannot_prove_who_they_are_has_failed(self, stage: Stage):
        needs_cards(stage)
        charge = sure(Charge, await stage.gateway.open_charge(a_charge_order()))
        await stage.do("pay", charge.id, card="asks")
        await stage.do("fail_authentication", charge.id)
        failed = sure(Charge, await stage.gateway.find_charge(Caller(), charge.id)).facts[-1]
        assert (failed.kind, "authentication" in failed.code) == (Kind.FAILED, True)

    async def test_a_slow_bank_is_waited_for(self, stage: Stage):
        needs_cards(stage)
        charge = sure(Charge, await stage.gateway.open_charge(a_charge_order()))
        await stage.do("pay", charge.id, card="slow")
        assert kinds(await stage.gateway.find_charge(Caller(), charge.id))[-1] is Kind.PROCESSING
        await stage.do("clear", charge.id)
        assert kinds(await stage.gateway.find_charge(Caller(), charge.id))[-1] is Kind.CAPTURED

    async def test_a_session_that_is_completed_is_paid_only_when_it_says_so(self, stage: Stage):
        needs_cards(stage)
        order = a_charge_order(return_url="http://127.0.0.1:8000/back")
        charge = sure(Charge, await stage.gateway.open_charge(order))
        assert {ref.type for ref in charge.refs} in ({ObjectType.INTENT, ObjectType.SESSION}, {ObjectType.SESSION})
        assert charge.redirect_url
        await stage.do("pay", charge.id, card="slow")
        before = await read_webhooks(stage, charge)
        await stage.do("clear", charge.id)
        completed = [event for event in before if event.envelope.type == "checkout.session.completed"]
        assert len(completed) == 1
        assert Kind.CAPTURED not in {fact.kind for fact in completed[0].facts}
        assert kinds(await stage.gateway.find_charge(Caller(), charge.id))[-1] is Kind.CAPTURED

    # -- Closing

    @pytest.mark.covers("PAY-050")
    async def test_a_charge_that_is_cancelled_stays_so(self, stage: Stage):
        charge = sure(Charge, await stage.gateway.open_charge(an_order(stage)))
        cancelled = sure(Charge, await stage.gateway.cancel_charge(Caller(), charge.id))
        assert kinds(cancelled) == [Kind.PENDING, Kind.CANCELLED]
        again, found = (
            await stage.gateway.cancel_charge(Caller(), charge.id),
            await stage.gateway.find_charge(Caller(), charge.id),
        )
        if stage.keeps_cancelled:
            assert again == found == cancelled
        else:
            sure(Refused, again)
            assert found is None

    async def test_what_was_captured_cannot_be_cancelled_and_says_so(self, stage: Stage):
        _, charge = await paid(stage)
        assert await stage.gateway.cancel_charge(Caller(), charge.id) == charge
        assert Kind.CAPTURED in kinds(charge)

    async def test_cancelling_what_does_not_exist_is_refused(self, stage: Stage):
        sure(Refused, await stage.gateway.cancel_charge(Caller(), "pi_0000000000000000"))

    async def test_a_session_expires(self, stage: Stage):
        needs_cards(stage)
        charge = sure(Charge, await stage.gateway.open_charge(a_charge_order(return_url="http://127.0.0.1:8000/x")))
        await stage.do("expire", charge.id)
        expired = sure(Charge, await stage.gateway.find_charge(Caller(), charge.id))
        assert kinds(expired) == [Kind.PENDING, Kind.EXPIRED]
        [event] = [e for e in await read_webhooks(stage, charge) if e.envelope.type == "checkout.session.expired"]
        assert by_key(event.facts) == by_key(expired.facts)

    # -- PIX

    @pytest.mark.covers("PAY-050")
    async def test_a_pix_charge_has_a_code_to_be_paid_with(self, stage: Stage):
        assert Method.PIX in stage.gateway.methods
        order = an_order_by_pix(stage)
        charge = sure(Charge, await stage.gateway.open_charge(order))
        assert charge.refs[0].type in (ObjectType.PIX, ObjectType.INTENT)
        assert charge.pix
        code = BrCode.decode(charge.pix.copy_paste)
        assert (code.amount_minor, charge.pix.expires_at) == (5_000, order.expires_at.replace(microsecond=0))
        await stage.do("pay", charge.id)
        captured = sure(Charge, await stage.gateway.find_charge(Caller(), charge.id))
        assert [kind for kind in kinds(captured) if kind is not Kind.FEE] == [Kind.PENDING, Kind.CAPTURED]
        event = (await read_webhooks(stage, charge))[-1]
        assert by_key(event.facts) == by_key(captured.facts)

    async def test_pix_in_another_currency_is_refused(self, stage: Stage):
        sure(Refused, await stage.gateway.open_charge(an_order_by_pix(stage, currency="EUR")))

    @pytest.mark.parametrize(("deed", "ends"), [("expire", Kind.EXPIRED), ("cancel", Kind.CANCELLED)])
    async def test_a_pix_charge_ends_unpaid(self, stage: Stage, deed: str, ends: FactKind):
        if deed == "cancel" and not stage.keeps_cancelled:
            pytest.skip(f"{stage.gateway.provider} does not tell what was cancelled")
        charge = sure(Charge, await stage.gateway.open_charge(an_order_by_pix(stage)))
        await stage.do(deed, charge.id)
        ended = sure(Charge, await stage.gateway.find_charge(Caller(), charge.id))
        assert kinds(ended) == [Kind.PENDING, ends]
        assert (await read_webhooks(stage, charge))[-1].facts == ended.facts

    # -- Refunds

    async def test_refunds_add_up_to_what_was_paid_and_no_further(self, stage: Stage):
        order, charge = await paid(stage)
        first = sure(Refund, await stage.gateway.refund(a_refund_order(order, charge, 2_000)))
        second = sure(Refund, await stage.gateway.refund(a_refund_order(order, charge, 3_000)))
        assert [(each.fact.amount_minor, each.fact.total_minor) for each in (first, second)] == [
            (2_000, 2_000),
            (3_000, 5_000),
        ]
        sure(Refused, await stage.gateway.refund(a_refund_order(order, charge, 1)))
        charge = sure(Charge, await stage.gateway.find_charge(Caller(), charge.id))
        refunded = [fact for fact in charge.facts if fact.kind is Kind.REFUNDED]
        assert [fact.key for fact in refunded] == [f"refunded:{first.id}", f"refunded:{second.id}"]

    async def test_the_same_refund_again_is_the_same_refund(self, stage: Stage):
        order, charge = await paid(stage)
        refund = a_refund_order(order, charge, 1_000)
        assert await stage.gateway.find_refund(refund) is None
        made = sure(Refund, await stage.gateway.refund(refund))
        assert made.fact.order == str(refund.key)
        assert await stage.gateway.refund(refund) == made
        [told] = [fact for fact in await facts_of(stage, charge) if fact.kind is Kind.REFUNDED]
        if told.order:
            assert told == made.fact
            assert await stage.gateway.find_refund(refund) == made
        else:
            assert await stage.gateway.find_refund(refund) is None, "who cannot say which order it was has it repeated"
        sure(Refused, await stage.gateway.refund(msgspec.structs.replace(refund, amount_minor=2_000)))

    async def test_more_than_was_paid_cannot_be_refunded(self, stage: Stage):
        order, charge = await paid(stage)
        sure(Refused, await stage.gateway.refund(a_refund_order(order, charge, 5_001)))
        assert Kind.REFUNDED not in kinds(await stage.gateway.find_charge(Caller(), charge.id))

    async def test_nothing_is_refunded_of_what_was_not_paid(self, stage: Stage):
        order = an_order(stage)
        charge = sure(Charge, await stage.gateway.open_charge(order))
        sure(Refused, await stage.gateway.refund(a_refund_order(order, charge, 100)))

    async def test_a_refund_first_heard_of_by_webhook_proves_the_capture(self, stage: Stage):
        order, charge = await paid(stage)
        await stage.do("tell_fees", charge.id)
        await stage.gateway.refund(a_refund_order(order, charge, 2_000))
        whole = sure(Charge, await stage.gateway.find_charge(Caller(), charge.id))
        events = await read_webhooks(stage, charge)
        event = [e for e in events if e.envelope.type == "charge.refunded" or not takes_cards(stage)][-1]
        told = by_key(event.facts)
        assert {fact.kind for fact in event.facts} - {Kind.PENDING} == {Kind.CAPTURED, Kind.FEE, Kind.REFUNDED}
        assert told.items() <= by_key(whole.facts).items()

    async def test_a_refund_that_takes_its_time_arrives_or_comes_back(self, stage: Stage):
        _, charge = await paid(stage)
        await stage.do("refund", charge.id, amount=1_000, pending=True)
        assert kinds(await stage.gateway.find_charge(Caller(), charge.id))[-1] is Kind.REFUND_PENDING
        await stage.do("fail_refund", charge.id)
        failed = sure(Charge, await stage.gateway.find_charge(Caller(), charge.id)).facts[-1]
        assert (failed.kind, failed.amount_minor, bool(failed.code)) == (Kind.REFUND_FAILED, 1_000, True)
        await stage.do("refund", charge.id, amount=5_000, pending=True)
        await stage.do("settle_refund", charge.id)
        arrived = sure(Charge, await stage.gateway.find_charge(Caller(), charge.id)).facts[-1]
        assert (arrived.kind, arrived.total_minor) == (Kind.REFUNDED, 5_000)

    async def test_a_refund_that_had_arrived_comes_back(self, stage: Stage):
        needs_cards(stage)
        organization = OrganizationId.new()
        order, charge = await paid(stage, organization=organization)
        refund = sure(Refund, await stage.gateway.refund(a_refund_order(order, charge, 2_000)))
        await stage.do("return_refund", charge.id)
        whole = sure(Charge, await stage.gateway.find_charge(Caller(), charge.id))
        assert kinds(whole)[-2:] == [Kind.REFUNDED, Kind.REFUND_FAILED]
        arrived, failed = whole.facts[-2:]
        assert (failed.reference, failed.amount_minor, bool(failed.code)) == (refund.id, 2_000, True)
        assert failed.at > arrived.at
        [event] = [e for e in await read_webhooks(stage, charge) if e.envelope.type == "charge.refund.updated"]
        assert [fact.key for fact in event.facts] == [arrived.key, failed.key]
        assert event.facts[-1] == failed
        moved = [(each.kind, each.amount_minor) for each in await all_movements(stage.gateway, organization)]
        assert moved[1:] == [(MovementKind.REFUND, 2_000), (MovementKind.REFUND_RETURNED, 2_000)]
        again = sure(Refund, await stage.gateway.refund(a_refund_order(order, charge, 5_000)))
        assert again.fact.total_minor == 5_000, "it can be given back once more"

    # -- Whose the money is

    @pytest.mark.covers("FIN-005")
    async def test_a_charge_for_an_account_goes_there_less_the_platforms_fee(self, stage: Stage):
        needs(stage, Ability.ACCOUNTS)
        owner = an_account_order()
        account = sure(Account, await stage.gateway.open_account(owner))
        order = a_charge_order(account=account.id, organization=owner.organization, application_fee_minor=300)
        sure(Refused, await stage.gateway.open_charge(order))
        await stage.do("complete", account.id)
        order, charge = await paid(stage, account=account.id, organization=owner.organization)
        first = a_refund_order(order, charge, 2_000, application_fee_minor=120)
        sure(Refund, await stage.gateway.refund(first))
        sure(Refund, await stage.gateway.refund(a_refund_order(order, charge, 1_000, reverse_transfer=False)))
        sure(Refused, await stage.gateway.refund(a_refund_order(order, charge, 500, application_fee_minor=181)))
        moved = await all_movements(stage.gateway, owner.organization)
        assert [(each.kind, each.amount_minor) for each in moved] == [
            (MovementKind.CHARGE, 5_000),
            (MovementKind.TRANSFER, 5_000),
            (MovementKind.APPLICATION_FEE, 300),
            (MovementKind.REFUND, 2_000),
            (MovementKind.TRANSFER_REVERSED, 2_000),
            (MovementKind.APPLICATION_FEE_REFUNDED, 120),
            (MovementKind.REFUND, 1_000),
        ]
        assert len({each.id for each in moved}) == len(moved)
        assert {each.payment for each in moved} == {order.payment}

    @pytest.mark.covers("FIN-005")
    async def test_what_an_account_gave_for_a_refund_that_comes_back_goes_there_again_once(self, stage: Stage):
        needs(stage, Ability.ACCOUNTS)
        order, charge = await sold(stage)
        first = a_refund_order(order, charge, 2_000, application_fee_minor=120)
        refund = sure(Refund, await stage.gateway.refund(first))
        again = a_hand_on_order(order, charge, refund.id)
        assert sure(Refused, await stage.gateway.hand_on(again)).code == "refund_not_returned"
        await stage.do("return_refund", charge.id)
        facts = sure(Charge, await stage.gateway.find_charge(Caller(), charge.id)).facts
        too_much = a_hand_on_order(order, charge, refund.id, amount_minor=2_001)
        assert sure(Refused, await stage.gateway.hand_on(too_much)).code == "amount_too_large"
        made = await asyncio.gather(*(stage.gateway.hand_on(again) for _ in range(4)))
        assert {(sure(HandedOn, each).amount_minor, each.currency) for each in made} == {(1_880, "EUR")}
        sure(Refused, await stage.gateway.hand_on(a_hand_on_order(order, charge, refund.id, amount_minor=1_000)))
        moved = await all_movements(stage.gateway, order.organization)
        assert [(each.kind, each.reference, each.amount_minor, each.payment) for each in moved[6:]] == [
            (MovementKind.REFUND_RETURNED, refund.id, 2_000, order.payment),
            (MovementKind.TRANSFER_AGAIN, refund.id, 1_880, order.payment),
        ]
        after = sure(Charge, await stage.gateway.find_charge(Caller(), charge.id)).facts
        assert {fact.key for fact in after} == {fact.key for fact in facts}, "which is between us and them"

    async def test_an_account_that_gave_nothing_is_given_nothing(self, stage: Stage):
        needs(stage, Ability.ACCOUNTS)
        order, charge = await sold(stage)
        theirs = a_refund_order(order, charge, 2_000, reverse_transfer=False)
        own, ours = await paid(stage)
        for each, about in ((order, charge), (own, ours)):
            how = theirs if each is order else a_refund_order(own, ours, 2_000)
            refund = sure(Refund, await stage.gateway.refund(how))
            await stage.do("return_refund", about.id)
            again = a_hand_on_order(each, about, refund.id, account=order.account)
            assert sure(Refused, await stage.gateway.hand_on(again)).code == "no_transfer"

    # -- Fees

    async def test_the_fee_is_told_later_and_may_change(self, stage: Stage):
        needs_cards(stage)
        _, charge = await paid(stage)
        assert Kind.FEE not in kinds(charge)
        await stage.do("tell_fees", charge.id)
        await stage.do("adjust_fee", charge.id, amount=7)
        await stage.do("adjust_fee", charge.id, amount=-14)
        charge = sure(Charge, await stage.gateway.find_charge(Caller(), charge.id))
        fees = [fact for fact in charge.facts if fact.kind in (Kind.FEE, Kind.FEE_ADJUSTMENT)]
        # Either what it changed by each time, or what it is now: payments make the difference of that (FIN-042).
        assert [(fact.kind, fact.amount_minor) for fact in fees] in (
            [(Kind.FEE, 100), (Kind.FEE_ADJUSTMENT, 7), (Kind.FEE_ADJUSTMENT, -14)],
            [(Kind.FEE, 93)],
        )
        assert all(fact.key == f"{fact.kind.lower()}:{fact.reference}" for fact in fees)
        webhooks = [each for each in await stage.webhooks() if b"balance.available" in each.body]
        balances = [stage.gateway.read(each.body, stage.gateway.provider) for each in webhooks]
        assert {event.topic for event in balances} == {Topic.BALANCE}
        told = by_key(fact for event in balances for fact in event.facts if event.refs[0].id == charge.id)
        assert told.items() <= by_key(charge.facts).items()
        assert not told or by_key(fees).items() <= told.items()

    # -- Disputes

    @pytest.mark.parametrize(
        ("deed", "ends", "fee"), [("win", Kind.DISPUTE_WON, 1_500), ("lose", Kind.DISPUTE_LOST, 0)]
    )
    async def test_a_dispute_is_opened_and_decided(self, stage: Stage, deed: str, ends: FactKind, fee: int):
        needs(stage, Ability.DISPUTES)
        _, charge = await paid(stage)
        await stage.do("dispute", charge.id)
        opened = sure(Charge, await stage.gateway.find_charge(Caller(), charge.id)).facts[-1]
        assert (opened.kind, opened.amount_minor, opened.fee_minor) == (Kind.DISPUTE_OPENED, 5_000, 1_500)
        await stage.do(deed, charge.id)
        closed = sure(Charge, await stage.gateway.find_charge(Caller(), charge.id)).facts[-1]
        assert (closed.kind, closed.amount_minor, closed.fee_minor) == (ends, 5_000, fee)
        assert closed.at > opened.at
        events = {event.envelope.type: event for event in await read_webhooks(stage, charge)}
        assert events["charge.dispute.created"].facts == (opened,)
        begun, ended = events["charge.dispute.closed"].facts
        assert begun == opened, "who hears the end first missed nothing"
        # Not every provider keeps when it was lost: then it is when we were told, or later when we looked.
        assert msgspec.structs.replace(ended, at=closed.at) == closed
        assert opened.at < ended.at <= closed.at

    # -- Accounts and payouts

    async def test_an_account_is_standard_and_opens_when_its_owner_has_told_everything(self, stage: Stage):
        needs(stage, Ability.ACCOUNTS)
        order = an_account_order()
        account = sure(Account, await stage.gateway.open_account(order))
        assert (account.type, account.charges_enabled, account.payouts_enabled) == ("standard", False, False)
        assert account.requirements_due
        assert (account.organization, account.livemode) == (order.organization, False)
        assert await stage.gateway.open_account(order) == account
        link = sure(AccountLink, await stage.gateway.link_account(Caller(), account.id, "http://127.0.0.1:8000/back"))
        assert account.id in link.url
        await stage.do("complete", account.id)
        enabled = sure(Account, await stage.gateway.find_account(Caller(), account.id))
        assert (enabled.charges_enabled, enabled.requirements_due) == (True, ())
        [webhook] = [each for each in await stage.webhooks() if account.id.encode() in each.body]
        envelope = stage.gateway.verify(webhook.body, webhook.headers, webhook.path, datetime.now(UTC))
        assert envelope
        assert envelope.account == account.id
        event = stage.gateway.read(webhook.body, envelope.source)
        assert (event.topic, event.account, event.organization) == (Topic.ACCOUNT, enabled, order.organization)
        await stage.do("restrict", account.id)
        restricted = sure(Account, await stage.gateway.find_account(Caller(), account.id))
        assert not restricted.payouts_enabled
        assert await stage.gateway.find_account(Caller(), "acct_0000000000000000") is None

    @pytest.mark.parametrize(("deed", "ends"), [("arrive", PayoutStatus.PAID), ("fail", PayoutStatus.FAILED)])
    async def test_a_payout_arrives_or_comes_back(self, stage: Stage, deed: str, ends: PayoutStatus):
        needs(stage, Ability.PAYOUTS)
        order = an_account_order()
        account = sure(Account, await stage.gateway.open_account(order))
        payout = a_payout_order(account.id, order.organization)
        sure(Refused, await stage.gateway.pay_out(payout))
        await stage.do("complete", account.id)
        payout = a_payout_order(account.id, order.organization)
        assert await stage.gateway.find_payout(payout) is None
        made = sure(Payout, await stage.gateway.pay_out(payout))
        assert await stage.gateway.pay_out(payout) == made
        await stage.do(deed, made.id)
        found = sure(Payout, await stage.gateway.find_payout(payout))
        assert (found.status, found.amount_minor, bool(found.code)) == (ends, 8_500, ends is PayoutStatus.FAILED)
        moved = [each.kind for each in await all_movements(stage.gateway, order.organization)]
        returned = [MovementKind.PAYOUT_RETURNED] if ends is PayoutStatus.FAILED else []
        assert moved == [MovementKind.PAYOUT, *returned]
        [webhook] = [each for each in await stage.webhooks() if made.id.encode() in each.body]
        envelope = stage.gateway.verify(webhook.body, webhook.headers, webhook.path, datetime.now(UTC))
        assert envelope
        event = stage.gateway.read(webhook.body, envelope.source)
        assert (event.topic, event.payout) == (Topic.PAYOUT, found)
        assert account.id in (envelope.account, *(ref.id for ref in event.refs))

    async def test_trouble_is_not_an_answer(self, stage: Stage):
        answers = [await stage.gateway.open_charge(an_order(stage, amount_minor=0)) for _ in range(2)]
        assert not any(isinstance(each, Charge | NotSent | Unknown) for each in answers)
        if Ability.PAYOUTS in stage.gateway.abilities:
            assert await stage.gateway.find_payout(a_payout_order("acct_0", OrganizationId.new(), key=uuid4())) is None

    # -- What not everybody does

    async def test_what_is_not_offered_is_refused_as_such(self, stage: Stage):
        gateway, somebody, now = stage.gateway, OrganizationId.new(), datetime.now(UTC)
        payout = a_payout_order("acct_0", somebody)
        asked = {
            Ability.ACCOUNTS: (
                gateway.open_account(an_account_order()),
                gateway.link_account(Caller(), "acct_0", "http://127.0.0.1:8000/back"),
                gateway.find_account(Caller(), "acct_0"),
            ),
            Ability.PAYOUTS: (gateway.pay_out(payout), gateway.find_payout(payout)),
            Ability.DISPUTES: (
                gateway.find_dispute(Caller(), "dp_0"),
                gateway.answer_dispute(an_evidence_order(an_order(stage), "dp_0")),
            ),
            Ability.EVENTS: (gateway.list_events(Caller(), None, now),),
            Ability.MOVEMENTS: (gateway.list_movements(Caller(), somebody, None),),
        }
        for ability, calls in asked.items():
            answers = [await each for each in calls]
            assert ability in gateway.abilities or answers == [Refused(NOT_OFFERED)] * len(answers)

    async def test_who_takes_no_cards_and_splits_nothing_refuses_such_orders(self, stage: Stage):
        if Ability.ACCOUNTS in stage.gateway.abilities:
            pytest.skip(f"{stage.gateway.provider} has accounts")
        for order in (
            an_order_by_pix(stage, settlement=SettlementModel.ORG_MOR),
            an_order_by_pix(stage, account="acct_0"),
            an_order_by_pix(stage, application_fee_minor=1),
            an_order_by_pix(stage, method=Method.CARD),
        ):
            refused = sure(Refused, await stage.gateway.open_charge(order))
            assert refused.code == NOT_OFFERED
            assert await stage.gateway.find_ordered(order) is None

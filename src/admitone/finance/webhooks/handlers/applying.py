"""What an event does (unification (d), step 9), in the transaction of the organisation that it concerns.

Promise: the effect and the end of the receipt commit together, so that whatever is killed in between is done once. What
the event means is payments' to decide; who is refused there ends here as a dead letter, with nothing done.
"""

from collections.abc import Sequence

from admitone.finance.gateways.api import Payout, Topic
from admitone.finance.payments.api import AccountTold, Told, ask_for_fees, change_accounts, record
from admitone.finance.webhooks import store
from admitone.finance.webhooks.errors import NotTheirPayment
from admitone.finance.webhooks.facts import PayoutReported
from admitone.finance.webhooks.handlers.mourning import mourn
from admitone.finance.webhooks.model import Basis, Handed, ReceiptState
from admitone.finance.webhooks.telling import say
from admitone.kernel import failpoints
from admitone.kernel.db import Tx
from admitone.kernel.errors import NotFound, Refusal
from admitone.kernel.jobs import WEBHOOKS, Delivered, Priority, handler

Delivery = Delivered[Handed]


@handler("webhooks.apply", priority=Priority.CRITICAL, retry=WEBHOOKS, mourn=mourn)
async def apply(tx: Tx, deliveries: Sequence[Delivered[Handed]]) -> None:
    open_ones = await store.find_open(tx, [each.payload.receipt.uuid for each in deliveries])
    due = [each for each in deliveries if each.payload.receipt.uuid in open_ones]
    await _record(tx, [each for each in due if each.payload.payment is not None])
    await _change_accounts(tx, [each for each in due if each.payload.event.account is not None])
    for each in due:
        if each.payload.event.topic is Topic.BALANCE:
            await ask_for_fees(tx, each.caller, each.key)
        if each.payload.event.payout is not None:
            tx.publish(each.caller, _reported(each.payload, each.payload.event.payout))
    failpoints.reach("webhooks.before_settling")
    await store.settle(tx, {each.payload.receipt.uuid: each.payload.payment for each in due}, ReceiptState.PROCESSED)
    for each in due:
        _say(each)


async def _record(tx: Tx, charges: Sequence[Delivery]) -> None:
    told = [_told(each) for each in charges]
    for each, outcome in zip(charges, await record(tx, told) if told else (), strict=True):
        if isinstance(outcome, NotFound) and each.payload.basis is Basis.METADATA:
            raise NotTheirPayment()
        _raise_refused(outcome)


def _told(each: Delivery) -> Told:
    payment, event = each.payload.payment, each.payload.event
    assert payment is not None
    return Told(each.caller, payment, each.payload.provider, event.refs, event.facts)


async def _change_accounts(tx: Tx, changes: Sequence[Delivery]) -> None:
    told = [
        AccountTold(each.caller, each.payload.provider, account, each.payload.event.envelope.created)
        for each in changes
        if (account := each.payload.event.account) is not None
    ]
    for outcome in await change_accounts(tx, told) if told else ():
        _raise_refused(outcome)


def _raise_refused(outcome: object) -> None:
    if isinstance(outcome, Refusal):
        raise outcome


def _reported(handed: Handed, payout: Payout) -> PayoutReported:
    return PayoutReported(
        receipt_id=handed.receipt,
        provider=handed.provider,
        payout_id=payout.id,
        status=payout.status,
        amount_minor=payout.amount_minor,
        currency=payout.currency,
        at=payout.at,
        code=payout.code,
        to_bank=payout.to_bank,
    )


def _say(each: Delivery) -> None:
    envelope = each.payload.event.envelope
    say(
        "webhook.processed",
        stripeEventId=envelope.id,
        eventType=envelope.type,
        stripeAccountId=envelope.account,
        orgId=str(each.organization),
        paymentId=str(each.payload.payment) if each.payload.payment else None,
        correlationId=str(each.caller.correlation_id),
        status=ReceiptState.PROCESSED.value,
        basis=each.payload.basis.value,
        attempts=each.attempt,
    )

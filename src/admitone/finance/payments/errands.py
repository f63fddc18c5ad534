"""What is seen to later: intents without an answer, payments that nobody paid, fees, and money that paid for nothing.

Promise: none of them decides anything by itself; each asks the provider and records what it says, so running twice,
late or half is harmless. What could not be asked is found again by the next run.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from admitone.finance.gateways.api import Account, FactKind, Provider
from admitone.finance.gateways.port import GATEWAYS
from admitone.finance.payments.asking import Clerk
from admitone.finance.payments.commands.accounts import change_accounts
from admitone.finance.payments.commands.receipts import Decision
from admitone.finance.payments.errors import GatewayRefused, NotReturnable
from admitone.finance.payments.facts import AccountUnclear, AttemptsSpent, PaymentIncomplete, ReceiptUnapplied
from admitone.finance.payments.model import AccountTold, KnownAccount, Recorded
from admitone.finance.payments.policy import asked_at
from admitone.finance.payments.store import receipts as receipt_store
from admitone.finance.payments.store import sweeping
from admitone.finance.payments.store.accounts import find_accounts
from admitone.finance.payments.store.sweeping import FIRST, SWEEPING, Left
from admitone.finance.sources.api import LatePayment
from admitone.kernel.alerts import ALERTS, Above, Alert, AlertClass, AlertRule, raise_alerts
from admitone.kernel.db import Tx
from admitone.kernel.errors import OutcomeUnknown
from admitone.kernel.ids import PLATFORM_ORGANIZATION, OrganizationId
from admitone.kernel.jobs import REFUNDS, WEBHOOKS, Delivered, Desk, Job, Lane, Priority, enqueue, errand
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.scope import Caller, Scope
from admitone.kernel.telemetry import logger

PROVIDERS: Final = Lane("providers", places=8)
SWEEPS: Final = Lane("payment_sweeps", places=4)
AT_ONCE: Final = 16
"""How many providers' answers one sweep waits for."""
PAGE: Final = 500
PATIENCE: Final = timedelta(seconds=45)
"""Longer than any call out may take: an intent without an answer for so long has lost its caller."""

UNAPPLIED = AlertRule(
    "payments.unapplied_receipt",
    AlertClass.TICKET,
    Above(0),
    "finance operations",
    "unapplied-receipts",
    "Money came that paid for nothing: late, of another amount or currency, or for what was paid already.",
)
RULES: Final = (UNAPPLIED,)


# -- One payment at a time


@errand("payments.ask_provider", lane=PROVIDERS, retry=WEBHOOKS, priority=Priority.CRITICAL)
async def ask_provider(desk: Desk, told: Delivered[PaymentIncomplete]) -> None:
    """Something proves more than we know."""
    said = await Clerk.at(desk).ask(told.organization, told.payload.payment_id, told.caller)
    if not isinstance(said, Recorded):
        raise OutcomeUnknown


@errand("payments.close_spent", lane=PROVIDERS, retry=WEBHOOKS, priority=Priority.CRITICAL)
async def close_spent(desk: Desk, told: Delivered[AttemptsSpent]) -> None:
    """Nobody may try again: the charge is closed, and what was kept for the buyer is free."""
    if not await Clerk.at(desk).close(told.organization, told.payload.payment_id, FactKind.CANCELLED, told.caller):
        raise OutcomeUnknown


@errand("payments.see_to_receipt", lane=PROVIDERS, retry=REFUNDS, priority=Priority.CRITICAL)
async def see_to_receipt(desk: Desk, told: Delivered[ReceiptUnapplied]) -> None:
    """Somebody is told, and the money goes back if that is how it is dealt with (U-26)."""
    payment = told.payload.payment_id
    await desk.batcher.submit(
        raise_alerts,
        ALERTS,
        Alert(
            UNAPPLIED,
            str(payment),
            f"{told.payload.amount_minor} {told.payload.currency}",
            told.organization,
            {"paymentId": str(payment), "reason": told.payload.reason},
            told.caller,
        ),
    )
    receipts = await desk.database.read(
        Scope(told.organization, "look at a receipt"), receipt_store.find_receipts, payment
    )
    if any(
        each.capture_key == told.payload.capture_key and each.policy is LatePayment.AUTO_REFUND for each in receipts
    ):
        try:
            await Clerk.at(desk).give_back(told.organization, Decision(told.caller, payment))
        except NotReturnable:
            logger().info("payment.receipt_settled_before", paymentId=str(payment))
        except GatewayRefused as refused:  # It waits for somebody now; the alert stands.
            logger().warning("payment.return_refused", paymentId=str(payment), reason=refused.reason)


@errand("payments.ask_about_account", lane=PROVIDERS, retry=WEBHOOKS, priority=Priority.CRITICAL)
async def ask_about_account(desk: Desk, told: Delivered[AccountUnclear]) -> None:
    """Two things were told for one instant: how the account is, its provider says."""
    scope, fact = Scope(told.organization, "ask about an account"), told.payload

    async def find(tx: Tx) -> tuple[KnownAccount | None, datetime]:
        known = (await find_accounts(tx)).get((Provider(fact.provider), fact.livemode))
        return known, asked_at(known, tx.now)

    known, at = await desk.database.read(scope, find)
    if known is None or known.account != fact.account_id:
        return
    said = await GATEWAYS().get(fact.provider).find_account(told.caller, fact.account_id)
    if not isinstance(said, Account):
        raise OutcomeUnknown
    await desk.batcher.submit(change_accounts, scope, AccountTold(told.caller, known.provider, said, at))


class FeesWanted(msgspec.Struct, frozen=True):
    """The provider says that fees of this organisation became final."""

    cause: str


@errand("payments.fetch_fees_of_organization", lane=SWEEPS, retry=WEBHOOKS, seconds=600)
async def fetch_fees_of(desk: Desk, wanted: Delivered[FeesWanted]) -> None:
    """What is still without a fee, of one organisation; what became final on the platform's balance is everybody's."""
    is_everybodys = wanted.organization == PLATFORM_ORGANIZATION
    await _fetch_fees(desk, wanted.caller, only=None if is_everybodys else wanted.organization)


async def ask_for_fees(tx: Tx, caller: Caller, cause: str) -> None:
    """Fees became final; the payments that wait for theirs are asked for."""
    await enqueue(tx, [Job.of(fetch_fees_of, FeesWanted(cause), caller, key=f"payments.fees:{cause}")])


# -- Sweeps


@errand("payments.complete_intents", lane=SWEEPS, seconds=600)
async def complete_intents(desk: Desk, firing: Delivered[Firing]) -> None:
    """A crash, or a provider that did not answer, left intents open: find out."""
    clerk = Clerk.at(desk)

    async def complete(left: Left) -> object:
        return await clerk.complete(left.organization, left.payment, firing.caller)

    before = firing.payload.at - PATIENCE
    await _each(await desk.database.read(SWEEPING, sweeping.list_unsettled, before, PAGE), complete)


@errand("payments.expire", lane=SWEEPS, seconds=600)
async def expire(desk: Desk, firing: Delivered[Firing]) -> None:
    """Payments whose time is over are closed, at the provider first (PAY-052)."""
    clerk = Clerk.at(desk)

    async def close(left: Left) -> object:
        return await clerk.close(left.organization, left.payment, FactKind.EXPIRED, firing.caller)

    await _each(await desk.database.read(SWEEPING, sweeping.list_overdue, PAGE), close)


@errand("payments.fetch_fees", lane=SWEEPS, seconds=600)
async def fetch_fees(desk: Desk, firing: Delivered[Firing]) -> None:
    """Fees that nobody told us of (FIN-042)."""
    await _fetch_fees(desk, firing.caller)


async def _fetch_fees(desk: Desk, caller: Caller, only: OrganizationId | None = None) -> None:
    clerk = Clerk.at(desk)

    async def ask(left: Left) -> object:
        return await clerk.ask(left.organization, left.payment, caller)

    after = Left(only, FIRST) if only else None
    while page := await desk.database.read(SWEEPING, sweeping.list_without_fee, after, PAGE):
        await _each([left for left in page if only in (None, left.organization)], ask)
        after = page[-1]
        if only not in (None, after.organization):
            break


async def _each(lefts: Sequence[Left], see_to: Callable[[Left], Awaitable[object]]) -> None:
    """Some at once; one that fails keeps nobody else waiting, and is found again."""
    places = asyncio.Semaphore(AT_ONCE)

    async def one(left: Left) -> None:
        async with places:
            try:
                await see_to(left)
            except Exception:  # noqa: BLE001  The next run finds it again.
                logger().exception("payment.not_seen_to", paymentId=str(left.payment))

    await asyncio.gather(*(one(left) for left in lefts))

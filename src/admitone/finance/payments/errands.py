"""What is seen to later: intents without an answer, payments that nobody paid, fees, and money that paid for nothing.

Promise: none of them decides anything by itself; each asks the provider and records what it says, so running twice,
late or half is harmless. What could not be asked is found again by the next run.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

import msgspec

from admitone.finance.gateways.api import Account, FactKind, Provider
from admitone.finance.gateways.port import GATEWAYS
from admitone.finance.payments.asking import (
    MISSING,
    NOT_HANDED_ON,
    NOT_TAKEN_BACK,
    ODD,
    UNANSWERED,
    Clerk,
    refusal_of,
)
from admitone.finance.payments.commands.accounts import change_accounts
from admitone.finance.payments.commands.receipts import Decision
from admitone.finance.payments.errors import GatewayRefused, NotAtProvider, NotReturnable
from admitone.finance.payments.facts import (
    AccountUnclear,
    AttemptsSpent,
    DisputeRecorded,
    PaymentContradicted,
    PaymentIncomplete,
    PaymentNeedsManual,
    ReceiptChanged,
    ReceiptUnapplied,
    RefundBegun,
    RefundReturned,
)
from admitone.finance.payments.model import AccountTold, IntentAction, KnownAccount, ReceiptState
from admitone.finance.payments.policy import Receipt, asked_at
from admitone.finance.payments.store import receipts as receipt_store
from admitone.finance.payments.store import sweeping
from admitone.finance.payments.store.accounts import find_accounts
from admitone.finance.payments.store.facts import find_facts
from admitone.finance.payments.store.sweeping import SWEEPING, Left
from admitone.finance.sources.api import LatePayment, PaymentId
from admitone.kernel.alerts import (
    ALERTS,
    Above,
    Alert,
    AlertClass,
    AlertRule,
    Resolution,
    raise_alerts,
    resolve_alerts,
)
from admitone.kernel.breaker import DependencyUnavailable
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import PLATFORM_ORGANIZATION, OrganizationId
from admitone.kernel.jobs import REFUNDS, WEBHOOKS, Delivered, Desk, Job, Lane, Priority, enqueue, errand
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.outbound import DependencyUnreachable
from admitone.kernel.scope import Caller, Scope
from admitone.kernel.telemetry import logger

PROVIDERS: Final = Lane("providers", places=128)
"""Many at once: they wait for providers, and what they look up and write goes together."""
SWEEPS: Final = Lane("payment_sweeps", places=4)
AT_ONCE: Final = 16
"""How many providers' answers one sweep waits for."""
PAGE: Final = 500
LONGEST_RUN: Final = timedelta(seconds=480)
"""How long a sweep begins new pages; the last of them is over before its time is."""
PATIENCE: Final = timedelta(seconds=45)
"""Longer than any call out may take: an intent without an answer for so long has lost its caller."""
PATIENCE_OF_RETURNS: Final = timedelta(minutes=5)
"""Longer than the job that began a return tries: the two must not ask more often together than one may."""

UNAPPLIED = AlertRule(
    "payments.unapplied_receipt",
    AlertClass.TICKET,
    Above(0),
    "finance operations",
    "unapplied-receipts",
    "Money came that paid for nothing: late, of another amount or currency, or for what was paid already.",
)
CONTRADICTED = AlertRule(
    "payments.contradicted",
    AlertClass.TICKET,
    Above(0),
    "finance operations",
    "payment-contradicted",
    "A provider told of a payment what cannot be as it stands, such as a dispute of what was refunded.",
)
RULES: Final = (UNAPPLIED, CONTRADICTED, MISSING, ODD, NOT_TAKEN_BACK, NOT_HANDED_ON, UNANSWERED)
UNSETTLED: Final = (ReceiptState.OPEN, ReceiptState.RETURNING)


# -- One payment at a time


@errand("payments.ask_provider", lane=PROVIDERS, retry=WEBHOOKS, priority=Priority.CRITICAL)
async def ask_provider(desk: Desk, told: Delivered[PaymentIncomplete]) -> None:
    """Something proves more than we know."""
    if await Clerk.at(desk).ask(told.organization, told.payload.payment_id, told.caller) is None:
        raise NotAtProvider


@errand("payments.close_spent", lane=PROVIDERS, retry=WEBHOOKS, priority=Priority.CRITICAL)
async def close_spent(desk: Desk, told: Delivered[AttemptsSpent]) -> None:
    """Nobody may try again: the charge is closed, and what was kept for the buyer is free."""
    await Clerk.at(desk).close(told.organization, told.payload.payment_id, FactKind.CANCELLED, told.caller)


@errand("payments.see_to_receipt", lane=PROVIDERS, retry=REFUNDS, priority=Priority.CRITICAL)
async def see_to_receipt(desk: Desk, told: Delivered[ReceiptUnapplied]) -> None:
    """Somebody is told, and the money goes back if that is how it is dealt with (U-26)."""
    await _tell_of_receipts(desk, told.organization, told.payload.payment_id, told.caller)
    await _return_by_itself(desk, told.organization, told.payload.payment_id, told.caller)


@errand("payments.refund", lane=PROVIDERS, retry=REFUNDS, priority=Priority.CRITICAL)
async def refund(desk: Desk, told: Delivered[RefundBegun]) -> None:
    """What was ordered goes back, and is tried again as often as it may be (PAY-069)."""
    about = told.payload
    try:
        await Clerk.at(desk).refund(told.organization, about.payment_id, UUID(about.refund_id), told.caller)
    except GatewayRefused as refused:  # It was given up; whoever listens to that is told.
        logger().warning("payment.refund_refused", paymentId=str(about.payment_id), reason=refused.reason)
    except DependencyUnreachable as away:  # Nothing was sent: it waits, and has spent no try.
        raise DependencyUnavailable(dependency="a payment provider", retry_after_seconds=30) from away


@errand("payments.see_to_unpaid", lane=PROVIDERS, retry=REFUNDS, priority=Priority.CRITICAL)
async def see_to_unpaid(desk: Desk, told: Delivered[PaymentNeedsManual]) -> None:
    """A dispute over money that paid for nothing was won: it is with us again. When it came, another saw to it."""
    scope = Scope(told.organization, "look at disputes")
    facts = await desk.database.read(scope, find_facts, [told.payload.payment_id])
    if not any(each.kind is FactKind.DISPUTE_WON for each in facts[told.payload.payment_id]):
        return
    await _return_by_itself(desk, told.organization, told.payload.payment_id, told.caller)


@errand("payments.take_back", lane=PROVIDERS, retry=WEBHOOKS, priority=Priority.CRITICAL)
async def take_back(desk: Desk, told: Delivered[DisputeRecorded]) -> None:
    """A dispute that is lost took the money from the platform; the organisation's part of it comes back to us."""
    await Clerk.at(desk).take_back(told.organization, told.payload.payment_id, told.caller)


@errand("payments.hand_on", lane=PROVIDERS, retry=WEBHOOKS, priority=Priority.CRITICAL)
async def hand_on(desk: Desk, told: Delivered[RefundReturned]) -> None:
    """A refund that came back came to the platform; what the organisation gave for it goes to its account again."""
    await Clerk.at(desk).hand_on(told.organization, told.payload.payment_id, told.caller)


@errand("payments.tell_of_receipt", lane=PROVIDERS, retry=WEBHOOKS)
async def tell_of_receipt(desk: Desk, told: Delivered[ReceiptChanged]) -> None:
    """What somebody was told of is over, or is so again."""
    await _tell_of_receipts(desk, told.organization, told.payload.payment_id, told.caller)


async def _return_by_itself(desk: Desk, organization: OrganizationId, payment: PaymentId, caller: Caller) -> None:
    """What goes back by itself, and nothing that waits for somebody's decision."""
    for receipt in await _receipts(desk, organization, payment):
        if receipt.state not in UNSETTLED or receipt.policy is not LatePayment.AUTO_REFUND:
            continue
        try:
            await Clerk.at(desk).give_back(organization, Decision(caller, payment, capture_key=receipt.capture_key))
        except NotReturnable:
            logger().info("payment.receipt_settled_before", paymentId=str(payment))
        except GatewayRefused as refused:  # It waits for somebody now; the alert stands.
            logger().warning("payment.return_refused", paymentId=str(payment), reason=refused.reason)


async def _tell_of_receipts(desk: Desk, organization: OrganizationId, payment: PaymentId, caller: Caller) -> None:
    """One alert for a payment, as long as any of its receipts waits; whoever raised it looks again whether it does."""
    for _ in range(2):
        waiting = [each for each in await _receipts(desk, organization, payment) if each.state in UNSETTLED]
        if not waiting:
            await desk.batcher.submit(resolve_alerts, ALERTS, Resolution(UNAPPLIED, str(payment)))
            return
        detail = ", ".join(f"{each.amount_minor} {each.currency}" for each in waiting)
        entities = {"paymentId": str(payment), "reason": waiting[0].reason.value}
        await desk.batcher.submit(
            raise_alerts, ALERTS, Alert(UNAPPLIED, str(payment), detail, organization, entities, caller)
        )


async def _receipts(desk: Desk, organization: OrganizationId, payment: PaymentId) -> list[Receipt]:
    return await desk.database.read(Scope(organization, "look at receipts"), receipt_store.find_receipts, payment)


@errand("payments.see_to_contradiction", lane=PROVIDERS, retry=WEBHOOKS, priority=Priority.CRITICAL)
async def see_to_contradiction(desk: Desk, told: Delivered[PaymentContradicted]) -> None:
    """Nothing follows by itself: somebody is told."""
    fact, payment = told.payload, str(told.payload.payment_id)
    about = {"paymentId": payment, "status": fact.status, "told": fact.told}
    alert = Alert(CONTRADICTED, payment, f"{fact.told} of {fact.status}", told.organization, about, told.caller)
    await desk.batcher.submit(raise_alerts, ALERTS, alert)


@errand("payments.ask_about_account", lane=PROVIDERS, retry=WEBHOOKS, priority=Priority.CRITICAL)
async def ask_about_account(desk: Desk, told: Delivered[AccountUnclear]) -> None:
    """Two things were told for one instant: how the account is, its provider says."""
    scope, fact = Scope(told.organization, "ask about an account"), told.payload

    async def find(tx: Tx) -> tuple[KnownAccount | None, datetime]:
        known = (await find_accounts(tx)).get((Provider(fact.provider), fact.livemode))
        return known, asked_at(known, tx.now)

    known, at = await desk.database.read(scope, find)
    if known is None:
        return
    # By its row: in a fact, an id of a provider's may look like somebody's number, and is hidden then.
    said = await GATEWAYS().get(fact.provider).find_account(told.caller, known.account)
    if not isinstance(said, Account):
        raise refusal_of(said)
    await desk.batcher.submit(change_accounts, scope, AccountTold(told.caller, known.provider, said, at))


class FeesWanted(msgspec.Struct, frozen=True):
    """The provider says that fees of this organisation became final."""

    cause: str


@errand("payments.fetch_fees_of_organization", lane=SWEEPS, retry=WEBHOOKS, seconds=600)
async def fetch_fees_of(desk: Desk, wanted: Delivered[FeesWanted]) -> None:
    """What is still without a fee, of one organisation; what became final on the platform's balance is everybody's."""
    since = datetime.now(UTC) - timedelta(days=30)
    is_everybodys = wanted.organization == PLATFORM_ORGANIZATION
    await _fetch_fees(desk, wanted.caller, since, only=None if is_everybodys else wanted.organization)


async def ask_for_fees(tx: Tx, caller: Caller, cause: str) -> None:
    """Fees became final; the payments that wait for theirs are asked for."""
    await enqueue(tx, [Job.of(fetch_fees_of, FeesWanted(cause), caller, key=f"payments.fees:{cause}")])


# -- Sweeps


@errand("payments.complete_intents", lane=SWEEPS, seconds=600)
async def complete_intents(desk: Desk, firing: Delivered[Firing]) -> None:
    """A crash, or a provider that did not answer, left intents open: find out."""
    clerk = Clerk.at(desk)
    before = firing.payload.at - PATIENCE

    async def complete(left: Left) -> None:
        if left.action is IntentAction.OPEN:
            await clerk.complete(left.organization, left.payment, firing.caller)
        elif left.since < firing.payload.at - PATIENCE_OF_RETURNS:
            await clerk.give_back_left(left.organization, left.payment, left.id, firing.caller)

    async def page(after: Left | None) -> list[Left]:
        return await desk.database.read(SWEEPING, sweeping.list_unsettled, before, after, PAGE)

    await _sweep(page, complete)


@errand("payments.expire", lane=SWEEPS, seconds=600)
async def expire(desk: Desk, firing: Delivered[Firing]) -> None:
    """Payments whose time is over are closed, at the provider first (PAY-052)."""
    clerk = Clerk.at(desk)

    async def close(left: Left) -> object:
        return await clerk.close(left.organization, left.payment, FactKind.EXPIRED, firing.caller)

    async def page(after: Left | None) -> list[Left]:
        return await desk.database.read(SWEEPING, sweeping.list_overdue, firing.payload.at, after, PAGE)

    await _sweep(page, close)


@errand("payments.fetch_fees", lane=SWEEPS, seconds=600)
async def fetch_fees(desk: Desk, firing: Delivered[Firing]) -> None:
    """Fees that nobody told us of (FIN-042): of new payments each time, of older ones ever less often."""
    at = firing.payload.at
    await _fetch_fees(desk, firing.caller, at - fees_wanted_for(at))


def fees_wanted_for(at: datetime) -> timedelta:
    """How old a payment may be whose fee is asked for at this instant: once a day a month, once an hour a day."""
    if at.minute:
        return timedelta(hours=1)
    return timedelta(days=1) if at.hour else timedelta(days=30)


async def _fetch_fees(desk: Desk, caller: Caller, since: datetime, only: OrganizationId | None = None) -> None:
    clerk = Clerk.at(desk)

    async def ask(left: Left) -> object:
        return await clerk.ask(left.organization, left.payment, caller)

    async def page(after: Left | None) -> list[Left]:
        return await desk.database.read(SWEEPING, sweeping.list_without_fee, since, only, after, PAGE)

    await _sweep(page, ask)


async def ask_about_pix(desk: Desk, caller: Caller, since: datetime) -> int:
    """Ask for every PIX charge that waits, and whose time did not end before that instant: what is paid there is
    recorded, what ended there is closed (PAY-055). How many there were."""
    clerk, asked = Clerk.at(desk), 0

    async def ask(left: Left) -> object:
        nonlocal asked
        asked += 1
        return await clerk.ask(left.organization, left.payment, caller)

    async def page(after: Left | None) -> list[Left]:
        return await desk.database.read(SWEEPING, sweeping.list_pending_pix, since, after, PAGE)

    await _sweep(page, ask)
    return asked


async def _sweep(
    page: Callable[[Left | None], Awaitable[list[Left]]], see_to: Callable[[Left], Awaitable[object]]
) -> None:
    """Page after page to the end, or as far as the time of a run goes: nobody waits behind those who cannot be seen
    to."""
    clock = asyncio.get_running_loop().time
    ends = clock() + LONGEST_RUN.total_seconds()
    after: Left | None = None
    while clock() < ends and (lefts := await page(after)):
        await _each(lefts, see_to)
        after = lefts[-1]


async def _each(lefts: Sequence[Left], see_to: Callable[[Left], Awaitable[object]]) -> None:
    """Some at once; one that fails keeps nobody else waiting, and is found again."""
    places = asyncio.Semaphore(AT_ONCE)

    async def one(left: Left) -> None:
        async with places:
            try:
                await see_to(left)
            except Refusal as refusal:
                logger().warning("payment.not_seen_to", paymentId=str(left.payment), reason=refusal.code)
            except Exception:  # noqa: BLE001  The next run finds it again.
                logger().exception("payment.not_seen_to", paymentId=str(left.payment))

    await asyncio.gather(*(one(left) for left in lefts))

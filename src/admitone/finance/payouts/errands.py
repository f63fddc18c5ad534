"""What is seen to later: batches by the day, payouts that are asked for, statements, what providers tell, and alerts.

Promise: a batch is made once for an organisation and a day, and may be cut off and begun again anywhere; a payout is
asked for until it is known what became of it, and while its provider cannot be reached that costs no attempt. Nothing
here decides by itself what is paid: it carries what commands decided.
"""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any, Final
from uuid import UUID

import msgspec

from admitone.finance.payments.facts import (
    ChargebackLost,
    ChargebackWon,
    PaymentDisputed,
    PaymentFact,
    PaymentNeedsManual,
    PaymentPartlyRefunded,
    PaymentRefunded,
    RefundBegun,
    RefundFailed,
    RefundSettled,
)
from admitone.finance.payouts.alerts import BLOCKED, NOT_PAID, UNANSWERED, of_owner
from admitone.finance.payouts.asking import pay
from admitone.finance.payouts.commands.announcing import announce, last_week
from admitone.finance.payouts.commands.batching import make_batch
from admitone.finance.payouts.commands.freezing import Heard, look_again
from admitone.finance.payouts.commands.paying import hear
from admitone.finance.payouts.facts import (
    PayoutCompleted,
    PayoutFailed,
    PayoutImpossible,
    RiskCleared,
    RiskFlagged,
)
from admitone.finance.payouts.model import Payout, PayoutId, Report, code_of
from admitone.finance.payouts.releasing import Run
from admitone.finance.payouts.store import sweeping
from admitone.finance.payouts.store.sweeping import FIRST, SWEEPING, Left
from admitone.finance.webhooks.facts import PayoutReported
from admitone.kernel.alerts import ALERTS, Alert, Resolution, raise_alerts, resolve_alerts
from admitone.kernel.breaker import DependencyUnavailable
from admitone.kernel.bulk import store as organizations
from admitone.kernel.db import PlatformTx, Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.facts import Fact
from admitone.kernel.ids import OrganizationId
from admitone.kernel.jobs import (
    Delivered,
    Desk,
    Job,
    Kind,
    Lane,
    Priority,
    Retry,
    Subscription,
    enqueue,
    errand,
    handler,
)
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.scope import Caller
from admitone.kernel.telemetry import logger

PAYING: Final = Lane("payouts", places=4)
SWEEPS: Final = Lane("payout_sweeps", places=2)
PATIENTLY: Final = Retry(executions=5, base_seconds=2)
ORGANIZATIONS: Final = 500
AT_A_TIME: Final = 50
"""Payouts that one errand asks for."""
PAGE: Final = 500
PATIENCE: Final = timedelta(minutes=5)
"""Longer than an errand tries by itself: the sweep must not ask beside it."""
TOO_LONG: Final = timedelta(hours=1)
LONGEST_RUN: Final = timedelta(seconds=480)


# -- Batches


class Wanted(msgspec.Struct, frozen=True):
    """The batch of a day, of one organisation, from an owner on."""

    at: datetime
    after: UUID = FIRST


class ToPay(msgspec.Struct, frozen=True):
    payouts: tuple[PayoutId, ...]


@errand("payouts.begin_batches", lane=SWEEPS, seconds=600)
async def begin_batches(desk: Desk, firing: Delivered[Firing]) -> None:
    """Every midnight: a batch in each organisation that owes something."""
    await begin_everywhere(desk, firing.payload.at, firing.caller)


async def begin_everywhere(desk: Desk, at: datetime, caller: Caller) -> int:
    """How many organisations have something to do that had not begun it."""
    after, begun = FIRST, 0
    while page := await desk.database.read(SWEEPING, sweeping.list_organizations_due, after, ORGANIZATIONS):
        jobs = [_batch_of(organization, Wanted(at), caller) for organization in page]

        async def hand_out(tx: PlatformTx, jobs: Sequence[Job] = jobs) -> int:
            return await enqueue(tx, jobs)

        begun += await desk.database.run(SWEEPING, hand_out)
        after = page[-1].uuid
    return begun


def _batch_of(organization: OrganizationId, wanted: Wanted, caller: Caller) -> Job:
    job = Job.of(make, wanted, caller, key=f"payouts.batch:{wanted.at:%Y-%m-%dT%H:%MZ}:{wanted.after}")
    return replace(job, organization_id=organization.uuid)


@handler("payouts.make", priority=Priority.CRITICAL, seconds=120)
async def make(tx: Tx, wanted: Sequence[Delivered[Wanted]]) -> None:
    """The payouts of some owners; the next ones follow in a job of their own."""
    for each in wanted:
        batch = await make_batch(tx, each.caller, each.payload.at, each.payload.after)
        await ask_for(tx, batch.payouts, each.caller)
        if batch.next_owner is not None:
            follows = Wanted(each.payload.at, batch.next_owner)
            await enqueue(tx, [_batch_of(tx.scope.organization, follows, each.caller)])


async def ask_for(tx: Tx, payouts: Sequence[Payout], caller: Caller) -> None:
    """The provider is asked for these as soon as they are committed."""
    ids = [each.id for each in payouts]
    parts = [ids[at : at + AT_A_TIME] for at in range(0, len(ids), AT_A_TIME)]
    jobs = [Job.of(ask_some, ToPay(tuple(part)), caller, key=f"payouts.pay:{part[0]}") for part in parts]
    await enqueue(tx, jobs)


@errand("payouts.pay", lane=PAYING, retry=PATIENTLY, priority=Priority.CRITICAL, seconds=300)
async def ask_some(desk: Desk, wanted: Delivered[ToPay]) -> None:
    _raise_first(await pay(desk, wanted.organization, wanted.payload.payouts, wanted.caller))


def _raise_first(troubles: Sequence[Refusal]) -> None:
    """What costs no attempt before what does: those that were answered are not asked for again."""
    for trouble in sorted(troubles, key=lambda each: not isinstance(each, DependencyUnavailable)):
        raise trouble


@errand("payouts.complete", lane=SWEEPS, seconds=600)
async def complete(desk: Desk, firing: Delivered[Firing]) -> None:
    """A crash, or a provider that did not answer, left payouts open: find out. Who waits too long is told of."""
    clock = asyncio.get_running_loop().time
    ends = clock() + LONGEST_RUN.total_seconds()
    at, after = firing.payload.at, None
    while clock() < ends and (
        lefts := await desk.database.read(SWEEPING, sweeping.list_unposted, at - PATIENCE, after, PAGE)
    ):
        for organization in sorted({each.organization for each in lefts}):
            some = [each for each in lefts if each.organization == organization]
            await _complete(desk, organization, some, at, firing.caller)
        after = lefts[-1]


async def _complete(
    desk: Desk, organization: OrganizationId, lefts: Sequence[Left], at: datetime, caller: Caller
) -> None:
    try:
        troubles = await pay(desk, organization, [each.payout for each in lefts], caller)
    except Exception:  # noqa: BLE001  One organisation keeps no other waiting, and the next run finds it again.
        logger().exception("payout.not_seen_to", orgId=str(organization))
        return
    for each in lefts:
        await _tell_of_waiting(desk, each, at, caller, is_open=bool(troubles))


async def _tell_of_waiting(desk: Desk, left: Left, at: datetime, caller: Caller, *, is_open: bool) -> None:
    own = str(left.payout)
    if left.asked_at is None or left.asked_at > at - TOO_LONG:
        return
    if is_open:
        alert = Alert(UNANSWERED, own, "asked for, not answered", left.organization, {"payoutId": own}, caller)
        await desk.batcher.submit(raise_alerts, ALERTS, alert)
    else:
        await desk.batcher.submit(resolve_alerts, ALERTS, Resolution(UNANSWERED, own))


@errand("payouts.release", lane=SWEEPS, seconds=600)
async def release(desk: Desk, firing: Delivered[Firing]) -> None:
    """What providers paid out themselves is shown as released (FIN-090)."""

    async def read(query: Any, *args: Any, scope: Any) -> Any:
        return await desk.database.read(scope, query, *args)

    async def submit(command: Any, each: Any, *, scope: Any) -> Any:
        return (await desk.batcher.submit(command, scope, each)).outcome

    await Run(read, submit).release(firing.caller)


# -- Statements


class Announcing(msgspec.Struct, frozen=True):
    """The statements of a week, of one organisation, from an owner on."""

    week: date
    after: UUID = FIRST


@errand("payouts.begin_statements", lane=SWEEPS, seconds=600)
async def begin_statements(desk: Desk, firing: Delivered[Firing]) -> None:
    """Every Monday, after the batch: the week that is over, in every organisation (FUN-049)."""
    after, wanted = FIRST, Announcing(last_week(firing.payload.at))
    while page := await desk.database.read(SWEEPING, organizations.list_organizations, after, ORGANIZATIONS):
        jobs = [replace(_announcing(wanted, firing.caller), organization_id=each.uuid) for each in page]
        await desk.database.run(SWEEPING, partial(enqueue, jobs=jobs))
        after = page[-1].uuid


def _announcing(wanted: Announcing, caller: Caller) -> Job:
    return Job.of(announce_statements, wanted, caller, key=f"payouts.statements:{wanted.week}:{wanted.after}")


@handler("payouts.announce_statements", seconds=120)
async def announce_statements(tx: Tx, wanted: Sequence[Delivered[Announcing]]) -> None:
    """To some owners; the next ones follow in a job of their own."""
    for each in wanted:
        next_owner = await announce(tx, each.payload.week, each.payload.after, each.caller)
        if next_owner is not None:
            await enqueue(tx, [_announcing(Announcing(each.payload.week, next_owner), each.caller)])


# -- What is told


@handler("payouts.hear_reports", priority=Priority.CRITICAL)
async def hear_reports(tx: Tx, told: Sequence[Delivered[PayoutReported]]) -> None:
    await hear(tx, [_report(each) for each in told])


def _report(told: Delivered[PayoutReported]) -> Report:
    said = told.payload
    return Report(
        told.caller,
        said.provider,
        said.payout_id,
        said.status,
        said.amount_minor,
        said.currency,
        said.at,
        code_of(said.code),
        said.to_bank,
    )


HEARD: Final[tuple[type[PaymentFact | RefundBegun | RefundSettled | RefundFailed], ...]] = (
    PaymentDisputed,
    ChargebackWon,
    ChargebackLost,
    PaymentPartlyRefunded,
    PaymentRefunded,
    PaymentNeedsManual,
    RefundBegun,
    RefundSettled,
    RefundFailed,
)
"""After each of these something else may be owed, or may be paid."""


def _hears(fact: type[Fact]) -> Kind[Any]:
    refund_failed = {RefundFailed: True, RefundSettled: False}.get(fact)

    async def hear_of(tx: Tx, told: Sequence[Delivered[Any]]) -> None:
        await look_again(tx, [Heard(each.payload.payment_id, each.caller, refund_failed) for each in told])

    return Kind(f"payouts.{fact.name.replace('.', '_')}", fact, hear_of, outside=False, priority=Priority.CRITICAL)


# -- Alerts


@errand("payouts.tell_of_failure", lane=SWEEPS)
async def tell_of_failure(desk: Desk, told: Delivered[PayoutFailed]) -> None:
    fact = told.payload
    entities = {"payoutId": str(fact.payout_id), "ownerId": str(fact.owner_id)}
    await _not_paid(desk, told, fact.owner_id, f"{fact.amount_minor} {fact.currency}: {fact.code}", entities)


@errand("payouts.tell_of_impossible", lane=SWEEPS)
async def tell_of_impossible(desk: Desk, told: Delivered[PayoutImpossible]) -> None:
    fact = told.payload
    detail = f"{fact.amount_minor} {fact.currency}: {fact.reason}"
    await _not_paid(desk, told, fact.owner_id, detail, {"ownerId": str(fact.owner_id)})


async def _not_paid(desk: Desk, told: Delivered[Any], owner: UUID, detail: str, entities: dict[str, str]) -> None:
    alert = Alert(NOT_PAID, of_owner(told.organization, owner), detail, told.organization, entities, told.caller)
    await desk.batcher.submit(raise_alerts, ALERTS, alert)


@errand("payouts.tell_of_arrival", lane=SWEEPS)
async def tell_of_arrival(desk: Desk, told: Delivered[PayoutCompleted]) -> None:
    """Whoever could not be paid is paid by now."""
    own = of_owner(told.organization, told.payload.owner_id)
    await desk.batcher.submit(resolve_alerts, ALERTS, Resolution(NOT_PAID, own))


@errand("payouts.tell_of_block", lane=SWEEPS)
async def tell_of_block(desk: Desk, told: Delivered[RiskFlagged]) -> None:
    own = told.payload.organization_id
    payment = {"paymentId": str(told.payload.payment_id)} if told.payload.payment_id else {}
    alert = Alert(BLOCKED, own, told.payload.reason_code, told.organization, {"orgId": own, **payment}, told.caller)
    await desk.batcher.submit(raise_alerts, ALERTS, alert)


@errand("payouts.tell_of_clearing", lane=SWEEPS)
async def tell_of_clearing(desk: Desk, told: Delivered[RiskCleared]) -> None:
    await desk.batcher.submit(resolve_alerts, ALERTS, Resolution(BLOCKED, told.payload.organization_id))


TOLD: Final[Collection[Subscription]] = (
    Subscription(PayoutReported, hear_reports),
    Subscription(PayoutFailed, tell_of_failure),
    Subscription(PayoutImpossible, tell_of_impossible),
    Subscription(PayoutCompleted, tell_of_arrival),
    Subscription(RiskFlagged, tell_of_block),
    Subscription(RiskCleared, tell_of_clearing),
)
SUBSCRIPTIONS: Final = (*TOLD, *(Subscription(fact, _hears(fact)) for fact in HEARD))
JOBS: Final = (
    begin_batches,
    make,
    ask_some,
    complete,
    release,
    begin_statements,
    announce_statements,
    *(each.kind for each in SUBSCRIPTIONS),
)

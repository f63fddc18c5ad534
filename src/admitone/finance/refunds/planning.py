"""What refunds and cancellations would do, shown before and done after, by `kernel.plans`.

Promise: a step says what it gives back to the cent, the lines that it posts and what it asks the provider. A
cancellation may be of very many payments: its steps are of many payments each, summed up, and each payment's own
part is in the step's digest. Applying one writes every refund down as it was planned, in the applying transaction;
bulk work orders them afterwards, each exactly so or not at all.
"""

import hashlib
from collections.abc import AsyncIterator, Sequence
from typing import Final
from uuid import UUID, uuid5

import msgspec

from admitone.finance.gateways.api import PlannedCall
from admitone.finance.ledger.api import PlannedTransfer
from admitone.finance.payments import api as payments
from admitone.finance.payments.api import Payment, Status
from admitone.finance.refunds import commands, store
from admitone.finance.refunds.cancelling import Cancelling, cancel
from admitone.finance.refunds.model import CancellationId, Piece, Reason, Refund, RefundId, RefundState, Request
from admitone.finance.sources.api import PaymentId
from admitone.kernel import bulk
from admitone.kernel.contracts import Wire
from admitone.kernel.db import Tx, WrongCount
from admitone.kernel.errors import Refusal
from admitone.kernel.plans import Planner
from admitone.kernel.scope import Caller

CHUNK: Final = 250
FIRST: Final = UUID(int=0)


class Asked(Wire):
    """A refund that somebody asks about."""

    payment_id: PaymentId
    refund_id: RefundId
    reason: Reason
    pieces: tuple[Piece, ...] = ()
    amount_minor: int | None = None


class RefundStep(Wire):
    payment_id: PaymentId
    refund_id: RefundId
    reason: Reason
    pieces: tuple[Piece, ...]
    amount_minor: int
    asked_minor: int | None
    """Where it was asked for as an amount, and not as pieces or as a whole."""
    fee_minor: int
    currency: str
    postings: tuple[PlannedTransfer, ...]
    calls: tuple[PlannedCall, ...]


async def _survey_refund(tx: Tx, asked: Asked, limit: int) -> list[RefundStep]:  # noqa: ARG001, there is but one
    request = Request(Caller(), asked.payment_id, asked.refund_id, asked.reason, asked.pieces, asked.amount_minor)
    found = await payments.find_payments(tx, {asked.payment_id})
    [planned] = await commands.plan(tx, [request], found)
    if isinstance(planned, Refusal):
        raise planned
    refund, _ = planned
    return [
        RefundStep(
            payment_id=asked.payment_id,
            refund_id=asked.refund_id,
            reason=asked.reason,
            pieces=asked.pieces,
            amount_minor=refund.amount_minor,
            asked_minor=asked.amount_minor,
            fee_minor=refund.fee_minor,
            currency=refund.currency,
            postings=refund.postings,
            calls=refund.calls,
        )
    ]


async def _give_back(tx: Tx, steps: Sequence[RefundStep], caller: Caller) -> None:
    requests = [
        Request(caller, each.payment_id, each.refund_id, each.reason, each.pieces, each.asked_minor) for each in steps
    ]
    for step, said in zip(steps, await commands.request_refunds(tx, requests), strict=True):
        if isinstance(said, Refusal) or (said.amount_minor, said.fee_minor) != (step.amount_minor, step.fee_minor):
            raise WrongCount("what was planned cannot be given back any more")


REFUND: Final = Planner("refunds.refund", Asked, RefundStep, _survey_refund, _give_back, most=1)


class Cancellation(Wire):
    """Everything that was paid for a subject goes back."""

    cancellation_id: CancellationId
    subject: str
    reason: Reason


class CancellationStep(Wire):
    """A page of payments."""

    cancellation_id: CancellationId
    subject: str
    reason: Reason
    payments: int
    disputed: int
    """Of which the bank has the money: nothing goes back unless it comes back to us."""
    first: PaymentId
    last: PaymentId
    amounts: dict[str, int]
    """By currency."""
    fees: dict[str, int]
    digest: str
    """Of each payment's part."""
    postings: tuple[PlannedTransfer, ...]
    calls: tuple[PlannedCall, ...]


async def _survey_cancellation(tx: Tx, wanted: Cancellation, limit: int) -> list[CancellationStep]:
    steps: list[CancellationStep] = []
    async for chunk in _chunks(tx, wanted):
        steps.append(chunk.step)
        if len(steps) >= limit:
            break
    return steps


class _Part(msgspec.Struct, frozen=True):
    payment: Payment
    amount_minor: int
    fee_minor: int
    postings: tuple[PlannedTransfer, ...]
    calls: tuple[PlannedCall, ...]


class _Chunk(msgspec.Struct, frozen=True):
    step: CancellationStep
    parts: tuple[_Part, ...]
    disputed: tuple[_Part, ...]


async def _chunks(tx: Tx, wanted: Cancellation) -> AsyncIterator[_Chunk]:
    """Of all that can go back now, in the order of payments."""
    after = FIRST
    while page := await payments.list_of_subject(tx, wanted.subject, after, CHUNK):
        after = page[-1].id.uuid
        parts, disputed = await _look(tx, wanted, page)
        if parts or disputed:
            yield _Chunk(_step(wanted, parts, disputed), parts, disputed)


async def _look(tx: Tx, wanted: Cancellation, page: Sequence[Payment]) -> tuple[tuple[_Part, ...], tuple[_Part, ...]]:
    """What would go back of each now, and what a bank has."""
    requests = [
        Request(Caller(), each.id, refund_of(wanted.cancellation_id, each.id), wanted.reason)
        for each in page
        if each.status in payments.PAID and each.captured_minor > each.refunded_minor
    ]
    found = {each.id: each for each in page}
    parts = _parts(found, requests, await commands.plan(tx, requests, found))
    disputed = tuple(
        _Part(each, left, 0, (), ())
        for each in page
        if each.status is Status.DISPUTED and (left := each.captured_minor - each.refunded_minor) > 0
    )
    return parts, disputed


async def plan_page(tx: Tx, wanted: Cancellation, page: Sequence[Payment], caller: Caller) -> list[Refund]:
    """Written down as what is to go back of these."""
    parts, disputed = await _look(tx, wanted, page)
    planned = [_planned(tx, wanted, each, caller) for each in (*parts, *disputed)]
    await store.insert_refunds(tx, planned, [])
    return planned


def refund_of(cancellation: CancellationId, payment: PaymentId) -> RefundId:
    """The same whenever it is asked: of one cancellation each payment is refunded once."""
    return RefundId(uuid5(cancellation.uuid, payment.uuid.hex))


def _parts(page: dict[PaymentId, Payment], requests: Sequence[Request], plans: Sequence[object]) -> tuple[_Part, ...]:
    """Those of which nothing is left, or which a bank has taken, are not part of it."""
    return tuple(
        _Part(page[request.payment], plan[0].amount_minor, plan[0].fee_minor, plan[0].postings, plan[0].calls)
        for request, plan in zip(requests, plans, strict=True)
        if isinstance(plan, tuple)
    )


def _step(wanted: Cancellation, parts: Sequence[_Part], disputed: Sequence[_Part]) -> CancellationStep:
    every = sorted(each.payment.id.uuid for each in (*parts, *disputed))
    amounts: dict[str, int] = {}
    fees: dict[str, int] = {}
    for each in parts:
        currency = each.payment.currency
        amounts[currency] = amounts.get(currency, 0) + each.amount_minor
        fees[currency] = fees.get(currency, 0) + each.fee_minor
    said = [(each.payment.id.uuid.hex, each.amount_minor, each.fee_minor) for each in (*parts, *disputed)]
    return CancellationStep(
        cancellation_id=wanted.cancellation_id,
        subject=wanted.subject,
        reason=wanted.reason,
        payments=len(parts),
        disputed=len(disputed),
        first=PaymentId(every[0]),
        last=PaymentId(every[-1]),
        amounts=amounts,
        fees=fees,
        digest=hashlib.sha256(msgspec.json.encode(said)).hexdigest(),
        postings=_summed([line for each in parts for line in each.postings]),
        calls=_together([call for each in parts for call in each.calls]),
    )


def _summed(lines: Sequence[PlannedTransfer]) -> tuple[PlannedTransfer, ...]:
    sums: dict[tuple[object, ...], int] = {}
    for line in lines:
        key = (line.entry_type, line.debit, line.credit, line.currency)
        sums[key] = sums.get(key, 0) + line.amount_minor
    return tuple(
        PlannedTransfer(entry_type=entry, debit=debit, credit=credit, amount_minor=minor, currency=currency)  # type: ignore[arg-type]
        for (entry, debit, credit, currency), minor in sorted(sums.items(), key=str)
    )


def _together(calls: Sequence[PlannedCall]) -> tuple[PlannedCall, ...]:
    """One line for all of a provider and a currency; how many they are is what the reference says."""
    groups: dict[tuple[object, ...], list[PlannedCall]] = {}
    for call in calls:
        groups.setdefault((call.provider, call.action, call.currency), []).append(call)
    return tuple(
        PlannedCall(
            provider=each[0].provider,
            action=each[0].action,
            reference=f"{len(each)} charges",
            amount_minor=sum(call.amount_minor for call in each),
            currency=each[0].currency,
            application_fee_minor=sum(call.application_fee_minor for call in each),
        )
        for _, each in sorted(groups.items(), key=str)
    )


async def _cancel(tx: Tx, steps: Sequence[CancellationStep], caller: Caller) -> None:
    """Every refund is written down as it was planned; the orders follow as bulk work. So is what a bank has: whether it
    still does is decided while the payment is held."""
    first = steps[0]
    wanted = Cancellation(cancellation_id=first.cancellation_id, subject=first.subject, reason=first.reason)
    done: list[CancellationStep] = []
    async for chunk in _chunks(tx, wanted):
        done.append(chunk.step)
        every = (*chunk.parts, *chunk.disputed)
        await store.insert_refunds(tx, [_planned(tx, wanted, part, caller) for part in every], [])
    if done != [*steps]:
        raise WrongCount("what was planned cannot be given back any more")
    await bulk.start(tx, cancel, Cancelling(first.cancellation_id), caller, key=str(first.cancellation_id))


def _planned(tx: Tx, wanted: Cancellation, part: _Part, caller: Caller) -> Refund:
    payment = part.payment
    return Refund(
        id=refund_of(wanted.cancellation_id, payment.id).uuid,
        payment_id=payment.id.uuid,
        city_code=payment.city_code,
        source_type=payment.source.type.value,
        source_id=payment.source.id,
        amount_minor=part.amount_minor,
        fee_minor=part.fee_minor,
        currency=payment.currency,
        reason=wanted.reason,
        state=RefundState.PLANNED,
        created_at=tx.now,
        cancellation_id=wanted.cancellation_id.uuid,
        requested_by=caller.actor.uuid if caller.actor else None,
    )


CANCELLATION: Final = Planner("refunds.cancellation", Cancellation, CancellationStep, _survey_cancellation, _cancel)

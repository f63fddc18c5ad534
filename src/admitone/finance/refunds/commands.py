"""Deciding on refunds.

Promise: what goes back is decided and ordered in one transaction that holds its payment, so two decisions on the same
piece are one after the other, and the second is told.
"""

from collections.abc import Mapping, Sequence
from uuid import UUID, uuid5

import msgspec

from admitone.finance.payments import api as payments
from admitone.finance.payments.api import Payment, PaymentNotFound, PlannedRefund, Refunding, RefundWanted
from admitone.finance.refunds import facts, policy, store
from admitone.finance.refunds.errors import RefundIdTaken, RefundNotFailed, RefundNotFound
from admitone.finance.refunds.model import Gone, Refund, RefundId, RefundLine, RefundState, Request
from admitone.finance.refunds.policy import Share
from admitone.finance.sources.api import PaymentId
from admitone.kernel import audit
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.scope import Caller


class Retry(msgspec.Struct, frozen=True):
    """Order anew what failed."""

    caller: Caller
    refund: RefundId
    anew: RefundId
    why: str | None = None


@command()
async def request_refunds(tx: Tx, requests: Sequence[Request]) -> list[Refund | Refusal]:
    """Decide, order and write down each; said twice under one id, it is one."""
    held = await payments.lock_payments(tx, requests)
    known = await store.find_refunds(tx, [each.refund.uuid for each in requests])
    first: dict[RefundId, Request] = {}
    for each in requests:
        first.setdefault(each.refund, each)
    fresh = [each for each in first.values() if each.refund.uuid not in known]
    shares = await _shares(tx, held, fresh)
    ordered = await _order(tx, [(each, shares[each.refund]) for each in fresh], held)
    lines = await store.find_lines(tx, known)
    outcomes: list[Refund | Refusal] = []
    for each in requests:
        there = known.get(each.refund.uuid)
        said = there or ordered[each.refund]
        is_same = _is_same(each, there, lines[there.id]) if there else _asks_the_same(each, first[each.refund])
        outcomes.append(said if is_same else RefundIdTaken())
    return outcomes


def _is_same(request: Request, there: Refund, lines: Sequence[RefundLine]) -> bool:
    """Whether a refund is what is asked for; of all that is left, nobody can say how much that was."""
    amount, pieces = request.amount_minor, policy.together(request.pieces)
    return (
        request.payment.uuid == there.payment_id
        and (amount is None or (amount == there.amount_minor and not lines))
        and (not pieces or pieces == {each.line_key: each.piece for each in lines})
    )


def _asks_the_same(one: Request, other: Request) -> bool:
    return (one.payment, one.pieces, one.amount_minor) == (other.payment, other.pieces, other.amount_minor)


async def plan(
    tx: Tx, requests: Sequence[Request], found: Mapping[PaymentId, Payment]
) -> list[tuple[PlannedRefund, Share] | Refusal]:
    """What each would do now to these payments."""
    shares = await _shares(tx, found, requests)
    sound = [(each, share) for each in requests if isinstance(share := shares[each.refund], Share)]
    said = iter(await payments.plan_refunds(tx, [_wanted(*each) for each in sound], found))
    plans = {each.refund: next(said) for each, _ in sound}
    return [_planned(shares[each.refund], plans.get(each.refund)) for each in requests]


def _planned(share: Share | Refusal, plan: PlannedRefund | Refusal | None) -> tuple[PlannedRefund, Share] | Refusal:
    if isinstance(share, Refusal):
        return share
    assert plan is not None
    return plan if isinstance(plan, Refusal) else (plan, share)


async def _shares(
    tx: Tx, held: Mapping[PaymentId, Payment], requests: Sequence[Request]
) -> dict[RefundId, Share | Refusal]:
    """What each would give back, of what those before it leave."""
    gone = await store.find_gone(tx, held)
    shares: dict[RefundId, Share | Refusal] = {}
    for each in requests:
        payment = held.get(each.payment)
        share = _share(each, payment, gone[each.payment]) if payment else PaymentNotFound()
        shares[each.refund] = share
        if isinstance(share, Share):
            store.add_up(gone[each.payment], share.lines)
    return shares


def _share(request: Request, payment: Payment, gone: Mapping[str, Gone]) -> Share | Refusal:
    if request.amount_minor is not None:
        return Share(request.amount_minor, None)
    snapshot = payment.price
    if request.pieces:
        share = policy.share_of(request.refund, request.pieces, snapshot, gone)
        return share if isinstance(share, Refusal) else msgspec.structs.replace(share, at_most=request.at_most)
    # All that is left, less what was given back, or is on its way, without saying of which pieces.
    lines = policy.all_left(request.refund, snapshot, gone)
    return Share(sum(each.amount_minor for each in lines), None, lines, at_most=True)


async def _order(
    tx: Tx, wanted: Sequence[tuple[Request, Share | Refusal]], held: Mapping[PaymentId, Payment]
) -> dict[RefundId, Refund | Refusal]:
    outcomes: dict[RefundId, Refund | Refusal] = {
        request.refund: share for request, share in wanted if isinstance(share, Refusal)
    }
    sound = [(request, share) for request, share in wanted if isinstance(share, Share)]
    begun = await payments.begin_refunds(tx, [_wanted(*each) for each in sound])
    lines: list[RefundLine] = []
    for (request, share), said in zip(sound, begun, strict=True):
        if isinstance(said, Refusal):
            outcomes[request.refund] = said
            continue
        refund = _refund(tx, request, held[request.payment], said)
        outcomes[request.refund] = refund
        lines += share.lines
        tell(tx, request.caller, facts.RefundRequested, refund, share.lines)
    refunds = [each for each in outcomes.values() if isinstance(each, Refund)]
    await store.insert_refunds(tx, refunds, lines)
    asked = {request.refund.uuid: request for request, _ in sound}
    await audit.record(tx, [_entry(asked[each.id], each) for each in refunds])
    return outcomes


def _wanted(request: Request, share: Share) -> RefundWanted:
    return RefundWanted(
        request.caller,
        request.payment,
        request.refund.uuid,
        share.amount_minor,
        share.fee_minor,
        request.reason.value,
        at_most=share.at_most,
        rounded=share.fee_minor is not None,
    )


def _refund(tx: Tx, request: Request, payment: Payment, said: Refunding) -> Refund:
    actor = request.caller.actor
    return Refund(
        id=request.refund.uuid,
        payment_id=payment.id.uuid,
        city_code=payment.city_code,
        source_type=payment.source.type.value,
        source_id=payment.source.id,
        amount_minor=said.intent.amount_minor,
        fee_minor=said.intent.fee_minor or 0,
        currency=said.intent.currency,
        reason=request.reason,
        state=RefundState.PENDING,
        created_at=tx.now,
        requested_by=actor.uuid if actor else None,
        stands_for=request.stands_for,
    )


def _entry(request: Request, refund: Refund) -> audit.Entry:
    after = {"amountMinor": refund.amount_minor, "currency": refund.currency, "refundId": str(RefundId(refund.id))}
    why = request.why or refund.reason.value
    return audit.Entry(request.caller, "refunds.request", str(request.payment), why, after=after)


def tell(tx: Tx, caller: Caller, kind: type[facts.RefundFact], refund: Refund, lines: Sequence[RefundLine]) -> None:
    tx.publish(
        caller,
        kind(
            payment_id=PaymentId(refund.payment_id),
            refund_id=str(RefundId(refund.id)),
            source_type=refund.source_type,
            source_id=refund.source_id,
            reason=refund.reason.value,
            amount_minor=refund.amount_minor,
            currency=refund.currency,
            pieces=tuple(each.piece for each in lines),
            whole=refund.cancellation_id is not None,
        ),
    )


def anew(refund: RefundId) -> RefundId:
    """Under which id what was not given back is ordered again: whoever orders it, it is ordered once."""
    return RefundId(uuid5(refund.uuid, "anew"))


@command()
async def retry_refunds(tx: Tx, retries: Sequence[Retry]) -> list[Refund | Refusal]:
    """Order the same anew, under a new id; a retry of a retry is one of the last. Of a cancellation goes all that is
    left by now, as with everybody else's."""
    failed = await store.find_refunds(tx, [each.refund.uuid for each in retries])
    lines = await store.find_lines(tx, failed)
    outcomes: dict[RefundId, Refund | Refusal] = {}
    requests: list[Request] = []
    for each in retries:
        before = failed.get(each.refund.uuid)
        if before is None:
            outcomes[each.anew] = RefundNotFound()
        elif before.state is not RefundState.FAILED:
            outcomes[each.anew] = RefundNotFailed()
        else:
            requests.append(_anew(each, before, lines[before.id]))
    for request, said in zip(requests, await request_refunds(tx, requests), strict=True):
        outcomes[request.refund] = said
    for each in retries:
        if isinstance(outcomes[each.anew], Refund):
            _tell_seen_to(tx, each.caller, failed[each.refund.uuid])
    return [outcomes[each.anew] for each in retries]


def _anew(retry: Retry, before: Refund, lines: Sequence[RefundLine]) -> Request:
    if whole := before.stands_for or (before.id if before.cancellation_id else None):
        return Request(
            retry.caller, PaymentId(before.payment_id), retry.anew, before.reason, why=retry.why, stands_for=whole
        )
    pieces = tuple(each.piece for each in lines)
    amount = None if pieces else before.amount_minor
    is_less = before.amount_minor < sum(each.amount_minor for each in lines)
    return Request(
        retry.caller, PaymentId(before.payment_id), retry.anew, before.reason, pieces, amount, retry.why, is_less
    )


class Ended(msgspec.Struct, frozen=True):
    """That one ended, and why, if it did not arrive."""

    caller: Caller
    failure: str | None = None


class _Settled(msgspec.Struct, frozen=True):
    payment: PaymentId


async def settle(tx: Tx, ended: Mapping[UUID, Ended], to: RefundState) -> None:
    """What payments say became of them. Their payments are held, as when they were ordered: whoever gives what was
    paid for holds the payment too, and sees either what goes back or that it did."""
    arrived = to is RefundState.SUCCEEDED
    among = [RefundState.PENDING, RefundState.FAILED if arrived else RefundState.SUCCEEDED]
    before = await store.find_refunds(tx, ended)
    await payments.lock_payments(tx, [_Settled(PaymentId(each.payment_id)) for each in before.values()])
    moved = await store.move_refunds(tx, {own: each.failure for own, each in ended.items()}, to, among)
    lines = await store.find_lines(tx, moved)
    for own in sorted(moved):
        caller = ended[own].caller
        tell(tx, caller, facts.RefundSucceeded if arrived else facts.RefundFailed, before[own], lines[own])
        if arrived and before[own].state is RefundState.FAILED:
            _tell_seen_to(tx, caller, before[own])


def _tell_seen_to(tx: Tx, caller: Caller, failed: Refund) -> None:
    tx.publish(caller, facts.RefundSeenTo(payment_id=PaymentId(failed.payment_id), refund_id=str(RefundId(failed.id))))

"""What is not paid for now, and what is left of what was owed.

Promise: what is owed of a payment that is disputed, or of which a refund did not arrive, leaves its payout as long as
nobody was asked for it, and is in no other until it is released (MOR-034, MOR-045); released, it is paid with the next
one, as much of it as the ledger still has for its payment. Where the organisation is merchant of record nothing is kept
from it: its payouts are shown as blocked, and somebody is told (U-14, FIN-091).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from admitone.finance.ledger import api as ledger
from admitone.finance.payments import api as payments
from admitone.finance.payments.api import Payment, PaymentNotFound, Status
from admitone.finance.payouts.errors import NothingFrozen
from admitone.finance.payouts.facts import ObligationFrozen, ObligationReleased, RiskCleared, RiskFlagged
from admitone.finance.payouts.model import FreezeOrder, O, Obligation, P, Payout, PayoutId, Reason
from admitone.finance.payouts.policy import left_of, returned_of
from admitone.finance.payouts.positions import find_positions
from admitone.finance.payouts.store import obligations as store
from admitone.finance.payouts.store import owners as owner_store
from admitone.finance.payouts.store import payouts as payout_store
from admitone.finance.payouts.store.obligations import Freeze, Move
from admitone.finance.payouts.sweeping import sweep
from admitone.finance.payouts.telling import withdrawn
from admitone.finance.sources.api import PaymentId, SettlementModel
from admitone.kernel import audit
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.scope import Caller

MOST_KEPT: Final = 1_000


class Frozen(msgspec.Struct, frozen=True):
    """Why what is owed of a payment is not paid now; for no reason: it is."""

    payment: PaymentId
    reasons: tuple[Reason, ...]
    new: bool


@command()
async def freeze(tx: Tx, orders: Sequence[FreezeOrder]) -> list[Frozen | Refusal]:
    """Nothing of these payments is paid out until they are released for the same reason."""
    found = await payments.find_payments(tx, {each.payment for each in orders})
    known = [each for each in orders if each.payment in found]
    fresh = await _change(tx, found, put=[_freeze(each, found) for each in known], orders=known)
    await _record(tx, "payouts.freeze", [each for each in known if (each.payment, each.reason) in fresh])
    standing = await store.find_standing(tx, found)
    return [
        Frozen(each.payment, _sorted(standing, each.payment), (each.payment, each.reason) in fresh)
        if each.payment in found
        else PaymentNotFound()
        for each in orders
    ]


@command()
async def release(tx: Tx, orders: Sequence[FreezeOrder]) -> list[Frozen | Refusal]:
    """What these payments were frozen for is over."""
    found = await payments.find_payments(tx, {each.payment for each in orders})
    known = [each for each in orders if each.payment in found]
    lifted = await _change(tx, found, lift=[_freeze(each, found) for each in known], orders=known)
    await _record(tx, "payouts.release", [each for each in known if (each.payment, each.reason) in lifted])
    standing = await store.find_standing(tx, found)
    outcomes: list[Frozen | Refusal] = []
    for each in orders:
        if each.payment not in found:
            outcomes.append(PaymentNotFound())
        elif (each.payment, each.reason) not in lifted:
            outcomes.append(NothingFrozen())
        else:
            outcomes.append(Frozen(each.payment, _sorted(standing, each.payment), new=True))
    return outcomes


class Heard(msgspec.Struct, frozen=True):
    """Something happened to a payment, or to a refund of it."""

    payment: PaymentId
    caller: Caller
    refund_failed: bool | None = None
    """Whether a refund did not arrive, or did; none: it is about no refund of ours."""


async def look_again(tx: Tx, heard: Sequence[Heard]) -> None:
    """What follows for what is owed is what the payments and the ledger say now, whatever was told and in whatever
    order; of a refund that did not arrive somebody must say that it is settled, or another must arrive."""
    callers = {each.payment: each.caller for each in heard}
    found = await payments.find_payments(tx, callers)
    disputed = {own for own, payment in found.items() if payment.status is Status.DISPUTED}
    put = [Freeze(own, Reason.DISPUTE, found[own].settlement) for own in disputed]
    lift = [Freeze(own, Reason.DISPUTE) for own in found if own not in disputed]
    for each in heard:
        payment = found.get(each.payment)
        if each.refund_failed is not None and payment is not None and not _is_theirs(payment):
            (put if each.refund_failed else lift).append(Freeze(payment.id, Reason.REFUND_FAILED, payment.settlement))
    orders = [FreezeOrder(callers[each.payment], each.payment, each.reason) for each in (*put, *lift)]
    await _change(tx, found, put=put, lift=lift, orders=orders)


def _freeze(order: FreezeOrder, found: Mapping[PaymentId, Payment]) -> Freeze:
    return Freeze(order.payment, order.reason, found[order.payment].settlement)


def _sorted(standing: Mapping[PaymentId, set[Reason]], own: PaymentId) -> tuple[Reason, ...]:
    return tuple(sorted(standing.get(own, ())))


async def _record(tx: Tx, action: str, orders: Iterable[FreezeOrder]) -> None:
    """By whose hand; what follows from what happened stands in its facts."""
    by_hand = [each for each in orders if each.reason_code]
    await audit.record(tx, [audit.Entry(each.caller, action, str(each.payment), each.reason_code) for each in by_hand])


async def _change(
    tx: Tx,
    found: Mapping[PaymentId, Payment],
    *,
    put: Sequence[Freeze] = (),
    lift: Sequence[Freeze] = (),
    orders: Sequence[FreezeOrder],
) -> set[tuple[PaymentId, Reason]]:
    """Freeze and release, and let what is owed follow. Those that changed."""
    callers = {each.payment: each.caller for each in orders}
    own = {tx.scope.organization.uuid} if any(_is_theirs(each) for each in found.values()) else set()
    await owner_store.lock_owners(tx, {each.payee for each in found.values()} | own)
    was_blocked = await store.find_block(tx)
    changed = await store.put_freezes(tx, put) | await store.lift_freezes(tx, lift)
    held = {payment: each for payment, each in found.items() if not _is_theirs(each)}
    await _follow(tx, held, callers)
    await return_kept(tx, {found[each.payment].payee: each.caller for each in orders})
    await _flag(tx, was_blocked, [each for each in orders if _is_theirs(found[each.payment])])
    return changed


def _is_theirs(payment: Payment) -> bool:
    return payment.settlement is SettlementModel.ORG_MOR


async def _flag(tx: Tx, was_blocked: datetime | None, orders: Sequence[FreezeOrder]) -> None:
    """Say that payouts of what the organisation sells itself are blocked here from now on, or no more."""
    if not orders:
        return
    is_blocked, organization = await store.find_block(tx) is not None, str(tx.scope.organization)
    first = orders[0]
    if is_blocked and was_blocked is None:
        flagged = RiskFlagged(
            organization_id=organization, reason_code=first.reason, payouts_blocked=True, payment_id=first.payment
        )
        tx.publish(first.caller, flagged)
    elif was_blocked is not None and not is_blocked:
        tx.publish(first.caller, RiskCleared(organization_id=organization, reason_code=first.reason))


# -- What follows for what is owed


@dataclass
class _Following:
    """What changes for some obligations and the payouts that they are in, decided one after the other."""

    payouts: Mapping[PayoutId, Payout]
    standing: Mapping[PaymentId, set[Reason]]
    moves: dict[Obligation, Move] = field(default_factory=dict)
    taken_out: dict[PayoutId, int] = field(default_factory=dict)

    def decide(self, each: Obligation, left: int) -> None:
        payout = self.payouts[each.payout] if each.payout else None
        if each.state is O.PAID or (payout is not None and payout.state is not P.PAYOUT_PENDING):
            return  # It was paid, or asked for: what was lost is recovered from what is owed next.
        is_frozen = bool(self.standing.get(each.payment))
        state = O.FROZEN if is_frozen else O.REVERSED if not left else O.IN_PAYOUT if payout else O.DUE
        if (state, left) == (each.state, each.amount_minor):
            return
        stays = state is O.IN_PAYOUT
        self.moves[each] = Move.of(each, state, amount_minor=left, payout=each.payout if stays else None)
        if payout is not None:
            gone = each.amount_minor - (left if stays else 0)
            self.taken_out[payout.id] = self.taken_out.get(payout.id, 0) + gone

    def reduced(self) -> dict[PayoutId, Payout]:
        """What payouts are for that something was taken out of; of which nothing is left to pay, it is withdrawn."""
        after = {}
        for own, gone in self.taken_out.items():
            payout = self.payouts[own]
            gross = payout.gross_minor - gone
            if gross > payout.recovered_minor:
                after[own] = msgspec.structs.replace(payout, gross_minor=gross)
            else:
                after[own] = msgspec.structs.replace(payout, gross_minor=0, recovered_minor=0, state=P.FROZEN)
        return after


async def _follow(tx: Tx, held: Mapping[PaymentId, Payment], callers: Mapping[PaymentId, Caller]) -> None:
    known = await store.find_by_payment(tx, held)
    if not known:
        return
    standing = await store.find_standing(tx, known)
    nets = await ledger.net_of(tx, sorted(known))
    payouts = await payout_store.find_payouts(tx, {each.payout for each in known.values() if each.payout})
    following = _Following(payouts, standing)
    for own, each in known.items():
        net = nets.get((own, each.currency))
        # What is owed once more of what was paid is what came back to its owner, and not what its payment has.
        left = each.amount_minor if each.is_returned else left_of(each.due_minor, net.minor if net else 0)
        following.decide(each, left)
    await _write(tx, following, callers)


async def return_kept(tx: Tx, callers: Mapping[UUID, Caller]) -> None:
    """What was recovered from these owners, who are held, and is theirs after all is owed to them again (MOR-037); but
    not while it may have to go back to a customer."""
    kept = await store.list_kept(tx, callers, MOST_KEPT)
    if not kept:
        return
    positions = await find_positions(tx, {each.owner for each in kept})
    questioned = await store.sum_in_question(tx, {each.owner for each in kept})
    owners = {(each.owner, each.currency) for each in kept}
    returned = returned_of(kept, {own: positions.of(*own).credit_minor - questioned.get(own, 0) for own in owners})
    standing = await store.find_standing(tx, [each.payment for each in returned])
    moves = {
        each: Move.of(
            each,
            O.FROZEN if standing.get(each.payment) else O.DUE,
            amount_minor=minor,
            kept_minor=each.kept_minor - minor,
            is_returned=True,
        )
        for each, minor in returned.items()
    }
    await store.move_obligations(tx, [*moves.values()])
    for each, minor in returned.items():
        told = ObligationReleased(payment_id=each.payment, amount_minor=minor, currency=each.currency)
        tx.publish(callers[each.owner], told)


async def _write(tx: Tx, following: _Following, callers: Mapping[PaymentId, Caller]) -> None:
    reduced = following.reduced()
    emptied = [own for own, payout in reduced.items() if payout.state is P.FROZEN]
    await payout_store.move_payouts(
        tx, [payout_store.Move(following.payouts[own], payout) for own, payout in reduced.items()]
    )
    moves = {each.id: move for each, move in following.moves.items()}
    for others in (await store.find_by_payout(tx, emptied)).values():
        for each in others:  # What is left of a payout that is withdrawn is owed as before.
            before = moves.get(each.id)
            left = before.amount_minor if before else each.amount_minor
            if before is None or before.state is O.IN_PAYOUT:
                moves[each.id] = Move.of(each, O.DUE, amount_minor=left)
    await store.move_obligations(tx, [*moves.values()])
    for each, move in following.moves.items():
        _tell(tx, callers[each.payment], each, move, _sorted(following.standing, each.payment))
    gone = {each: 0 for each, move in following.moves.items() if move.state is O.REVERSED}
    for each in gone:
        await sweep(tx, {each: 0}, callers[each.payment], f"reversed:{each.id}")
    for own in emptied:
        tx.publish(Caller(), withdrawn(following.payouts[own]))


def _tell(tx: Tx, caller: Caller, before: Obligation, move: Move, reasons: Sequence[Reason]) -> None:
    if move.state is O.FROZEN and before.state is not O.FROZEN:
        tx.publish(caller, ObligationFrozen(payment_id=before.payment, reason=reasons[0]))
    elif before.state is O.FROZEN and move.state is not O.FROZEN:
        released = ObligationReleased(
            payment_id=before.payment, amount_minor=move.amount_minor, currency=before.currency
        )
        tx.publish(caller, released)

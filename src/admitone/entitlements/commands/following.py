"""What became of the money, followed by the rights that it paid for.

Promise (ENT-007, ENT-008): whatever is told, once, twice or in any order, the rights of a payment stand where the
payment and its refunds say now. That money went back takes the right for good; that it is on its way back changes
nothing yet. Money is looked at when its rights are held, so that who looked before and writes after cannot be: whatever
changes later is told later. Whoever grants holds the payment, so that nothing of it changes unseen.
"""

from collections.abc import Collection, Iterable, Mapping

from admitone.entitlements.commands.changing import Move, held, revoked, write_moves
from admitone.entitlements.model import Entitlement, EntitlementId, Hold, Revocation
from admitone.entitlements.policy import taken_by_money
from admitone.entitlements.store import entitlements as store
from admitone.finance.payments import api as payments
from admitone.finance.payments.api import Payment
from admitone.finance.refunds import api as refunds
from admitone.finance.refunds.api import GoneBack
from admitone.finance.sources.api import PaymentId
from admitone.kernel.db import Tx
from admitone.kernel.scope import Caller


async def follow(tx: Tx, callers: Mapping[PaymentId, Caller]) -> dict[EntitlementId, Entitlement]:
    """The rights of these payments, as they stand now."""
    locked = await _lock_all(tx, callers)
    if not locked:
        return {}
    moves = await _moves(tx, locked.values(), callers)
    await write_moves(tx, moves)
    return locked | {each.after.id: each.after for each in moves}


async def _lock_all(tx: Tx, payments: Collection[PaymentId]) -> dict[EntitlementId, Entitlement]:
    """Also those that were given while we waited for others: whoever gave them may have taken one of them already."""
    locked: dict[EntitlementId, Entitlement] = {}
    fresh = await store.list_of_payments(tx, payments) if payments else []
    while fresh:
        locked |= await store.lock_entitlements(tx, fresh, lambda each: each.id)
        seen = {*locked, *(each.id for each in fresh)}
        fresh = [each for each in await store.list_of_payments(tx, payments) if each.id not in seen]
    return locked


async def find_strayed(tx: Tx, ids: Collection[PaymentId]) -> dict[PaymentId, list[EntitlementId]]:
    """Rights of these payments that do not stand where their payment says."""
    rights = await store.list_of_payments(tx, ids)
    strayed: dict[PaymentId, list[EntitlementId]] = {}
    for move in await _moves(tx, rights, dict.fromkeys(ids, Caller())):
        if move.before.payment_id:
            strayed.setdefault(move.before.payment_id, []).append(move.before.id)
    return strayed


async def _moves(tx: Tx, rights: Iterable[Entitlement], callers: Mapping[PaymentId, Caller]) -> list[Move]:
    paid = await payments.find_payments(tx, callers)
    back = await refunds.find_gone_back(tx, paid)
    of_payment: dict[PaymentId | None, dict[EntitlementId, Entitlement]] = {}
    for each in rights:
        of_payment.setdefault(each.payment_id, {})[each.id] = each
    moves: list[Move | None] = []
    for own, payment in paid.items():
        own_rights = of_payment.get(own, {})
        taken = taken_by_money([*own_rights.values()], payment, back[own])
        moves += [_move(callers[own], own_rights[each], why, tx) for each, why in taken.items()]
    return [each for each in moves if each is not None]


async def follow_held(
    tx: Tx, held: Mapping[PaymentId, Payment], callers: Mapping[PaymentId, Caller]
) -> dict[EntitlementId, Entitlement]:
    """The same, of payments that are held. Where all of the money is here, what is given is as it was given, and nobody
    who comes in on another right of the order waits."""
    back = await refunds.find_gone_back(tx, held) if held else {}
    less = [own for own, each in held.items() if each.status not in payments.PAID or back[own] != GoneBack()]
    return await follow(tx, {own: callers[own] for own in less})


def _move(caller: Caller, right: Entitlement, why: frozenset[Hold] | Revocation, tx: Tx) -> Move | None:
    if isinstance(why, Revocation):
        return revoked(caller, right, why)
    return held(caller, right, right.held_for - {Hold.DISPUTE} | why, tx.now)

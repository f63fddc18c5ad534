"""What became of the money, followed by the rights that it paid for.

Promise (ENT-007, ENT-008): whatever is told, once, twice or in any order, the rights of a payment stand where the
payment and its refunds say now. Who ordered that something goes back stops its use at once; that it went back takes it
for good. A right that is granted looks at its payment first, so that what was disputed before is not let in after.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from admitone.entitlements.commands.changing import Move, held, revoked, write_moves
from admitone.entitlements.model import Entitlement, EntitlementId, Hold, Revocation
from admitone.entitlements.policy import taken_by_money
from admitone.entitlements.store import entitlements as store
from admitone.finance.payments import api as payments
from admitone.finance.payments.api import Payment
from admitone.finance.refunds import api as refunds
from admitone.finance.sources.api import PaymentId
from admitone.kernel.db import Tx
from admitone.kernel.scope import Caller

BY_MONEY: Final = frozenset({Hold.DISPUTE, Hold.REFUND})


async def follow(
    tx: Tx, found: Mapping[PaymentId, Payment], callers: Mapping[PaymentId, Caller]
) -> dict[EntitlementId, Entitlement]:
    """The rights of these payments, as they stand now."""
    if not found:
        return {}
    rights = await store.list_of_payments(tx, found)
    locked = await store.lock_entitlements(tx, rights, lambda each: each.id)
    moves = await _moves(tx, locked.values(), found, callers)
    await write_moves(tx, moves)
    return locked | {each.after.id: each.after for each in moves}


async def find_strayed(tx: Tx, ids: Collection[PaymentId]) -> dict[PaymentId, list[EntitlementId]]:
    """Rights of these payments that do not stand where their payment says."""
    found = await payments.find_payments(tx, ids)
    rights = await store.list_of_payments(tx, ids)
    strayed: dict[PaymentId, list[EntitlementId]] = {}
    for move in await _moves(tx, rights, found, {own: Caller() for own in found}):
        if move.before.payment_id:
            strayed.setdefault(move.before.payment_id, []).append(move.before.id)
    return strayed


async def _moves(
    tx: Tx, rights: Iterable[Entitlement], found: Mapping[PaymentId, Payment], callers: Mapping[PaymentId, Caller]
) -> list[Move]:
    back = await refunds.find_going_back(tx, found)
    of_payment: dict[PaymentId | None, dict[EntitlementId, Entitlement]] = {}
    for each in rights:
        of_payment.setdefault(each.payment_id, {})[each.id] = each
    moves: list[Move | None] = []
    for own, payment in found.items():
        own_rights = of_payment.get(own, {})
        taken = taken_by_money([*own_rights.values()], payment.status, back[own])
        moves += [_move(callers[own], own_rights[each], why, tx) for each, why in taken.items()]
    return [each for each in moves if each is not None]


def _move(caller: Caller, right: Entitlement, why: Hold | Revocation | None, tx: Tx) -> Move | None:
    if isinstance(why, Revocation):
        return revoked(caller, right, why)
    holds = right.held_for - BY_MONEY | ({why} if why else frozenset())
    return held(caller, right, holds, tx.now)

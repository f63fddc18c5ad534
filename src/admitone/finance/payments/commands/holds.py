"""Risk holds: new checkouts of an organisation wait until somebody has looked (FIN-018).

Promise: a hold stops what is new and nothing else: whoever has begun to pay may finish, and no money is kept from
anybody (FIN-006). Who placed and lifted it, and why, stands in the trail; of two who do so at once, one does.
"""

from collections.abc import Sequence

import msgspec

from admitone.finance.payments.errors import AlreadyOnHold, NotOnHold
from admitone.finance.payments.facts import RiskHoldChanged
from admitone.finance.payments.store import standing
from admitone.foundation.organizations import api as organizations
from admitone.kernel import audit
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import uuid7
from admitone.kernel.scope import Caller


class HoldOrder(msgspec.Struct, frozen=True):
    """Who wants it, and why."""

    caller: Caller
    reason_code: str


class Held(msgspec.Struct, frozen=True):
    """Whether new checkouts wait now."""

    standing: bool


@command()
async def place_holds(tx: Tx, orders: Sequence[HoldOrder]) -> list[Held | Refusal]:
    await organizations.get_organization(tx)
    outcomes: list[Held | Refusal] = []
    for order in orders:
        placed = await standing.place_hold(tx, uuid7(), order.reason_code, order.caller.actor)
        outcomes.append(
            await _told(tx, order, "payments.place_risk_hold", standing=True) if placed else AlreadyOnHold()
        )
    return outcomes


@command()
async def lift_holds(tx: Tx, orders: Sequence[HoldOrder]) -> list[Held | Refusal]:
    await organizations.get_organization(tx)
    outcomes: list[Held | Refusal] = []
    for order in orders:
        lifted = await standing.lift_hold(tx, order.caller.actor)
        outcomes.append(await _told(tx, order, "payments.lift_risk_hold", standing=False) if lifted else NotOnHold())
    return outcomes


async def _told(tx: Tx, order: HoldOrder, action: str, *, standing: bool) -> Held:
    own = str(tx.scope.organization)
    tx.publish(order.caller, RiskHoldChanged(organization_id=own, standing=standing, reason_code=order.reason_code))
    await audit.record(tx, [audit.Entry(order.caller, action, own, reason_code=order.reason_code)])
    return Held(standing)

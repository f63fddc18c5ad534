"""Making plans and applying them.

Promise: whoever applies a plan holds it, so of many at once one does it and the others are told that it was done. A
refusal is an outcome, not an accident: that the plan has ended commits, and nothing else.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from admitone.kernel import audit
from admitone.kernel.commands import command
from admitone.kernel.db import Overtaken, Tx, WrongCount
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId
from admitone.kernel.plans import store
from admitone.kernel.plans.model import (
    Plan,
    PlanExpired,
    PlanId,
    Planner,
    PlanNotFound,
    PlanOvertaken,
    PlanStatus,
    PlanTooLarge,
    written,
)
from admitone.kernel.scope import Caller

GOOD_FOR: Final = timedelta(hours=1)
REFUSALS: Final = {PlanStatus.OVERTAKEN: PlanOvertaken, PlanStatus.EXPIRED: PlanExpired}


@dataclass(frozen=True, slots=True)
class Draft:
    """What is asked: a plan for this request."""

    caller: Caller
    planner: Planner[Any, Any]
    request: Any


@dataclass(frozen=True, slots=True)
class Order:
    """What is asked: apply this plan, for a reason."""

    caller: Caller
    plan: PlanId
    reason_code: str
    planners: tuple[Planner[Any, Any], ...] | None = None
    """Whose plans may be applied here: who may do one thing may not do another by naming its plan. None: any."""

    def may(self, plan: Plan) -> bool:
        return self.planners is None or any(plan.kind == each.name for each in self.planners)


class Applied(msgspec.Struct, frozen=True):
    """What came of it."""

    plan: PlanId
    steps: int
    at: datetime
    by: IdentityId | None
    already: bool = False
    """Whether somebody had applied it before."""


@command()
async def make(tx: Tx, drafts: Sequence[Draft]) -> list[Plan | Refusal]:
    """Store what would be done now."""
    plans = [await _plan_of(tx, draft) for draft in drafts]
    await store.insert_plans(tx, [plan for plan in plans if isinstance(plan, Plan)])
    return plans


@command(keyed_by=lambda order: order.plan)
async def apply(tx: Tx, orders: Sequence[Order]) -> list[Applied | Refusal]:
    """Do what the plans say, if it is still what would be done."""
    plans = await store.lock_plans(tx, orders)
    outcomes: list[Applied | Refusal] = []
    for order in orders:
        plan = plans.get(order.plan.uuid)
        if plan is None or not order.may(plan):
            outcomes.append(PlanNotFound())
            continue
        ended = plan if plan.status is not PlanStatus.PLANNED else await _end(tx, plan, order)
        outcomes.append(_outcome(ended, already=ended is plan))
        plans[order.plan.uuid] = ended
    return outcomes


async def get(tx: Tx, which: PlanId) -> Plan:
    plan = await store.find_plan(tx, which)
    if plan is None:
        raise PlanNotFound
    return plan


async def _plan_of(tx: Tx, draft: Draft) -> Plan | Refusal:
    planner = draft.planner
    steps = await planner.look(tx, draft.request)
    if len(steps) > planner.most:
        return PlanTooLarge(most=planner.most)
    return Plan(
        id=PlanId.new(),
        kind=planner.name,
        request=written(draft.request),
        steps=written(steps),
        digest=planner.digest(draft.request, steps),
        status=PlanStatus.PLANNED,
        made_at=tx.now,
        made_by=draft.caller.actor,
        expires_at=tx.now + GOOD_FOR,
    )


async def _end(tx: Tx, plan: Plan, order: Order) -> Plan:
    ended = await _applied(tx, plan, order) if tx.now < plan.expires_at else _over(plan, PlanStatus.EXPIRED)
    await store.end_plan(tx, ended)
    return ended


async def _applied(tx: Tx, plan: Plan, order: Order) -> Plan:
    planner = Planner.known[plan.kind]
    request, steps = planner.read_request(plan.request), planner.read_steps(plan.steps)
    present = await planner.look(tx, request)
    if {planner.digest(request, steps), planner.digest(request, present)} != {plan.digest}:
        return _over(plan, PlanStatus.OVERTAKEN)
    try:
        await planner.carry_out(tx, steps, order.caller)
    except WrongCount as changed:  # Since we looked. Once more from the beginning, and the change will be seen.
        raise Overtaken from changed
    said = {"kind": plan.kind, "steps": len(steps), "digest": plan.digest.hex()}
    await audit.record(
        tx, [audit.Entry(order.caller, "kernel.plan.apply", str(plan.id), order.reason_code, after=said)]
    )
    over = _over(plan, PlanStatus.APPLIED)
    return msgspec.structs.replace(over, applied_at=tx.now, applied_by=order.caller.actor)


def _over(plan: Plan, status: PlanStatus) -> Plan:
    return msgspec.structs.replace(plan, status=status)


def _outcome(plan: Plan, *, already: bool) -> Applied | Refusal:
    if plan.status in REFUSALS:
        return REFUSALS[plan.status]()
    assert plan.applied_at is not None
    return Applied(plan.id, len(plan.steps), plan.applied_at, plan.applied_by, already)

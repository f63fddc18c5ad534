"""A plan, and what came of it, as whoever asked is told."""

from typing import Any

from admitone.kernel.contracts import Instant, Wire
from admitone.kernel.plans.applying import Applied
from admitone.kernel.plans.model import Plan, PlanId


class PlanAnswer(Wire):
    """What would be done, step by step."""

    plan_id: PlanId
    kind: str
    steps: list[Any]
    expires_at: Instant

    @classmethod
    def of(cls, plan: Plan) -> "PlanAnswer":
        return cls(plan_id=plan.id, kind=plan.kind, steps=plan.steps, expires_at=plan.expires_at)


class AppliedAnswer(Wire):
    plan_id: PlanId
    steps: int
    applied_at: Instant
    already: bool
    """Whether somebody had applied it before."""

    @classmethod
    def of(cls, applied: Applied) -> "AppliedAnswer":
        return cls(plan_id=applied.plan, steps=applied.steps, applied_at=applied.at, already=applied.already)

"""The statements of plans."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from admitone.kernel.db import Record, Tx
from admitone.kernel.ids import IdentityId
from admitone.kernel.plans.model import PLAN, Plan, PlanId, PlanStatus
from admitone.kernel.statements import Insert, Lock

INSERT_PLANS = Insert(
    "kernel.plan",
    {
        "id": "uuid",
        "kind": "text",
        "request": "jsonb",
        "steps": "jsonb",
        "digest": "bytea",
        "status": "text",
        "made_at": "timestamptz",
        "made_by": "uuid",
        "expires_at": "timestamptz",
    },
)
LOCK_PLANS = Lock(
    """
    SELECT id, kind, request, steps, digest, status, made_at, made_by, expires_at, applied_at, applied_by
      FROM kernel.plan
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
     ORDER BY id
    """,
    key="id",
)
FIND_PLAN = """
    SELECT id, kind, request, steps, digest, status, made_at, made_by, expires_at, applied_at, applied_by
      FROM kernel.plan
     WHERE organization_id = $1
       AND id = $2
"""
END_PLAN = """
    UPDATE kernel.plan
       SET status = $3, applied_at = $4, applied_by = $5
     WHERE organization_id = $1
       AND id = $2
       AND status = ANY($6::text[])
"""


async def insert_plans(tx: Tx, plans: Sequence[Plan]) -> None:
    await tx.insert_exactly(INSERT_PLANS, plans)


async def lock_plans(tx: Tx, orders: Sequence[Any]) -> dict[UUID, Plan]:
    rows = await tx.lock(LOCK_PLANS, orders, lambda order: order.plan.uuid)
    return {key: _plan(row) for key, row in rows.items()}


async def find_plan(tx: Tx, which: PlanId) -> Plan | None:
    row = await tx.find(FIND_PLAN, which.uuid)
    return _plan(row) if row else None


async def end_plan(tx: Tx, plan: Plan) -> None:
    """Write down how it ended."""
    by = plan.applied_by and plan.applied_by.uuid
    await tx.execute_exactly(1, END_PLAN, plan.id.uuid, plan.status, plan.applied_at, by, PLAN.leaving(plan.status))


def _plan(row: Record) -> Plan:
    known: dict[str, Any] = dict(row)
    known |= {
        "id": PlanId(row["id"]),
        "status": PlanStatus(row["status"]),
        "made_by": IdentityId(row["made_by"]) if row["made_by"] else None,
        "applied_by": IdentityId(row["applied_by"]) if row["applied_by"] else None,
    }
    return Plan(**known)

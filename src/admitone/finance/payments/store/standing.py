"""Whether an organisation may take money: risk holds, and what people took for nothing."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from admitone.kernel.db import Tx
from admitone.kernel.ids import IdentityId
from admitone.kernel.statements import Insert, Lock, columns

FIND_HOLD = """
    SELECT id, reason_code, placed_at
      FROM payments.risk_hold
     WHERE organization_id = $1
       AND lifted_at IS NULL
"""


PLACE_HOLD = """
    INSERT INTO payments.risk_hold (organization_id, id, reason_code, placed_by, placed_at)
    VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT DO NOTHING
"""


LIFT_HOLD = """
    UPDATE payments.risk_hold
       SET lifted_by = $2, lifted_at = $3
     WHERE organization_id = $1
       AND lifted_at IS NULL
"""


BEGIN_CLAIMS = Insert(
    "payments.free_claim",
    {"guard_key": "text", "identity_id": "uuid", "taken": "integer", "changed_at": "timestamptz"},
    on_conflict="DO NOTHING",
)


LOCK_CLAIMS = Lock(
    """
    SELECT guard_key || ' ' || identity_id::text AS name, guard_key, identity_id, taken
      FROM payments.free_claim
     WHERE organization_id = $1
       AND guard_key = ANY($3::text[])
       AND identity_id = ANY($4::uuid[])
       AND guard_key || ' ' || identity_id::text = ANY($2::text[])
     ORDER BY guard_key, identity_id
    """,
    key="name",
)


TAKE_CLAIMS = """
    UPDATE payments.free_claim AS c
       SET taken = v.taken, changed_at = $2
      FROM unnest($3::text[], $4::uuid[], $5::integer[]) AS v(guard_key, identity_id, taken)
     WHERE c.organization_id = $1
       AND c.guard_key = ANY($3::text[])
       AND c.identity_id = ANY($4::uuid[])
       AND c.guard_key = v.guard_key
       AND c.identity_id = v.identity_id
       AND c.taken < v.taken
"""


class Claim(msgspec.Struct, frozen=True, order=True):
    """Somebody and something that may be had for nothing."""

    guard_key: str
    identity_id: IdentityId

    @property
    def name(self) -> str:
        return f"{self.guard_key} {self.identity_id.uuid}"


class _ClaimRow(Claim, frozen=True):
    taken: int
    changed_at: datetime


async def find_hold(tx: Tx) -> str | None:
    """Why new checkouts of this organisation wait, if they do."""
    row = await tx.find(FIND_HOLD)
    return row["reason_code"] if row else None


async def place_hold(tx: Tx, own: UUID, reason_code: str, by: IdentityId | None) -> bool:
    """Whether there was none."""
    return await tx.execute(PLACE_HOLD, own, reason_code, by.uuid if by else None, tx.now) == 1


async def lift_hold(tx: Tx, by: IdentityId | None) -> bool:
    """Whether there was one."""
    return await tx.execute(LIFT_HOLD, by.uuid if by else None, tx.now) == 1


async def lock_claims(tx: Tx, claims: Collection[Claim]) -> dict[Claim, int]:
    """How often each was taken; held until the end, also those that nobody took yet."""
    ordered = sorted(set(claims))
    if not ordered:
        return {}
    fresh = [_ClaimRow(each.guard_key, each.identity_id, 0, tx.now) for each in ordered]
    await tx.insert_many(BEGIN_CLAIMS, fresh)
    rows = await tx.lock(LOCK_CLAIMS, ordered, lambda each: each.name, *columns(ordered, "guard_key", "identity_id"))
    return {Claim(row["guard_key"], IdentityId(row["identity_id"])): row["taken"] for row in rows.values()}


async def take_claims(tx: Tx, taken: Mapping[Claim, int]) -> None:
    """By how often each was taken now, all in all."""
    ordered: Sequence[Claim] = sorted(taken)
    counts = [taken[each] for each in ordered]
    await tx.execute_exactly(len(ordered), TAKE_CLAIMS, tx.now, *columns(ordered, "guard_key", "identity_id"), counts)

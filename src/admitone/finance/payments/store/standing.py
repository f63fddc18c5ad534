"""Whether an organisation may take money: risk holds, and what people took for nothing."""

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from admitone.finance.sources.api import PaymentId
from admitone.kernel.db import Record, Tx
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


SUM_GIVEN_BACK = """
    SELECT t.guard_key, t.identity_id, sum(t.quantity) AS given_back
      FROM payments.free_taking AS t
      JOIN unnest($2::text[], $3::uuid[]) AS v(guard_key, identity_id)
        ON v.guard_key = t.guard_key
       AND v.identity_id = t.identity_id
     WHERE t.organization_id = $1
       AND t.guard_key = ANY($2::text[])
       AND t.identity_id = ANY($3::uuid[])
       AND t.given_back_at IS NOT NULL
     GROUP BY t.guard_key, t.identity_id
"""


TAKE_CLAIMS = """
    UPDATE payments.free_claim AS c
       SET taken = c.taken + v.quantity, changed_at = $2
      FROM unnest($3::text[], $4::uuid[], $5::integer[]) AS v(guard_key, identity_id, quantity)
     WHERE c.organization_id = $1
       AND c.guard_key = ANY($3::text[])
       AND c.identity_id = ANY($4::uuid[])
       AND c.guard_key = v.guard_key
       AND c.identity_id = v.identity_id
"""


INSERT_TAKINGS = Insert(
    "payments.free_taking",
    {"payment_id": "uuid", "guard_key": "text", "identity_id": "uuid", "quantity": "integer"},
    attributes={"payment_id": "payment"},
)


GIVE_BACK_TAKINGS = """
    UPDATE payments.free_taking
       SET given_back_at = $3
     WHERE organization_id = $1
       AND payment_id = ANY($2::uuid[])
       AND given_back_at IS NULL
"""


class Claim(msgspec.Struct, frozen=True, order=True):
    """Somebody and something that may be had for nothing."""

    guard_key: str
    identity_id: IdentityId

    @property
    def name(self) -> str:
        return f"{self.guard_key} {self.identity_id.uuid}"


class Taking(msgspec.Struct, frozen=True, order=True):
    """So much of a claim went with a payment."""

    payment: PaymentId
    guard_key: str
    identity_id: IdentityId
    quantity: int

    @property
    def claim(self) -> Claim:
        return Claim(self.guard_key, self.identity_id)


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
    """How often each was taken and not given back; held until the end, also those that nobody took yet. Who gives back
    does not hold them: what is not committed counts as taken."""
    ordered = sorted(set(claims))
    if not ordered:
        return {}
    fresh = [_ClaimRow(each.guard_key, each.identity_id, 0, tx.now) for each in ordered]
    await tx.insert_many(BEGIN_CLAIMS, fresh)
    names = columns(ordered, "guard_key", "identity_id")
    rows = await tx.lock(LOCK_CLAIMS, ordered, lambda each: each.name, *names)
    taken = Counter({_claim_of(row): row["taken"] for row in rows.values()})
    taken.subtract({_claim_of(row): int(row["given_back"]) for row in await tx.fetch(SUM_GIVEN_BACK, *names)})
    return dict(taken)


def _claim_of(row: Record) -> Claim:
    return Claim(row["guard_key"], IdentityId(row["identity_id"]))


async def take_claims(tx: Tx, takings: Collection[Taking]) -> None:
    """Of claims that are held since they were counted."""
    taken: Counter[Claim] = Counter()
    for each in takings:
        taken[each.claim] += each.quantity
    ordered: Sequence[Claim] = sorted(taken)
    counts = [taken[each] for each in ordered]
    await tx.execute_exactly(len(ordered), TAKE_CLAIMS, tx.now, *columns(ordered, "guard_key", "identity_id"), counts)
    await tx.insert_exactly(INSERT_TAKINGS, sorted(takings))


async def give_back_takings(tx: Tx, payments: Collection[PaymentId]) -> None:
    """What these took, once: their buyers may have it for nothing again. Whoever asks holds the payments, and nobody
    else writes what is theirs, so nobody is waited for."""
    if payments:
        await tx.execute(GIVE_BACK_TAKINGS, sorted(each.uuid for each in payments), tx.now)

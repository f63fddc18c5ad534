"""Cases, what was said to them, and their trails."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import msgspec

from admitone.finance.disputes.model import (
    Case,
    DisputeId,
    Evidence,
    State,
    Step,
    StepKind,
    Texts,
    TrailStep,
)
from admitone.finance.gateways.api import Provider
from admitone.finance.sources.api import PaymentId
from admitone.kernel.crypto import KEYRING, Place
from admitone.kernel.db import Overtaken, PlatformTx, Record, Tx
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.statements import BothWays, Insert, ListOrder, Lock, columns

MOST_STEPS: Final = 500
FIRST: Final = UUID(int=0)

COLUMNS: Final = """id, organization_id, city_code, payment_id, provider, reference, state, reason, amount_minor,
           currency, fee_minor, opened_at, due_at, told_at, assignee_id, evidence, filed, submission, submitted_at,
           closed_at, version, created_at, changed_at"""

# -- Cases

INSERT_CASES = Insert(
    "disputes.dispute",
    {
        "id": "uuid",
        "city_code": "text",
        "payment_id": "uuid",
        "provider": "text",
        "reference": "text",
        "state": "text",
        "reason": "text",
        "amount_minor": "bigint",
        "currency": "text",
        "fee_minor": "bigint",
        "opened_at": "timestamptz",
        "due_at": "timestamptz",
        "told_at": "timestamptz",
        "assignee_id": "uuid",
        "evidence": "integer",
        "filed": "integer",
        "submission": "integer",
        "submitted_at": "timestamptz",
        "closed_at": "timestamptz",
        "version": "integer",
        "created_at": "timestamptz",
        "changed_at": "timestamptz",
    },
    on_conflict="(organization_id, provider, reference) DO NOTHING",
    returning="id",
    attributes={"payment_id": "payment", "assignee_id": "assignee"},
)


FIND_CASES = f"""
    SELECT {COLUMNS}
      FROM disputes.dispute
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
"""  # noqa: S608, of constants


LOCK_CASES = Lock(
    f"""
    SELECT {COLUMNS}
      FROM disputes.dispute
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
     ORDER BY id
    """,  # noqa: S608, of constants
    key="id",
)


FIND_OF_PAYMENTS = """
    SELECT id
      FROM disputes.dispute
     WHERE organization_id = $1
       AND payment_id = ANY($2::uuid[])
"""


LIST_CASES = BothWays(
    f"""
    SELECT {COLUMNS}
      FROM disputes.dispute
     WHERE organization_id = $1
       AND id > $2
       AND id < $3
     ORDER BY id {{way}}
     LIMIT $4
"""  # noqa: S608, of constants
)


LIST_CASES_IN = BothWays(
    f"""
    SELECT {COLUMNS}
      FROM disputes.dispute
     WHERE organization_id = $1
       AND id > $2
       AND id < $3
       AND state = $4
     ORDER BY id {{way}}
     LIMIT $5
"""  # noqa: S608, of constants
)


LIST_EVERYWHERE = f"""
    SELECT {COLUMNS}
      FROM disputes.dispute
     WHERE state = $1
       AND id > $2
     ORDER BY id
     LIMIT $3
"""  # noqa: S608, of constants


CHANGE_CASES = """
    UPDATE disputes.dispute AS d
       SET state = v.state, reason = v.reason, amount_minor = v.amount_minor, currency = v.currency,
           fee_minor = v.fee_minor, opened_at = v.opened_at, due_at = v.due_at, told_at = v.told_at,
           assignee_id = v.assignee_id, evidence = v.evidence, filed = v.filed, submission = v.submission,
           submitted_at = v.submitted_at, closed_at = v.closed_at, version = v.version, changed_at = $2
      FROM unnest($3::uuid[], $4::integer[], $5::text[], $6::text[], $7::bigint[], $8::text[], $9::bigint[],
                  $10::timestamptz[], $11::timestamptz[], $12::timestamptz[], $13::uuid[], $14::integer[],
                  $15::integer[], $16::integer[], $17::timestamptz[], $18::timestamptz[], $19::integer[])
        AS v(id, version_before, state, reason, amount_minor, currency, fee_minor, opened_at, due_at, told_at,
             assignee_id, evidence, filed, submission, submitted_at, closed_at, version)
     WHERE d.organization_id = $1
       AND d.id = ANY($3::uuid[])
       AND d.id = v.id
       AND d.version = v.version_before
"""


# -- Trails and evidence

INSERT_STEPS = Insert(
    "disputes.step",
    {
        "dispute_id": "uuid",
        "number": "integer",
        "kind": "text",
        "at": "timestamptz",
        "actor_id": "uuid",
        "reason_code": "text",
        "evidence": "integer",
        "detail": "text",
        "correlation_id": "uuid",
    },
    attributes={
        "kind": "step.kind",
        "actor_id": "step.actor_id",
        "reason_code": "step.reason_code",
        "evidence": "step.evidence",
        "detail": "step.detail",
        "correlation_id": "step.correlation_id",
    },
)


LIST_STEPS = """
    SELECT number, kind, at, actor_id, reason_code, evidence, detail
      FROM disputes.step
     WHERE organization_id = $1
       AND dispute_id = $2
     ORDER BY number DESC
     LIMIT $3
"""


INSERT_EVIDENCE = Insert(
    "disputes.evidence",
    {
        "dispute_id": "uuid",
        "number": "integer",
        "id": "uuid",
        "submits": "boolean",
        "sealed": "bytea",
        "created_at": "timestamptz",
    },
)


FIND_EVIDENCE = """
    SELECT id, dispute_id, number, submits, sealed
      FROM disputes.evidence
     WHERE organization_id = $1
       AND dispute_id = $2
       AND number = $3
"""


class Change(msgspec.Struct):
    """A case from how it was to how it is, and the steps between."""

    before: Case
    after: Case
    steps: list[Step] = []

    def to(self, case: Case, now: datetime, *steps: Step) -> "Change":
        """Also what is no step is a change."""
        version = self.after.version + max(len(steps), 1)
        self.after = msgspec.structs.replace(case, version=version, changed_at=now)
        self.steps.extend(steps)
        return self


class _StepRow(msgspec.Struct, frozen=True):
    dispute_id: DisputeId
    number: int
    at: datetime
    step: Step


class _EvidenceRow(msgspec.Struct, frozen=True):
    dispute_id: DisputeId
    number: int
    id: UUID
    submits: bool
    sealed: bytes
    created_at: datetime


async def lock_cases(tx: Tx, inputs: Sequence[Any]) -> dict[DisputeId, Case]:
    """Of inputs that say which dispute they are about."""
    rows = await tx.lock(LOCK_CASES, inputs, lambda each: each.dispute.uuid)
    return {DisputeId(key): _case(row) for key, row in rows.items()}


async def lock_of_payments(tx: Tx, payments: Collection[PaymentId]) -> list[Case]:
    """Every case of these payments."""
    ids = [row["id"] for row in await tx.fetch(FIND_OF_PAYMENTS, sorted(each.uuid for each in payments))]
    rows = await tx.lock(LOCK_CASES, ids, lambda each: each) if ids else {}
    return [_case(row) for row in rows.values()]


async def insert_cases(tx: Tx, opened: Sequence[Change]) -> None:
    """Raises `Overtaken` if somebody else opened one of them meanwhile: run again, and theirs is seen."""
    # Sorted, so that two who open the same cannot deadlock.
    ordered = sorted(opened, key=lambda change: (change.after.provider, change.after.reference))
    if len(await tx.insert_many(INSERT_CASES, [change.after for change in ordered])) < len(ordered):
        raise Overtaken("somebody else opened the case of a dispute")
    await _insert_steps(tx, ordered)


async def change_cases(tx: Tx, changes: Collection[Change]) -> None:
    ordered = sorted(changes, key=lambda change: change.after.id)
    cases = [change.after for change in ordered]
    await tx.execute_exactly(
        len(ordered),
        CHANGE_CASES,
        tx.now,
        [case.id.uuid for case in cases],
        [change.before.version for change in ordered],
        *columns(cases, "state", "reason", "amount_minor", "currency", "fee_minor", "opened_at", "due_at", "told_at"),
        *columns(cases, "assignee", "evidence", "filed", "submission", "submitted_at", "closed_at", "version"),
    )
    await _insert_steps(tx, ordered)


async def _insert_steps(tx: Tx, changes: Sequence[Change]) -> None:
    rows = [
        _StepRow(change.after.id, change.before.version + number, tx.now, step)
        for change in changes
        for number, step in enumerate(change.steps, start=1)
    ]
    await tx.insert_exactly(INSERT_STEPS, rows)


async def insert_evidence(tx: Tx, given: Sequence[Evidence]) -> None:
    rows = [
        _EvidenceRow(
            each.dispute,
            each.number,
            each.id,
            each.submits,
            KEYRING().seal(msgspec.json.encode(each.texts), _place(tx, each.id)),
            tx.now,
        )
        for each in given
    ]
    await tx.insert_exactly(INSERT_EVIDENCE, rows)


async def find_evidence(tx: Tx, dispute: DisputeId, number: int) -> Evidence | None:
    """What was said, if it is still kept."""
    row = await tx.find(FIND_EVIDENCE, dispute.uuid, number)
    if row is None:
        return None
    texts = msgspec.json.decode(KEYRING().open(row["sealed"], _place(tx, row["id"])), type=Texts)
    return Evidence(row["id"], DisputeId(row["dispute_id"]), row["number"], row["submits"], texts)


async def find_case(tx: Tx, dispute: DisputeId) -> Case | None:
    row = await tx.find(FIND_CASES, [dispute.uuid])
    return _case(row) if row else None


async def list_cases(
    tx: Tx, place: UUID | None, state: State | None, limit: int, order: ListOrder = ListOrder.NEWEST
) -> list[Case]:
    stretch = order.ids(place)
    if state is None:
        return [_case(row) for row in await tx.fetch(LIST_CASES.first(order), *stretch, limit)]
    return [_case(row) for row in await tx.fetch(LIST_CASES_IN.first(order), *stretch, state.value, limit)]


async def list_everywhere(tx: PlatformTx, state: State, after: UUID, limit: int) -> list[Case]:
    """Over all organisations, the oldest first: it has waited longest."""
    return [_case(row) for row in await tx.fetch(LIST_EVERYWHERE, state.value, after, limit)]


async def list_steps(tx: Tx, dispute: DisputeId) -> list[TrailStep]:
    """In their order; of very many, the last ones."""
    rows = await tx.fetch(LIST_STEPS, dispute.uuid, MOST_STEPS)
    return [
        TrailStep(
            row["number"],
            StepKind(row["kind"]),
            row["at"],
            IdentityId(row["actor_id"]) if row["actor_id"] else None,
            row["reason_code"],
            row["evidence"],
            row["detail"],
        )
        for row in reversed(rows)
    ]


def _place(tx: Tx, evidence: UUID) -> Place:
    return Place("disputes.evidence", "sealed", tx.scope.organization.uuid, evidence)


def _case(row: Record) -> Case:
    return Case(
        id=DisputeId(row["id"]),
        organization=OrganizationId(row["organization_id"]),
        city_code=row["city_code"],
        payment=PaymentId(row["payment_id"]),
        provider=Provider(row["provider"]),
        reference=row["reference"],
        state=State(row["state"]),
        reason=row["reason"],
        amount_minor=row["amount_minor"],
        currency=row["currency"],
        fee_minor=row["fee_minor"],
        opened_at=row["opened_at"],
        due_at=row["due_at"],
        told_at=row["told_at"],
        assignee=IdentityId(row["assignee_id"]) if row["assignee_id"] else None,
        evidence=row["evidence"],
        filed=row["filed"],
        submission=row["submission"],
        submitted_at=row["submitted_at"],
        closed_at=row["closed_at"],
        version=row["version"],
        created_at=row["created_at"],
        changed_at=row["changed_at"],
    )

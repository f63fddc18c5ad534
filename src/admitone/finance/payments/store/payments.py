"""Payments, their facts and what was asked of providers for them."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

import msgspec

from admitone.finance.gateways.api import Provider
from admitone.finance.payments.model import (
    Checkout,
    FeesStatus,
    Payment,
    PaymentMethod,
    Reason,
    RefundState,
    Scenario,
    Status,
)
from admitone.finance.payments.policy import Standing
from admitone.finance.sources.api import Flow, PaymentId, SettlementModel, Source, SourceType
from admitone.kernel.db import IdentityTx, Record, Tx
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.statements import Insert, Lock, columns

COLUMNS = """id, organization_id, city_code, identity_id, payee_id, source_type, source_id, flow, settlement_model,
           scenario, method, provider, account, livemode, amount_minor, fee_minor, currency, fee_policy_version,
           snapshot, snapshot_hash, subjects, idempotency_key, request_hash, correlation_id, status, refund_state,
           manual_reason, applied, captured_minor, refunded_minor, failed_attempts, processor_fees_status,
           processor_fees_actual, charge_id, version, created_at, changed_at, expires_at,
           unreadable_status"""


MOST_OF_SOURCE = 100
OF_PAYMENT = ", ".join(f"p.{name.strip()}" for name in COLUMNS.split(","))


INSERT_PAYMENTS = Insert(
    "payments.payment",
    {
        "id": "uuid",
        "city_code": "text",
        "identity_id": "uuid",
        "payee_id": "uuid",
        "source_type": "text",
        "source_id": "text",
        "flow": "text",
        "settlement_model": "text",
        "scenario": "text",
        "method": "text",
        "provider": "text",
        "account": "text",
        "livemode": "boolean",
        "amount_minor": "bigint",
        "fee_minor": "bigint",
        "currency": "text",
        "fee_policy_version": "text",
        "snapshot": "text",
        "snapshot_hash": "text",
        "subjects": "text[]",
        "idempotency_key": "text",
        "request_hash": "bytea",
        "correlation_id": "uuid",
        "status": "text",
        "refund_state": "text",
        "manual_reason": "text",
        "applied": "boolean",
        "captured_minor": "bigint",
        "refunded_minor": "bigint",
        "failed_attempts": "integer",
        "processor_fees_status": "text",
        "processor_fees_actual": "bigint",
        "charge_id": "text",
        "version": "bigint",
        "created_at": "timestamptz",
        "changed_at": "timestamptz",
        "expires_at": "timestamptz",
    },
    attributes={
        "identity_id": "identity",
        "payee_id": "payee",
        "source_type": "source.type",
        "source_id": "source.id",
        "settlement_model": "settlement",
    },
)


# What decides whether a source may be paid: what was begun under the same key, what paid, what is being paid, and what
# failed. Each by its own index, in the order of that index, which an equal sign would make void: of a source there may
# be very many, and of indexes that look equally good, as all do while nobody has counted the rows, the planner would
# take the key's, and read all of the organisation's payments for each source.
FIND_DECISIVE = f"""
    SELECT {OF_PAYMENT}
      FROM unnest($2::text[], $3::text[], $4::text[]) AS v(source_type, source_id, idempotency_key)
     CROSS JOIN LATERAL ((SELECT {COLUMNS}
                            FROM payments.payment
                           WHERE organization_id = $1
                             AND source_type = v.source_type
                             AND source_id = v.source_id
                             AND idempotency_key BETWEEN v.idempotency_key AND v.idempotency_key
                           ORDER BY idempotency_key
                           LIMIT 1)
                         UNION ALL
                         (SELECT {COLUMNS}
                            FROM payments.payment
                           WHERE organization_id = $1
                             AND source_type = v.source_type
                             AND source_id BETWEEN v.source_id AND v.source_id
                             AND applied
                           ORDER BY source_id
                           LIMIT 1)
                         UNION ALL
                         (SELECT {COLUMNS}
                            FROM payments.payment
                           WHERE organization_id = $1
                             AND source_type = v.source_type
                             AND source_id BETWEEN v.source_id AND v.source_id
                             AND status IN ('CREATED', 'PENDING', 'REQUIRES_ACTION', 'PROCESSING')
                           ORDER BY source_id
                           LIMIT 1)
                         UNION ALL
                         (SELECT {COLUMNS}
                            FROM payments.payment
                           WHERE organization_id = $1
                             AND source_type = v.source_type
                             AND source_id BETWEEN v.source_id AND v.source_id
                             AND status = 'FAILED'
                           ORDER BY source_id
                           LIMIT 100)) AS p
"""  # noqa: S608, of constants


FIND_PAYMENTS = f"""
    SELECT {COLUMNS}
      FROM payments.payment
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
"""  # noqa: S608, of constants


# All of a source by the key of its index, as above; then those first that decide, and the latest of the others.
FIND_OF_SOURCES = f"""
    SELECT {OF_PAYMENT}
      FROM unnest($3::text[]) AS v(source_id)
     CROSS JOIN LATERAL (SELECT {COLUMNS}
                           FROM (SELECT {COLUMNS}
                                   FROM payments.payment
                                  WHERE organization_id = $1
                                    AND source_type = $2
                                    AND source_id = v.source_id
                                  ORDER BY idempotency_key
                                 OFFSET 0) AS tried
                          ORDER BY applied DESC,
                                   status IN ('CREATED', 'PENDING', 'REQUIRES_ACTION', 'PROCESSING') DESC,
                                   id DESC
                          LIMIT $4) AS p
"""  # noqa: S608, of constants


LIST_PAYMENTS = f"""
    SELECT {COLUMNS}
      FROM payments.payment
     WHERE organization_id = $1
       AND id < $2
     ORDER BY id DESC
     LIMIT $3
"""  # noqa: S608, of constants


LIST_PAYMENTS_IN = f"""
    SELECT {COLUMNS}
      FROM payments.payment
     WHERE organization_id = $1
       AND id < $2
       AND status = $3
     ORDER BY id DESC
     LIMIT $4
"""  # noqa: S608, of constants


COUNT_PAYMENTS = """
    SELECT count(*) AS payments
      FROM payments.payment
     WHERE organization_id = $1
"""


FIND_OWN = f"""
    SELECT {COLUMNS}
      FROM payments.payment
     WHERE identity_id = $1
       AND id = $2
"""  # noqa: S608, of constants


LOCK_PAYMENTS = Lock(
    f"""
    SELECT {COLUMNS}
      FROM payments.payment
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
     ORDER BY id
    """,  # noqa: S608, of constants
    key="id",
)


# Which of these have another payment that paid for the same.
FIND_RIVALS = """
    SELECT v.id
      FROM unnest($2::uuid[], $3::text[], $4::text[]) AS v(id, source_type, source_id)
     CROSS JOIN LATERAL (SELECT FROM payments.payment AS p
                          WHERE p.organization_id = $1
                            AND p.source_type = v.source_type
                            AND p.source_id = v.source_id
                            AND p.applied
                            AND p.id <> v.id
                          ORDER BY p.idempotency_key
                          LIMIT 1) AS r
"""


# Which of these have another payment by which somebody is paying for the same.
FIND_OPEN_OTHERS = """
    SELECT v.id
      FROM unnest($2::uuid[], $3::text[], $4::text[]) AS v(id, source_type, source_id)
     CROSS JOIN LATERAL (SELECT FROM payments.payment AS p
                          WHERE p.organization_id = $1
                            AND p.source_type = v.source_type
                            AND p.source_id = v.source_id
                            AND p.status IN ('CREATED', 'PENDING', 'REQUIRES_ACTION', 'PROCESSING')
                            AND p.id <> v.id
                          ORDER BY p.idempotency_key
                          LIMIT 1) AS r
"""


STAND = """
    UPDATE payments.payment AS p
       SET status = v.status, refund_state = v.refund_state, manual_reason = v.manual_reason, applied = v.applied,
           captured_minor = v.captured_minor, refunded_minor = v.refunded_minor, failed_attempts = v.failed_attempts,
           processor_fees_status = v.fees_status, processor_fees_actual = v.fees_actual,
           charge_id = COALESCE(p.charge_id, v.charge_id), version = p.version + v.steps, changed_at = $2,
           unreadable_status = NULL
      FROM unnest($3::uuid[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::boolean[], $9::bigint[],
                  $10::bigint[], $11::integer[], $12::text[], $13::bigint[], $14::text[], $15::bigint[])
        AS v(id, version, status, refund_state, manual_reason, applied, captured_minor, refunded_minor,
             failed_attempts, fees_status, fees_actual, charge_id, steps)
     WHERE p.organization_id = $1
       AND p.id = ANY($3::uuid[])
       AND p.id = v.id
       AND p.version = v.version
"""


BECOME_DUE = """
    UPDATE payments.payment
       SET flow = 'STAY_LEFT'
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
       AND flow = 'STAY'
"""


FIND_STATUSES = """
    SELECT id, status
      FROM payments.payment
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
"""


MARK_UNREADABLE = """
    UPDATE payments.payment AS p
       SET unreadable_status = v.word, version = p.version + 1, changed_at = $2
      FROM unnest($3::uuid[], $4::text[]) AS v(id, word)
     WHERE p.organization_id = $1
       AND p.id = ANY($3::uuid[])
       AND p.id = v.id
"""


FIND_THROUGH = """
    SELECT id
      FROM payments.payment
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
       AND provider = ANY($3::text[])
"""


class Move(msgspec.Struct, frozen=True):
    """From where a payment stood to where it stands."""

    payment: Payment
    standing: Standing
    way: tuple[Status, ...]
    charge_id: str | None = None

    @property
    def is_applied_now(self) -> bool:
        return self.standing.applied and not self.payment.applied

    @property
    def steps(self) -> int:
        """By how many its version grows: also what leads nowhere else is a change."""
        return max(len(self.way), 1)


async def insert_payments(tx: Tx, payments: Sequence[Payment]) -> None:
    await tx.insert_exactly(INSERT_PAYMENTS, payments)


async def find_decisive(tx: Tx, checkouts: Collection[Checkout]) -> dict[Source, list[Payment]]:
    """Of each source: what was begun under the checkout's key, what paid, is being paid or failed."""
    wanted = sorted({(each.source, each.idempotency_key) for each in checkouts})
    keys = [key for _, key in wanted]
    rows = await tx.fetch(FIND_DECISIVE, *columns([source for source, _ in wanted], "type", "id"), keys)
    found: dict[Source, dict[PaymentId, Payment]] = {source: {} for source, _ in wanted}
    for payment in map(payment_of, rows):
        found[payment.source][payment.id] = payment
    return {source: [*payments.values()] for source, payments in found.items()}


async def find_payments(tx: Tx, ids: Collection[PaymentId]) -> dict[PaymentId, Payment]:
    rows = await tx.fetch(FIND_PAYMENTS, sorted(each.uuid for each in ids))
    return {PaymentId(row["id"]): payment_of(row) for row in rows}


async def find_of_sources(tx: Tx, kind: SourceType, ids: Collection[str]) -> dict[str, list[Payment]]:
    """All by which somebody paid for these, or tried to, the first one first. Of very many the latest, and whatever
    paid or is being paid in any case."""
    found: dict[str, list[Payment]] = {own: [] for own in ids}
    for row in await tx.fetch(FIND_OF_SOURCES, kind.value, sorted(found), MOST_OF_SOURCE) if found else []:
        payment = payment_of(row)
        found[payment.source.id].append(payment)
    return {own: sorted(payments, key=lambda each: each.id) for own, payments in found.items()}


async def find_through(tx: Tx, ids: Collection[PaymentId], providers: Collection[Provider]) -> set[PaymentId]:
    """Those that go through one of these providers."""
    named = [provider.value for provider in providers]
    rows = await tx.fetch(FIND_THROUGH, sorted(each.uuid for each in ids), named)
    return {PaymentId(row["id"]) for row in rows}


async def list_payments(tx: Tx, before: UUID, status: str | None, limit: int) -> list[Payment]:
    if status is None:
        return [payment_of(row) for row in await tx.fetch(LIST_PAYMENTS, before, limit)]
    return [payment_of(row) for row in await tx.fetch(LIST_PAYMENTS_IN, before, status, limit)]


async def count_payments(tx: Tx) -> int:
    [row] = await tx.fetch(COUNT_PAYMENTS)
    return int(row["payments"])


async def find_own(tx: IdentityTx, payment: PaymentId) -> Payment | None:
    row = await tx.find(FIND_OWN, payment.uuid)
    return payment_of(row) if row else None


async def lock_payments(tx: Tx, inputs: Sequence[Any]) -> dict[PaymentId, Payment]:
    """Of inputs that say which payment they are about."""
    rows = await tx.lock(LOCK_PAYMENTS, inputs, lambda each: each.payment.uuid)
    return {PaymentId(key): payment_of(row) for key, row in rows.items()}


async def find_rivals(tx: Tx, payments: Collection[Payment]) -> set[PaymentId]:
    """Those for whose source another has paid."""
    return await _find_others(tx, FIND_RIVALS, payments)


async def find_taken(tx: Tx, payments: Collection[Payment]) -> set[PaymentId]:
    """Those for whose source another has paid, or somebody is paying otherwise."""
    return await find_rivals(tx, payments) | await _find_others(tx, FIND_OPEN_OTHERS, payments)


async def _find_others(tx: Tx, statement: str, payments: Collection[Payment]) -> set[PaymentId]:
    if not payments:
        return set()
    ordered = sorted(payments, key=lambda each: each.id)
    ids = [each.id.uuid for each in ordered]
    rows = await tx.fetch(statement, ids, *columns([each.source for each in ordered], "type", "id"))
    return {PaymentId(row["id"]) for row in rows}


async def stand(tx: Tx, moves: Sequence[Move]) -> None:
    ordered = sorted(moves, key=lambda move: move.payment.id)
    standings = [move.standing for move in ordered]
    await tx.execute_exactly(
        len(ordered),
        STAND,
        tx.now,
        [move.payment.id.uuid for move in ordered],
        [move.payment.version for move in ordered],
        *columns(standings, "status", "refund_state", "manual_reason", "applied", "captured_minor", "refunded_minor"),
        *columns(standings, "failed_attempts", "fees_status", "fees_actual"),
        [move.charge_id for move in ordered],
        [move.steps for move in ordered],
    )


async def become_due(tx: Tx, payments: Collection[PaymentId]) -> None:
    """From now on their money is owed, and no longer held."""
    await tx.execute_exactly(len(payments), BECOME_DUE, sorted(each.uuid for each in payments))


async def find_statuses(tx: Tx, payments: Collection[PaymentId]) -> dict[PaymentId, Status]:
    """Where each stands, and nothing else of it."""
    rows = await tx.fetch(FIND_STATUSES, sorted(each.uuid for each in payments))
    return {PaymentId(row["id"]): Status(row["status"]) for row in rows}


async def mark_unreadable(tx: Tx, words: Mapping[PaymentId, str]) -> None:
    """Until something is recorded of them again."""
    ordered = sorted(words.items())
    ids, said = [own.uuid for own, _ in ordered], [word for _, word in ordered]
    await tx.execute_exactly(len(ordered), MARK_UNREADABLE, tx.now, ids, said)


def payment_of(row: Record) -> Payment:
    return Payment(
        id=PaymentId(row["id"]),
        organization=OrganizationId(row["organization_id"]),
        city_code=row["city_code"],
        identity=IdentityId(row["identity_id"]),
        payee=row["payee_id"],
        source=Source(SourceType(row["source_type"]), row["source_id"]),
        flow=Flow(row["flow"]),
        settlement=SettlementModel(row["settlement_model"]),
        scenario=Scenario(row["scenario"]),
        method=PaymentMethod(row["method"]),
        provider=Provider(row["provider"]) if row["provider"] else None,
        account=row["account"],
        livemode=row["livemode"],
        amount_minor=row["amount_minor"],
        fee_minor=row["fee_minor"],
        currency=row["currency"],
        fee_policy_version=row["fee_policy_version"],
        snapshot=row["snapshot"],
        snapshot_hash=row["snapshot_hash"],
        subjects=tuple(row["subjects"]),
        idempotency_key=row["idempotency_key"],
        request_hash=row["request_hash"],
        correlation_id=row["correlation_id"],
        status=Status(row["status"]),
        refund_state=RefundState(row["refund_state"]),
        manual_reason=Reason(row["manual_reason"]) if row["manual_reason"] else None,
        applied=row["applied"],
        captured_minor=row["captured_minor"],
        refunded_minor=row["refunded_minor"],
        failed_attempts=row["failed_attempts"],
        processor_fees_status=FeesStatus(row["processor_fees_status"]),
        processor_fees_actual=row["processor_fees_actual"],
        charge_id=row["charge_id"],
        version=row["version"],
        created_at=row["created_at"],
        changed_at=row["changed_at"],
        expires_at=row["expires_at"],
        unreadable_status=row["unreadable_status"],
    )

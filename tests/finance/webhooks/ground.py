"""What events are about: payments that wait, with or without their reference; and a worker that goes through them."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import asyncpg

from admitone.finance.gateways.api import ObjectType, Provider, Ref
from admitone.finance.payments.model import FeesStatus, Payment, PaymentMethod, RefundState, Scenario, Status
from admitone.finance.payments.store.payments import insert_payments
from admitone.finance.payments.store.references import Belonging, put_refs
from admitone.finance.sources.api import Flow, PaymentId, SettlementModel, Source, SourceType
from admitone.finance.webhooks.handlers.applying import apply
from admitone.finance.webhooks.handlers.mourning import tell
from admitone.finance.webhooks.handlers.resolving import resolve
from admitone.kernel.db import Database, Tx
from admitone.kernel.ids import IdentityId, OrganizationId, uuid7
from admitone.kernel.jobs.worker import Worker
from admitone.kernel.scope import Scope
from tests.builders import an_organization
from tests.jobs import DEADLINE_SECONDS, a_worker, duties

__all__ = ("a_payment", "a_reference", "an_organization", "at_work", "settled", "status_of", "the_work")


async def a_payment(database: Database, scope: Scope, intent: str | None = None, minor: int = 5000) -> PaymentId:
    """One that somebody began; its provider knows it under this name, if it has told us already."""
    own = PaymentId.new()

    async def begin(tx: Tx) -> None:
        await insert_payments(tx, [_payment(own, scope.organization, minor, tx)])
        if intent:
            await put_refs(tx, [Belonging(Provider.SANDBOX, Ref(ObjectType.INTENT, intent), own)])

    await database.run(scope, begin)
    return own


def _payment(own: PaymentId, organization: OrganizationId, minor: int, tx: Tx) -> Payment:
    return Payment(
        id=own,
        organization=organization,
        city_code="GLOBAL",
        identity=IdentityId.new(),
        payee=organization.uuid,
        source=Source(SourceType.TICKET_ORDER, f"to_{own.uuid.hex}"),
        flow=Flow.SALE,
        settlement=SettlementModel.ORG_MOR,
        scenario=Scenario.PAID,
        method=PaymentMethod.CARD,
        provider=Provider.SANDBOX,
        account=None,
        livemode=False,
        amount_minor=minor,
        fee_minor=300,
        currency="EUR",
        fee_policy_version="1",
        snapshot="{}",
        snapshot_hash=hashlib.sha256(b"{}").hexdigest(),
        subjects=(),
        idempotency_key=str(own),
        request_hash=bytes(32),
        correlation_id=uuid7(),
        status=Status.CREATED,
        refund_state=RefundState.NONE,
        manual_reason=None,
        applied=False,
        captured_minor=0,
        refunded_minor=0,
        failed_attempts=0,
        processor_fees_status=FeesStatus.PENDING,
        processor_fees_actual=None,
        charge_id=None,
        version=1,
        created_at=tx.now,
        changed_at=tx.now,
        expires_at=tx.now + timedelta(minutes=30),
    )


async def a_reference(
    database: Database, scope: Scope, type: ObjectType, own: str, payment: PaymentId | None = None  # noqa: A002
) -> None:  # fmt: skip
    """What this object at the provider belongs to, written down by its organisation."""
    belonging = Belonging(Provider.SANDBOX, Ref(type, own), payment)
    await database.run(scope, lambda tx: put_refs(tx, [belonging]))


@asynccontextmanager
async def at_work(database: Database) -> AsyncIterator[Worker]:
    async with a_worker(database, duties(resolve, apply, tell)) as worker:
        yield worker


async def settled(superuser: asyncpg.Connection, event: dict[str, Any], source: str = "sandbox") -> asyncpg.Record:
    """Its receipt, once it waits for nothing; whoever waits to try again need not."""
    async with asyncio.timeout(DEADLINE_SECONDS):
        while True:
            row = await superuser.fetchrow(
                "SELECT * FROM webhooks.receipt WHERE external_id = $1 AND source = $2", event["id"], source
            )
            if row is not None and row["state"] != "RECEIVED":
                return row
            await hurry(superuser)
            await asyncio.sleep(0.02)


async def hurry(superuser: asyncpg.Connection) -> None:
    await superuser.execute(
        "UPDATE kernel.job SET run_at = now() WHERE kind LIKE 'webhooks.%' AND worker IS NULL AND run_at > now()"
    )


async def the_work(database: Database, superuser: asyncpg.Connection, *events: dict[str, Any]) -> list[asyncpg.Record]:
    """Go through everything that arrived, and tell what became of these."""
    async with at_work(database):
        rows = [await settled(superuser, event) for event in events]
        async with asyncio.timeout(DEADLINE_SECONDS):
            while await superuser.fetchval("SELECT count(*) FROM kernel.job WHERE kind = 'webhooks.tell'"):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
    return rows


async def status_of(superuser: asyncpg.Connection, payment: PaymentId) -> str:
    return await superuser.fetchval("SELECT status FROM payments.payment WHERE id = $1", payment.uuid)

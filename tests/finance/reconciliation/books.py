"""Books of both sides that are an hour old, and the means to make them differ."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import asyncpg
from msgspec import json

from admitone.finance.gateways.api import MovementKind
from admitone.finance.gateways.sandbox.faults import Faults
from admitone.finance.gateways.sandbox.objects import MovementRow
from admitone.finance.ledger.api import Event, Posting
from admitone.finance.reconciliation.model import Beginning, Issue, IssueState, Run, RunId
from admitone.finance.reconciliation.running import Reconciler
from admitone.finance.reconciliation.store.issues import LAST, list_issues
from admitone.finance.sources.api import Flow, PaymentId
from admitone.kernel.batch import Batcher
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database, Tx
from admitone.kernel.ids import PLATFORM_ORGANIZATION, uuid7
from admitone.kernel.jobs import Delivered, Desk
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.scope import Caller
from tests.finance.ledger.books import a_posting, booked
from tests.finance.world import World

TICK = timedelta(microseconds=1)
AN_HOUR = timedelta(hours=1)
ALERTS = "SELECT rule FROM kernel.alert WHERE concerns = $1 AND resolved_at IS NULL ORDER BY rule"


WAITING = """
    INSERT INTO webhooks.receipt (id, organization_id, source, external_id, provider, type, provider_created_at,
                                  livemode, correlation_id, state, received_at)
    VALUES ($1::uuid, $2, 'sandbox', $1::uuid::text, 'sandbox', 'payment_intent.succeeded', now() - interval '1 hour',
            false, $1::uuid, 'RECEIVED', now() - interval '1 hour')
"""


def firing(at: datetime) -> Delivered[Firing]:
    """A schedule's turn."""
    return Delivered(uuid7(), PLATFORM_ORGANIZATION, Firing("test", at), Caller(), "k", None, 1, at)


@dataclass
class Sides:
    """A world, and whoever compares its books as of now."""

    world: World
    url: str
    database: Database
    batcher: Batcher

    async def run(self, since: datetime | None = None, *, later: timedelta | None = None, **more: Any) -> Run:
        """Now, or later."""
        wanted = Beginning(Caller(), RunId.new(), since, **more)
        if later is None:
            desk = Desk(self.database, self.batcher)
            return await Reconciler(desk).reconcile(self.world.organization, wanted)
        async with Database(self.url, clock=Clock(later)) as database:
            batcher = Batcher(database)
            run = await Reconciler(Desk(database, batcher)).reconcile(self.world.organization, wanted)
            await batcher.drain()
        return run

    async def now(self) -> datetime:
        """By the world's clock, which is behind."""

        async def ask(tx: Tx) -> datetime:
            return tx.now

        return await self.world.database.read(self.world.scope, ask)

    @contextmanager
    def silent(self) -> Iterator[None]:
        """While it lasts, the provider does not answer."""
        self.world.simulator.misbehave(Faults(unreachable=10_000))
        yield
        self.world.simulator.misbehave(Faults())

    async def issues(self, state: IssueState = IssueState.OPEN) -> list[Issue]:
        found = await self.database.read(self.world.scope, list_issues, state, LAST, 1000)
        return sorted(found, key=lambda each: each.found.name)

    async def open(self) -> set[tuple[str, str, str, int, int]]:
        """Class, kind, reference, and the amounts here and there."""
        return {
            (
                each.found.difference,
                each.found.kind,
                each.found.reference,
                each.found.here_minor,
                each.found.there_minor,
            )
            for each in await self.issues()
        }

    async def alerts(self, superuser: asyncpg.Connection) -> list[str]:
        return [row["rule"] for row in await superuser.fetch(ALERTS, self.world.organization.uuid)]

    def moved(
        self,
        minor: int,
        reference: str,
        kind: MovementKind = MovementKind.CHARGE,
        *,
        after: timedelta = timedelta(0),
        payment: PaymentId | None = None,
        currency: str = "eur",
    ) -> None:
        """The provider moved so much, and tells nobody."""
        simulator = self.world.simulator
        row = MovementRow(
            id=f"mov_{kind}_{reference}",
            kind=kind.value,
            reference=reference,
            amount=minor,
            currency=currency,
            at=simulator.now() + after // TICK,
            organization=str(self.world.organization),
            payment=str(payment) if payment else None,
        )
        with simulator.journal.writing():
            simulator.journal.append_movement(row.organization, json.encode(row))

    async def posted(self, event: Event, reference: str, **more: Any) -> PaymentId:
        """We posted so much for a payment."""
        payment = more.pop("payment", None) or PaymentId.new()
        await self._book(a_posting(event, reference=reference, payment=payment, **more))
        return payment

    async def paid_out(self, event: Event, reference: str, minor: int) -> None:
        """We posted so much for no payment."""
        said = {"payment": None, "source": None, "cause": f"{event}:{reference}"}
        await self._book(a_posting(event, Flow.STAY, reference=reference, paid=minor, **said))

    async def _book(self, posting: Posting) -> None:
        await booked(self.world.database, self.world.scope, posting)

    async def refunded(self, minor: int, reference: str = "re_1", **more: Any) -> PaymentId:
        """We posted that so much was owed and went back."""
        transfer = {} if more.get("flow") is Flow.STAY else {"transfer": 0}
        payment = await self.posted(Event.REFUND_ACCRUED, reference, gross=minor, fee=0, **transfer, **more)
        return await self.posted(Event.REFUND_SETTLED, reference, gross=minor, **(more | {"payment": payment}))

    async def refund(self, here: int, there: int, reference: str = "re_1", **more: Any) -> PaymentId:
        """A refund that is so much here, and so much there."""
        payment = await self.refunded(here, reference, **more)
        self.moved(there, reference, MovementKind.REFUND, payment=payment)
        return payment

"""Books of both sides that are an hour old, and the means to make them differ."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import asyncpg
from msgspec import json

from admitone.finance.gateways.api import MovementKind
from admitone.finance.gateways.sandbox.objects import MovementRow
from admitone.finance.ledger.api import Event
from admitone.finance.reconciliation.model import Beginning, Issue, IssueState, Run, RunId
from admitone.finance.reconciliation.running import Reconciler
from admitone.finance.reconciliation.store.issues import LAST, list_issues
from admitone.finance.sources.api import PaymentId
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from admitone.kernel.jobs import Desk
from admitone.kernel.scope import Caller
from tests.finance.ledger.books import a_posting, booked
from tests.finance.world import World

TICK = timedelta(microseconds=1)
ALERTS = "SELECT rule FROM kernel.alert WHERE concerns = $1 AND resolved_at IS NULL ORDER BY rule"


@dataclass
class Sides:
    """A world, and whoever compares its books as of now."""

    world: World
    database: Database
    batcher: Batcher

    async def run(self, since: datetime | None = None, **more: Any) -> Run:
        desk = Desk(self.database, self.batcher)
        return await Reconciler.at(desk).reconcile(
            self.world.organization, Beginning(Caller(), RunId.new(), since, **more)
        )

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

    async def posted(self, event: Event, reference: str, database: Database | None = None, **more: Any) -> PaymentId:
        """We posted so much for a payment."""
        payment = more.pop("payment", None) or PaymentId.new()
        posting = a_posting(event, reference=reference, payment=payment, **more)
        await booked(database or self.world.database, self.world.scope, posting)
        return payment

    async def refund(self, here: int, there: int, reference: str = "re_1", **more: Any) -> PaymentId:
        """A refund that is so much here, and so much there."""
        payment = await self.posted(Event.REFUND_SETTLED, reference, gross=here, **more)
        self.moved(there, reference, MovementKind.REFUND, payment=payment)
        return payment

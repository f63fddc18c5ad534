"""A vertical of the tests: it sells tickets over a counter, counts promotions and leaves a note for each receipt.

with a_booth() as booth:
    booth.out_of.add(source)            what is paid for it goes back
    booth.poisoned.add(source)          whoever touches it is hurt
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from admitone.entitlements.api import TICKET, CheckinPolicy, Entitlement, Grant, grant
from admitone.finance.payments.api import Payment
from admitone.finance.pricing.api import Priced
from admitone.finance.sources.api import PaymentId, Source, SourceType
from admitone.kernel.db import Tx
from admitone.kernel.ids import uuid7
from admitone.kernel.jobs import Delivered, Kind
from admitone.kernel.scope import Caller
from admitone.selling.fulfilment import handlers
from admitone.selling.fulfilment.model import Operation, Scenario
from admitone.selling.fulfilment.port import RECIPES, Book, Purchase, Recipe, Step, Undeliverable
from admitone.selling.fulfilment.store import find_operations
from tests.finance.world import World
from tests.toy import store
from tests.toy.model import Heard

BY_FACT = {each.fact: each.kind for each in handlers.SUBSCRIPTIONS}


class Poisoned(Exception):
    """This one cannot be done, whoever tries."""


class Booth:
    def __init__(self) -> None:
        self.out_of: set[Source] = set()
        self.poisoned: set[Source] = set()
        self.says: dict[Source, Scenario] = {}
        self.batches: list[int] = []
        self.lingers: Callable[[], Awaitable[None]] | None = None
        """What happens while tickets are issued."""

    @property
    def book(self) -> Book:
        issue, promo = Step("ISSUE_TICKETS", self.issue), Step("APPLY_PROMO_REDEMPTION", self.count_promo)
        notify = Step("NOTIFY", self.notify)
        return Book(
            self.scenario_of,
            {
                Scenario.SINGLE: Recipe("ISSUE_TICKETS", (issue, promo, notify)),
                Scenario.FREE: Recipe("ISSUE_TICKETS_FREE", (issue, promo)),
            },
        )

    async def scenario_of(self, _: Tx, payments: Sequence[Payment]) -> Sequence[Scenario]:
        return [
            self.says.get(each.source, Scenario.SINGLE if each.amount_minor else Scenario.FREE) for each in payments
        ]

    async def issue(self, tx: Tx, purchases: Sequence[Purchase]) -> Sequence[Undeliverable | None]:
        self.batches.append(len(purchases))
        if self.lingers:
            await self.lingers()
        if any(each.payment.source in self.poisoned for each in purchases):
            raise Poisoned
        there = [each for each in purchases if each.payment.source not in self.out_of]
        given = await grant(tx, [wanted for each in there for wanted in _grants(each)])
        assert all(isinstance(each, Entitlement) for each in given)
        return [Undeliverable("SOLD_OUT") if each.payment.source in self.out_of else None for each in purchases]

    async def count_promo(self, tx: Tx, purchases: Sequence[Purchase]) -> Sequence[None]:
        return await _note(tx, "promo", purchases)

    async def notify(self, tx: Tx, purchases: Sequence[Purchase]) -> Sequence[None]:
        return await _note(tx, "mail", purchases)


def _grants(purchase: Purchase) -> Iterator[Grant]:
    payment, now = purchase.payment, datetime.now(UTC)
    for line in Priced.read(payment.snapshot, payment.snapshot_hash).snapshot.line_items:
        for index in range(1, line.quantity + 1):
            yield Grant(
                caller=purchase.caller,
                emission_key=f"{payment.source.id}:{line.key}:{index}",
                source=payment.source,
                line_key=line.key,
                owner=payment.identity,
                kind=TICKET.name,
                label="Standing",
                valid_from=now,
                valid_until=now + timedelta(hours=6),
                policy=CheckinPolicy(),
                policy_version=1,
                event_id="evt-booth",
                payment=payment.id,
            )


async def _note(tx: Tx, what: str, purchases: Sequence[Purchase]) -> Sequence[None]:
    """Not unique, so that a step that was done twice shows."""
    await store.insert_heard(tx, [Heard(f"{what}:{each.payment.id}", 1) for each in purchases])
    return [None] * len(purchases)


@contextmanager
def a_booth() -> Iterator[Booth]:
    """While it is open, whoever pays for a ticket is given it here."""
    booth = Booth()
    with RECIPES.wired({SourceType.TICKET_ORDER: booth.book}):
        yield booth


# -- What is told, and what became of it


def told(world: World, fact: type[Any], payment: PaymentId, attempt: int) -> Delivered[Any]:
    said = fact(
        payment_id=payment,
        payment_version=1,
        source_type=SourceType.TICKET_ORDER.value,
        source_id="src",
        amount_minor=0,
        refunded_minor=0,
        currency="EUR",
    )
    return Delivered(uuid7(), world.organization, said, Caller(), "key", None, attempt, datetime.now(UTC))


async def tell(world: World, fact: type[Any], *payments: PaymentId, attempt: int = 1) -> None:
    """As a worker does, in one transaction."""
    kind: Kind[Any] = BY_FACT[fact]
    deliveries = [told(world, fact, each, attempt) for each in payments]
    await world.database.run(world.scope, lambda tx: kind.work(tx, deliveries), patient=True)


async def operation_of(world: World, payment: PaymentId) -> Operation | None:
    return (await world.database.read(world.scope, find_operations, [payment])).get(payment)


async def tickets_of(world: World, payment: PaymentId) -> list[str]:
    """Where each stands."""

    async def ask(tx: Tx) -> list[str]:
        rows = await tx.fetch(
            "SELECT status FROM entitlements.entitlement WHERE organization_id = $1 AND payment_id = $2", payment.uuid
        )
        return [row["status"] for row in rows]

    return await world.database.read(world.scope, ask)


async def notes_of(world: World, payment: PaymentId) -> list[str]:
    async def ask(tx: Tx) -> list[str]:
        rows = await tx.fetch(
            "SELECT key FROM toy.heard WHERE organization_id = $1 AND key LIKE '%' || $2 ORDER BY key", str(payment)
        )
        return [row["key"].partition(":")[0] for row in rows]

    return await world.database.read(world.scope, ask)


async def refunds_of(world: World, payment: PaymentId) -> list[tuple[str, int]]:
    async def ask(tx: Tx) -> list[tuple[str, int]]:
        rows = await tx.fetch(
            "SELECT reason, amount_minor FROM refunds.refund WHERE organization_id = $1 AND payment_id = $2",
            payment.uuid,
        )
        return [(row["reason"], row["amount_minor"]) for row in rows]

    return await world.database.read(world.scope, ask)

"""Telling of payments, and what became of them: what the tests of recording and of receipts have in common."""

from datetime import UTC, datetime, timedelta
from typing import Any

from admitone.finance.gateways.api import (
    Charge,
    FactKind,
    Provider,
    ProviderFact,
    Ref,
)
from admitone.finance.ledger import api as ledger
from admitone.finance.payments import errands
from admitone.finance.payments.commands.recording import record
from admitone.finance.payments.facts import ReceiptUnapplied
from admitone.finance.payments.model import (
    Payment,
    Reason,
    ReceiptState,
    Recorded,
    Status,
    Told,
)
from admitone.finance.payments.store import receipts as receipt_store
from admitone.finance.payments.store.facts import find_facts
from admitone.finance.sources.api import PaymentId
from admitone.kernel.db import Tx
from admitone.kernel.ids import uuid7
from admitone.kernel.jobs import Delivered, Desk
from admitone.kernel.scope import Caller
from tests.builders import rows_of
from tests.finance.world import World

K = FactKind
TABLES = ("payments.payment_fact", "ledger.transfer", "ledger.delta", "kernel.event_log", "payments.unapplied_receipt")


def a_fact(kind: FactKind, of: str, amount: int = 0, *, minutes: float = 0, **more: Any) -> ProviderFact:
    at = datetime.now(UTC) + timedelta(minutes=minutes)
    return ProviderFact(kind, f"{kind.lower()}:{of}", at, of, **({"amount_minor": amount, "currency": "EUR"} | more))


def told(payment: PaymentId, *facts: ProviderFact, refs: tuple[Ref, ...] = (), **more: Any) -> Told:
    return Told(Caller(), payment, Provider.SANDBOX, refs, facts, **more)


async def tell(world: World, payment: PaymentId, *facts: ProviderFact, **more: Any) -> Recorded:
    recorded: Recorded = await world.submit(record, told(payment, *facts, **more))
    return recorded


async def whole(world: World, charge: str) -> Charge:
    said = await world.gateway.find_charge(Caller(), charge)
    assert isinstance(said, Charge)
    return said


async def ask(world: World, payment: PaymentId) -> Payment:
    await world.clerk.ask(world.organization, payment, Caller())
    return await world.payment(payment)


async def a_sale(world: World, price: int = 5000, **more: Any) -> tuple[PaymentId, str]:
    return await world.opened(world.shop.sells(world.buyer.identity, price, **more))


async def a_paid_sale(world: World, price: int = 5000, **more: Any) -> tuple[PaymentId, str]:
    payment, charge = await a_sale(world, price, **more)
    world.simulator.act("pay", charge)
    assert (await ask(world, payment)).status is Status.SUCCEEDED
    return payment, charge


async def a_late_payment(world: World) -> tuple[PaymentId, str]:
    """We had closed it, and the provider took the money all the same."""
    payment, charge = await a_sale(world)
    assert await world.clerk.close(world.organization, payment, K.EXPIRED, Caller())
    assert (await world.payment(payment)).status is Status.EXPIRED
    world.simulator.act("pay", charge, late=True)
    assert (await ask(world, payment)).status is Status.NEEDS_MANUAL
    return payment, charge


async def counted(world: World) -> dict[str, int]:
    return {table: await rows_of(world.database, world.scope, table) for table in TABLES}


async def published(world: World, name: str) -> int:
    async def count(tx: Tx) -> int:
        [row] = await tx.fetch("SELECT count(*) FROM kernel.event_log WHERE organization_id = $1 AND type = $2", name)
        return int(row["count"])

    return await world.database.read(world.scope, count)


async def balances(world: World) -> dict[str, int]:
    """Accounts on which something stands."""
    trials = await world.database.read(world.scope, ledger.trial_balance)
    assert all(trial.debits_minor == trial.credits_minor for trial in trials)
    return {account: minor for trial in trials for account, minor in trial.accounts.items() if minor}


async def receipts(world: World, payment: PaymentId) -> list[tuple[Reason, int, ReceiptState]]:
    found = await world.database.read(world.scope, receipt_store.find_receipts, payment)
    return [(each.reason, each.amount_minor, each.state) for each in found]


async def see_to_receipt(world: World, payment: PaymentId) -> None:
    """As the worker does when it hears of it."""
    [receipt] = await world.database.read(world.scope, receipt_store.find_receipts, payment)
    heard = ReceiptUnapplied(
        payment_id=payment,
        reason=receipt.reason,
        amount_minor=receipt.amount_minor,
        currency=receipt.currency,
    )
    job = Delivered(uuid7(), world.organization, heard, Caller(), "key", None, 1, datetime.now(UTC))
    await errands.see_to_receipt.work(Desk(world.database, world.batcher), job)


async def facts_of(world: World, payment: PaymentId) -> Any:
    return (await world.database.read(world.scope, find_facts, [payment]))[payment]

"""A small world of money: an organisation that may sell, a shop with things on its shelf, a sandbox that takes payments.

world = await a_world(database, batcher)
order = world.shop.sells(world.buyer.identity, 5000)
begun = await world.begin(order)
await world.open(begun)
world.simulator.act("pay", world.charge_of(begun))
await world.hear()                     every webhook that is due is recorded, in any order
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from admitone.finance.gateways.api import Account, AccountOrder, Charge, Method, Provider
from admitone.finance.gateways.port import GATEWAYS, Gateways
from admitone.finance.gateways.sandbox.gateway import SandboxGateway
from admitone.finance.gateways.sandbox.keys import Keys
from admitone.finance.gateways.sandbox.simulator import Simulator
from admitone.finance.ledger import api as ledger
from admitone.finance.payments.asking import Case, Clerk
from admitone.finance.payments.commands.accounts import keep_accounts
from admitone.finance.payments.commands.checkouts import Begun, begin
from admitone.finance.payments.commands.recording import record
from admitone.finance.payments.model import AccountTold, Checkout, KnownAccount, Payment, Recorded, Told
from admitone.finance.payments.store import payments as store
from admitone.finance.sources.api import PaymentId, Source
from admitone.kernel.batch import Batcher
from admitone.kernel.commands import Command
from admitone.kernel.db import Database, Tx
from admitone.kernel.ids import OrganizationId, uuid7
from admitone.kernel.jobs import Desk
from admitone.kernel.scope import Caller, Scope
from tests.finance.shop import StockedShop, a_shop
from tests.people import Person, a_person, an_organization_of

SECRET = "the sandbox of the tests"


@dataclass
class World:
    database: Database
    batcher: Batcher
    simulator: Simulator
    gateway: SandboxGateway
    shop: StockedShop
    organization: OrganizationId
    owner: Person
    buyer: Person
    keys: int = field(default=0)

    @property
    def scope(self) -> Scope:
        return Scope(self.organization, "test")

    @property
    def clerk(self) -> Clerk:
        return Clerk.at(Desk(self.database, self.batcher))

    async def submit(self, command: Command[Any, Any, Any], each: Any) -> Any:
        return (await self.batcher.submit(command, self.scope, each)).outcome

    def checkout(self, source: Source, *, key: str | None = None, buyer: Person | None = None, **more: Any) -> Checkout:
        self.keys += 1
        caller = Caller((buyer or self.buyer).identity)
        given = {"method": Method.CARD, "buyer": None} | more
        return Checkout(caller, source, idempotency_key=key or f"key-{self.keys}", **given)

    async def begin(self, source: Source, **more: Any) -> Begun:
        begun: Begun = await self.submit(begin, self.checkout(source, **more))
        return begun

    async def open(self, begun: Begun) -> Charge:
        """Ask the provider for the charge, as the route does."""
        assert begun.intent is not None
        _, charge = await self.clerk.open(Case(begun.payment, (begun.intent,)), Caller(self.buyer.identity))
        return charge

    async def opened(self, source: Source, **more: Any) -> tuple[PaymentId, str]:
        """A payment that waits for its buyer, and its charge at the provider."""
        begun = await self.begin(source, **more)
        charge = await self.open(begun)
        return begun.payment.id, charge.id

    async def tell(self, payment: PaymentId, charge: Charge) -> Recorded:
        """Record what the provider says of a payment."""
        told = Told(Caller(), payment, Provider.SANDBOX, charge.refs, charge.facts)
        recorded: Recorded = await self.submit(record, told)
        return recorded

    async def payment(self, own: PaymentId) -> Payment:
        async def find(tx: Tx) -> Payment:
            return (await store.find_payments(tx, [own]))[own]

        return await self.database.read(self.scope, find)

    async def transfers(self, own: PaymentId) -> list[tuple[str, str, str, int]]:
        """Type, debit, credit and amount of everything that was posted for a payment."""
        found = await self.database.read(self.scope, ledger.list_transfers_of, [own])
        return sorted((each.entry_type, each.debit_account, each.credit_account, each.amount_minor) for each in found)

    async def net(self, own: PaymentId) -> int:
        nets = await self.database.read(self.scope, ledger.net_of, [own])
        return sum(net.minor for net in nets.values())


@asynccontextmanager
async def a_world(database: Database, batcher: Batcher, **settings: Any) -> AsyncIterator[World]:
    """While it lasts, whoever asks for gateways or shops is given this world's."""
    simulator = Simulator(Keys.of(SECRET), **settings)
    gateway = SandboxGateway.in_process(simulator)
    owner, buyer = await a_person(database), await a_person(database)
    organization = await an_organization_of(database, owner)
    await connect(database, simulator, gateway, organization)
    with a_shop() as shop, GATEWAYS.wired(Gateways([gateway])):
        yield World(database, batcher, simulator, gateway, shop, organization, owner, buyer)


async def connect(
    database: Database, simulator: Simulator, gateway: SandboxGateway, organization: OrganizationId
) -> None:
    """An account that is charged and paid."""
    account = await gateway.open_account(AccountOrder(Caller(), uuid7(), organization, "PT", None))
    assert isinstance(account, Account)
    simulator.act("complete", account.id)
    complete = await gateway.find_account(Caller(), account.id)
    assert isinstance(complete, Account)
    told = AccountTold(Caller(), Provider.SANDBOX, complete, datetime.now(UTC))
    [kept] = await database.run(Scope(organization, "test"), lambda tx: keep_accounts(tx, [told]))
    assert isinstance(kept, KnownAccount)

"""The small world of money, with Stripe in the sandbox's place."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from admitone.finance.gateways.api import Account, AccountOrder, Charge, Provider
from admitone.finance.gateways.port import GATEWAYS, Gateways
from admitone.finance.payments.commands.accounts import keep_accounts
from admitone.finance.payments.commands.recording import record
from admitone.finance.payments.model import AccountTold, Told
from admitone.finance.sources.api import PaymentId
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from admitone.kernel.ids import uuid7
from admitone.kernel.scope import Caller, Scope
from tests.finance.gateways.builders import sure
from tests.finance.gateways.stripe.stages import StripeStage
from tests.finance.shop import a_shop
from tests.finance.world import World
from tests.people import a_person, an_organization_of


@asynccontextmanager
async def a_stripe_world(database: Database, batcher: Batcher, stage: StripeStage) -> AsyncIterator[World]:
    owner, buyer = await a_person(database), await a_person(database)
    organization = await an_organization_of(database, owner)
    ordered = await stage.gateway.open_account(AccountOrder(owner.caller, uuid7(), organization, "PT", None))
    account = sure(Account, ordered)
    await stage.do("complete", account.id)
    complete = sure(Account, await stage.gateway.find_account(owner.caller, account.id))
    told = AccountTold(owner.caller, Provider.STRIPE, complete, datetime.now(UTC))
    await database.run(Scope(organization, "test"), lambda tx: keep_accounts(tx, [told]))
    gateway: Any = stage.gateway
    with a_shop() as shop, GATEWAYS.wired(Gateways([gateway])):
        yield World(database, batcher, stage.peer.simulator, gateway, shop, organization, owner, buyer)


async def hear(world: World, stage: StripeStage, payment: PaymentId, charge: str) -> None:
    """Record everything that Stripe told of a payment, without the door."""
    refs = {*sure(Charge, await stage.gateway.find_charge(Caller(), charge)).refs}
    for webhook in await stage.webhooks():
        event = stage.gateway.read(webhook.body, "stripe")
        if event.facts and refs & {*event.refs}:
            await world.submit(record, Told(Caller(), payment, Provider.STRIPE, event.refs, event.facts))

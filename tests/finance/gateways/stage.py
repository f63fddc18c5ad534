"""The provider as its customers, banks and owners see it, and what tests of adapters do with it.

A `Stage` lets things happen, and hands over the webhooks that were sent so far.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

import msgspec
import pytest

from admitone.finance.gateways.api import (
    Ability,
    Account,
    Charge,
    ChargeOrder,
    Envelope,
    EventPage,
    FactKind,
    Method,
    Movement,
    MovementPage,
    ProviderEvent,
    ProviderFact,
    Topic,
)
from admitone.finance.gateways.port import Gateway, Renewing
from admitone.finance.sources.api import SettlementModel
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Caller
from tests.finance.gateways.builders import (
    a_charge_order,
    a_pix_order,
    an_account_order,
    sure,
)

Kind = FactKind
YESTERDAY = timedelta(days=1)
CONNECT = "/api/organizacao/payouts/webhook"


@dataclass(frozen=True)
class Webhook:
    path: str
    headers: Mapping[str, str]
    body: bytes


EVERYTHING = frozenset({"body", "time"})


class Stage(Protocol):
    """One provider, and whoever stands around it."""

    gateway: Gateway
    signs: frozenset[str] = EVERYTHING
    """Of a webhook: its body, its time."""
    keeps_cancelled: bool = True
    """Whether it can still be asked for what was cancelled."""

    async def do(self, deed: str, thing: str, **options: Any) -> None:
        """Pay, decline, authenticate, dispute…"""
        ...

    async def webhooks(self) -> list[Webhook]:
        """Everything that was sent so far, once nothing more is on its way."""
        ...


def takes_cards(stage: Stage) -> bool:
    return Method.CARD in stage.gateway.methods


def needs_cards(stage: Stage) -> None:
    if not takes_cards(stage):
        pytest.skip(f"{stage.gateway.provider} takes no cards")


def needs(stage: Stage, ability: Ability) -> None:
    if ability not in stage.gateway.abilities:
        pytest.skip(f"{stage.gateway.provider} does not offer {ability}")


def an_order(stage: Stage, **changes: Any) -> ChargeOrder:
    """By card, from whoever takes them; else by PIX, for the platform."""
    return a_charge_order(**changes) if takes_cards(stage) else an_order_by_pix(stage, **changes)


def an_order_by_pix(stage: Stage, **changes: Any) -> ChargeOrder:
    """For the platform, where nobody else has an account."""
    split = {} if Ability.ACCOUNTS in stage.gateway.abilities else {"settlement": SettlementModel.PLATFORM_MOR}
    return a_pix_order(**({"application_fee_minor": 0} | split | changes))


async def paid(stage: Stage, **changes: Any) -> tuple[Any, Charge]:
    """A captured charge and the order it came from."""
    order = an_order(stage, **changes)
    charge = sure(Charge, await stage.gateway.open_charge(order))
    await stage.do("pay", charge.id)
    return order, sure(Charge, await stage.gateway.find_charge(Caller(), charge.id))


async def sold(stage: Stage, **changes: Any) -> tuple[ChargeOrder, Charge]:
    """For 5,000 to an organisation's account, of which 300 are ours."""
    owner = an_account_order()
    account = sure(Account, await stage.gateway.open_account(owner))
    await stage.do("complete", account.id)
    return await paid(stage, account=account.id, organization=owner.organization, **changes)


async def recognise(stage: Stage, webhook: Webhook) -> Envelope | None:
    """As the door does: whoever does not recognise it may need its provider's keys."""
    gateway, now = stage.gateway, datetime.now(UTC)
    said = gateway.verify(webhook.body, webhook.headers, webhook.path, now)
    if said is None and isinstance(gateway, Renewing):
        await gateway.renew(webhook.headers, webhook.path, Caller(), now)
        said = gateway.verify(webhook.body, webhook.headers, webhook.path, now)
    return said


async def read_webhooks(stage: Stage, charge: Charge) -> list[ProviderEvent]:
    """What was told about a charge, verified and understood; of an event that tells nothing, what is told when it makes
    us ask."""
    events = []
    for each in [each for each in await stage.webhooks() if charge.id.encode() in each.body]:
        envelope = await recognise(stage, each)
        assert envelope, "a webhook that was sent by the provider counts"
        event = stage.gateway.read(each.body, envelope.source)
        if event.topic is Topic.CHARGE and not event.facts:
            event = msgspec.structs.replace(event, facts=await facts_of(stage, charge))
        if event.topic is not Topic.NOTHING:
            events.append(event)
    assert all(event.refs[0] in charge.refs for event in events)
    return events


async def facts_of(stage: Stage, charge: Charge) -> tuple[ProviderFact, ...]:
    return sure(Charge, await stage.gateway.find_charge(Caller(), charge.id)).facts


def by_key(facts: Any) -> dict[str, ProviderFact]:
    return {fact.key: fact for fact in facts}


async def all_events(gateway: Gateway, since: datetime) -> list[bytes]:
    payloads: list[bytes] = []
    cursor = None
    while True:
        page = sure(EventPage, await gateway.list_events(Caller(), cursor, since))
        payloads += page.payloads
        if page.next_cursor is None:
            return payloads
        cursor = page.next_cursor


async def all_movements(gateway: Gateway, organization: OrganizationId) -> list[Movement]:
    movements: list[Movement] = []
    cursor = None
    while True:
        page = sure(MovementPage, await gateway.list_movements(Caller(), organization, cursor))
        movements += page.movements
        if page.next_cursor is None:
            return movements
        cursor = page.next_cursor

"""Whatever happens to orders, and in whatever order: what is sold, kept and free is what there is, every ticket has its
right, and every payment has its tickets or goes back. EXAMPLES=500 lives more of them."""

import os
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import Any, Final

import asyncpg
import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from admitone.entitlements.api import Status as RightStatus
from admitone.entrypoints.http import Application
from admitone.finance.gateways.sandbox.charges import No
from admitone.finance.payments.api import PAID, Status
from admitone.finance.refunds.api import Piece, Reason, RefundId, Request, request_refunds
from admitone.finance.sources.api import PaymentId
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from admitone.kernel.scope import Caller
from admitone.selling.stock import api as stock
from admitone.selling.stock.commands.settling import expire
from admitone.verticals.events.model import OrderState, TicketStatus
from admitone.verticals.events.tracking import status_of
from tests.jobs import dead
from tests.people import Person, a_person
from tests.verticals.events.office import Office, an_office
from tests.verticals.events.stage import a_stage

EXAMPLES: Final = int(os.environ.get("EXAMPLES", "20"))
CAPACITY: Final = 5
HERE = (TicketStatus.ACTIVE, TicketStatus.DISPUTED)
FATES = (
    (),
    ("cancel",),
    ("begin", "fail"),
    ("begin", "pay"),
    ("begin", "pay", "cancel"),
    ("begin", "cancel", "pay"),
    ("begin", "pay", "refund"),
    ("begin", "pay", "refund", "refund"),
    ("begin", "pay", "dispute"),
    ("begin", "pay", "dispute", "win"),
    ("begin", "pay", "dispute", "lose"),
    ("begin", "pay", "refund", "dispute", "lose"),
    ("begin", "pay", "dispute", "win", "refund"),
)
"""What may become of an order."""
MEANWHILE = ("work", "expire")
OVERDUE = "UPDATE {} SET expires_at = now() - interval '1 second' WHERE organization_id = $1 AND {}"
ADDRESSES = iter(ip_network("10.77.0.0/16").hosts())
KEPT = "SELECT COALESCE(sum(quantity), 0) FROM stock.portion WHERE pool_id = $1 AND status = 'HELD'"


@pytest.fixture
async def office(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection, batcher: Batcher
) -> AsyncIterator[Office]:
    async with an_office(await a_stage(site, database, superuser), batcher) as office:
        yield office


@dataclass
class Sale:
    """Of one type with few places, to a few people who cannot make up their minds."""

    office: Office
    event: dict[str, Any]
    kind: dict[str, Any]
    people: list[Person]
    placed: dict[int, tuple[dict[str, Any], Person]] = field(default_factory=dict)
    begun: dict[int, PaymentId] = field(default_factory=dict)

    async def does(self, deed: str, number: int, many: int) -> None:
        if deed in ("order", "work", "expire"):
            await getattr(self, f"_{deed}")(number, many)
        elif deed in ("begin", "cancel"):
            if number in self.placed:
                await getattr(self, f"_{deed}")(number)
        elif number in self.begun:
            await self._befalls(deed, self.begun[number], many)

    async def _order(self, number: int, many: int) -> None:
        buyer = self.people[number % len(self.people)]
        answer = await self.office.ask(self.event, (self.kind, many), buyer=buyer)
        if answer.status_code == 200:
            self.placed[number] = answer.json(), buyer
            return
        said = answer.json()
        free = (await self.office.pool(self.kind)).free
        assert (said["errorCode"], said["left"] < many) == ("SOLD_OUT", True)
        assert said["left"] >= free, "nobody is refused what is there"

    async def _begin(self, number: int) -> None:
        order, buyer = self.placed[number]
        answer = await self.office.checkout(order, buyer)
        if answer.status_code == 200:
            self.begun[number] = PaymentId.parse(answer.json()["paymentId"])

    async def _cancel(self, number: int) -> None:
        order, buyer = self.placed[number]
        await self.office.stage.site.post(f"/api/me/orders/{order['orderId']}/cancel", headers=buyer.headers)

    async def _work(self, *_: int) -> None:
        await self.office.work()

    async def _expire(self, *_: int) -> None:
        """Whatever is kept by now is overdue, and swept."""
        stage = self.office.stage
        await stage.superuser.execute(OVERDUE.format("stock.portion", "status = 'HELD'"), stage.organization.uuid)
        await stage.superuser.execute(OVERDUE.format("events.ticket_order", "state = 'OPEN'"), stage.organization.uuid)
        rows = await stage.superuser.fetch(
            "SELECT DISTINCT hold_id FROM stock.portion WHERE organization_id = $1 AND status = 'HELD'",
            stage.organization.uuid,
        )
        holds = [stock.HoldId(row["hold_id"]) for row in rows]
        await stage.database.run(stage.scope, lambda tx: expire(tx, holds), patient=True)

    async def _befalls(self, deed: str, payment: PaymentId, many: int) -> None:
        office, found = self.office, await self.office.world.payment(payment)
        if deed == "refund":
            if found.status in PAID:
                piece = Piece(self.kind["ticketTypeId"], many)
                wanted = Request(Caller(), payment, RefundId.new(), Reason.TECHNICAL_PROBLEM, (piece,))
                await office.stage.database.run(office.stage.scope, lambda tx: request_refunds(tx, [wanted]))
            return
        with suppress(No):  # The provider does not let everything happen.
            office.world.simulator.act(deed, found.charge_id)
        await office.world.clerk.ask(office.stage.organization, payment, Caller())

    # -- What must be true when everything was told

    async def is_sound(self) -> None:
        await self.office.work()
        assert await dead(self.office.stage.superuser, self.office.stage.scope) == []
        pool = await self.office.pool(self.kind)
        own = stock.PoolId.parse(self.kind["pool"]["poolId"])
        assert pool.held == await self.office.stage.superuser.fetchval(KEPT, own.uuid)
        assert (pool.held + pool.sold + pool.free, pool.free >= 0) == (CAPACITY, True)
        here = 0
        for number, (order, buyer) in self.placed.items():
            here += await self._order_is_sound(number, order, buyer)
        assert pool.sold == here

    async def _order_is_sound(self, number: int, order: dict[str, Any], buyer: Person) -> int:
        """How many of its tickets are somebody's."""
        found = await self.office.find(order)
        tickets, rights = await self.office.tickets(order), await self.office.rights(order)
        assert len(tickets) == len(rights) == (order["lines"][0]["quantity"] if self._has(found.state) else 0)
        by_piece = {each.piece: each for each in rights}
        for ticket in tickets:
            right = by_piece[ticket.emission_index]
            assert (ticket.status, ticket.owner) == (status_of([right]), buyer.identity)
            assert (ticket.status is TicketStatus.ACTIVE) == (right.status is RightStatus.ACTIVE)
        if payment := self.begun.get(number):
            await self._money_is_sound(payment, found.state, [each.status for each in tickets])
        return sum(each.status in HERE for each in tickets)

    async def _money_is_sound(self, own: PaymentId, state: OrderState, tickets: list[TicketStatus]) -> None:
        payment = await self.office.world.payment(own)
        back = payment.refunded_minor == payment.captured_minor
        match payment.status:
            case Status.SUCCEEDED | Status.CHARGEBACK_WON | Status.PARTIAL_REFUND if payment.applied:
                assert state is OrderState.FULFILLED, "its tickets are there"
                gone = sum(each is TicketStatus.REFUNDED for each in tickets)
                assert (gone > 0) == (payment.refunded_minor > 0)
                assert gone < len(tickets) or back
            case Status.REFUNDED:
                assert back
                assert {*tickets} <= {TicketStatus.REFUNDED}
            case Status.DISPUTED:
                assert not {*tickets} & {TicketStatus.ACTIVE}, "nobody comes in by it"
            case Status.CHARGEBACK_LOST:
                assert {*tickets} <= {TicketStatus.CHARGEBACK_LOST, TicketStatus.REFUNDED}
            case _:
                assert not payment.applied
                assert tickets == []

    @staticmethod
    def _has(state: OrderState) -> bool:
        return state is OrderState.FULFILLED


async def a_sale(office: Office) -> Sale:
    event, [kind] = await office.on_sale({"supply": {"capacity": CAPACITY}})
    people = [await a_person(office.stage.database) for _ in range(3)]
    return Sale(office, event, kind, people)


Turn = tuple[str, int, int]


@st.composite
def lives(draw: st.DrawFn) -> list[Turn]:
    """Of some orders at once: each lives its own life, and whose turn it is is chance."""
    fates = draw(st.lists(st.tuples(st.sampled_from(FATES), st.integers(1, 3)), min_size=2, max_size=5))
    own = [[("order", n, many), *((deed, n, 1) for deed in fate)] for n, (fate, many) in enumerate(fates)]
    others = draw(st.lists(st.sampled_from(MEANWHILE), max_size=4))
    queues = [*own, *([(deed, -1, 0)] for deed in others)]
    turns = draw(st.permutations([n for n, queue in enumerate(queues) for _ in queue]))
    return [queues[n].pop(0) for n in turns]


@pytest.mark.covers("EVT-009", "EVT-046", "FUL-001", "FUL-002")
@settings(
    max_examples=EXAMPLES,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
)
@given(turns=lives())
async def test_whatever_happens_nothing_is_lost_and_nothing_is_sold_twice(
    office: Office, application: Application, turns: list[Turn]
):
    # From an address of its own: limits count by address.
    transport = httpx.ASGITransport(application.edge, client=(str(next(ADDRESSES)), 4711))
    async with httpx.AsyncClient(transport=transport, base_url="http://admitone.test") as office.stage.site:
        await live_through(await a_sale(office), turns)


async def live_through(sale: Sale, turns: list[Turn]) -> None:
    for turn in turns:
        await sale.does(*turn)
    await sale.is_sound()

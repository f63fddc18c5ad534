"""Tickets on sale: how many are kept, bought and handed over a second, and a storm on too few of them.

usage: python -m bench.tickets [SECONDS PAYMENTS]          holds, checkouts, paid orders (figures 2, 3, 4)
       python -m bench.tickets storm [UNITS REQUESTS]      everybody at once, and a fifth walks away (figure 11)
       python -m bench.tickets fair                        buyers who pay, and a provider that tells of it

One organisation, one event, one type of ticket: what contends in production contends here. Every buyer is signed in
and comes from an address of their own, through a proxy that we trust, so that every limit stays on.
"""

import asyncio
import itertools
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from admitone.foundation.authority.api import OrganizationModule, put_modules
from admitone.kernel.db import Database, Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import uuid7
from admitone.kernel.scope import Caller, Scope
from admitone.verticals.events.commands.offering import Offering, Supply, Terms, offer
from admitone.verticals.events.commands.planning import Draft, Publishing, draft, publish
from admitone.verticals.events.model import About, AccessPolicy, EventId, Schedule, TicketTypeId
from bench import checkout
from bench.calibration import at_speed, calibrate
from bench.checkout import EVENTS_OF_A_PAYMENT, FEW, MANY, SECONDS, WARMING_UP, Fair, Market, ask, until
from bench.figures import Figures, side_by_side
from bench.ground import Ground, a_cluster, a_ground
from bench.load import Connection, Report, drive
from bench.processor import spending
from bench.server import ROOT, a_server

ORDERS: Final = "/api/orders"
BUY: Final = "/api/orders/buy"
SERVER, WORKER = "bench.serve_tickets", "bench.work_tickets"
BUYERS: Final = 40_000
"""So many that nobody meets the limit of thirty orders in five minutes."""
PLENTY: Final = 2_000_000
PAYMENTS: Final = 15_000
"""So many that how the sale begins and ends is little of it."""
AT_MOST_A_SECOND: Final = 6_000

FULFILLED = "SELECT count(*) AS settled FROM events.ticket_order WHERE state = 'FULFILLED'"
UNTOLD = "SELECT count(*) AS untold FROM kernel.outbox WHERE published_at IS NULL"
WRONG = """
    SELECT (SELECT count(*) FROM stock.pool WHERE held < 0 OR sold < 0 OR held + sold > capacity)
           + (SELECT count(*)
                FROM events.ticket_order AS o
               WHERE o.state = 'FULFILLED'
                 AND (SELECT count(*) FROM events.ticket AS t WHERE t.order_id = o.id)
                     <> (SELECT count(*)
                           FROM entitlements.entitlement AS e
                          WHERE e.source_id = 'ord_' || replace(o.id::text, '-', ''))) AS wrong
"""


@dataclass(frozen=True)
class Sale(Fair):
    """A fair where tickets of one type are sold."""

    path: str = BUY

    def requests(self) -> Iterator[bytes]:
        run = uuid7().hex[-12:]
        for number in itertools.count():
            body = (
                f'{{"organizationId":"{self.organization}","eventId":"{self.event}","idempotencyKey":"{run}-{number}",'
                f'"lines":[{{"ticketTypeId":"{self.ticket_type}","quantity":1}}]}}'
            )
            yield self.post(self.path, number % len(self.tokens), body)

    def charge_in(self, answer: bytes) -> str:
        secret: str = json.loads(answer)["checkout"]["clientSecret"]
        return secret.partition("_secret_")[0]


def measure(figures: Figures, seconds: float = SECONDS, payments: int = PAYMENTS) -> None:
    with a_cluster() as cluster, tempfile.TemporaryDirectory() as folder:
        ground = a_ground(cluster, organizations=1, name="bench_tickets")
        sale = a_sale(ground, Path(folder), PLENTY, seconds=seconds)
        holds(figures, ground, sale)
        checkouts(figures, ground, sale)
        ground = a_ground(cluster, organizations=1, name="bench_handed_over")
        handed_over(figures, ground, a_sale(ground, Path(folder), PLENTY, payments=payments))


def a_sale(
    ground: Ground, folder: Path, capacity: int, hold_minutes: int = 15, people: int = BUYERS, **more: float
) -> Sale:
    fair = checkout.a_fair(ground, folder, people=people, **more)
    event, kind = asyncio.run(put_on_sale(ground, capacity, hold_minutes))
    return Sale(**(asdict(fair) | {"event": str(event), "ticket_type": str(kind)}))


async def put_on_sale(ground: Ground, capacity: int, hold_minutes: int) -> tuple[EventId, TicketTypeId]:
    own, event, kind = Scope(ground.members[0].organization, "bench"), EventId.new(), TicketTypeId.new()
    begins = datetime.now(UTC) + timedelta(days=30)
    about = About(title="The bench", hold_minutes=hold_minutes)
    schedule = Schedule(begins, begins + timedelta(hours=5), "Europe/Lisbon")

    async def put_on(tx: Tx) -> None:
        await put_modules(tx, {OrganizationModule.EVENTOS: True})
        said = [
            *await draft(tx, [Draft(Caller(), event, about, schedule, "EUR", AccessPolicy(1))]),
            *await offer(tx, [Offering(Caller(), event, kind, Terms("Standing", 2500), Supply(capacity))]),
            *await publish(tx, [Publishing(Caller(), event)]),
        ]
        assert not any(isinstance(each, Refusal) for each in said), said

    async with Database(ground.url) as database:
        await database.run(own, put_on)
    return event, kind


# -- Figures 2 and 3


def holds(figures: Figures, ground: Ground, sale: Sale) -> None:
    print(f"\nPOST {ORDERS}, one type, {len(sale.tokens):,} buyers")
    (together, alone), s = at_speed(ground, lambda: _measured(figures, ground, replace(sale, path=ORDERS)))
    figures.must("holds on one hot type", together, 2000 * s, "/s")
    figures.must("holds coalesced over one by one", together / alone, 5)


def checkouts(figures: Figures, ground: Ground, sale: Sale) -> None:
    print(f"\nPOST {BUY}: kept, priced, charged at the sandbox; two servers beside each other, one for each processor")
    (together, alone), s = at_speed(ground, lambda: _measured(figures, ground, sale, beside=1))
    figures.must("full checkout", together, 900 * s, "/s")
    figures.note(f"coalesced over one by one {together / alone:.2f} x")


def _measured(figures: Figures, ground: Ground, sale: Sale, beside: int = 0) -> tuple[float, float]:
    """The best of few and many connections together, and one by one."""

    def rate(name: str, port: int, seconds: float, connections: int = FEW) -> float:
        one = replace(sale, port=port, seconds=seconds)
        report, spent = spending(ground, lambda: _drive(one, connections))
        each = spent.each(report.rate * seconds)
        figures.note(f"{name:10} {connections:3} connections {report}  [{report.tool}]  processor time each {each}")
        return report.rate

    with ExitStack() as stack:
        together = stack.enter_context(a_server(ground, module=SERVER, beside=beside, **sale.surroundings))
        apart = stack.enter_context(a_server(ground, "--one-by-one", module=SERVER, **sale.surroundings))
        for port in (together, apart):
            rate("warming up", port, 2)
        many, few, alone = side_by_side(
            lambda: rate("coalesced", together, sale.seconds, MANY),
            lambda: rate("coalesced", together, sale.seconds),
            lambda: rate("one by one", apart, sale.seconds / 2),
        )
    return max(many, few), alone


def _drive(sale: Sale, connections: int) -> Report:
    report = drive(sale.port, connections, sale.requests(), sale.seconds, AT_MOST_A_SECOND)
    if report.refused:
        raise RuntimeError(f"{report.refused} orders were refused, or failed")
    return report


# -- Figure 4


def handed_over(figures: Figures, ground: Ground, sale: Sale) -> None:
    print(f"\nBought, webhooks over HTTP, one worker: until {sale.payments:,} orders have their tickets")
    with a_server(ground, module=SERVER, **sale.surroundings) as port, checkout.a_worker(ground, sale, WORKER):
        settle(ground, replace(sale, port=port, payments=WARMING_UP))
        ((heard, done, idle), spent), s = at_speed(
            ground, lambda: spending(ground, lambda: settle(ground, replace(sale, port=port)))
        )
    [row] = ask(ground, WRONG)
    figures.must_not_exceed("orders and pools that do not add up", row["wrong"], 0, "of them")
    figures.must("paid order to entitlement", sale.payments / done, 400 * s, "/s")
    figures.note(
        f"all paid after {heard:.1f} s, handed over and relayed after {done:.1f} s, receipts after {idle:.1f} s"
    )
    figures.note(f"processor time of an order, from purchase to ticket and receipt: {spent.each(sale.payments)}")


def settle(ground: Ground, sale: Sale) -> tuple[float, float, float]:
    """After how many seconds all was paid, all was handed over and every fact relayed, and nothing was left to do."""
    expected = ask(ground, FULFILLED)[0]["settled"] + sale.payments
    began, heard = checkout.open_fair("bench.tickets", sale)
    until(lambda: ask(ground, FULFILLED)[0]["settled"] >= expected, "all orders have their tickets")
    until(lambda: not ask(ground, UNTOLD)[0]["untold"], "all facts are relayed")
    done = time.perf_counter() - began
    checkout.work_off(ground)
    return heard, done, time.perf_counter() - began


# -- Figure 11

UNITS, REQUESTS = 5_000, 500_000
ABANDONED: Final = 5
"""One in so many walks away, while everybody is there."""
SOLD_OUT: Final = b'"SOLD_OUT"'
STOCK = """
    SELECT p.capacity, p.held, p.sold
      FROM stock.pool AS p
      JOIN events.ticket_type AS t
        ON t.organization_id = p.organization_id
       AND t.pool_id = p.id
     WHERE t.id = '{kind}'
"""
ENDS = """
    SELECT count(*) FILTER (WHERE state = 'FULFILLED') AS fulfilled,
           count(*) FILTER (WHERE state = 'RETURNED') AS returned, count(*) AS placed
      FROM events.ticket_order
     WHERE event_id = '{event}'
"""


class Storm(Market):
    """Buyers who all want the same: most are told that there is none left, and of the others some walk away."""

    def __init__(self, sale: Sale, abandoned: int) -> None:
        super().__init__(sale)
        self.left = sale.payments
        self.kept = 0
        self._abandoned = abandoned
        self.waits: list[float] = []
        self._since: dict[Connection, float] = {}

    def send(self, buyer: Connection, request: bytes) -> None:
        self._since[buyer] = time.perf_counter()
        buyer.send(request)

    def answer(self, connection: Connection, status: int) -> None:
        self.left -= 1
        if status == 200:
            self.kept += 1
            if not self._abandoned or self.kept % self._abandoned:
                self.left += EVENTS_OF_A_PAYMENT
                self.pay(self._fair.charge_in(connection.body))
        elif status == 409 and SOLD_OUT in connection.body:
            self.waits.append(time.perf_counter() - self._since[connection])
        else:
            raise RuntimeError(f"an answer was {status}: {connection.body[:500]!r}")

    def told(self) -> dict[str, float]:
        waits = sorted(self.waits) or [0.0]
        return {
            "kept": self.kept,
            "refused": len(self.waits),
            "p50": waits[len(waits) // 2] * 1000,
            "p99": waits[len(waits) * 99 // 100] * 1000,
        }


def storm(figures: Figures, units: int = UNITS, requests: int = REQUESTS) -> None:
    with a_cluster() as cluster, tempfile.TemporaryDirectory() as folder:
        ground = a_ground(cluster, organizations=1, name="bench_storm")
        storm_at(figures, ground, a_sale(ground, Path(folder), units, hold_minutes=1, payments=requests), units)


def storm_at(figures: Figures, ground: Ground, sale: Sale, units: int) -> None:
    calibration = calibrate(ground)
    print(f"\n{sale.payments:,} requests for {units:,} tickets, one in {ABANDONED} walks away. {calibration}")
    with a_server(ground, module=SERVER, **sale.surroundings) as port, checkout.a_worker(ground, sale, WORKER):
        began = time.perf_counter()
        rush = _rush(replace(sale, port=port), ABANDONED)
        figures.note(f"{sale.payments / (time.perf_counter() - began):,.0f}/s answered: {rush}")
        kept = rush["kept"] + _sell_the_rest(ground, replace(sale, port=port, payments=units))
        checkout.work_off(ground)
    _judge(figures, ground, sale, kept)
    figures.must_not_exceed("refusals, p99", rush["p99"], 100 / min(1.0, calibration.s), "ms")


def _rush(sale: Sale, abandoned: int = 0) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.tickets", "rush", str(abandoned)]
    said = subprocess.run(
        command, cwd=ROOT, input=json.dumps(asdict(sale)), stdout=subprocess.PIPE, text=True, check=True
    )
    told: dict[str, float] = json.loads(said.stdout)
    return told


def _sell_the_rest(ground: Ground, sale: Sale) -> float:
    """Whoever comes later has what those left who walked away; how many were kept."""
    kept = 0.0
    for _ in range(20):
        [pool] = ask(ground, _of(sale, STOCK))
        if pool["sold"] == pool["capacity"]:
            break
        time.sleep(15)
        kept += _rush(sale)["kept"]
    return kept


def _of(sale: Sale, sql: str) -> str:
    return sql.format(event=EventId.parse(sale.event).uuid, kind=TicketTypeId.parse(sale.ticket_type).uuid)


def _judge(figures: Figures, ground: Ground, sale: Sale, kept: float) -> None:
    [pool], [orders], [wrong] = ask(ground, _of(sale, STOCK)), ask(ground, _of(sale, ENDS)), ask(ground, WRONG)
    figures.must_not_exceed("tickets sold beyond what there was", pool["sold"] - pool["capacity"], 0, "tickets")
    figures.must_not_exceed("tickets left unsold", pool["capacity"] - pool["sold"], 0, "tickets")
    figures.must_not_exceed("tickets kept for nobody", pool["held"], 0, "tickets")
    figures.must_not_exceed("orders and pools that do not add up", wrong["wrong"], 0, "of them")
    figures.must_not_exceed("buyers who were told otherwise", abs(kept - orders["placed"]), 0, "buyers")
    figures.note(
        f"{orders['fulfilled']} orders fulfilled, {orders['returned']} given back, of {orders['placed']} placed"
    )


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["fair"]:
            Market(Sale(**json.loads(sys.stdin.readline()))).open()
        case ["rush", abandoned]:
            crowd = Storm(Sale(**json.load(sys.stdin)), int(abandoned))
            crowd.run()
            print(json.dumps(crowd.told()))
        case ["storm", *numbers]:
            storm(Figures(), *map(int, numbers))
        case numbers:
            measure(Figures(), *map(int, numbers))

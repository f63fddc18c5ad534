"""Pages: how many event pages a second people are shown, over C.

usage: python -m bench.pages [SECONDS]

The pages of more events than a server keeps as it wrote them last, one after another, so that each is written anew:
as when a season is announced. What one event's page does, which is written once and then kept, is noted beside it. They
are asked for from many addresses by people who are nobody yet. The server, the database and the load share the machine.
"""

import asyncio
import itertools
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from admitone.foundation.authority.api import OrganizationModule
from admitone.foundation.organizations.api import Founding, Settings, found
from admitone.kernel.db import Database, Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId
from admitone.kernel.scope import Caller, Scope
from admitone.verticals.events.commands.offering import Offering, Supply, Terms, offer
from admitone.verticals.events.commands.planning import Draft, Publishing, draft, publish
from admitone.verticals.events.model import About, AccessPolicy, EventId, Schedule, TicketTypeId
from bench import checkout
from bench.calibration import calibrate
from bench.figures import Figures, side_by_side
from bench.ground import Ground, a_cluster, a_ground
from bench.load import drive
from bench.processor import spending
from bench.server import a_server
from bench.tickets import SERVER, WORKER, a_sale

SECONDS: Final = 5
CONNECTIONS: Final = 64
AT_MOST_A_SECOND: Final = 8_000
ADDRESSES: Final = 60_000
EVENTS: Final = 750
"""More than are kept (`Written` in web/storefront/event.py): whoever comes round again finds nothing of theirs."""
OVER_C: Final = 0.15
LISTED = "SELECT count(*) AS listed FROM events.listing"


def measure(figures: Figures, seconds: float = SECONDS) -> None:
    with a_cluster() as cluster, tempfile.TemporaryDirectory() as folder:
        ground = a_ground(cluster, organizations=1, name="bench_pages")
        sale = a_sale(ground, Path(folder), 1_000, people=1)
        asyncio.run(_found(ground))
        season = [sale.event, *asyncio.run(_put_on(ground, EVENTS - 1))]
        print(f"\nGET /e/… of {EVENTS} events, {CONNECTIONS} connections")
        with a_server(ground, module=SERVER, **sale.surroundings) as port, checkout.a_worker(ground, sale, WORKER):
            checkout.until(lambda: checkout.ask(ground, LISTED)[0]["listed"] >= EVENTS, "all events are listed")
            _shown(figures, ground, port, season, 2)
            [rate, warm, c] = side_by_side(
                lambda: _shown(figures, ground, port, season, seconds),
                lambda: _shown(figures, ground, port, season[:1], seconds),
                lambda: calibrate(ground).c,
            )
        figures.must("event pages, each written anew, over C", rate / c, OVER_C)
        figures.note(f"the page of one event, written once, over C {warm / c:.2f} x")


async def _found(ground: Ground) -> None:
    """Whoever puts it on has a name, which stands on the page."""
    own, owner = ground.members[0].organization, Caller(IdentityId.new())
    founding = Founding(owner, own, Settings("The bench"), frozenset(OrganizationModule))
    async with Database(ground.url) as database:
        [said] = await database.run(Scope(own, "bench"), lambda tx: found(tx, [founding]))
    assert not isinstance(said, Refusal), said


async def _put_on(ground: Ground, count: int) -> list[str]:
    own, begins = Scope(ground.members[0].organization, "bench"), datetime.now(UTC) + timedelta(days=30)
    schedule = Schedule(begins, begins + timedelta(hours=5), "Europe/Lisbon")
    events = [EventId.new() for _ in range(count)]

    async def put_on(tx: Tx) -> None:
        terms, supply = Terms("Standing", 2500), Supply(1_000)
        said = [
            *await draft(
                tx, [Draft(Caller(), each, About(f"{each}"), schedule, "EUR", AccessPolicy(1)) for each in events]
            ),
            *await offer(tx, [Offering(Caller(), each, TicketTypeId.new(), terms, supply) for each in events]),
            *await publish(tx, [Publishing(Caller(), each) for each in events]),
        ]
        refused = [each for each in said if isinstance(each, Refusal)]
        assert not refused, refused[0]

    async with Database(ground.url) as database:
        await database.run(own, put_on)
    return [str(each) for each in events]


def _shown(figures: Figures, ground: Ground, port: int, events: Sequence[str], seconds: float) -> float:
    report, spent = spending(ground, lambda: drive(port, CONNECTIONS, _requests(events), seconds, AT_MOST_A_SECOND))
    if report.refused:
        raise RuntimeError(f"{report.refused} pages were not shown")
    figures.note(f"{len(events):4} events {report}  [{report.tool}]")
    figures.note(f"processor time of a page {spent.each(report.rate * seconds)}")
    return report.rate


def _requests(events: Sequence[str]) -> Iterator[bytes]:
    for number in itertools.count():
        at, event = number % ADDRESSES, events[number % len(events)]
        yield (
            f"GET /e/{event} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/html\r\naccept-language: pt\r\n"
            f"x-forwarded-for: 10.{at >> 16 & 255}.{at >> 8 & 255}.{at & 255}\r\n\r\n"
        ).encode()


if __name__ == "__main__":
    measure(Figures(), *map(float, sys.argv[1:]))

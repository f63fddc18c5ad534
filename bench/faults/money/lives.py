"""Processes that are killed: what `admitone serve` and `admitone worker` are, with a shop that anybody can stock.

usage: python -m bench.faults.money.lives api PORT
       python -m bench.faults.money.lives worker

Besides what those commands read: `MONEY_CLOCK_SECONDS`, by which the clock is ahead, because nobody wants to wait until
a payment has expired.
"""

import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from admitone.entrypoints import http, worker
from admitone.entrypoints.modules import MODULES
from admitone.entrypoints.serve import serve
from admitone.entrypoints.wiring import wire, wire_outside
from admitone.finance.payments.errors import SourceNotSold
from admitone.finance.sources.api import Source, SourceType
from admitone.finance.sources.port import SHOPS, Line, Offer, Wanted
from admitone.kernel.clock import Clock
from admitone.kernel.config import Config
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId
from admitone.kernel.jobs.worker import Rhythm
from admitone.selling.fulfilment.port import RECIPES
from bench.recipes import HANDED_OVER

LASTS: Final = timedelta(hours=1)
BRIEF: Final = Rhythm(lease_seconds=1, poll_seconds=0.05, schedule_seconds=0.2, grace_seconds=1)
"""Who is killed is missed soon."""


def a_source(price: int, currency: str, buyer: IdentityId, number: int) -> Source:
    """Something that every process finds on its shelf, because its name says what it is."""
    return Source(SourceType.TICKET_ORDER, f"{price}.{currency}.{buyer.uuid.hex}.{number}")


class NamedShop:
    """Sells what names itself."""

    async def offer(self, tx: Tx, wanted: Sequence[Wanted]) -> Sequence[Offer | Refusal]:  # noqa: ARG002
        return [_offer(each.source) for each in wanted]


def _offer(source: Source) -> Offer | Refusal:
    try:
        price, currency, buyer, _ = source.id.split(".")
        line = Line("it", "It", int(price), 1)
        until = datetime.now(UTC) + LASTS
        return Offer(source, IdentityId(UUID(buyer)), currency, (line,), until, "It")
    except ValueError:
        return SourceNotSold()


def main() -> None:
    config = Config.load(os.environ, [key for module in MODULES for key in module.config])
    ahead = Clock(timedelta(seconds=float(os.environ.get("MONEY_CLOCK_SECONDS", "0"))))
    if sys.argv[1] == "api":
        _serve(config, ahead, int(sys.argv[2]))
    else:
        _work(config, ahead)


def _serve(config: Config, ahead: Clock, port: int) -> None:
    application = http.build(config)
    application.database._clock = ahead
    with SHOPS.wired(dict.fromkeys(SourceType, NamedShop())):
        serve(application, "127.0.0.1", port)


def _work(config: Config, ahead: Clock) -> None:
    wire(config)
    workshop = worker.assemble(config, MODULES, rhythm=BRIEF)
    wire_outside(config, workshop.outbound)
    workshop.database._clock = ahead
    with RECIPES.wired(HANDED_OVER):
        worker.work(workshop)


if __name__ == "__main__":
    main()

"""What the bench sells, and who takes the money: offers computed from the source's id, and a sandbox on a file.

Promise: neither needs the database, so that what is measured is the checkout and not a vertical. Whoever asks pays for
their own: the buyer of a source is whoever is signed in.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Final

from admitone.finance.gateways.port import GATEWAYS, Gateways
from admitone.finance.gateways.sandbox.gateway import SandboxGateway
from admitone.finance.gateways.sandbox.journal import Journal
from admitone.finance.gateways.sandbox.keys import Keys
from admitone.finance.gateways.sandbox.simulator import Simulator
from admitone.finance.payments.errors import SourceNotSold
from admitone.finance.sources.api import SourceType
from admitone.finance.sources.port import SHOPS, Line, Offer, Tax, Wanted
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.selling.fulfilment.port import RECIPES
from bench.recipes import HANDED_OVER

SANDBOX: Final = Keys.of("the sandbox of the bench")
JOURNAL: Final = "BENCH_JOURNAL"
"""Under this name a process is told which file the sandbox writes."""
KEPT_FOR: Final = timedelta(minutes=20)
VAT: Final = Tax("IVA", "PT", 2300)


class ComputedShop:
    """Sells whatever is asked for: two kinds of ticket, whose price and number are in the source's id."""

    async def offer(self, tx: Tx, wanted: Sequence[Wanted]) -> Sequence[Offer | Refusal]:
        return [_offer(tx, each) for each in wanted]


def _offer(tx: Tx, wanted: Wanted) -> Offer | Refusal:
    if wanted.caller.actor is None:
        return SourceNotSold()
    number = int(wanted.source.id.rpartition("-")[2])
    return Offer(
        source=wanted.source,
        buyer=wanted.caller.actor,
        currency="EUR",
        lines=(
            Line("adult", "An adult", 1500 + number % 50 * 100, 1 + number % 3),
            Line("child", "A child", 750, 1 + number % 2),
        ),
        expires_at=tx.now + KEPT_FOR,
        description="Tickets",
        taxes=(VAT,),
        subjects=("event:bench",),
    )


def a_simulator(journal: Path) -> Simulator:
    """With the endpoint that `docs/flows/stripe.md` asks for: what was begun is no news of ours."""
    return Simulator(SANDBOX, Journal(journal), untold=("payment_intent.created",))


@contextmanager
def paid_at_the_sandbox() -> Iterator[None]:
    """While it lasts, this process is paid through the sandbox on the file that it was told."""
    gateway = SandboxGateway.in_process(a_simulator(Path(os.environ[JOURNAL])))
    with GATEWAYS.wired(Gateways([gateway])):
        yield


@contextmanager
def open_for_business() -> Iterator[None]:
    """While it lasts, this process sells, too, whatever is asked for."""
    shops = dict.fromkeys(SourceType, ComputedShop())
    with SHOPS.wired(shops), RECIPES.wired(HANDED_OVER), paid_at_the_sandbox():
        yield

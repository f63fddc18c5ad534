"""The sandbox: fast enough to be no brake in any other measure, and exact however much of what it says is lost."""

import asyncio
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.finance.gateways.builders import a_charge_order, a_sandbox
from tests.finance.gateways.losing import open_in_trouble

from admitone.finance.gateways.sandbox.journal import Journal
from bench.figures import Figures, side_by_side

CHARGES = 5_000
LOST_ORDERS = 5_000


def measure(figures: Figures) -> None:
    in_file, in_memory = side_by_side(
        lambda: _charges_per_second(in_file=True), lambda: _charges_per_second(in_file=False)
    )
    figures.must("Sandbox: charges opened in process, in memory", in_memory, 5_000, "/s")
    figures.note(f"in a file, each committed before it is answered: {in_file:,.0f}/s")
    trouble = asyncio.run(open_in_trouble(seed=1, orders=LOST_ORDERS))
    figures.must("Sandbox: orders that made exactly one charge each, of 5,000", trouble.charges, LOST_ORDERS, "")
    figures.note(f"{trouble.unknown:,} answers were unknown, {trouble.found_late:,} charges were found by their order")


def _charges_per_second(*, in_file: bool) -> float:
    with TemporaryDirectory() as folder:
        journal = Journal(Path(folder) / "journal.sqlite" if in_file else None)
        try:
            return asyncio.run(_open_many(journal))
        finally:
            journal.close()


async def _open_many(journal: Journal) -> float:
    """By the processor's time, of which it uses one: what else the machine does is no fault of the sandbox."""
    _, gateway = a_sandbox(journal=journal)
    orders = [a_charge_order() for _ in range(CHARGES)]
    began = time.process_time()
    for order in orders:
        await gateway.open_charge(order)
    return CHARGES / (time.process_time() - began)

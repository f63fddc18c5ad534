"""Letters: what the receipt of an order costs in processor time, from the fact to the mail server.

usage: python -m bench.letters [LETTERS]

Orders are bought and paid as anybody does; then their facts are told once more, and a worker that has nothing else to
do writes to every buyer. It drops the mails where a mail server would take them. Worker and database count.
"""

import os
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from bench import checkout, tickets
from bench.calibration import calibrate
from bench.checkout import ask, until
from bench.figures import Figures
from bench.ground import Ground, a_cluster, a_ground
from bench.server import a_server

DATABASE: Final = "bench_letters"
LETTERS: Final = 2_000
BUYERS: Final = 1_000
CALM_SECONDS: Final = 4
"""Until a worker that has just begun does nothing any more."""
TICKS: Final = os.sysconf("SC_CLK_TCK")

TELL_AGAIN = """
    WITH told AS (
        INSERT INTO kernel.job_key (organization_id, key, created_at)
        SELECT organization_id, 'again:' || id, now()
          FROM kernel.event_log
         WHERE type = 'order.fulfilled'
    )
    INSERT INTO kernel.job (organization_id, id, kind, lane, priority, run_at, key, payload, event_id, actor_id,
                            causation_id, correlation_id, created_at)
    SELECT e.organization_id, gen_random_uuid(), 'events.send_receipt', 'receipts', 2, now(), 'again:' || e.id,
           e.payload, e.id, e.actor_id, e.id, e.correlation_id, now()
      FROM kernel.event_log AS e
     WHERE e.type = 'order.fulfilled'
"""
UNSENT = "SELECT count(*) AS left FROM kernel.job WHERE kind = 'events.send_receipt' OR kind LIKE 'mail.deliver%'"
SENT = "SELECT count(*) AS letters FROM mail.letter WHERE sent_at IS NOT NULL"


def measure(figures: Figures, letters: int = LETTERS) -> None:
    with a_cluster() as cluster, tempfile.TemporaryDirectory() as folder:
        ground = a_ground(cluster, organizations=1, name=DATABASE)
        calibration = calibrate(ground)
        print(f"\nReceipts, written and handed over. {calibration}")
        sale = tickets.a_sale(ground, Path(folder), tickets.PLENTY, people=BUYERS, payments=letters)
        sell(ground, sale)
        with checkout.a_worker(ground, sale, tickets.WORKER):
            time.sleep(CALM_SECONDS)
            before, began, spent = ask(ground, SENT)[0]["letters"], time.perf_counter(), processor_seconds()
            ask(ground, TELL_AGAIN)
            until(lambda: not ask(ground, UNSENT)[0]["left"], "every letter was sent")
            taken, spent = time.perf_counter() - began, processor_seconds() - spent
            sent = ask(ground, SENT)[0]["letters"] - before
    figures.must_not_exceed("letters that were not sent, or twice", abs(sent - letters), 0, "letters")
    figures.note(f"{sent:,} letters in {taken:.1f} s")
    figures.must_not_exceed("processor time of a letter", spent / sent * 1000, 2 / min(1.0, calibration.s), "ms")


def sell(ground: Ground, sale: tickets.Sale) -> None:
    """Until every order has its tickets and its letter."""
    server = a_server(ground, module=tickets.SERVER, **sale.surroundings)
    with server as port, checkout.a_worker(ground, sale, tickets.WORKER):
        tickets._settle(ground, replace(sale, port=port))


def processor_seconds() -> float:
    """Of the worker, and of the database that it works with."""
    processes = [each for path in Path("/proc").iterdir() if path.name.isdigit() and (each := _look_at(path))]
    servers = {each.parent for each in processes if f" {DATABASE} ".encode() in each.command}
    return sum(
        each.seconds
        for each in processes
        if each.parent in servers or (each.parent == os.getpid() and tickets.WORKER.encode() in each.command)
    )


@dataclass(frozen=True)
class Process:
    parent: int
    command: bytes
    seconds: float


def _look_at(path: Path) -> Process | None:
    try:
        fields = (path / "stat").read_text().rpartition(")")[2].split()
        command = (path / "cmdline").read_bytes()
    except OSError:  # It has gone.
        return None
    return Process(int(fields[1]), command, (int(fields[11]) + int(fields[12])) / TICKS)


if __name__ == "__main__":
    measure(Figures(), *map(int, sys.argv[1:]))

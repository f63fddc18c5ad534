"""Reconciliation: a run over what a provider moved against the ledger, with some of it wrong, and how that grows.

usage: python -m bench.reconciliation [SMALL LARGE]       how many rows the provider's journal has

One organisation; half of its rows are charges and half are fees, a few hundred differ in every way they can. The
provider is the sandbox in this process, on a journal in a file, as in tests; a run is what the daily job does, issues
and report included, so both sides are read twice, and once more for what stayed on clearing accounts.
"""

import asyncio
import resource
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from admitone.finance.gateways.port import GATEWAYS, Gateways, Journal, Keys, SandboxGateway, Simulator
from admitone.finance.gateways.sandbox.objects import MovementRow
from admitone.finance.reconciliation.api import Beginning, Reconciler, Run, RunId
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from admitone.kernel.embedded import SUPERUSER, Cluster
from admitone.kernel.ids import OrganizationId
from admitone.kernel.jobs import Desk
from admitone.kernel.scope import Caller
from bench.calibration import calibrate
from bench.figures import Figures
from bench.ground import Ground, a_cluster, a_ground, run_sql

SMALL, LARGE = 100_000, 1_000_000
LONGEST_SECONDS = 60
STEEPEST = 1.5
CHUNK = 100_000
WRONG = 400
"""Rows that differ, of each size."""
WAYS = 4
YEAR = timedelta(days=365)

# As postings write them, only faster. Every so many-th is of another amount, or is not there.
FILL = """
    INSERT INTO ledger.transfer
           (organization_id, id, transaction_id, city_code, payee_id, entry_type, event, flow, line, debit_account,
            credit_account, amount_minor, currency, payment_id, causation_id, correlation_id, reference, posted_at)
    SELECT $1, i.id, i.id, 'GLOBAL', $1,
           CASE WHEN n % 2 = 0 THEN 'GROSS' ELSE 'PROCESSOR_FEES_FINAL' END,
           CASE WHEN n % 2 = 0 THEN 'CAPTURED' ELSE 'FEES_FINAL' END, 'SALE', 0,
           CASE WHEN n % 2 = 0 THEN 'merchant_account' ELSE 'org_payable' END,
           CASE WHEN n % 2 = 0 THEN 'org_payable' ELSE 'merchant_account' END,
           1000 + n % 900 + CASE WHEN n % $7 = 1 THEN 500 ELSE 0 END, 'EUR', i.id, n::text, i.id, 'obj_' || n,
           $4::timestamptz + $5::interval * (n::float8 / $6)
      FROM generate_series($2::bigint, $3::bigint) AS n
     CROSS JOIN LATERAL (SELECT uuidv7(make_interval(secs => n * 0)) AS id) AS i
     WHERE n % $7 <> 2
"""


def measure(figures: Figures, small: int = SMALL, large: int = LARGE) -> None:
    with a_cluster() as cluster:
        calibration = calibrate(a_ground(cluster, organizations=1, name="bench_reconciliation"))
        print(f"\nReconciliation of {small:,} and of {large:,} rows. {calibration}")
        few, many = (reconciled(cluster, size) for size in (small, large))
        longest = LONGEST_SECONDS * large / LARGE / min(1.0, calibration.s)
        figures.must_not_exceed(f"reconciling {large:,} rows of a provider", many, longest, "s")
        figures.must_not_exceed(
            "time for a row when there are many, over few", many / large / (few / small), STEEPEST, "x"
        )
        figures.note(f"{small:,} rows took {few:.1f} s; {small / few:,.0f} and {large / many:,.0f} rows/s")
        figures.note(
            f"most memory that this process ever had: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB"
        )


def reconciled(cluster: Cluster, size: int) -> float:
    """Seconds of a run."""
    ground = a_ground(cluster, organizations=1, name=f"bench_reconciliation_{size}")
    with TemporaryDirectory() as folder:
        journal = Journal(Path(folder) / "journal.sqlite")
        try:
            fill(ground, journal, size)
            return asyncio.run(_reconciled(ground, journal, size))
        finally:
            journal.close()


def fill(ground: Ground, journal: Journal, size: int) -> None:
    url, own = ground.cluster.url(SUPERUSER, ground.database), ground.members[0].organization
    began, every = datetime.now(UTC) - YEAR, size // (WRONG // WAYS)
    for first in range(1, size + 1, CHUNK):
        last = min(size, first + CHUNK - 1)
        asyncio.run(run_sql(url, FILL, own.uuid, first, last, began, YEAR - timedelta(hours=1), float(size), every))
        with journal.writing():
            for row in movements(own, range(first, last + 1), began, size, every):
                journal.append_movement(row.organization, msgspec.json.encode(row))
    asyncio.run(run_sql(url, "VACUUM ANALYZE ledger.transfer"))


def movements(own: OrganizationId, numbers: range, began: datetime, size: int, every: int) -> Iterator[MovementRow]:
    """One of the ledger's is not there, and one is there twice."""
    whose, start, length = str(own), int(began.timestamp()) * 1_000_000, int((YEAR.total_seconds() - 3600) * 1e6)
    for number in numbers:
        if number % every == 3:
            continue
        row = MovementRow(
            id=f"mov_{number}",
            kind="CHARGE" if number % 2 == 0 else "FEE",
            reference=f"obj_{number}",
            amount=1000 + number % 900,
            currency="eur",
            at=start + length * number // size,
            organization=whose,
            payment=None,
        )
        yield row
        if number % every == 4:
            yield row


async def _reconciled(ground: Ground, journal: Journal, size: int) -> float:
    gateway = SandboxGateway.in_process(Simulator(Keys.of("a sandbox of many rows"), journal))
    async with Database(ground.url) as database:
        batcher = Batcher(database)
        with GATEWAYS.wired(Gateways([gateway])):
            reconciler = Reconciler(Desk(database, batcher))
            began = time.perf_counter()
            run = await reconciler.reconcile(ground.members[0].organization, Beginning(Caller(), RunId.new()))
            taken = time.perf_counter() - began
        await batcher.drain()
    _check(run, size)
    return taken


def _check(run: Run, size: int) -> None:
    """All that was seeded, and nothing else."""
    each = WRONG // WAYS
    found = {name: run.counts[name] for name in ("AMOUNT", "FEE", "MISSING_HERE", "MISSING_THERE", "DUPLICATE", "MORE")}
    right = {"MISSING_HERE": each, "MISSING_THERE": each, "DUPLICATE": each, "MORE": 0}
    if found["AMOUNT"] + found["FEE"] != each or any(found[name] != count for name, count in right.items()):
        raise RuntimeError(f"of {size} rows, {found} differ")


if __name__ == "__main__":
    measure(Figures(), *map(int, sys.argv[1:]))

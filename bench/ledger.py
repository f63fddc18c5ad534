"""The ledger: postings on hot accounts, together and one by one, and what reading costs when there are many.

usage: python -m bench.ledger [SMALL LARGE]       how many postings are there when balances and statements are read

One organisation, and every posting on the same two accounts: a row that all of them would have to change is what the
deltas are there to avoid. A roller runs beside them in a process of its own, as in production.
"""

import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from random import Random
from statistics import quantiles

from admitone.finance.ledger.api import (
    Account,
    Event,
    Holding,
    Posted,
    Posting,
    balances,
    post,
    roll_everybody,
    statement,
    trial_balance,
)
from admitone.finance.sources.api import Flow, PaymentId
from admitone.kernel.batch import Batcher
from admitone.kernel.commands import command
from admitone.kernel.db import Database, Tx
from admitone.kernel.embedded import SUPERUSER, Cluster
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import OrganizationId, uuid7
from admitone.kernel.scope import Caller, Scope
from bench.calibration import calibrate
from bench.figures import Figures, side_by_side
from bench.ground import Ground, a_cluster, a_ground, run_sql
from bench.server import ROOT

SMALL, LARGE = 100_000, 10_000_000
CHUNK = 500_000
SECONDS = 5
CALLERS = 2_048
LANES = 4
READS = 3_000
OPEN_DELTAS = 100
"""Of one second that nobody has rolled yet."""
YEAR = timedelta(days=365)

FILL = """
    INSERT INTO ledger.transfer
           (organization_id, id, transaction_id, city_code, payee_id, entry_type, event, flow, line, debit_account,
            credit_account, amount_minor, currency, payment_id, causation_id, correlation_id, posted_at)
    SELECT $1, i.id, i.id, 'GLOBAL', $1,
           CASE WHEN n % 2 = 0 THEN 'GROSS' ELSE 'PROCESSOR_FEES_FINAL' END,
           CASE WHEN n % 2 = 0 THEN 'CAPTURED' ELSE 'FEES_FINAL' END, 'SALE', 0,
           CASE WHEN n % 2 = 0 THEN 'merchant_account' ELSE 'org_payable' END,
           CASE WHEN n % 2 = 0 THEN 'org_payable' ELSE 'merchant_account' END,
           100 + n % 900, 'EUR', i.id, n::text, i.id, $4::timestamptz + $5::interval * (n::float8 / $6)
      FROM generate_series($2::bigint, $3::bigint) AS n
     CROSS JOIN LATERAL (SELECT uuidv7(make_interval(secs => n * 0)) AS id) AS i
"""
FOLD = """
    WITH moved AS (
        SELECT account, day, sum(debit)::bigint AS debits, sum(credit)::bigint AS credits
          FROM (SELECT debit_account AS account, posted_at::date AS day, amount_minor AS debit, 0 AS credit
                  FROM ledger.transfer
                 UNION ALL
                SELECT credit_account, posted_at::date, 0, amount_minor FROM ledger.transfer) AS m
         GROUP BY account, day),
    days AS (
        INSERT INTO ledger.balance_day SELECT $1, account, $1, 'EUR', day, 'GLOBAL', debits, credits FROM moved)
    INSERT INTO ledger.balance
    SELECT $1, account, $1, 'EUR', 'GLOBAL', sum(debits)::bigint, sum(credits)::bigint FROM moved GROUP BY account
"""


@command(keyed_by=lambda posting: posting.payment.uuid.int % LANES)
async def post_many(tx: Tx, postings: Sequence[Posting]) -> list[Posted | Refusal]:
    return [*await post(tx, postings)]


def a_fee(currency: str = "EUR") -> Posting:
    """One transfer, always between the same two accounts."""
    return Posting(Caller(), Event.FEES_FINAL, Flow.SALE, currency, {"fee": 25}, uuid7().hex, PaymentId.new())


def a_capture() -> Posting:
    amounts = {"gross": 5000, "fee": 300, "transfer": 4700}
    return Posting(Caller(), Event.CAPTURED, Flow.SALE, "EUR", amounts, uuid7().hex, PaymentId.new())


def measure(figures: Figures, small: int = SMALL, large: int = LARGE) -> None:
    with a_cluster() as cluster:
        ground = a_ground(cluster, organizations=1, name="bench_ledger")
        calibration = calibrate(ground)
        print(f"\nThe ledger. {calibration}")
        hot_accounts(figures, ground, min(1.0, calibration.s))
        reading(figures, cluster, small, large)


# -- Writing


def hot_accounts(figures: Figures, ground: Ground, s: float) -> None:
    print(f"\nPostings on two accounts of one organisation, {CALLERS:,} callers, a roller beside them")
    with a_roller(ground):
        together, alone = side_by_side(
            lambda: posted(ground, a_fee, coalesce=True), lambda: posted(ground, a_fee, coalesce=False)
        )
        captures = posted(ground, a_capture, coalesce=True)
    figures.must("postings, coalesced", together, 5_000 * s, "/s")
    figures.must("coalesced over one by one", together / alone, 5)
    figures.note(f"one by one {alone:,.0f}/s; captures of three transfers {captures:,.0f}/s")
    figures.note(asyncio.run(_caught_up(ground)))


def posted(ground: Ground, make: Callable[[], Posting], *, coalesce: bool) -> float:
    return asyncio.run(_posted(ground, make, coalesce))


async def _posted(ground: Ground, make: Callable[[], Posting], coalesce: bool) -> float:
    scope, done = Scope(ground.members[0].organization), 0
    async with Database(ground.url) as database:
        batcher = Batcher(database, coalesce=coalesce)
        until = time.perf_counter() + SECONDS

        async def caller() -> None:
            nonlocal done
            while time.perf_counter() < until:
                await batcher.submit(post_many, scope, make())
                done += 1

        began = time.perf_counter()
        await asyncio.gather(*(caller() for _ in range(CALLERS)))
        taken = time.perf_counter() - began
        await batcher.drain()
    return done / taken


@contextmanager
def a_roller(ground: Ground) -> Iterator[None]:
    rolling = subprocess.Popen([sys.executable, "-m", "bench.ledger", "roll", ground.url], cwd=ROOT)
    try:
        yield
    finally:
        rolling.terminate()
        rolling.wait(20)


async def roll_for_ever(url: str) -> None:
    async with Database(url) as database:
        while True:
            if not await roll_everybody(database):
                await asyncio.sleep(1)


async def _caught_up(ground: Ground) -> str:
    scope = Scope(ground.members[0].organization)
    async with Database(ground.url) as database:
        began = time.perf_counter()
        left = 0
        while gone := await roll_everybody(database):
            left += gone
        [trial] = await database.read(scope, trial_balance)
    if trial.debits_minor != trial.credits_minor:
        raise RuntimeError("the ledger does not balance")
    return f"the roller was {left} deltas behind, and caught up in {time.perf_counter() - began:.1f} s"


# -- Reading


def reading(figures: Figures, cluster: Cluster, small: int, large: int) -> None:
    print(f"\nBalances and pages of statements, of {small:,} and of {large:,} postings, in turns")
    grounds = [filled(cluster, size) for size in (small, large)]
    for name, read in (("balance", read_balance), ("statement page", read_statement)):
        few, many = side_by_side(*(partial(p99, ground, read) for ground in grounds))
        figures.note(f"p99 of a {name}: {few:.2f} ms of {small:,}, {many:.2f} ms of {large:,}")
        figures.must_not_exceed(f"p99 of a {name} when there are many, over few", many / few, 2, "x")


def filled(cluster: Cluster, size: int) -> Ground:
    ground = a_ground(cluster, organizations=1, name=f"bench_ledger_{size}")
    url, own = cluster.url(SUPERUSER, ground.database), ground.members[0].organization.uuid
    for first in range(1, size + 1, CHUNK):
        last = min(size, first + CHUNK - 1)
        asyncio.run(run_sql(url, FILL, own, first, last, datetime.now(UTC) - YEAR, YEAR, float(size)))
    asyncio.run(run_sql(url, FOLD, own))
    asyncio.run(run_sql(url, "VACUUM ANALYZE"))
    asyncio.run(_leave_open(ground))
    return ground


async def _leave_open(ground: Ground) -> None:
    async with Database(ground.url) as database:
        for _ in range(OPEN_DELTAS):
            await database.run(Scope(ground.members[0].organization), partial(post, postings=[a_fee()]))


def p99(ground: Ground, read: Callable[[Tx, OrganizationId, Random], Awaitable[None]]) -> float:
    return asyncio.run(_p99(ground, read))


async def _p99(ground: Ground, read: Callable[[Tx, OrganizationId, Random], Awaitable[None]]) -> float:
    own, chance, taken = ground.members[0].organization, Random(1), []
    async with Database(ground.url) as database:
        for _ in range(READS):
            began = time.perf_counter()
            await database.read(Scope(own), read, own, chance)
            taken.append((time.perf_counter() - began) * 1e3)
    return quantiles(taken[READS // 10 :], n=100)[98]


async def read_balance(tx: Tx, own: OrganizationId, chance: Random) -> None:  # noqa: ARG001
    [found] = await balances(tx, [Account.ORG], own.uuid)
    assert found.minor


async def read_statement(tx: Tx, own: OrganizationId, chance: Random) -> None:
    """Anywhere in the year, not only at its end."""
    before = (tx.now - YEAR * chance.uniform(0, 0.9), own.uuid)
    lines = await statement(tx, Holding(Account.ORG, own.uuid, "EUR"), before, 50)
    assert len(lines) == 50


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["roll", url]:
            asyncio.run(roll_for_ever(url))
        case sizes:
            measure(Figures(), *map(int, sizes))

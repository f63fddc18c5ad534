"""A payout batch: from midnight until the provider has taken the last transfer.

usage: python -m bench.payouts [OWNERS]

Owners in a hundred organisations, each owed for several payments; one worker makes the batches, weighs each payout,
asks the sandbox for it and writes the answer down, its posting with it. Then the books: as many payouts at the
sandbox as owners, each of what its owner was owed, and nothing owed any more.
"""

import asyncio
import sys
import time
from datetime import UTC, datetime
from typing import Final

import asyncpg
from tests.finance.world import connect
from tests.jobs import a_worker, duties

from admitone.finance.gateways.port import GATEWAYS, Gateways, Keys, SandboxGateway, Simulator
from admitone.finance.payouts.api import begin_everywhere
from admitone.finance.payouts.module import MODULE
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from admitone.kernel.embedded import SUPERUSER
from admitone.kernel.jobs import Desk
from admitone.kernel.scope import Caller
from bench.calibration import calibrate
from bench.figures import Figures
from bench.ground import Ground, a_cluster, a_ground

OWNERS: Final = 10_000
ORGANIZATIONS: Final = 100
OBLIGATIONS: Final = 3
"""That each owner is paid for."""
AT_MOST_SECONDS: Final = 60
PATIENCE_SECONDS: Final = 600
MONDAY: Final = datetime(2026, 2, 16, tzinfo=UTC)

FILL = """
    WITH owner AS (
        INSERT INTO payouts.owner (organization_id, payee_id, created_at)
        SELECT t.id, uuidv7(), now()
          FROM kernel.tenant AS t CROSS JOIN generate_series(1, $1::integer)
         WHERE t.id <> '00000000-0000-7000-8000-000000000001'
        RETURNING organization_id, payee_id
    ), owed AS (
        INSERT INTO ledger.balance (organization_id, account, payee_id, currency, city_code, debits_minor,
        credits_minor) SELECT organization_id, 'org_payable', payee_id, 'EUR', 'GLOBAL', 0, 8500 * $2::bigint FROM
        owner ) INSERT INTO payouts.obligation (organization_id, id, payment_id, payee_id, city_code, property_key,
        livemode, currency, due_minor, amount_minor, checked_out_at, hold_days, eligible_at, state, created_at,
        changed_at) SELECT organization_id, uuidv7(), uuidv7(), payee_id, 'GLOBAL', 'property-' || n, false, 'EUR',
        8500, 8500, $3::timestamptz - interval '2 days', 0, $3::timestamptz - interval '1 day', 'DUE', now(), now()
        FROM owner CROSS JOIN generate_series(1, $2::integer) AS n
"""
TAKEN = "SELECT count(*) FROM payouts.payout WHERE state = 'transferred'"
SETTLED = """
    SELECT count(*)
      FROM (SELECT payee_id FROM ledger.transfer
             WHERE entry_type = 'PAYOUT_INITIATED' AND amount_minor = 8500 * $1::bigint
             GROUP BY payee_id HAVING count(*) = 1) AS paid
"""


def measure(figures: Figures, owners: int = OWNERS) -> None:
    with a_cluster() as cluster:
        ground = a_ground(cluster, organizations=ORGANIZATIONS, name="bench_payouts")
        calibration = calibrate(ground)
        print(f"\nPayouts. {calibration}")
        seconds = asyncio.run(_batch(ground, owners))
        allowed = AT_MOST_SECONDS * owners / OWNERS / min(1.0, calibration.s)
        figures.must_not_exceed(f"a payout batch over {owners:,} owners", seconds, allowed, "s")
        figures.note(f"{owners / seconds:,.0f} owners/s, each paid for {OBLIGATIONS} payments")


async def _batch(ground: Ground, owners: int) -> float:
    connection = await asyncpg.connect(ground.cluster.url(SUPERUSER, ground.database))
    simulator = Simulator(Keys.of("the sandbox of a bench"))
    gateway = SandboxGateway.in_process(simulator)
    await connection.execute(FILL, owners // ORGANIZATIONS, OBLIGATIONS, MONDAY)
    await connection.execute("VACUUM ANALYZE payouts.obligation, payouts.owner, ledger.balance")
    async with Database(ground.url) as database:
        for organization in sorted({member.organization for member in ground.members}):
            await connect(database, simulator, gateway, organization)
        with GATEWAYS.wired(Gateways([gateway])):
            began = time.monotonic()
            async with a_worker(database, duties(modules=(MODULE,))):
                await begin_everywhere(Desk(database, Batcher(database)), MONDAY, Caller())
                await _until_taken(connection, owners)
                seconds = time.monotonic() - began
    if await connection.fetchval(SETTLED, OBLIGATIONS) != owners:
        raise RuntimeError("somebody was not paid, or twice, or another amount")
    await connection.close()
    return seconds


async def _until_taken(connection: asyncpg.Connection, owners: int) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while await connection.fetchval(TAKEN) < owners:
            await asyncio.sleep(0.1)


def main() -> int:
    figures = Figures()
    measure(figures, *map(int, sys.argv[1:]))
    return 1 if figures.missed else 0


if __name__ == "__main__":
    sys.exit(main())

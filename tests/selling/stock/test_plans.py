"""What is asked on every sale goes by its own index, whatever the planner believed of the tables when it made the plan."""

from uuid import UUID

import pytest

from admitone.kernel.scope import Role
from admitone.selling.stock.store import pools, portions, sweeping, units
from tests.conftest import Clone
from tests.plans import FIRST, PLANNED, Asked, Ground, array, ids, unproved

ORGANIZATION = UUID("00000000-0000-7000-8000-0000000000aa")
ROWS = 20_000
FILL = f"""
    INSERT INTO kernel.tenant (id, created_at) VALUES ('{ORGANIZATION}', now()) ON CONFLICT DO NOTHING;
    INSERT INTO stock.pool (organization_id, id, capacity, held, sold, seated, created_at)
    SELECT '{ORGANIZATION}', md5('pool' || n)::uuid, 1000000, 0, 0, n > 0, now() FROM generate_series(0, 2) AS n;
    INSERT INTO stock.portion (organization_id, hold_id, number, pool_id, item, subject, buyer_id, quantity, leads, status,
                               returned, units, kept_at, expires_at, keepable_until)
    SELECT '{ORGANIZATION}', md5('hold' || n)::uuid, 0, md5('pool' || CASE WHEN n > {ROWS} THEN 2 ELSE n % 2 END)::uuid, 'item', 'order',
           md5('buyer' || n)::uuid, 1, true, CASE WHEN n % 4 < 2 THEN 'HELD' ELSE 'SOLD' END, 0,
           CASE WHEN n % 2 = 1 THEN ARRAY[md5('unit' || n)::uuid] END, now(), now() + make_interval(secs => n - 400),
           now() + interval '1 day'
      FROM generate_series(1, {ROWS} + 50) AS n;
    INSERT INTO stock.unit (organization_id, id, pool_id, label, place, hold_id)
    SELECT '{ORGANIZATION}', md5('unit' || n)::uuid, md5('pool' || CASE WHEN n > {ROWS} THEN 2 ELSE 1 END)::uuid, 'A' || n, n,
           CASE WHEN n % 2 = 1 THEN md5('hold' || n)::uuid END
      FROM generate_series(1, {ROWS} + 50) AS n;
    INSERT INTO stock.given_back (organization_id, hold_id, key, number, quantity, at)
    SELECT '{ORGANIZATION}', md5('hold' || n)::uuid, 'refund', 0, 1, now() FROM generate_series(2, {ROWS}, 4) AS n;
"""
TABLES = ("stock.pool", "stock.portion", "stock.unit", "stock.given_back")
QUIET = """
    UPDATE stock.portion SET status = 'EXPIRED', ended_at = now();
    UPDATE stock.unit SET hold_id = md5('hold')::uuid;
"""
GROUND = Ground(TABLES, FILL, ORGANIZATION, quiet=QUIET)


SOME = range(1, 65)
WRITTEN = (
    ids("hold", *SOME),
    array("smallint", *("0" for _ in SOME)),
    array("text", *("'SOLD'" for _ in SOME)),
    array("integer", *("0" for _ in SOME)),
    array("timestamptz", *("NULL" for _ in SOME)),
    array("text", *("'HELD'" if each % 4 < 2 else "'SOLD'" for each in SOME)),
    array("integer", *("0" for _ in SOME)),
    array("text", *("NULL" for _ in SOME)),
)
ENDS = (
    ids("hold", *SOME),
    array("smallint", *("0" for _ in SOME)),
    array("timestamptz", *("now() + interval '1 hour'" for _ in SOME)),
    "now() - interval '1 hour'",
)
HOLDS, POOLS = ids("hold", *SOME), ids("pool", 0, 1)
LABEL = "unit_organization_id_pool_id_label_key"
ASKED = {
    "known holds": Asked(portions.FIND_PORTIONS, HOLDS, {"portion_pkey"}),
    "which pools": Asked(portions.FIND_PLACES, HOLDS, {"portion_pkey"}),
    "what is overdue": Asked(portions.FIND_OVERDUE, f"{POOLS}, ARRAY[20, 20], now()", {"portion_of_pool"}),
    "what buyers have": Asked(
        portions.SUM_BOUGHT, f"{ids('buyer', *SOME)}, ARRAY['item'], now()", {"portion_of_buyer"}
    ),
    "portions written": Asked(portions.WRITE_PORTIONS, ", ".join(WRITTEN), {"portion_pkey"}),
    "ends written": Asked(portions.WRITE_ENDS, ", ".join(ENDS), {"portion_pkey"}),
    "what came back": Asked(portions.FIND_GIVEN_BACK, HOLDS, {"given_back_pkey"}),
    "pools by the clock": Asked(pools.FIND_POOLS, f"{POOLS}, now()", {"pool_pkey", "portion_of_pool"}, most=400),
    "seats that are free": Asked(units.FIND_FREE, f"{POOLS}, ARRAY[20, 20]", {"unit_free"}),
    "a page of seats": Asked(units.LIST_UNITS, "md5('pool1')::uuid, 'A1', 50", {LABEL}),
    "what it adds up to": Asked(
        sweeping.SUM_STANDINGS, f"{ids('pool', 2)}, 1000", {"pool_pkey", "portion_of_pool", "portion_pkey", LABEL}
    ),
    "seats by id": Asked(units.FIND_UNITS, ids("unit", *SOME), {"unit_pkey"}),
    "a page of what is overdue": Asked(
        sweeping.LIST_OVERDUE, f"now(), '-infinity', {FIRST}, 50", {"portion_by_end"}, role=Role.RELAY
    ),
    "a page of pools": Asked(sweeping.LIST_POOLS, f"{FIRST}, {FIRST}, 50", {"pool_pkey"}, role=Role.RELAY),
}


@pytest.mark.parametrize("planned", PLANNED)
async def test_what_is_asked_on_every_sale_reads_what_it_needs(clone: Clone, planned: str):
    await GROUND.reads_what_it_needs(clone, ASKED, planned)


def test_of_all_that_is_found_it_is_known_how():
    assert unproved((pools, portions, sweeping, units), ASKED) == set()

"""What is asked of operations, for each purchase and by whoever watches, goes by its own index."""

from uuid import UUID

import pytest

from admitone.kernel.scope import Role
from admitone.selling.fulfilment import store
from tests.conftest import Clone
from tests.plans import PLANNED, Asked, Ground, ids, unproved

ORGANIZATION = UUID("00000000-0000-7000-8000-0000000000ad")
FILL = f"""
    INSERT INTO kernel.tenant (id, created_at) VALUES ('{ORGANIZATION}', now()) ON CONFLICT DO NOTHING;
    INSERT INTO fulfilment.operation (organization_id, payment_id, source_type, source_id, state, scenario, key, steps, reason, attempts,
                                      correlation_id, begun_at, changed_at)
    SELECT '{ORGANIZATION}', md5('payment' || n)::uuid, 'TICKET_ORDER', 'ord_' || n,
           CASE n % 100 WHEN 0 THEN 'FAILED' WHEN 1 THEN 'RETURNED' ELSE 'DONE' END, 'SINGLE', 'ISSUE_TICKETS:' || n,
           '{{A,B}}', CASE WHEN n % 100 < 2 THEN 'SOLD_OUT' END, 1, md5('call' || n)::uuid, now() - make_interval(mins => n),
           now() - make_interval(mins => n)
      FROM generate_series(1, 6000) AS n;
"""
QUIET = "UPDATE fulfilment.operation SET state = 'DONE', reason = NULL"
GROUND = Ground(("fulfilment.operation",), FILL, ORGANIZATION, quiet=QUIET)
LATELY = "now() - interval '2 hours'"
ASKED = {
    "operations": Asked(store.FIND_OPERATIONS, ids("payment", *range(1, 65)), {"operation_pkey"}),
    "what came to nothing": Asked(
        store.LIST_FRUITLESS,
        "now() - interval '1 day', ARRAY['REFUNDED'], 100",
        {"operation_fruitless"},
        role=Role.RELAY,
    ),
    "all of some minutes": Asked(store.COUNT_SINCE, f"{LATELY}, 100", {"operation_by_change"}, role=Role.RELAY),
    "what is not over": Asked(store.COUNT_UNFINISHED, "100", {"operation_unfinished"}, role=Role.RELAY),
}


@pytest.mark.parametrize("planned", PLANNED)
async def test_what_is_asked_of_operations_reads_what_it_needs(clone: Clone, planned: str):
    await GROUND.reads_what_it_needs(clone, ASKED, planned)


def test_of_all_that_is_found_it_is_known_how():
    assert unproved((store,), ASKED) == set()

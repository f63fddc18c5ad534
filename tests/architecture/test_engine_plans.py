"""A claim is found by its indexes, whatever the planner believed of the queue when it made the plan.

An empty queue is what it plans for: in a healthy installation that is how the tables are found by whoever analyses them.
"""

import asyncpg
import pytest

from admitone.kernel.driver import session_of
from admitone.kernel.jobs import store
from admitone.kernel.scope import Role
from tests.conftest import Clone

FILL = """
    INSERT INTO kernel.job (id, organization_id, kind, lane, priority, run_at, key, payload, causation_id,
                            correlation_id, created_at)
    SELECT gen_random_uuid(), md5((n % 500)::text)::uuid, 'toy.hear', 'work', 2, now(), n::text, '{}', gen_random_uuid(),
           gen_random_uuid(), now()
      FROM generate_series(1, 20000) AS n
"""
CLAIM = (
    f"EXECUTE claim('{'0' * 32}', 'work', 2::smallint, now(), ARRAY['toy.hear'], 96, 768, now() - interval '1 hour')"
)


@pytest.mark.parametrize("analysed", [True, False])
async def test_a_claim_planned_on_an_empty_queue_is_quick_on_a_full_one(clone: Clone, analysed: bool):
    owner = await asyncpg.connect(clone.superuser_url)
    relay = await asyncpg.connect(clone.url, server_settings=session_of(Role.RELAY))
    try:
        if analysed:
            await owner.execute("VACUUM ANALYZE kernel.job")
        await relay.execute(f"PREPARE claim AS {store.CLAIM}")
        assert await relay.fetch(CLAIM) == []

        await owner.execute(FILL)
        plan = "\n".join(row[0] for row in await relay.fetch(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) {CLAIM}"))
        assert "using job_ready on" in plan and "using job_ready_of_one on" in plan, plan
        assert "Rows Removed by Filter" not in plan, plan
    finally:
        await relay.close()
        await owner.close()

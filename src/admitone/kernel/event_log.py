"""The event log and its outbox: facts, written with the rows that they tell of.

Promise: whatever a transaction published stands in the log, with a row in the outbox that will have it told, or
nothing of the transaction stands anywhere. What has no subscriber is told by that. A fact under a key is told once: a
second one stops its transaction. Ids are made from the database's time, so that they sort as things happened and fall
into the partition of their week.
"""

import os
import struct
from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from admitone.kernel.facts import Published
from admitone.kernel.ids import uuid7_at
from admitone.kernel.statements import columns
from admitone.kernel.transactions import Tx

WRITE_FACTS = """
    WITH told AS (
        INSERT INTO kernel.event_log (organization_id, id, type, version, subject_type, subject_id, actor_id,
                                      causation_id, correlation_id, idempotency_key, payload, created_at)
        SELECT $1, v.id, v.type, v.version, v.subject_type, v.subject_id, v.actor_id,
               v.causation_id, v.correlation_id, v.idempotency_key, v.payload::jsonb, $12
          FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::uuid[], $8::uuid[], $9::uuid[],
                      $10::text[], $11::text[])
            AS v(id, type, version, subject_type, subject_id, actor_id, causation_id, correlation_id,
                 idempotency_key, payload)
        RETURNING id, type
    )
    INSERT INTO kernel.outbox (organization_id, event_id, created_at, next_attempt_at, published_at)
    SELECT $1, told.id, $12, $12, CASE WHEN told.type = ANY($13::text[]) THEN $12 END
      FROM told
"""

KEEP_KEYS = """
    INSERT INTO kernel.fact_key (organization_id, type, idempotency_key, created_at)
    SELECT $1, v.type, v.idempotency_key, $4
      FROM unnest($2::text[], $3::text[]) AS v(type, idempotency_key)
"""


async def write_facts(tx: Tx, unheard: Collection[str] = ()) -> None:
    """What nobody hears of is written as told: whoever hears of it one day is told by a replay (PLT-004)."""
    told = tx.published
    # Sorted, so that two transactions that tell the same facts cannot deadlock.
    keys = sorted((each.fact.name, each.key) for each in told if each.key)
    if keys:
        await tx.execute(KEEP_KEYS, [name for name, _ in keys], [key for _, key in keys], tx.now)
    ids = ids_at(tx.now, len(told))
    await tx.execute_exactly(len(told), WRITE_FACTS, ids, *_arrays(told, ids), tx.now, list(unheard))


def ids_at(instant: datetime, count: int) -> list[UUID]:
    """UUIDs of version 7 of one instant, in their order."""
    ticks = int(instant.timestamp() * 1000) << 12
    chance = struct.unpack(f"{count}Q", os.urandom(8 * count))
    return [uuid7_at(ticks + ordinal, each) for ordinal, each in enumerate(chance)]


def _arrays(told: Sequence[Published], ids: Sequence[UUID]) -> list[list[object]]:
    facts = [each.fact for each in told]
    callers = [each.caller for each in told]
    return [
        *columns(facts, "name", "version"),
        [fact.subject[0] for fact in facts],
        [fact.subject_id for fact in facts],
        *columns(callers, "actor"),
        # What nothing caused was caused by the call itself.
        [caller.causation_id or caller.correlation_id for caller in callers],
        *columns(callers, "correlation_id"),
        [each.key or str(own) for each, own in zip(told, ids, strict=True)],
        [fact.payload() for fact in facts],
    ]

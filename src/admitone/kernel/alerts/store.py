"""The statements of alerts, and of what is measured.

Figures are read across organisations by the relay's role. Nothing here reads more than `MOST` rows of a queue, however
long it is: what is counted beyond that is `MOST`, which means "at least".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from admitone.kernel.alerts.model import AlertClass, Seen
from admitone.kernel.db import PlatformTx, Record, Tx
from admitone.kernel.ids import OrganizationId
from admitone.kernel.statements import BothWays, ListOrder, columns

LONGEST_DETAIL: Final = 1_900
MOST: Final = 10_000

# -- Alerts

OPEN_OR_COUNT = """
    INSERT INTO kernel.alert (organization_id, id, rule, class, subject, concerns, entities, detail, link,
                              correlation_id, times, first_seen_at, last_seen_at)
    SELECT $1, v.id, v.rule, v.class, v.subject, v.concerns, v.entities::jsonb, v.detail, v.link,
           v.correlation_id, v.times, $12, $12
      FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::uuid[], $7::text[], $8::text[], $9::text[],
                  $10::uuid[], $11::bigint[])
        AS v(id, rule, class, subject, concerns, entities, detail, link, correlation_id, times)
        ON CONFLICT (organization_id, rule, subject) WHERE resolved_at IS NULL DO UPDATE
       SET times = alert.times + EXCLUDED.times,
           last_seen_at = GREATEST(alert.last_seen_at, EXCLUDED.last_seen_at),
           detail = EXCLUDED.detail
    RETURNING id
"""
RESOLVE = """
    UPDATE kernel.alert AS a
       SET resolved_at = GREATEST($4, a.last_seen_at)
      FROM unnest($2::text[], $3::text[]) AS v(rule, subject)
     WHERE a.organization_id = $1
       AND a.rule = v.rule
       AND a.subject = v.subject
       AND a.resolved_at IS NULL
    RETURNING a.id, a.rule, a.class, a.subject, a.correlation_id
"""
RESOLVE_UNSEEN = """
    UPDATE kernel.alert AS a
       SET resolved_at = $4
     WHERE a.organization_id = $1
       AND a.rule = ANY($2::text[])
       AND a.last_seen_at < $3
       AND a.resolved_at IS NULL
    RETURNING a.id, a.rule, a.class, a.subject, a.correlation_id
"""
LIST_OPEN = BothWays("""
    SELECT id, rule, class AS alert_class, subject, concerns, entities::text AS entities, detail, link, correlation_id,
           first_seen_at, last_seen_at, times
      FROM kernel.alert
     WHERE organization_id = $1
       AND resolved_at IS NULL
       AND id > $2
       AND id < $3
     ORDER BY id {way}
     LIMIT $4
""")


@dataclass(frozen=True, slots=True)
class NewAlert:
    """An alert to open, or to count where it is open."""

    id: UUID
    rule: str
    alert_class: AlertClass
    subject: str
    concerns: OrganizationId | None
    entities: str
    detail: str
    link: str
    correlation_id: UUID
    times: int


async def open_or_count(tx: Tx, alerts: Sequence[NewAlert]) -> set[UUID]:
    """The ids of those that are new: the others' stand for nothing."""
    names = ("id", "rule", "alert_class", "subject", "concerns", "entities", "detail", "link", "correlation_id")
    rows = await tx.fetch(OPEN_OR_COUNT, *columns(alerts, *names, "times"), tx.now) if alerts else []
    return {row["id"] for row in rows} & {alert.id for alert in alerts}


async def resolve(tx: Tx, wanted: Sequence[tuple[str, str]]) -> list[Record]:
    return await tx.fetch(RESOLVE, [rule for rule, _ in wanted], [subject for _, subject in wanted], tx.now)


async def resolve_unseen(tx: Tx, rules: Sequence[str], since: datetime) -> list[Record]:
    return await tx.fetch(RESOLVE_UNSEEN, list(rules), since, tx.now)


async def list_open(tx: Tx, place: UUID | None, most: int, order: ListOrder = ListOrder.NEWEST) -> list[Seen]:
    rows = [dict(row) for row in await tx.fetch(LIST_OPEN.first(order), *order.ids(place), most)]
    return [Seen(**{**row, "entities": msgspec.json.decode(row["entities"], type=dict[str, str])}) for row in rows]


# -- Jobs

# From one queue (a lane and a priority) to the next by the index: as many steps as there are queues, not jobs.
FIND_HEADS = """
    WITH RECURSIVE head AS (
        (SELECT lane, priority, run_at, kind, id, organization_id, correlation_id
           FROM kernel.job
          WHERE worker IS NULL AND crashes = 0
          ORDER BY lane, priority, run_at
          LIMIT 1)
        UNION ALL
        SELECT following.lane, following.priority, following.run_at, following.kind, following.id,
               following.organization_id, following.correlation_id
          FROM head
         CROSS JOIN LATERAL (
                SELECT j.lane, j.priority, j.run_at, j.kind, j.id, j.organization_id, j.correlation_id
                  FROM kernel.job AS j
                 WHERE j.worker IS NULL AND j.crashes = 0
                   AND (j.lane, j.priority) > (head.lane, head.priority)
                 ORDER BY j.lane, j.priority, j.run_at
                 LIMIT 1
               ) AS following
    )
    SELECT lane, priority, run_at, kind, id, organization_id, correlation_id
      FROM head
"""
COUNT_WAITING = """
    SELECT waiting.kind, queue.lane, queue.priority, waiting.state, count(*) AS jobs, min(waiting.run_at) AS oldest_at
      FROM unnest($1::text[], $2::smallint[]) AS queue(lane, priority)
     CROSS JOIN LATERAL (
            (SELECT kind, run_at, 'ready' AS state
               FROM kernel.job
              WHERE lane = queue.lane AND priority = queue.priority AND worker IS NULL AND crashes = 0 AND run_at <= $3
              ORDER BY run_at
              LIMIT $4)
            UNION ALL
            (SELECT kind, run_at, CASE WHEN attempts > 0 THEN 'retrying' ELSE 'deferred' END AS state
               FROM kernel.job
              WHERE lane = queue.lane AND priority = queue.priority AND worker IS NULL AND crashes = 0 AND run_at > $3
              ORDER BY run_at
              LIMIT $4)
           ) AS waiting
     GROUP BY waiting.kind, queue.lane, queue.priority, waiting.state
"""
COUNT_SUSPECT = """
    SELECT kind, lane, priority, 'suspect' AS state, count(*) AS jobs, min(run_at) AS oldest_at
      FROM (SELECT kind, lane, priority, run_at
              FROM kernel.job
             WHERE worker IS NULL AND crashes > 0
             ORDER BY lane, priority, run_at
             LIMIT $1) AS suspect
     GROUP BY kind, lane, priority
"""
COUNT_RUNNING = """
    SELECT kind, lane, priority, 'running' AS state, count(*) AS jobs, min(run_at) AS oldest_at
      FROM (SELECT kind, lane, priority, run_at
              FROM kernel.job
             WHERE worker IS NOT NULL
             LIMIT $1) AS running
     GROUP BY kind, lane, priority
"""
# The same way from one sort of dead letter to the next, each with its oldest.
COUNT_LETTERS = """
    WITH RECURSIVE oldest AS (
        (SELECT kind, priority, reason, died_at, id, organization_id, correlation_id
           FROM kernel.dead_letter
          WHERE replayed_at IS NULL
          ORDER BY kind, priority, reason, died_at
          LIMIT 1)
        UNION ALL
        SELECT following.kind, following.priority, following.reason, following.died_at, following.id,
               following.organization_id, following.correlation_id
          FROM oldest
         CROSS JOIN LATERAL (
                SELECT d.kind, d.priority, d.reason, d.died_at, d.id, d.organization_id, d.correlation_id
                  FROM kernel.dead_letter AS d
                 WHERE d.replayed_at IS NULL
                   AND (d.kind, d.priority, d.reason) > (oldest.kind, oldest.priority, oldest.reason)
                 ORDER BY d.kind, d.priority, d.reason, d.died_at
                 LIMIT 1
               ) AS following
    )
    SELECT o.kind, o.priority, o.reason, o.died_at, o.id, o.organization_id, o.correlation_id, counted.letters
      FROM oldest AS o
     CROSS JOIN LATERAL (
            SELECT count(*) AS letters
              FROM (SELECT
                      FROM kernel.dead_letter AS d
                     WHERE d.replayed_at IS NULL AND d.kind = o.kind AND d.priority = o.priority AND d.reason = o.reason
                     LIMIT $1) AS alike
           ) AS counted
"""


async def find_heads(tx: PlatformTx) -> list[Record]:
    """The job that is due first in each queue."""
    return await tx.fetch(FIND_HEADS)


async def count_waiting(tx: PlatformTx, heads: Sequence[Record]) -> list[Record]:
    lanes, priorities = [head["lane"] for head in heads], [head["priority"] for head in heads]
    return await tx.fetch(COUNT_WAITING, lanes, priorities, tx.now, MOST)


async def count_suspect(tx: PlatformTx) -> list[Record]:
    return await tx.fetch(COUNT_SUSPECT, MOST)


async def count_running(tx: PlatformTx) -> list[Record]:
    return await tx.fetch(COUNT_RUNNING, MOST)


async def count_letters(tx: PlatformTx) -> list[Record]:
    return await tx.fetch(COUNT_LETTERS, MOST)


# -- Facts and logs

COUNT_OUTBOX = """
    SELECT count(*) AS pending,
           min(o.created_at) AS oldest_at,
           min(o.next_attempt_at) AS due_at,
           count(*) FILTER (WHERE o.attempts > 0) AS put_off,
           min(o.created_at) FILTER (WHERE o.attempts > 0) AS put_off_at
      FROM ((SELECT created_at, next_attempt_at, attempts
               FROM kernel.outbox
              WHERE published_at IS NULL AND next_attempt_at <= $1
              ORDER BY next_attempt_at
              LIMIT $2)
            UNION ALL
            (SELECT created_at, next_attempt_at, attempts
               FROM kernel.outbox
              WHERE published_at IS NULL AND next_attempt_at > $1
              ORDER BY next_attempt_at
              LIMIT $2)) AS o
"""
FIND_FIRST_OUT = """
    SELECT o.organization_id, o.event_id, e.correlation_id, e.type
      FROM kernel.outbox AS o
      LEFT JOIN kernel.event_log AS e ON e.organization_id = o.organization_id AND e.id = o.event_id
     WHERE o.published_at IS NULL
     ORDER BY o.next_attempt_at
     LIMIT 1
"""
FIND_SHORT_LOGS = """
    SELECT n.nspname || '.' || c.relname AS log
      FROM pg_class AS c
      JOIN pg_namespace AS n ON n.oid = c.relnamespace
     WHERE c.relkind = 'p'
       AND to_regclass(format('%I.%I', n.nspname, c.relname || to_char($1::timestamptz, '_IYYY_"w"IW'))) IS NULL
     ORDER BY 1
"""


async def count_outbox(tx: PlatformTx) -> Record:
    [row] = await tx.fetch(COUNT_OUTBOX, tx.now, MOST)
    return row


async def find_first_out(tx: PlatformTx) -> Record | None:
    return await tx.find(FIND_FIRST_OUT)


async def find_short_logs(tx: PlatformTx, until: datetime) -> list[str]:
    """Logs that have no partition for the week of that instant."""
    return [row["log"] for row in await tx.fetch(FIND_SHORT_LOGS, until)]

"""Issues: those of some objects, those that are open, and those that nobody sees any more."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

import msgspec

from admitone.finance.reconciliation.differences import Difference, DifferenceClass
from admitone.finance.reconciliation.model import (
    ISSUE,
    Closure,
    Issue,
    IssueId,
    IssueState,
    OpenIssues,
    RunId,
)
from admitone.finance.sources.api import PaymentId
from admitone.kernel.db import Record, Tx
from admitone.kernel.ids import IdentityId
from admitone.kernel.statements import BothWays, Insert, ListOrder, Lock, columns

LAST: Final = UUID(int=2**128 - 1)
BEGINNING: Final = datetime(1900, 1, 1, tzinfo=UTC)
LATEST_CLOSED: Final = 5
"""Of an object: how many of those that were closed are looked at."""

COLUMNS = """i.id, i.class, i.kind, i.reference, i.currency, i.here_currency, i.here_minor, i.there_minor, i.payment_id,
           i.responsible, i.taken_by, i.state, i.closed_how, i.closed_reason, i.closed_by, i.closed_at, i.moved_at,
           i.first_seen_at, i.last_seen_at, i.run_id"""

INSERT_ISSUES = Insert(
    "reconciliation.issue",
    {
        "id": "uuid",
        "class": "text",
        "kind": "text",
        "reference": "text",
        "currency": "text",
        "here_currency": "text",
        "here_minor": "bigint",
        "there_minor": "bigint",
        "payment_id": "uuid",
        "responsible": "text",
        "state": "text",
        "moved_at": "timestamptz",
        "first_seen_at": "timestamptz",
        "last_seen_at": "timestamptz",
        "run_id": "uuid",
        "correlation_id": "uuid",
    },
    attributes={
        "class": "found.difference",
        "kind": "found.kind",
        "reference": "found.reference",
        "currency": "found.currency",
        "here_currency": "found.here_currency",
        "here_minor": "found.here_minor",
        "there_minor": "found.there_minor",
        "payment_id": "found.payment",
        "moved_at": "found.moved_at",
    },
)


# The newest of each object; among them is the open one.
FIND_OF_OBJECTS = f"""
    SELECT {COLUMNS}
      FROM unnest($2::text[], $3::text[], $4::text[]) AS v (kind, reference, currency)
     CROSS JOIN LATERAL (
               SELECT {COLUMNS}
                 FROM reconciliation.issue AS i
                WHERE i.organization_id = $1
                  AND i.kind = v.kind
                  AND i.reference = v.reference
                  AND i.currency = v.currency
                ORDER BY i.first_seen_at DESC
                LIMIT $5) AS i
"""  # noqa: S608, of constants


SEE_AGAIN = """
    UPDATE reconciliation.issue AS i
       SET class = v.class, here_currency = v.here_currency, here_minor = v.here_minor, there_minor = v.there_minor,
           payment_id = COALESCE(v.payment_id, i.payment_id), moved_at = LEAST(v.moved_at, i.moved_at),
           last_seen_at = GREATEST($2, i.last_seen_at), run_id = $3
      FROM unnest($4::uuid[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::uuid[], $10::timestamptz[])
        AS v (id, class, here_currency, here_minor, there_minor, payment_id, moved_at)
     WHERE i.organization_id = $1
       AND i.id = ANY($4::uuid[])
       AND i.id = v.id
       AND i.state = 'OPEN'
"""


KEEP_OPEN = """
    UPDATE reconciliation.issue AS i
       SET last_seen_at = GREATEST($2, i.last_seen_at)
      FROM unnest($3::text[], $4::text[], $5::text[]) AS v (kind, reference, currency)
     WHERE i.organization_id = $1
       AND i.kind = ANY($3::text[])
       AND i.reference = ANY($4::text[])
       AND i.kind = v.kind
       AND i.reference = v.reference
       AND i.currency = v.currency
       AND i.state = 'OPEN'
"""


CLOSE = """
    UPDATE reconciliation.issue AS i
       SET state = 'CLOSED', closed_how = $2, closed_reason = $3, closed_by = $4, closed_at = $5
     WHERE i.organization_id = $1
       AND i.id = ANY($6::uuid[])
       AND i.state = ANY($7::text[])
"""


# What a run looked at, and did not see: it lies within what was looked at, and nobody saw it since. What stayed is
# looked at from the beginning, whatever the window.
CLOSE_UNSEEN = f"""
    UPDATE reconciliation.issue AS i
       SET state = 'CLOSED', closed_how = 'RESOLVED_BY_ITSELF', closed_at = $2
     WHERE i.organization_id = $1
       AND i.id IN (SELECT u.id
                      FROM reconciliation.issue AS u
                     WHERE u.organization_id = $1
                       AND u.state = 'OPEN'
                       AND u.last_seen_at < $3
                       AND (u.moved_at >= $4 OR u.class = 'STAYED')
                     ORDER BY u.last_seen_at
                     LIMIT $5)
    RETURNING {COLUMNS}
"""  # noqa: S608, of constants


LOCK_ISSUES = Lock(
    f"""
    SELECT {COLUMNS}
      FROM reconciliation.issue AS i
     WHERE i.organization_id = $1
       AND i.id = ANY($2::uuid[])
     ORDER BY i.id
""",  # noqa: S608, of constants
    key="id",
)


TAKE = """
    UPDATE reconciliation.issue AS i
       SET taken_by = v.identity_id
      FROM unnest($2::uuid[], $3::uuid[]) AS v (id, identity_id)
     WHERE i.organization_id = $1
       AND i.id = ANY($2::uuid[])
       AND i.id = v.id
       AND i.state = 'OPEN'
"""


LIST_ISSUES = BothWays(
    f"""
    SELECT {COLUMNS}
      FROM reconciliation.issue AS i
     WHERE i.organization_id = $1
       AND i.state = $2
       AND i.id > $3
       AND i.id < $4
     ORDER BY i.id {{way}}
     LIMIT $5
"""  # noqa: S608, of constants
)


SUM_OPEN = """
    SELECT class, currency, count(*) AS issues, sum(there_minor - here_minor)::bigint AS apart_minor,
           min(first_seen_at) AS oldest_at
      FROM reconciliation.issue
     WHERE organization_id = $1
       AND state = 'OPEN'
     GROUP BY class, currency
     ORDER BY class, currency
"""


FIND_OLDEST = """
    SELECT min(moved_at) AS moved_at
      FROM reconciliation.issue
     WHERE organization_id = $1
       AND state = 'OPEN'
       AND class <> 'STAYED'
"""


class NewIssue(msgspec.Struct, frozen=True):
    id: IssueId
    found: Difference
    responsible: str
    run_id: RunId
    correlation_id: UUID
    first_seen_at: datetime
    last_seen_at: datetime
    state: IssueState = ISSUE.initial


async def insert_issues(tx: Tx, issues: Sequence[NewIssue]) -> None:
    await tx.insert_exactly(INSERT_ISSUES, issues)


async def find_of_objects(tx: Tx, names: Sequence[tuple[str, str, str]]) -> dict[tuple[str, str, str], list[Issue]]:
    """Of each object the newest, the newest first."""
    found: dict[tuple[str, str, str], list[Issue]] = {name: [] for name in names}
    if names:
        kinds, references, currencies = (list(column) for column in zip(*names, strict=True))
        for row in await tx.fetch(FIND_OF_OBJECTS, kinds, references, currencies, LATEST_CLOSED):
            issue = _issue(row)
            found[issue.found.name].append(issue)
    return found


async def see_again(tx: Tx, run: RunId, at: datetime, seen: dict[IssueId, Difference]) -> None:
    if seen:
        differences = columns(
            seen.values(), "difference", "here_currency", "here_minor", "there_minor", "payment", "moved_at"
        )
        await tx.execute_exactly(len(seen), SEE_AGAIN, at, run.uuid, [own.uuid for own in seen], *differences)


async def keep_open(tx: Tx, at: datetime, names: Sequence[tuple[str, str, str]]) -> None:
    if names:
        await tx.execute(KEEP_OPEN, at, *(list(column) for column in zip(*names, strict=True)))


async def close(
    tx: Tx, issues: Sequence[IssueId], how: Closure, reason: str | None = None, by: IdentityId | None = None
) -> None:
    ids = [each.uuid for each in issues]
    leaving = [state.value for state in ISSUE.leaving(IssueState.CLOSED)]
    await tx.execute_exactly(len(ids), CLOSE, how.value, reason, by.uuid if by else None, tx.now, ids, leaving)


async def close_unseen(tx: Tx, before: datetime, since: datetime | None, most: int) -> list[Issue]:
    return [_issue(row) for row in await tx.fetch(CLOSE_UNSEEN, tx.now, before, since or BEGINNING, most)]


async def lock_issues(tx: Tx, inputs: Sequence[msgspec.Struct]) -> dict[IssueId, Issue]:
    """Of inputs that say which issue they are about."""
    rows = await tx.lock(LOCK_ISSUES, inputs, lambda each: each.issue.uuid)  # type: ignore[attr-defined]
    return {IssueId(key): _issue(row) for key, row in rows.items()}


async def take(tx: Tx, taken: dict[IssueId, IdentityId]) -> None:
    ids, people = [own.uuid for own in taken], [identity.uuid for identity in taken.values()]
    await tx.execute_exactly(len(ids), TAKE, ids, people)


async def list_issues(
    tx: Tx, state: IssueState, place: UUID | None, limit: int, order: ListOrder = ListOrder.NEWEST
) -> list[Issue]:
    return [_issue(row) for row in await tx.fetch(LIST_ISSUES.first(order), state.value, *order.ids(place), limit)]


async def sum_open(tx: Tx) -> list[OpenIssues]:
    return [
        OpenIssues(DifferenceClass(row["class"]), row["currency"], row["issues"], row["apart_minor"], row["oldest_at"])
        for row in await tx.fetch(SUM_OPEN)
    ]


async def find_oldest(tx: Tx) -> datetime | None:
    """When the first of what is open and compared with a provider moved."""
    row = await tx.find(FIND_OLDEST)
    moved_at: datetime | None = row["moved_at"] if row else None
    return moved_at


def _issue(row: Record) -> Issue:
    found = Difference(
        DifferenceClass(row["class"]),
        row["kind"],
        row["reference"],
        row["currency"],
        row["here_minor"],
        row["there_minor"],
        row["moved_at"],
        row["here_currency"],
        PaymentId(row["payment_id"]) if row["payment_id"] else None,
    )
    return Issue(
        IssueId(row["id"]),
        found,
        row["responsible"],
        IdentityId(row["taken_by"]) if row["taken_by"] else None,
        IssueState(row["state"]),
        Closure(row["closed_how"]) if row["closed_how"] else None,
        row["closed_reason"],
        IdentityId(row["closed_by"]) if row["closed_by"] else None,
        row["closed_at"],
        row["first_seen_at"],
        row["last_seen_at"],
        RunId(row["run_id"]),
    )

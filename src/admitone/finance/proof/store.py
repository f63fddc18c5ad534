"""Verdicts: of one organisation, and over all of them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from admitone.finance.proof.model import Both, Check, Figures, Finding, Noted, Overall, Total, Verdict
from admitone.kernel.db import PlatformTx, Record, Tx
from admitone.kernel.ids import OrganizationId
from admitone.kernel.statements import Insert

Place = tuple[int, UUID, str]
"""Where a verdict stands in the list over all organisations."""
START: Final[Place] = (-1, UUID(int=0), "")

PUT_VERDICTS = Insert(
    "proof.verdict AS v",
    {
        "name": "text",
        "verdict": "text",
        "severity": "smallint",
        "differing": "bigint",
        "figures": "jsonb",
        "checked_at": "timestamptz",
    },
    on_conflict="(organization_id, name) DO UPDATE SET verdict = excluded.verdict, severity = excluded.severity,"
    " differing = excluded.differing, figures = excluded.figures, checked_at = excluded.checked_at",
)


LIST_OWN = """
    SELECT organization_id, name, verdict, severity, differing, figures, checked_at
      FROM proof.verdict
     WHERE organization_id = $1
     LIMIT 10
"""


LIST_WORST = """
    SELECT organization_id, name, verdict, severity, differing, figures, checked_at
      FROM proof.verdict
     WHERE (severity, organization_id, name) > ($1::smallint, $2::uuid, $3::text)
     ORDER BY severity, organization_id, name
     LIMIT $4
"""


SUM_VERDICTS = """
    SELECT name, verdict, count(*) AS organizations, sum(differing)::bigint AS differing, min(checked_at) AS oldest
      FROM proof.verdict
     GROUP BY name, verdict
"""


SUM_CURRENCIES = """
    SELECT s.key AS currency, sum((s.value->>'left_minor')::numeric)::bigint AS left_minor,
           sum((s.value->>'right_minor')::numeric)::bigint AS right_minor
      FROM proof.verdict AS v
     CROSS JOIN LATERAL jsonb_each(v.figures->'sides') AS s (key, value)
     WHERE v.name = $1
     GROUP BY s.key
"""


class _Row(msgspec.Struct, frozen=True):
    name: Check
    verdict: Verdict
    severity: int
    differing: int
    figures: Figures
    checked_at: datetime


async def put_verdicts(tx: Tx, findings: Sequence[Finding]) -> None:
    """Of one organisation, in their order, so that two who prove the same cannot deadlock."""
    latest = {each.check: each for each in findings}
    rows = [
        _Row(name, each.verdict, each.verdict.severity, each.differing, each.figures, tx.now)
        for name, each in sorted(latest.items())
    ]
    await tx.insert_exactly(PUT_VERDICTS, rows)


async def list_own(tx: Tx) -> list[Noted]:
    """In the order of the checks."""
    found = [_noted(row) for row in await tx.fetch(LIST_OWN)]
    return sorted(found, key=lambda noted: [*Check].index(noted.finding.check))


async def list_worst(tx: PlatformTx, after: Place, limit: int) -> list[tuple[Place, Noted]]:
    """Over all organisations, red ones first."""
    rows = await tx.fetch(LIST_WORST, *after, limit)
    return [((row["severity"], row["organization_id"], row["name"]), _noted(row)) for row in rows]


async def sum_all(tx: PlatformTx) -> Overall:
    by_check: dict[Check, list[Record]] = {}
    for row in await tx.fetch(SUM_VERDICTS):
        by_check.setdefault(Check(row["name"]), []).append(row)
    totals = [
        Total(
            check,
            {Verdict(row["verdict"]): row["organizations"] for row in rows},
            sum(row["differing"] for row in rows),
            min(row["oldest"] for row in rows),
        )
        for check, rows in sorted(by_check.items(), key=lambda each: [*Check].index(each[0]))
    ]
    sums = await tx.fetch(SUM_CURRENCIES, Check.TRIAL_BALANCE)
    sides = {row["currency"]: Both(row["left_minor"], row["right_minor"]) for row in sums}
    return Overall(tuple(totals), dict(sorted(sides.items())))


def _noted(row: Record) -> Noted:
    figures = msgspec.convert(row["figures"], Figures)
    finding = Finding(Check(row["name"]), Verdict(row["verdict"]), row["differing"], figures)
    return Noted(finding, row["checked_at"], OrganizationId(row["organization_id"]))

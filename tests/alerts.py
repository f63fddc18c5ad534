"""Builders for alerts: subjects that no other test has, and what stands in the database about them."""

from typing import Any

import asyncpg
import msgspec

from admitone.kernel.alerts import Above, Alert, AlertClass, AlertRule
from admitone.kernel.ids import PLATFORM_ORGANIZATION, uuid7

TOY_RULE = AlertRule("toy.broken", AlertClass.PAGER, Above(0), "toy", "planted", "The toy is broken.")


def an_alert(subject: str = "", **said: Any) -> Alert:
    return Alert(TOY_RULE, subject or f"toy {uuid7()}", **said)


async def alerts_about(superuser: asyncpg.Connection, subject: str, rule: str = TOY_RULE.name) -> list[asyncpg.Record]:
    return await superuser.fetch(
        "SELECT * FROM kernel.alert WHERE subject = $1 AND rule = $2 ORDER BY id", subject, rule
    )


async def told_about(superuser: asyncpg.Connection, subject: str, fact: str = "ops.alert") -> list[dict[str, Any]]:
    """The payloads of the facts, in order; all of them of the platform's organisation."""
    rows = await superuser.fetch(
        "SELECT organization_id, correlation_id, payload::text AS payload FROM kernel.event_log"
        " WHERE type = $1 AND payload->>'about' = $2 ORDER BY id",
        fact,
        subject,
    )
    assert {row["organization_id"] for row in rows} <= {PLATFORM_ORGANIZATION.uuid}
    return [msgspec.json.decode(row["payload"]) for row in rows]

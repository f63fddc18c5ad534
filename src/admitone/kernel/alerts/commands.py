"""Raising and resolving alerts.

Promise: of one rule and one subject there is one open alert, whoever raises it how often, in how many processes at
once. Opening publishes `ops.alert`, with the row; seeing it again only counts. Resolving publishes
`ops.alert_resolved`; what comes again after that is a new alert.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from admitone.kernel.alerts import store
from admitone.kernel.alerts.facts import AlertRaised, AlertResolved
from admitone.kernel.alerts.model import Alert, AlertClass, AlertId, AlertRule, Resolution
from admitone.kernel.commands import command
from admitone.kernel.db import Record, Tx
from admitone.kernel.event_log import ids_at
from admitone.kernel.ids import PLATFORM_ORGANIZATION
from admitone.kernel.redaction import redact_text
from admitone.kernel.scope import Caller


@command()
async def raise_alerts(tx: Tx, alerts: Sequence[Alert]) -> list[bool]:
    """Whether each of them opened an alert; of the same ones in a batch, the first did."""
    _require_the_platform(tx)
    times = Counter(alert.name for alert in alerts)
    first = {alerts[position].name: position for position in reversed(range(len(alerts)))}
    # Sorted, so that two who raise the same cannot deadlock.
    order = [first[name] for name in sorted(first)]
    ids = dict(zip(order, ids_at(tx.now, len(order)), strict=True))
    rows = [_row(ids[position], alerts[position], times[alerts[position].name]) for position in order]
    opened = await store.open_or_count(tx, rows)
    for position in order:
        if ids[position] in opened:
            tx.publish(alerts[position].caller, _told(ids[position], alerts[position]))
    return [ids.get(position) in opened for position in range(len(alerts))]


def _row(own: UUID, alert: Alert, times: int) -> store.NewAlert:
    return store.NewAlert(
        own,
        alert.rule.name,
        alert.rule.alert_class,
        alert.subject,
        alert.organization,
        msgspec.json.encode(alert.entities).decode(),
        redact_text(alert.detail, store.LONGEST_DETAIL),
        alert.link,
        alert.caller.correlation_id,
        times,
    )


def _told(own: UUID, alert: Alert) -> AlertRaised:
    rule = alert.rule
    return AlertRaised(
        alert_id=AlertId(own),
        rule=rule.name,
        alert_class=rule.alert_class,
        says=rule.says,
        threshold=str(rule.threshold),
        owner=rule.owner,
        runbook=rule.page,
        about=alert.subject,
        organization=alert.organization,
        entities=dict(alert.entities),
        correlation_id=alert.caller.correlation_id,
        detail=alert.detail,
        link=alert.link,
    )


@command()
async def resolve_alerts(tx: Tx, resolutions: Sequence[Resolution]) -> list[bool]:
    """Whether each of them had an open alert to resolve."""
    _require_the_platform(tx)
    wanted = sorted({(each.rule.name, each.subject) for each in resolutions})
    rows = await store.resolve(tx, wanted)
    _publish_resolved(tx, rows)
    resolved = {(row["rule"], row["subject"]) for row in rows}
    return [(each.rule.name, each.subject) in resolved for each in resolutions]


async def resolve_unseen(tx: Tx, rules: Sequence[AlertRule], since: datetime) -> list[str]:
    """End the alerts of these rules that nobody has seen since then; which, as `rule subject`."""
    _require_the_platform(tx)
    rows = await store.resolve_unseen(tx, [rule.name for rule in rules], since)
    _publish_resolved(tx, rows)
    return [f"{row['rule']} {row['subject']}" for row in rows]


def _publish_resolved(tx: Tx, rows: Sequence[Record]) -> None:
    for row in rows:
        fact = AlertResolved(
            alert_id=AlertId(row["id"]),
            rule=row["rule"],
            alert_class=AlertClass(row["class"]),
            about=row["subject"],
        )
        tx.publish(Caller(correlation_id=row["correlation_id"]), fact)


def _require_the_platform(tx: Tx) -> None:
    if tx.scope.organization != PLATFORM_ORGANIZATION:
        raise TypeError("alerts are rows of the platform's own organisation; use the scope ALERTS")

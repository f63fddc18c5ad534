"""What somebody is told about doors: slow ones, spikes of what is refused, scanners that are warned of and closed.

Promise (OPS-002, OPS-004, SAF-016): each of these has a rule, a runbook, and the event and organisation to look at. A
spike is told for as long as it lasts; a scanner for as long as it is shown too much, or is closed, a day at the most.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Final
from uuid import UUID

from admitone.entitlements import policy
from admitone.entitlements.facts import CheckinAnomaly
from admitone.entitlements.store.scanners import Busy, Closed, list_closed_everywhere, sum_everywhere
from admitone.kernel.alerts import (
    ALERTS,
    Above,
    Alert,
    AlertClass,
    AlertRule,
    Gauged,
    Level,
    Pace,
    Reading,
    ShareAbove,
    Sight,
    Sighting,
    raise_alerts,
)
from admitone.kernel.db import PlatformTx
from admitone.kernel.ids import OrganizationId
from admitone.kernel.jobs import Delivered, Desk, Lane, errand

OWNER: Final = "event operations"
MOST_SCANNERS: Final = 5_000
MOST_EVENTS: Final = 50
"""Shown to Prometheus: the busiest."""
REMEMBERED: Final = timedelta(days=1)

SLOW = AlertRule(
    "checkin.slow",
    AlertClass.TICKET,
    ShareAbove(5, seconds=600, beyond=0.3, fewest=20),
    OWNER,
    "slow-checkin",
    "One scan in twenty took longer than 300 ms within ten minutes: queues grow at a door.",
)
DUPLICATES = AlertRule(
    "checkin.duplicates",
    AlertClass.TICKET,
    Above(10),
    OWNER,
    "checkin-refused",
    "More than a tenth of what an event's doors were shown within ten minutes had come in before.",
)
DENIED = AlertRule(
    "checkin.denied",
    AlertClass.TICKET,
    Above(10),
    OWNER,
    "checkin-refused",
    "More than a tenth of what an event's doors were shown within ten minutes was not good.",
)
ANOMALY = AlertRule(
    "checkin.anomaly",
    AlertClass.TICKET,
    Above(0),
    OWNER,
    "checkin-anomaly",
    "A tenth of what one scanner was shown within ten minutes was refused; at a fifth it is closed.",
)
SCANNER_CLOSED = AlertRule(
    "checkin.scanner_closed",
    AlertClass.TICKET,
    Above(0),
    OWNER,
    "checkin-anomaly",
    "A scanner was closed: a fifth of what it was shown within ten minutes was refused.",
)
STRAYED = AlertRule(
    "entitlements.strayed",
    AlertClass.TICKET,
    Above(0),
    OWNER,
    "rights-strayed",
    "Rights stood elsewhere than their payment says: somebody could enter who must not, or could not who may.",
)
RULES: Final = (SLOW, DUPLICATES, DENIED, ANOMALY, SCANNER_CLOSED, STRAYED)
PACES: Final = (Pace("C03", SLOW),)

SHARE: Final = Gauged(
    "admitone_checkin_share",
    "Of what an event's doors were shown within ten minutes, the share of each result; of the busiest events.",
    ("organization", "event", "result"),
)
SCANS: Final = Gauged(
    "admitone_checkin_scans", "What an event's doors were shown within ten minutes.", ("organization", "event")
)


async def look(tx: PlatformTx) -> Sighting:
    busy = await sum_everywhere(tx, tx.now - policy.WATCHED, MOST_SCANNERS)
    closed = await list_closed_everywhere(tx, tx.now - REMEMBERED, MOST_SCANNERS)
    return seen_of(busy, closed, tx.now)


DOORS: Final = Sight("entitlements.doors", look, (DUPLICATES, DENIED, ANOMALY, SCANNER_CLOSED), (SHARE, SCANS))


def seen_of(busy: Sequence[Busy], closed: Iterable[Closed], at: datetime) -> Sighting:
    events = _events(busy)
    readings = [*_of_events(events, at), *_of_scanners(busy, at)]
    for each in closed:
        detail = f"closed at {each.closed_at:%Y-%m-%d %H:%M}Z"
        readings.append(_reading(SCANNER_CLOSED, each.organization, each.event, each.device, Level(at, 1), detail))
    shares: dict[tuple[str, ...], float] = {}
    counts: dict[tuple[str, ...], float] = {}
    for (organization, event), (scans, duplicates, denied) in islice(events.items(), MOST_EVENTS):
        own = str(OrganizationId(organization)), event
        counts[own] = scans
        shares[*own, "duplicate"], shares[*own, "denied"] = duplicates / scans, denied / scans
    return Sighting(readings, {SHARE: shares, SCANS: counts})


Sums = tuple[int, int, int]
"""Scans, duplicates, denied."""


def _events(busy: Sequence[Busy]) -> dict[tuple[UUID, str], Sums]:
    """Those that were shown enough to tell, the busiest first."""
    sums: dict[tuple[UUID, str], Sums] = defaultdict(lambda: (0, 0, 0))
    for each in busy:
        scans, duplicates, denied = sums[each.organization, each.event]
        sums[each.organization, each.event] = (
            scans + each.scans,
            duplicates + each.duplicates,
            denied + each.denied,
        )
    enough = [(own, each) for own, each in sums.items() if each[0] >= policy.FEWEST_SCANS]
    return dict(sorted(enough, key=lambda each: -each[1][0]))


def _of_events(events: dict[tuple[UUID, str], Sums], at: datetime) -> Iterator[Reading]:
    for (organization, event), (scans, duplicates, denied) in events.items():
        for rule, count, what in ((DUPLICATES, duplicates, "had come in before"), (DENIED, denied, "was not good")):
            detail = f"{count} of {scans} {what} within ten minutes"
            yield _reading(rule, organization, event, None, Level(at, 100 * count / scans), detail)


def _of_scanners(busy: Sequence[Busy], at: datetime) -> Iterator[Reading]:
    for each in busy:
        refused = each.duplicates + each.denied
        if each.device and policy.alarm(each.scans, refused):
            detail = f"{refused} of {each.scans} were refused within ten minutes"
            yield _reading(ANOMALY, each.organization, each.event, each.device, Level(at, 1), detail)


def _reading(rule: AlertRule, organization: UUID, event: str, device: str | None, level: Level, detail: str) -> Reading:
    own = OrganizationId(organization)
    subject, entities = about(own, event, device)
    return Reading(rule, subject, [level], detail, entities, own)


def about(organization: OrganizationId, event: str, device: str | None) -> tuple[str, dict[str, str]]:
    """What an alert is about, and where to look first."""
    entities = {"eventId": event} | ({"device": device} if device else {})
    return ":".join((str(organization), *entities.values())), entities


@errand("entitlements.tell_of_anomaly", lane=Lane("doors", places=2))
async def tell_of_anomaly(desk: Desk, told: Delivered[CheckinAnomaly]) -> None:
    """At once, and with the scan that it began with; the watch sees when it is over."""
    fact = told.payload
    rule = SCANNER_CLOSED if fact.closes_scanner else ANOMALY
    subject, entities = about(told.organization, fact.event_id, fact.device)
    detail = f"{fact.refused} of {fact.scans} were refused within ten minutes"
    alert = Alert(rule, subject, detail, told.organization, entities, told.caller)
    await desk.batcher.submit(raise_alerts, ALERTS, alert)

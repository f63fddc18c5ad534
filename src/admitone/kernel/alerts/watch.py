"""The watch: looks every few seconds, shows figures, and raises what breaches a rule.

Promise: every process watches, and together they raise one alert of one thing. An alert stays open for as long as any
of them sees it, and is resolved when none has seen it for `QUIET`: so a process that dies with what it saw leaves
nothing open, and those that see different things do not quarrel. Without the database nothing can be written; then
the watch says so in its log and in `admitone_database_up`, and goes on looking.

The API watches jobs, too: when no worker is left, somebody must notice.
"""

import asyncio
import os
import socket
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Final, Self
from uuid import UUID

from admitone.kernel.alerts import rules
from admitone.kernel.alerts.commands import raise_alerts, resolve_unseen
from admitone.kernel.alerts.figures import (
    MEASURING,
    Figures,
    Reading,
    measure,
    readings_of,
    readings_of_metrics,
    readings_of_paces,
    readings_of_uptimes,
)
from admitone.kernel.alerts.gauges import Gauges, SightGauges
from admitone.kernel.alerts.model import ALERTS, Alert, AlertClass, Level, Sample
from admitone.kernel.alerts.policy import breached, still_needed
from admitone.kernel.alerts.sights import Pace, Sight, Sighting, Uptime
from admitone.kernel.config import Key
from admitone.kernel.db import Database, Tx
from admitone.kernel.errors import Unavailable
from admitone.kernel.ids import PLATFORM_ORGANIZATION, uuid7
from admitone.kernel.scope import Caller
from admitone.kernel.telemetry import Metrics, bound, logger

EVERY_SECONDS: Final = 5.0
PATIENCE_SECONDS: Final = 10.0
QUIET: Final = timedelta(seconds=60)

CORRELATION: Final = "{correlationId}"
LOGS_URL = Key(
    "ADMITONE_LOGS_URL",
    f"the address of a search in the logs, with {CORRELATION} where the id goes",
    check=lambda value: value.startswith(("http://", "https://")) and CORRELATION in value,
)


def _now() -> datetime:
    # The process's own clock: what it counts itself belongs to no transaction.
    return datetime.now(UTC)


class Watch:
    """While it is entered, it looks."""

    def __init__(
        self,
        database: Database,
        metrics: Metrics,
        *,
        sights: Sequence[Sight] = (),
        paces: Sequence[Pace | Uptime] = (),
        logs_url: str | None = None,
        clock: Callable[[], datetime] = _now,
    ) -> None:
        self._database = database
        self._metrics = metrics
        self._gauges = Gauges(metrics.registry)
        self._sights = tuple(sights)
        self._seen: dict[str, tuple[datetime, Sighting]] = {}
        self._sight_gauges = SightGauges(metrics.registry, [gauge for each in sights for gauge in each.gauges])
        self._paces = [(each.contract, each.seconds, each.rule) for each in paces if isinstance(each, Pace)]
        self._uptimes = [(each.contract, each.rule) for each in paces if isinstance(each, Uptime)]
        of_packages = [*(rule for each in sights for rule in each.rules), *(each.rule for each in paces)]
        self._rules = (*rules.RULES, *of_packages)
        self._logs_url = logs_url or f"correlationId={CORRELATION}"
        self._clock = clock
        self._process = f"{socket.gethostname()}:{os.getpid()}"
        self._series: dict[tuple[str, str], Sequence[Sample]] = {}
        self._told_at: datetime | None = None
        self._looking: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._looking = asyncio.create_task(self._look_again_and_again())
        return self

    async def __aexit__(self, *exception: object) -> None:
        assert self._looking is not None
        self._looking.cancel()
        with suppress(asyncio.CancelledError):
            await self._looking

    async def _look_again_and_again(self) -> None:
        while True:
            correlation = uuid7()
            with bound(correlationId=str(correlation), orgId=str(PLATFORM_ORGANIZATION)):
                try:
                    await self.look(correlation)
                except Exception:  # noqa: BLE001  Whoever stops looking would notice nothing any more.
                    logger().exception("watch.bug")
            await asyncio.sleep(EVERY_SECONDS)

    async def look(self, correlation: UUID) -> None:
        """Once."""
        at = self._clock()
        figures = await self._measure()
        readings = [*readings_of_metrics(self._metrics, at), self._reading_of_database(at, up=figures is not None)]
        readings += readings_of_paces(self._metrics, self._paces, at)
        readings += readings_of_uptimes(self._metrics, self._uptimes, at)
        self._gauges.show_database(up=figures is not None)
        if figures:
            self._gauges.show(figures)
            readings += readings_of(figures)
            sightings = [await self._see(sight, at) for sight in self._sights]
            self._sight_gauges.show(sightings)
            readings += [reading for each in sightings for reading in each.readings]
        alerts = self._judge(readings, correlation, keep=figures is None)
        self._gauges.show_alerts(Counter((alert.rule.name, alert.rule.alert_class.value) for alert in alerts))
        if not (figures and await self._tell(alerts)):
            for alert in alerts:
                _log("alert.not_written", alert)

    async def _measure(self) -> Figures | None:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                return await self._database.read(MEASURING, measure)
        except (Unavailable, TimeoutError):
            logger().error("watch.database_away")
            return None

    async def _see(self, sight: Sight, at: datetime) -> Sighting:
        """What it shows now, or showed a moment ago."""
        seen_at, seen = self._seen.get(sight.name, (None, Sighting()))
        if seen_at is not None and timedelta(0) <= at - seen_at < timedelta(seconds=sight.every_seconds):
            return seen
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                seen = await self._database.read(MEASURING, sight.look)
        except (Unavailable, TimeoutError):
            logger().error("watch.database_away")
        except Exception:  # noqa: BLE001  Whoever cannot see one thing still sees the others.
            logger().exception("watch.blind", sight=sight.name)
        self._seen[sight.name] = (at, seen)
        return seen

    def _reading_of_database(self, at: datetime, *, up: bool) -> Reading:
        return Reading(rules.DATABASE_DOWN, self._process, [Level(at, not up)], "the database does not answer")

    def _judge(self, readings: Sequence[Reading], correlation: UUID, *, keep: bool) -> list[Alert]:
        """Add what was read to what is known; what is breached now. What could not be read is kept as it was."""
        series = dict(self._series) if keep else {}
        alerts = []
        for reading in readings:
            name = (reading.rule.name, reading.subject)
            series[name] = _added(reading, self._series.get(name, ()))
            if breached(reading.rule.threshold, series[name]):
                alerts.append(self._alert(reading, correlation))
        self._series = series
        return alerts

    def _alert(self, reading: Reading, correlation: UUID) -> Alert:
        correlation = reading.correlation_id or correlation
        return Alert(
            reading.rule,
            reading.subject,
            reading.detail,
            reading.organization,
            {**reading.entities, "seenBy": self._process},
            Caller(correlation_id=correlation),
            self._logs_url.replace(CORRELATION, str(correlation)),
        )

    async def _tell(self, alerts: Sequence[Alert]) -> bool:
        """Raise these, and end what nobody sees any more; whether it could be written."""

        async def tell(tx: Tx) -> tuple[Sequence[object], list[str], datetime]:
            opened = await raise_alerts(tx, alerts)
            # After an outage nobody was seen for a while, and others may not have looked again yet: give them a round.
            steady = self._told_at is not None and tx.now - self._told_at < QUIET
            ended = await resolve_unseen(tx, self._rules, tx.now - QUIET) if steady else []
            return opened, ended, tx.now

        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                opened, ended, self._told_at = await self._database.run(ALERTS, tell, patient=True)
        except (Unavailable, TimeoutError):
            return False
        for alert, is_new in zip(alerts, opened, strict=True):
            if is_new:
                _log("alert.opened", alert)
        for name in ended:
            logger().info("alert.resolved", alert=name)
        return True


def _added(reading: Reading, known: Sequence[Sample]) -> Sequence[Sample]:
    """What is known and what was read, in order; a clock that was set back makes the future unknown."""
    latest = reading.samples[-1].at
    fresh = {sample.at for sample in reading.samples}
    kept = [sample for sample in known if sample.at < latest and sample.at not in fresh]
    samples = sorted([*kept, *reading.samples], key=lambda sample: sample.at)
    return still_needed(reading.rule.threshold, samples)


def _log(event: str, alert: Alert) -> None:
    say = logger().error if alert.rule.alert_class is AlertClass.PAGER else logger().warning
    say(
        event,
        rule=alert.rule.name,
        alertClass=alert.rule.alert_class,
        about=alert.subject,
        says=alert.rule.says,
        detail=alert.detail,
        runbook=alert.rule.page,
        correlationId=str(alert.caller.correlation_id),
        orgId=str(alert.organization) if alert.organization else None,
        **alert.entities,
    )

"""The worker in the foreground: relays facts, fires schedules and runs the jobs of every module.

Promise: SIGTERM or SIGINT ends it within its grace: what was begun may finish, what was not is given back. Run as many
as you like; they share the work.
"""

import asyncio
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import uvloop
from prometheus_client import start_http_server

from admitone.entrypoints.duties import duties_of
from admitone.entrypoints.http import check_login, database_url
from admitone.entrypoints.memory import spare_the_garbage_collector
from admitone.entrypoints.modules import MODULES
from admitone.entrypoints.wiring import wire, wire_outside
from admitone.foundation.mail.port import Postman, check_way
from admitone.kernel import config as settings
from admitone.kernel import failpoints, telemetry
from admitone.kernel.alerts import Watch, check_rules
from admitone.kernel.alerts.watch import LOGS_URL
from admitone.kernel.batch import Batcher
from admitone.kernel.breaker import Breakers
from admitone.kernel.config import Config
from admitone.kernel.db import Database
from admitone.kernel.jobs.model import Desk
from admitone.kernel.jobs.worker import Rhythm, Worker
from admitone.kernel.manifest import Installation, Module
from admitone.kernel.outbound import Outbound
from admitone.kernel.pager import Pager
from admitone.kernel.ports import check_wired
from admitone.kernel.scope import Role
from admitone.kernel.telemetry import Metrics

DRAIN_SECONDS = 1


@dataclass(frozen=True)
class Workshop:
    """A worker and what it stands on."""

    config: Config
    modules: Sequence[Module]
    database: Database
    batcher: Batcher
    outbound: Outbound
    worker: Worker
    watch: Watch
    metrics: Metrics

    async def run(self) -> None:
        """Until somebody stops the worker."""
        failpoints.arm(self.config.find(settings.FAILPOINTS) or "")
        check_wired(port for module in self.modules for port in module.ports)
        check_rules(rule for module in self.modules for rule in module.alerts)
        try:
            await self.worker.until_reachable(partial(check_login, self.database, self.config))
            async with self.outbound, self.watch:
                await self.worker.run()
        finally:
            with suppress(TimeoutError):
                await self.batcher.drain(DRAIN_SECONDS)
            await self.database.close()


def build(config: Config) -> Workshop:
    """The workshop of `admitone worker`."""
    check_way(config)
    wire(config)
    rhythm = Rhythm(grace_seconds=float(config.find(settings.WORKER_GRACE) or 10))
    workshop = assemble(config, MODULES, rhythm=rhythm)
    wire_outside(config, workshop.outbound)
    return workshop


def assemble(
    config: Config,
    modules: Sequence[Module],
    *,
    rhythm: Rhythm | None = None,
    services: Mapping[type, Any] | None = None,
) -> Workshop:
    metrics = Metrics()
    duties = duties_of(modules)
    database = Database(database_url(config), retried=metrics.retried, unheard=duties.subscriptions.unheard)
    for role in Role:
        metrics.watch_pool(role, partial(database.connections, role))
    batcher = Batcher(database, observed=metrics)
    breakers = Breakers(batcher, metrics)
    outbound = Outbound(breakers, metrics)
    given = {
        Installation: Installation(modules),
        Outbound: outbound,
        Pager: Pager.of(config, outbound),
        Postman: Postman.of(config, breakers),
        **(services or {}),
    }
    worker = Worker(Desk(database, batcher, given), duties, metrics, rhythm)
    sights = [sight for module in modules for sight in module.sights]
    paces = [pace for module in modules for pace in module.paces]
    watch = Watch(database, metrics, sights=sights, paces=paces, logs_url=config.find(LOGS_URL))
    return Workshop(config, modules, database, batcher, outbound, worker, watch, metrics)


def work(workshop: Workshop) -> None:
    """In the foreground, until told to end."""
    telemetry.configure()
    if port := workshop.config.find(settings.WORKER_METRICS_PORT):
        start_http_server(int(port), workshop.config.host, registry=workshop.metrics.registry)
    uvloop.run(_work(workshop))


async def _work(workshop: Workshop) -> None:
    loop = asyncio.get_running_loop()
    for order in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(order, workshop.worker.stop)
    spare_the_garbage_collector()
    await workshop.run()

"""The HTTP application: every module's contracts at one edge, on one database.

Promise: what is declared in the manifests is what is served; a port that nobody wired, or a database login that
could step around row level security in production, stops the start.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from admitone.entrypoints.duties import subscriptions_of
from admitone.entrypoints.modules import MODULES
from admitone.entrypoints.wiring import wire, wire_outside
from admitone.foundation.authority.api import TableAuthority
from admitone.foundation.mail.port import Mailbox, check_way, mailbox_contracts
from admitone.kernel import config as settings
from admitone.kernel import failpoints
from admitone.kernel.alerts import Watch, check_rules
from admitone.kernel.alerts.watch import LOGS_URL
from admitone.kernel.audit import AuditTrail
from admitone.kernel.authority import Authority, AuthorityReader
from admitone.kernel.batch import Batcher
from admitone.kernel.breaker import Breakers
from admitone.kernel.config import Config
from admitone.kernel.contracts import Audience, Call, Contract, Edge, File, Writes, health_contracts
from admitone.kernel.db import Database
from admitone.kernel.embedded import find_server
from admitone.kernel.manifest import Module, check_contracts
from admitone.kernel.operations import timeline_contract
from admitone.kernel.outbound import Outbound
from admitone.kernel.ports import check_wired
from admitone.kernel.scope import Role
from admitone.kernel.telemetry import CONTENT_TYPE, Metrics, logger, render
from admitone.web.port import RECEPTION

DRAIN_SECONDS = 1


class NoDatabase(Exception):
    """There is no database to serve from."""


@dataclass(frozen=True)
class Application:
    """The edge and what it stands on, to be started before it is served and closed after."""

    config: Config
    modules: Sequence[Module]
    edge: Edge
    database: Database
    batcher: Batcher
    outbound: Outbound
    watch: Watch

    async def start(self) -> None:
        failpoints.arm(self.config.find(settings.FAILPOINTS) or "")
        check_wired(port for module in self.modules for port in module.ports)
        check_rules(rule for module in self.modules for rule in module.alerts)
        await check_login(self.database, self.config)

    async def close(self) -> None:
        """What was submitted gets time to run to its end; what does not is rolled back, or was committed."""
        async with self.outbound:
            with suppress(TimeoutError):
                await self.batcher.drain(DRAIN_SECONDS)
        await self.database.close()


def build(config: Config) -> Application:
    """The application of `admitone serve`."""
    check_way(config)
    wire(config)
    application = assemble(config, MODULES, TableAuthority())
    wire_outside(config, application.outbound)
    return application


def assemble(
    config: Config, modules: Sequence[Module], authority: Authority, *, coalesce: bool = True, strict: bool = False
) -> Application:
    check_contracts(modules)
    metrics = Metrics()
    subscriptions = subscriptions_of(modules)
    database = Database(database_url(config), retried=metrics.retried, unheard=subscriptions.unheard)
    for role in Role:
        metrics.watch_pool(role, partial(database.connections, role))
    batcher = Batcher(database, observed=metrics, coalesce=coalesce)
    reader = AuthorityReader(batcher, authority)

    async def ready() -> bool:
        await database.ping()
        return True

    own = [contract for module in modules for contract in module.contracts]
    mailbox = Mailbox.of(config)
    edge = Edge(
        [
            *own,
            *(mailbox_contracts(mailbox) if mailbox else ()),
            *health_contracts(ready),
            metrics_contract(metrics),
            timeline_contract(subscriptions),
        ],
        authority=reader,
        database=database,
        batcher=batcher,
        audit=AuditTrail(batcher, reader),
        metrics=metrics,
        internal_secret=config.get(settings.CRON_SECRET),
        trusted_proxies=config.trusted_proxies,
        strict=strict,
        reception=RECEPTION,
    )
    sights = [sight for module in modules for sight in module.sights]
    paces = [pace for module in modules for pace in module.paces]
    watch = Watch(database, metrics, sights=sights, paces=paces, logs_url=config.find(LOGS_URL))
    outbound = Outbound(Breakers(batcher, metrics), metrics)
    return Application(config, modules, edge, database, batcher, outbound, watch)


def metrics_contract(metrics: Metrics) -> Contract:
    contract = Contract(
        id="KERNEL.METRICS",
        version="1.0.0",
        owner="kernel",
        consumers=("operations",),
        summary="Figures for Prometheus.",
        get="/metrics",
        writes=Writes.FILE,
        audience=Audience.INTERNAL,
        order_key="none",
    )

    @contract.serves
    async def show(call: Call) -> File:  # noqa: ARG001
        return File(render(metrics.registry), CONTENT_TYPE)

    return contract


def database_url(config: Config) -> str:
    if config.database_url:
        return config.database_url
    server = find_server(config.home)
    if server is None:
        raise NoDatabase(
            f"No database: set DATABASE_URL, or start the embedded one on {config.home} with `admitone run`."
        )
    return server.url()


async def check_login(database: Database, config: Config) -> None:
    """A login that owns tables or bypasses row level security makes every policy a decoration."""
    powers = await database.dangerous_powers()
    if powers and config.in_production:
        raise NoDatabase(f"The login of DATABASE_URL {' and '.join(powers)}; give the runtime a login of its own.")
    if powers:
        logger().warning("database.login_too_powerful", powers=powers)

"""`admitone reconcile`: compare the ledger with what providers moved, and keep what differs.

Promise: it ends with status 0 only if nothing of the organisations that were asked for is open, 1 if something is, and
2 if a provider did not show its journal. It does what the daily run does, here and now.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from admitone.entrypoints.asking import Data, config_of, on_database
from admitone.entrypoints.proof_cli import Only, organizations_of
from admitone.finance.gateways.port import GATEWAYS, Gateways, gateways_of
from admitone.finance.ledger.api import count_transfers
from admitone.finance.reconciliation.api import Beginning, Reconciler, Run, RunId, RunState
from admitone.kernel.batch import Batcher
from admitone.kernel.breaker import Breakers
from admitone.kernel.db import Database
from admitone.kernel.ids import PLATFORM_ORGANIZATION, OrganizationId
from admitone.kernel.jobs import Desk
from admitone.kernel.outbound import Outbound
from admitone.kernel.scope import Caller, Scope
from admitone.kernel.telemetry import Metrics


def reconcile(
    organization: Only = None,
    since: Annotated[datetime | None, typer.Option(help="What moved from this instant (UTC) on; else all.")] = None,
    data: Data = None,
) -> None:
    """Compare the ledger with what payment providers moved, and keep what differs."""
    only = OrganizationId.parse(organization) if organization else None
    instant = since.replace(tzinfo=UTC) if since else None
    made = on_database(data, lambda database: _reconcile(database, data, only, instant))
    if any(run.open_issues for run in made):
        raise typer.Exit(1)
    if any(run.state is RunState.UNTOLD for run in made):
        raise typer.Exit(2)


async def _reconcile(
    database: Database, data: Path | None, only: OrganizationId | None, since: datetime | None
) -> list[Run]:
    batcher, metrics = Batcher(database), Metrics()
    made: list[Run] = []
    async with Outbound(Breakers(batcher, metrics), metrics) as outbound:
        with GATEWAYS.wired(Gateways(gateways_of(config_of(data), outbound))):
            reconciler = Reconciler(Desk(database, batcher))
            async for own in _whose(database, only):
                transfers = await database.read(Scope(own, "count transfers"), count_transfers)
                with _progress(own, transfers) as tell:
                    run = await reconciler.reconcile(own, Beginning(Caller(), RunId.new(), since), tell)
                _say(own, run)
                made.append(run)
    await batcher.drain()
    return made


async def _whose(database: Database, only: OrganizationId | None) -> AsyncIterator[OrganizationId]:
    """The platform's own books, and everybody's."""
    if only is None:
        yield PLATFORM_ORGANIZATION
    async for own in organizations_of(database, only):
        yield own


@contextmanager
def _progress(organization: OrganizationId, transfers: int) -> Iterator[Callable[[int], None]]:
    """Rows of either side; the provider has about as many as we do, until it is known better."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed} rows"))
    with Progress(*columns, TimeElapsedColumn()) as bar:
        expected = 2 * transfers
        task = bar.add_task(str(organization), total=expected or None)
        seen = 0

        def tell(more: int) -> None:
            nonlocal seen
            seen += more
            bar.update(task, completed=seen, total=max(expected, seen) or None)

        yield tell


def _say(organization: OrganizationId, run: Run) -> None:
    counts = ", ".join(f"{name} {count}" for name, count in run.counts.items() if count)
    typer.echo(f"{organization} {run.state}: {run.reason or counts or 'nothing moved'}")
    for each in run.open_issues:
        typer.echo(
            f"  {each.difference}: {each.issues} open, {each.apart_minor} {each.currency} apart, the oldest of"
            f" {each.oldest_at:%F %T} UTC",
            err=True,
        )

"""`admitone proof` and `admitone sales`: recompute the books and say whether they prove; make the sales anew.

Promise: `proof` ends with status 0 only if every check of every organisation that was asked for is green, 1 if one is
red, and 2 if one could not be made. It keeps the verdicts, as the nightly run does.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final
from uuid import UUID

import typer
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from admitone.entrypoints.asking import Data, config_of, on_database
from admitone.entrypoints.bulk_cli import follow, start_kind
from admitone.finance.gateways.port import GATEWAYS, Gateways, gateways_of
from admitone.finance.proof.api import ACROSS, Check, Finding, Prover, Verdict
from admitone.kernel.batch import Batcher
from admitone.kernel.breaker import Breakers
from admitone.kernel.bulk import Status
from admitone.kernel.bulk.store import list_organizations
from admitone.kernel.db import Database
from admitone.kernel.ids import OrganizationId
from admitone.kernel.jobs import Desk
from admitone.kernel.outbound import Outbound
from admitone.kernel.scope import Caller
from admitone.kernel.telemetry import Metrics

PAGE: Final = 500

sales_app = typer.Typer(help="Sales: made anew from payments and the ledger.", no_args_is_help=True)

Only = Annotated[str | None, typer.Option(help="Only of this one (org_…); else of every one.")]


def proof(organization: Only = None, data: Data = None) -> None:
    """Recompute the books, and say what differs."""
    only = OrganizationId.parse(organization) if organization else None
    verdicts = on_database(data, lambda database: _prove(database, data, only))
    if Verdict.RED in verdicts:
        raise typer.Exit(1)
    if Verdict.UNKNOWN in verdicts:
        raise typer.Exit(2)


async def _prove(database: Database, data: Path | None, only: OrganizationId | None) -> set[Verdict]:
    batcher, metrics = Batcher(database), Metrics()
    verdicts: set[Verdict] = set()
    async with Outbound(Breakers(batcher, metrics), metrics) as outbound:
        with GATEWAYS.wired(Gateways(gateways_of(config_of(data), outbound))):
            prover = Prover.at(Desk(database, batcher))
            async for organization in organizations_of(database, only):
                with _progress(organization) as tell:
                    findings = await prover.prove(organization, Caller(), tell)
                for finding in findings:
                    _say(finding)
                    verdicts.add(finding.verdict)
    await batcher.drain()
    return verdicts


async def organizations_of(database: Database, only: OrganizationId | None) -> AsyncIterator[OrganizationId]:
    if only is not None:
        yield only
        return
    after = UUID(int=0)
    while page := await database.read(ACROSS, list_organizations, after, PAGE):
        for organization in page:
            yield organization
        after = page[-1].uuid


@contextmanager
def _progress(organization: OrganizationId) -> Iterator[Callable[[Check, int], None]]:
    """Which check, and how many rows it has seen."""
    seen: dict[Check, int] = {}
    with Progress(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()) as bar:
        task = bar.add_task(str(organization), total=None)

        def tell(check: Check, more: int) -> None:
            seen[check] = seen.get(check, 0) + more
            bar.update(task, description=f"{organization} {check}: {seen[check]} rows")

        yield tell


def _say(finding: Finding) -> None:
    counts = ", ".join(f"{name} {count}" for name, count in finding.figures.counts.items())
    typer.echo(f"{finding.verdict:<8} {finding.check:<14} {finding.figures.reason or counts}")
    for each in finding.figures.differences:
        typer.echo(f"  {each.word}: {each.where}: found {each.found}, expected {each.expected}", err=True)


@sales_app.command()
def rebuild(
    organization: Only = None,
    key: Annotated[
        str | None, typer.Option(help="Under which it is begun only once; of this minute, unless said.")
    ] = None,
    data: Data = None,
) -> None:
    """Make all sales anew; a worker does it, and it goes on where it was cut off."""
    name = key or f"{datetime.now(UTC):%Y-%m-%dT%H:%MZ}"

    async def run(database: Database) -> Status:
        begun = await start_kind(database, "sales.rebuild", "{}", name, organization)
        return (await follow(database, str(begun.id))).status

    if on_database(data, run) is not Status.DONE:
        raise typer.Exit(1)

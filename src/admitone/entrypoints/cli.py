"""The command `admitone`.

Promise: what goes wrong for a reason that a person can mend is one clear sentence on standard error and status 1,
never a stack trace. Settings come from the environment and the root `.env` file (`kernel.config`); options win.
"""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated

import typer

from admitone.entrypoints.asking import Data, Misunderstood, config_of
from admitone.entrypoints.bulk_cli import app as bulk_app
from admitone.entrypoints.dlq import app as dlq_app
from admitone.entrypoints.dlq import replay_facts
from admitone.entrypoints.fees_cli import app as fees_app
from admitone.entrypoints.http import NoDatabase, build
from admitone.entrypoints.ledger_cli import app as ledger_app
from admitone.entrypoints.payouts_cli import app as payouts_app
from admitone.entrypoints.people_cli import organization_app, person_app, seed
from admitone.entrypoints.proof_cli import proof, sales_app
from admitone.entrypoints.reconcile_cli import reconcile
from admitone.entrypoints.run import run as run_everything
from admitone.entrypoints.sandbox import sandbox
from admitone.entrypoints.serve import PortTaken
from admitone.entrypoints.serve import serve as serve_api
from admitone.entrypoints.webhooks_cli import app as webhooks_app
from admitone.entrypoints.worker import build as build_worker
from admitone.entrypoints.worker import work
from admitone.kernel.config import ROOT, Config, ConfigurationProblem
from admitone.kernel.driver import DatabaseUnavailable
from admitone.kernel.embedded import SUPERUSER, Cluster, EmbeddedProblem, find_server
from admitone.kernel.ids import InvalidId
from admitone.kernel.migrate import MigrationProblem, migrate, schema_of
from admitone.kernel.ports import Unwired

SCHEMA = ROOT / "schema.sql"

PROBLEMS = (
    ConfigurationProblem,
    DatabaseUnavailable,
    EmbeddedProblem,
    InvalidId,
    MigrationProblem,
    Misunderstood,
    NoDatabase,
    PortTaken,
    Unwired,
)
"""What a person can mend."""

app = typer.Typer(help="Admit One sells access and accounts for every cent.", pretty_exceptions_enable=False)
app.add_typer(bulk_app, name="bulk")

Port = Annotated[int | None, typer.Option(help="The port to listen on (default 8000).", min=1, max=65535)]


def main() -> None:
    try:
        app()
    except PROBLEMS as problem:
        print(problem, file=sys.stderr)
        raise SystemExit(1) from None


@app.command()
def run(port: Port = None, data: Data = None) -> None:
    """Run everything on this machine: the database, its migrations, the API, a worker and a sandbox, until Ctrl-C."""
    raise SystemExit(run_everything(config_of(data, port)))


@app.command()
def serve(
    port: Port = None,
    data: Data = None,
    beside: Annotated[bool, typer.Option("--beside", help="Share the port with others that run already.")] = False,
) -> None:
    """Serve the API on a database that already runs; once for each processor, beside each other."""
    config = config_of(data, port)
    serve_api(build(config), config.host, config.port, beside=beside)


@app.command()
def worker(data: Data = None) -> None:
    """Relay facts, fire schedules and run jobs on a database that already runs."""
    work(build_worker(config_of(data)))


app.command()(sandbox)
app.add_typer(dlq_app, name="dlq")
app.add_typer(ledger_app, name="ledger")
app.add_typer(fees_app, name="fees")
app.add_typer(webhooks_app, name="webhooks")
app.add_typer(person_app, name="person")
app.add_typer(organization_app, name="organization")
app.add_typer(sales_app, name="sales")
app.add_typer(payouts_app, name="payouts")
app.command("proof")(proof)
app.command("reconcile")(reconcile)
app.command("seed")(seed)


@app.command()
def replay(
    subscriber: Annotated[str, typer.Argument(help="As the job is called, such as crm.count_visit.")],
    since: Annotated[datetime, typer.Option(help="From this instant (UTC) on.")],
    until: Annotated[datetime | None, typer.Option(help="Before this instant (UTC); now, unless said.")] = None,
    organization: Annotated[str | None, typer.Option(help="Only of this organisation.")] = None,
    again: Annotated[str | None, typer.Option(help="Also what it heard before, once under this name.")] = None,
    data: Data = None,
) -> None:
    """Tell a range of facts to one subscriber: those that it has not heard."""
    replay_facts(data, subscriber, since, until, organization, again)


@app.command("migrate")
def migrate_database(data: Data = None) -> None:
    """Apply the migrations that the database lacks."""
    config = config_of(data)
    with _direct_url(config) as url:
        applied = asyncio.run(migrate(url, runtime_login=config.runtime_login))
    for migration in applied:
        print(f"Applied {migration.file}: {migration.why}")
    if not applied:
        print("The database is up to date.")


@app.command()
def schema(check: Annotated[bool, typer.Option(help="Only say whether the file is up to date.")] = False) -> None:
    """Write the schema that the migrations make to schema.sql."""
    with Cluster.temporary() as cluster:
        asyncio.run(migrate(cluster.url(user=SUPERUSER)))
        made = schema_of(cluster.url(user=SUPERUSER))
    if not check:
        SCHEMA.write_text(made)
    elif not SCHEMA.exists() or SCHEMA.read_text() != made:
        raise MigrationProblem("schema.sql is not what the migrations make. Run `admitone schema` and commit it.")


@contextmanager
def _direct_url(config: Config) -> Iterator[str]:
    """The server that is named, or ours: the one that already runs, else one for as long as it takes."""
    if config.direct_url is not None:
        yield config.direct_url
    elif server := find_server(config.home):
        yield server.url(user=SUPERUSER)
    else:
        with Cluster(config.home) as cluster:
            yield cluster.url(user=SUPERUSER)


if __name__ == "__main__":
    main()

"""`admitone bulk`: what bulk work there is, how far it is, and what an operator can do about it.

Promise: `watch` follows a piece of work until it is over and ends with status 0 only if it was done. What is refused
is one sentence on standard error and status 1.
"""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, NoReturn, TypeVar
from uuid import UUID

import msgspec
import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from admitone.entrypoints.asking import Data, on_database
from admitone.kernel.bulk import Bulk, BulkId, BulkKind, BulkKindUnknown, BulkNotFound, Status, store
from admitone.kernel.bulk import cancel as cancel_bulk
from admitone.kernel.bulk import resume as resume_bulk
from admitone.kernel.bulk import start as start_bulk
from admitone.kernel.bulk.everywhere import EVERYWHERE, HOME, RELAY, start_everywhere
from admitone.kernel.bulk.routes import WATCH
from admitone.kernel.db import Database, Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import OrganizationId, from_text
from admitone.kernel.scope import Caller, Scope

Result = TypeVar("Result")

app = typer.Typer(help="Bulk work: see how far it is, start it, cancel it, resume it.", no_args_is_help=True)

Which = Annotated[str, typer.Argument(metavar="ID", help="Looks like blk_0198c9a4…")]
Reason = Annotated[str, typer.Option(help="Why, for the audit trail: at most 100 characters.")]

LATEST = 50
POLL_SECONDS = 0.5
LONGEST_REASON = 100


@app.command("list")
def list_latest(data: Data = None) -> None:
    """The latest pieces of bulk work, without the parts of work for every organisation."""
    for bulk in _ask(lambda database: database.read(WATCH, store.list_latest, LATEST), data):
        far = f"{bulk.done}/{_or_unknown(bulk.total)}"
        typer.echo(f"{bulk.id}  {bulk.started_at:%F %T}  {bulk.status:<9}  {far:>15}  {bulk.kind} {bulk.key}")


@app.command()
def show(which: Which, data: Data = None) -> None:
    """Everything about one piece of bulk work."""
    _tell(_ask(lambda database: _find(database, which), data))


@app.command()
def watch(which: Which, data: Data = None) -> None:
    """Follow it until it is over; status 0 if it was done, 1 if it failed or was cancelled."""
    over = _ask(lambda database: follow(database, which), data)
    if over.status is not Status.DONE:
        _give_up(f"{over.id} ended as {over.status}" + (f": {over.error}" if over.error else "."))


@app.command()
def start(
    kind: Annotated[str, typer.Argument(help="The kind of bulk work, such as crm.recount.")],
    key: Annotated[str, typer.Option(help="Under which it is started only once.")],
    request: Annotated[str, typer.Option(help="What it takes, as JSON.")] = "{}",
    organization: Annotated[str | None, typer.Option(help="Only in this one (org_…); else in every one.")] = None,
    data: Data = None,
) -> None:
    """Start bulk work in every organisation, or in one."""

    _tell(_ask(lambda database: start_kind(database, kind, request, key, organization), data))


async def start_kind(database: Database, kind: str, request: str, key: str, organization: str | None) -> Bulk:
    chosen = BulkKind.named(kind)
    if chosen is EVERYWHERE:  # It leads the others, and has no work of its own.
        raise BulkKindUnknown(kind=kind)
    asked = msgspec.json.decode(request, type=chosen.takes, dec_hook=from_text)
    if organization is None:
        return await database.run(HOME, lambda tx: start_everywhere(tx, chosen, asked, Caller(), key=key))
    scope = Scope(await _existing(database, organization), "start bulk work")
    return await database.run(scope, lambda tx: start_bulk(tx, chosen, asked, Caller(), key=key))


@app.command()
def cancel(which: Which, reason: Reason, data: Data = None) -> None:
    """Let no further step follow."""
    _tell(_ask(lambda database: _change(database, which, reason, cancel_bulk), data))


@app.command()
def resume(which: Which, reason: Reason, data: Data = None) -> None:
    """Let work that failed go on from where it was."""
    _tell(_ask(lambda database: _change(database, which, reason, resume_bulk), data))


async def follow(database: Database, which: str) -> Bulk:
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn()) as bar:
        task = bar.add_task(which, total=None)
        while True:
            bulk = await _find(database, which)
            bar.update(task, description=f"{bulk.kind} {bulk.status}", completed=bulk.done, total=bulk.total)
            if not bulk.status.is_open:
                return bulk
            await asyncio.sleep(POLL_SECONDS)


async def _find(database: Database, which: str) -> Bulk:
    found = await database.read(WATCH, store.find_anywhere, BulkId.parse(which))
    if found is None:
        raise BulkNotFound
    return found


async def _existing(database: Database, organization: str) -> OrganizationId:
    wanted = OrganizationId.parse(organization)
    just_before = UUID(int=max(0, wanted.uuid.int - 1))
    if await database.read(RELAY, store.list_organizations, just_before, 1) != [wanted]:
        _give_up("There is no such organisation.")
    return wanted


async def _change(
    database: Database, which: str, reason: str, change: Callable[[Tx, BulkId, Caller, str], Awaitable[Bulk]]
) -> Bulk:
    if not 1 <= len(reason) <= LONGEST_REASON:
        _give_up(f"A reason has 1 to {LONGEST_REASON} characters.")
    found = await _find(database, which)
    scope = Scope(OrganizationId(found.organization_id), "change bulk work")
    return await database.run(scope, lambda tx: change(tx, found.id, Caller(), reason))


def _ask(work: Callable[[Database], Awaitable[Result]], data: Path | None) -> Result:
    try:
        return on_database(data, work)
    except Refusal as refusal:
        _give_up(" ".join(filter(None, (refusal.message(), refusal.next_step))))
    except msgspec.DecodeError as unreadable:
        _give_up(f"The request is not what this kind takes: {unreadable}")


def _tell(bulk: Bulk) -> None:
    for name in ("id", "kind", "key", "status", "steps", "done", "total", "percentage", "cursor", "request", "error"):
        typer.echo(f"{name:<15} {_or_unknown(getattr(bulk, name))}")
    for name in ("started_at", "updated_at", "finished_at", "requested_by", "correlation_id"):
        typer.echo(f"{name:<15} {_or_unknown(getattr(bulk, name))}")


def _or_unknown(value: object) -> str:
    return "-" if value is None else str(value)


def _give_up(sentence: str) -> NoReturn:
    typer.echo(sentence, err=True)
    raise typer.Exit(1)

"""`admitone dlq` and `admitone replay`: dead letters, and facts for a subscriber that missed them.

Promise: what is shown is what the database says; what is replayed names who and why; a replay that was cut off is
run again and does the rest.
"""

import getpass
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from admitone.entrypoints.asking import Data, Misunderstood, on_database
from admitone.entrypoints.duties import subscriptions_of
from admitone.entrypoints.modules import MODULES
from admitone.kernel.batch import Batcher
from admitone.kernel.bulk.store import list_organizations
from admitone.kernel.db import Database, Record
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import PLATFORM_ORGANIZATION, OrganizationId
from admitone.kernel.jobs import dead
from admitone.kernel.jobs.dead import DeadLetterId, DeadLetterNotFound, Replay, Replayed
from admitone.kernel.jobs.relay import Retelling, Subscriptions, retell
from admitone.kernel.scope import Caller, Scope

PAGE = 100
OfKind = Annotated[str | None, typer.Option("--kind", help="Only of this kind.")]

app = typer.Typer(help="Dead letters: jobs that will not run again unless you say so.", no_args_is_help=True)
console = Console(markup=False)


@app.command("list")
def list_letters(
    kind: OfKind = None, most: Annotated[int, typer.Option(min=1, max=10_000)] = 50, data: Data = None
) -> None:
    """Those that nobody has replayed, oldest first."""
    show_table(on_database(data, partial(find_letters, kind=kind, most=most)))


@app.command()
def show(letter: str, data: Data = None) -> None:
    """One of them with its whole story."""
    try:
        story = on_database(data, lambda database: database.read(dead.SCOPE, dead.tell, DeadLetterId.parse(letter)))
    except DeadLetterNotFound as unknown:
        raise Misunderstood(str(unknown)) from None
    show_story(story)


@app.command()
def replay(
    letters: Annotated[list[str] | None, typer.Argument()] = None,
    reason: Annotated[str, typer.Option(help="Why; it is kept.")] = ...,  # type: ignore[assignment]
    kind: OfKind = None,
    by: Annotated[str | None, typer.Option(help="Who; the login, unless said.")] = None,
    most: Annotated[int, typer.Option(min=1, max=10_000)] = 1_000,
    data: Data = None,
) -> None:
    """Run them again: those that are named, or all of a kind."""
    if bool(letters) == bool(kind):
        raise Misunderstood("Name the dead letters to replay, or a --kind.")
    ids = [DeadLetterId.parse(letter) for letter in letters or ()]
    chosen = on_database(data, partial(run_again, ids=ids, kind=kind, most=most, by=by, reason=reason))
    for letter, outcome in chosen:
        console.print(f"{letter}  {outcome.code if isinstance(outcome, Refusal) else outcome.job}")
    if any(isinstance(outcome, Refusal) for _, outcome in chosen):
        raise typer.Exit(1)


async def find_letters(database: Database, kind: str | None, most: int) -> list[Record]:
    return await database.read(dead.SCOPE, dead.list_dead, None, kind, None, most)


async def run_again(
    database: Database, ids: list[DeadLetterId], kind: str | None, most: int, by: str | None, reason: str
) -> list[tuple[DeadLetterId, Replayed | Refusal]]:
    ids = ids or [DeadLetterId(row["id"]) for row in await find_letters(database, kind, most)]
    batcher = Batcher(database)

    async def submit(scope: Scope, each: Replay) -> Replayed:
        return (await batcher.submit(dead.replay, scope, each)).outcome

    letters = await database.read(dead.SCOPE, dead.find_dead, ids)
    caller, who = Caller(), by or getpass.getuser()
    outcomes = await dead.replay_each(submit, letters, [Replay(caller, each, who, reason) for each in ids])
    return list(zip(ids, outcomes, strict=True))


def show_table(letters: list[Record]) -> None:
    table = Table("id", "kind", "organisation", "died", "reason", "tried", "error")
    for row in letters:
        table.add_row(
            str(DeadLetterId(row["id"])),
            row["kind"],
            str(OrganizationId(row["organization_id"])),
            f"{row['died_at']:%Y-%m-%d %H:%M:%S}",
            row["reason"],
            str(row["attempts"]),
            row["error"][:100],
        )
    console.print(table if letters else "No dead letters.")


def show_story(story: dead.Story) -> None:
    letter = story.letter
    console.print(f"{letter['kind']}  {letter['key']}", style="bold")
    for name in ("organization_id", "correlation_id", "created_at", "died_at", "reason", "attempts", "crashes"):
        console.print(f"  {name:16} {letter[name]}")
    console.print(f"  {'payload':16} {letter['payload']}")
    if story.fact:
        console.print(f"  {'fact':16} {story.fact['type']} {story.fact['id']} {story.fact['payload']}")
    for attempt in story.attempts:
        console.print(f"  {attempt['at']:%Y-%m-%d %H:%M:%S}  attempt {attempt['number']}: {attempt['error']}")
    if letter["replayed_at"]:
        console.print(f"  replayed {letter['replayed_at']} by {letter['replayed_by']}: {letter['replay_reason']}")


# -- Facts, told again


def replay_facts(
    data: Path | None,
    subscriber: str,
    since: datetime,
    until: datetime | None,
    organization: str | None,
    again: str | None,
) -> None:
    """With a bar that shows how many organisations have been gone through."""
    subscriptions = subscriptions_of(MODULES)
    subscription = subscriptions.named(subscriber)
    if subscription is None:
        raise Misunderstood(f"There is no subscriber {subscriber}; there are: {names_of(subscriptions)}.")
    retelling = Retelling(subscription, _utc(since), _utc(until) if until else datetime.now(UTC), again)
    only = OrganizationId.parse(organization) if organization else None
    with Progress(console=console) as progress:
        bar = progress.add_task("organisations", total=1 if only else None)
        told = on_database(
            data, partial(retell_all, retelling=retelling, only=only, advance=lambda: progress.advance(bar))
        )
    console.print(f"{told} facts will be told to {subscriber}.")


async def retell_all(
    database: Database, retelling: Retelling, only: OrganizationId | None, advance: Callable[[], None]
) -> int:
    told, page = 0, [only or PLATFORM_ORGANIZATION]
    while page:
        for organization in page:
            told += await _retell_one(database, retelling, organization)
            advance()
        # The platform's own has the smallest id of all, and the others follow it.
        page = [] if only else await database.read(dead.SCOPE, list_organizations, page[-1].uuid, PAGE)
    return told


async def _retell_one(database: Database, retelling: Retelling, organization: OrganizationId) -> int:
    told, after, more = 0, None, True
    while more:
        fresh, after = await database.run(
            Scope(organization, "tell facts again"), partial(retell, retelling=retelling, after=after)
        )
        told, more = told + fresh, after is not None
    return told


def names_of(subscriptions: Subscriptions) -> str:
    every = sorted({each.kind.name for some in subscriptions.by_fact.values() for each in some})
    return ", ".join(every) or "none"


def _utc(instant: datetime) -> datetime:
    return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant

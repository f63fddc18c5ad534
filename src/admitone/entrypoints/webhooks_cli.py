"""`admitone webhooks`: what providers told us, and looking at it again.

Promise: what is shown is what the database says, and nothing of what an event said; a replay names who and why, and
runs once.
"""

import getpass
from functools import partial
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from admitone.entrypoints.asking import Data, Misunderstood, on_database
from admitone.finance.webhooks.api import (
    PLATFORM,
    ReceiptId,
    ReceiptState,
    Replay,
    Replayed,
    list_receipts,
    replay_each,
)
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database, Record
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Caller

InState = Annotated[ReceiptState | None, typer.Option("--state", case_sensitive=False, help="Only in this state.")]
Most = Annotated[int, typer.Option(min=1, max=10_000)]

app = typer.Typer(help="What payment providers told us.", no_args_is_help=True)
console = Console(markup=False)


@app.command("list")
def list_events(state: InState = ReceiptState.ORG_UNRESOLVED, most: Most = 50, data: Data = None) -> None:
    """Oldest first."""
    wanted = state or ReceiptState.ORG_UNRESOLVED
    show_table(on_database(data, partial(find_events, state=wanted, most=most)))


@app.command()
def replay(
    receipts: Annotated[list[str] | None, typer.Argument()] = None,
    reason: Annotated[str, typer.Option(help="Why; it is kept.")] = ...,  # type: ignore[assignment]
    state: InState = None,
    by: Annotated[str | None, typer.Option(help="Who; the login, unless said.")] = None,
    most: Most = 1_000,
    data: Data = None,
) -> None:
    """Look at them again: those that are named, or all in a state."""
    if bool(receipts) == bool(state):
        raise Misunderstood("Name the receipts to look at again, or a --state.")
    ids = [ReceiptId.parse(each) for each in receipts or ()]
    chosen = on_database(data, partial(look_again, ids=ids, state=state, most=most, by=by, reason=reason))
    for receipt, outcome in chosen:
        console.print(f"{receipt}  {outcome.code if isinstance(outcome, Refusal) else 'looked at again'}")
    if any(isinstance(outcome, Refusal) for _, outcome in chosen):
        raise typer.Exit(1)


async def find_events(database: Database, state: ReceiptState, most: int) -> list[Record]:
    return await database.read(PLATFORM, list_receipts, state, None, most)


async def look_again(
    database: Database, ids: list[ReceiptId], state: ReceiptState | None, most: int, by: str | None, reason: str
) -> list[tuple[ReceiptId, Replayed | Refusal]]:
    if state is not None:
        ids = [ReceiptId(row["id"]) for row in await find_events(database, state, most)]
    batcher = Batcher(database)

    async def submit(command: Any, scope: Any, each: Any) -> Any:
        return (await batcher.submit(command, scope, each)).outcome

    caller, who = Caller(), by or getpass.getuser()
    outcomes = await replay_each(submit, database.read, [Replay(caller, each, who, reason) for each in ids])
    return list(zip(ids, outcomes, strict=True))


def show_table(receipts: list[Record]) -> None:
    table = Table("id", "event", "type", "account", "state", "organisation", "received", "reason")
    for row in receipts:
        table.add_row(
            str(ReceiptId(row["id"])),
            f"{row['source']}:{row['external_id']}",
            row["type"],
            row["account"] or "",
            row["state"],
            str(OrganizationId(row["organization_id"])) if row["organization_id"] else "",
            f"{row['received_at']:%Y-%m-%d %H:%M:%S}",
            (row["reason"] or "")[:100],
        )
    console.print(table if receipts else "No receipts.")

"""`admitone ledger`: one organisation's books, to take away, to look at, and to check.

Promise: `export` writes every line up to the last seal to its file, or leaves none; `verify` ends with status 0 only if
every transfer is what was sealed, and every one that is not sealed is about to be.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Final
from uuid import UUID

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from admitone.entrypoints.asking import Data, on_database
from admitone.finance.ledger.api import (
    BEGINNING,
    Account,
    Fault,
    Form,
    Holding,
    Transfer,
    balances,
    count_transfers,
    export_end,
    export_page,
    headings,
    statement,
    verify_chain,
    verify_tail,
)
from admitone.kernel.db import Database
from admitone.kernel.ids import OrganizationId
from admitone.kernel.money import Money
from admitone.kernel.scope import Scope

FIRST: Final = UUID(int=0)

app = typer.Typer(help="The ledger of an organisation: exported, shown, and checked.", no_args_is_help=True)

Whose = Annotated[str, typer.Option(help="Whose books: org_…")]


@app.command()
def export(
    organization: Whose,
    form: Annotated[Form, typer.Option(help="Signed entries, or a journal of debits and credits.")],
    out: Annotated[Path, typer.Option(help="Where the CSV goes.", dir_okay=False)],
    data: Data = None,
) -> None:
    """Write the ledger to a file, up to its last seal."""
    scope = Scope(OrganizationId.parse(organization), "export the ledger")
    lines = on_database(data, lambda database: _write(database, scope, form, out))
    typer.echo(f"{lines} transfers are in {out}.")


@app.command("statement")
def show_statement(
    organization: Whose,
    account: Annotated[Account, typer.Option(help="Which account.")],
    currency: Annotated[str, typer.Option(help="In which currency.")] = "EUR",
    payee: Annotated[UUID | None, typer.Option(help="Whose money; the organisation's own, unless said.")] = None,
    limit: Annotated[int, typer.Option(help="How many lines.", min=1, max=1000)] = 50,
    data: Data = None,
) -> None:
    """What went through an account, the newest first, and what stands there."""
    own = OrganizationId.parse(organization)
    scope, holding = Scope(own, "show a statement"), Holding(account, payee or own.uuid, currency)

    async def ask(database: Database) -> tuple[list[Transfer], Money]:
        lines = await database.read(scope, partial(statement, holding=holding, limit=limit))
        found = await database.read(scope, balances, [account], holding.payee)
        minor = next((each.minor for each in found if each.holding == holding), 0)
        return lines, Money(minor, currency)

    lines, stands = on_database(data, ask)
    for line in lines:
        side = "debit" if line.debit_account is account else "credit"
        amount = Money(line.amount_minor, currency)
        typer.echo(f"{line.posted_at:%F %T}  {side:<6}  {amount!s:>18}  {line.entry_type:<32}  {line.causation_id}")
    typer.echo(f"{account} stands at {stands}.")


@app.command()
def verify(organization: Whose, data: Data = None) -> None:
    """Check every transfer against the seals; status 1 if anything is not as it was sealed."""
    scope = Scope(OrganizationId.parse(organization), "verify the ledger")
    faults = on_database(data, lambda database: _verify(database, scope))
    for fault in faults:
        under = f" under seal {fault.seal}" if fault.seal else ""
        typer.echo(f"{fault.kind}{under}{f': {fault.transfer}' if fault.transfer else ''}", err=True)
    if faults:
        raise typer.Exit(1)


async def _write(database: Database, scope: Scope, form: Form, out: Path) -> int:
    beside, done, after = out.with_name(f"{out.name}.part"), 0, BEGINNING
    end = await database.read(scope, export_end)
    try:
        with beside.open("w", encoding="utf-8", newline="") as file, _progress(form, end.transfers) as bar:
            file.write(headings(form))
            while (page := await database.read(scope, export_page, form, after, end.number)).transfers:
                file.write(page.text)
                done, after = done + page.transfers, page.last
                bar(done)
        beside.replace(out)
    finally:
        beside.unlink(missing_ok=True)
    return done


async def _verify(database: Database, scope: Scope) -> list[Fault]:
    faults: list[Fault] = []
    total, done, last, after, unsealed = await database.read(scope, count_transfers), 0, 0, FIRST, 0
    with _progress("seals", total) as bar:
        while (chain := await database.read(scope, verify_chain, last)).seals:
            faults += chain.faults
            done, last = done + chain.transfers, chain.last
            bar(done)
    typer.echo(f"{last} seals over {done} transfers; the last is {chain.head.hex()}.")
    done = 0
    with _progress("transfers", total) as bar:
        while (tail := await database.read(scope, verify_tail, after)).looked_at:
            faults += tail.faults
            done, after, unsealed = done + tail.looked_at, tail.last, unsealed + len(tail.unsealed)
            bar(done)
    typer.echo(f"{done} transfers, of which {unsealed} are not sealed yet; {len(faults)} faults.")
    return faults


@contextmanager
def _progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn()) as shown:
        task = shown.add_task(what, total=total)
        yield lambda done: shown.update(task, completed=done)

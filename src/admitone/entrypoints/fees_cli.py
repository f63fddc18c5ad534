"""`admitone fees`: what the platform takes, as an operator sets it, of everybody or of one organisation."""

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich.console import Console
from rich.table import Table

from admitone.entrypoints.asking import Data, Misunderstood, on_database
from admitone.finance.pricing.api import (
    NEWEST,
    FeeBase,
    FeeMode,
    Policy,
    PolicyChange,
    Target,
    Terms,
    list_policies,
    set_policies,
)
from admitone.finance.sources.api import SourceType
from admitone.kernel.db import Database
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import PLATFORM_ORGANIZATION, OrganizationId
from admitone.kernel.scope import Caller, Scope

Result = TypeVar("Result")
MOST = 100

app = typer.Typer(help="Fees: what the platform takes of a sale, in versions that never change.", no_args_is_help=True)
console = Console(markup=False)

Of = Annotated[str | None, typer.Option("--organization", help="Its id (org_…); everybody's, unless said.")]
Type = Annotated[SourceType | None, typer.Option("--type", help="Only of this type of source.")]
OfSource = Annotated[str | None, typer.Option("--source", help="Only of this source of the type.")]
In = Annotated[str | None, typer.Option("--currency", help="Only in this currency; amounts need one.")]
Why = Annotated[str, typer.Option("--reason", help="Why, for the trail, as in CONTRACT_RENEWED.")]
Amount = Annotated[int | None, typer.Option(min=0, help="In minor units.")]


@app.command("set")
def set_fee(
    bps: Annotated[int, typer.Option(min=0, max=10_000, help="The share, in hundredths of a percent.")],
    reason: Why,
    fixed: Annotated[int, typer.Option(min=0, help="On top of the share, in minor units.")] = 0,
    least: Amount = None,
    most: Amount = None,
    mode: Annotated[FeeMode, typer.Option(help="Who pays it and sees it.")] = FeeMode.INCLUDED,
    base: Annotated[FeeBase, typer.Option(help="Of what it is a share.")] = FeeBase.SUBTOTAL,
    absorbed_allowed: Annotated[bool, typer.Option(help="Organisations may hide it from buyers.")] = False,
    organization: Of = None,
    source_type: Type = None,
    source: OfSource = None,
    currency: In = None,
    data: Data = None,
) -> None:
    """Set a fee. What was priced before keeps its own."""
    if source_type and not organization:
        print(
            f"This comes before what an organisation has for everything: only a rule of its own for {source_type}"
            " is stronger.",
            file=sys.stderr,
        )
    terms = Terms(bps, fixed, least, most, mode, base, absorbed_allowed)
    _change(data, organization, PolicyChange(Caller(), Target(source_type, source, currency), terms, reason))


@app.command()
def retire(
    reason: Why,
    organization: Of = None,
    source_type: Type = None,
    source: OfSource = None,
    currency: In = None,
    data: Data = None,
) -> None:
    """Take a rule away: the next weaker one holds from now on."""
    _change(data, organization, PolicyChange(Caller(), Target(source_type, source, currency), None, reason))


@app.command()
def show(organization: Of = None, data: Data = None) -> None:
    """The newest versions, retired ones too, newest first."""
    scope = _scope(organization)

    async def look(database: Database) -> list[Policy]:
        return await database.read(scope, list_policies, NEWEST, MOST)

    table = Table(
        "version", "id", "type", "source", "currency", "share", "fixed", "min", "max", "mode", "base", "since"
    )
    for each in _done(data, look):
        target, terms = each.target, each.terms
        words = [each.version, each.id, target.source_type, target.source_id, target.currency, terms.fee_bps]
        words += [terms.fee_fixed_minor, terms.min_minor, terms.max_minor]
        words += ["retired" if each.retired else terms.fee_mode, terms.base, f"{each.created_at:%Y-%m-%d %H:%M}"]
        table.add_row(*("" if word is None else str(word) for word in words))
    console.print(table)


def _change(data: Path | None, organization: str | None, change: PolicyChange) -> None:
    scope = _scope(organization)

    async def work(database: Database) -> Policy:
        [outcome] = await database.run(scope, lambda tx: set_policies(tx, [change]))
        if isinstance(outcome, Refusal):
            raise outcome
        return outcome

    policy = _done(data, work)
    print(f"{policy.id} is version {policy.version}.")


def _scope(organization: str | None) -> Scope:
    return Scope(OrganizationId.parse(organization) if organization else PLATFORM_ORGANIZATION, "operator")


def _done(data: Path | None, work: Callable[[Database], Awaitable[Result]]) -> Result:
    try:
        return on_database(data, work)
    except Refusal as refusal:
        said = ", ".join(f"{name}: {value}" for name, value in refusal.stated().items())
        raise Misunderstood(" ".join(filter(None, (refusal.message(), said, refusal.next_step)))) from None

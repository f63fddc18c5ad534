"""`admitone payouts`: what a batch would pay, to pay it, and what was paid.

Promise: `plan` changes nothing and shows everything that applying it would do; `run --plan` does exactly that or says
that it was overtaken. What is refused is one sentence on standard error and status 1.
"""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, time
from pathlib import Path
from typing import Annotated, TypeVar
from uuid import UUID

import typer
from rich.console import Console
from rich.table import Table

from admitone.entrypoints.asking import Data, Misunderstood, config_of, on_database
from admitone.finance.gateways.port import GATEWAYS, Gateways, gateways_of
from admitone.finance.payouts.api import (
    BATCH,
    BatchRequest,
    Payout,
    PayoutState,
    PlannedPayout,
    begin_everywhere,
    list_payouts,
)
from admitone.kernel import plans
from admitone.kernel.batch import Batcher
from admitone.kernel.breaker import Breakers
from admitone.kernel.db import Database
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import OrganizationId
from admitone.kernel.jobs import Desk
from admitone.kernel.outbound import Outbound
from admitone.kernel.plans import Applied, Draft, Order, Plan, PlanId
from admitone.kernel.scope import Caller, Scope
from admitone.kernel.telemetry import Metrics

Result = TypeVar("Result")
MOST = 100

app = typer.Typer(help="Payouts: what is owed to owners, planned, paid and listed.", no_args_is_help=True)
console = Console(markup=False)

Of = Annotated[str, typer.Option("--organization", help="Whose (org_…).")]
At = Annotated[datetime | None, typer.Option(help="As of this instant (UTC); now, unless said.")]


@app.command("plan")
def plan_batch(organization: Of, at: At = None, data: Data = None) -> None:
    """What a batch would pay now, with every posting and every call to a provider. Nothing is done."""
    when = (at or datetime.now(UTC)).replace(tzinfo=UTC)
    scope = _scope(organization)

    async def work(batcher: Batcher) -> Plan:
        return (await batcher.submit(plans.make, scope, Draft(Caller(), BATCH, BatchRequest(when)))).outcome

    made = _done(data, work)
    steps = BATCH.read_steps(made.steps)
    console.print(_table_of(steps))
    for step in steps:
        for posting in step.postings:
            typer.echo(f"  {posting.entry_type}: {posting.debit} / {posting.credit} {posting.amount_minor}")
        for call in step.calls:
            typer.echo(f"  {call.provider} {call.action} {call.reference} {call.amount_minor} {call.currency}")
    typer.echo(f"{made.id}: {len(steps)} payouts, good until {made.expires_at:%F %T}.")


def _table_of(steps: list[PlannedPayout]) -> Table:
    table = Table("owner", "period", "currency", "obligations", "owed", "recovered", "paid")
    for step in steps:
        words = [step.owner, step.period, step.currency, len(step.items), step.gross_minor, step.recovered_minor]
        table.add_row(*map(str, words), str(step.amount_minor))
    return table


@app.command()
def run(
    plan: Annotated[str | None, typer.Option(help="Exactly this plan (pln_…).")] = None,
    organization: Annotated[str | None, typer.Option(help="Whose plan it is (org_…).")] = None,
    reason: Annotated[str | None, typer.Option(help="Why, for the trail, as in BATCH_WAS_MISSED.")] = None,
    data: Data = None,
) -> None:
    """Apply a plan; or, without one, begin today's batch wherever something is owed, if nobody has. A worker pays."""
    if plan is None:
        midnight = datetime.combine(datetime.now(UTC).date(), time(), UTC)
        begun = on_database(
            data, lambda database: begin_everywhere(Desk(database, Batcher(database)), midnight, Caller())
        )
        typer.echo(f"Begun in {begun} organisations.")
        return
    if organization is None or reason is None:
        raise Misunderstood("A plan is applied with --organization and --reason.")
    scope, order = _scope(organization), Order(Caller(), PlanId.parse(plan), reason, (BATCH,))

    async def work(batcher: Batcher) -> Applied:
        return (await batcher.submit(plans.apply, scope, order)).outcome

    applied = _done(data, work)
    typer.echo(f"{applied.steps} payouts{' had been' if applied.already else ''} made; a worker pays.")


@app.command("list")
def list_latest(
    organization: Of,
    state: Annotated[PayoutState | None, typer.Option(help="Only in this state.")] = None,
    owner: Annotated[UUID | None, typer.Option(help="Only of this owner.")] = None,
    data: Data = None,
) -> None:
    """The latest payouts, the newest first."""
    scope = _scope(organization)

    async def look(database: Database) -> list[Payout]:
        return await database.read(scope, list_payouts, None, owner, state, MOST)

    for each in on_database(data, look):
        said = f"{each.amount_minor} {each.currency}"
        typer.echo(
            f"{each.id}  {each.period}  {each.state:<14}  {said:>20}  {each.owner}  {each.reference or each.code}"
        )


def _done(data: Path | None, work: Callable[[Batcher], Awaitable[Result]]) -> Result:
    """With the providers of this installation at hand, of which nobody is asked."""

    async def wired(database: Database) -> Result:
        batcher, metrics = Batcher(database), Metrics()
        async with Outbound(Breakers(batcher, metrics), metrics) as outbound:
            with GATEWAYS.wired(Gateways(gateways_of(config_of(data), outbound))):
                return await work(batcher)

    try:
        return on_database(data, wired)
    except Refusal as refusal:
        raise Misunderstood(f"{refusal.code}: {refusal}") from refusal


def _scope(organization: str) -> Scope:
    return Scope(OrganizationId.parse(organization), "operator")

"""Proving: the four checks one after another, their verdicts kept, and somebody woken when one is red.

Promise: whoever asks gets what is so now, and not what was found before. The verdicts are written when all four were
made; killed before, it is as if nobody had looked. An alert stands for as long as its check is red: only green ends it.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final
from uuid import UUID

from admitone.finance.proof import store
from admitone.finance.proof.checks.balances import check_balances
from admitone.finance.proof.checks.chain import check_chain
from admitone.finance.proof.checks.provider import check_provider
from admitone.finance.proof.checks.trial import check_trial_balance
from admitone.finance.proof.facts import ProofWanted
from admitone.finance.proof.looking import Look
from admitone.finance.proof.model import Check, Finding, Proved, Verdict
from admitone.kernel.alerts import (
    ALERTS,
    Above,
    Alert,
    AlertClass,
    AlertRule,
    Resolution,
    raise_alerts,
    resolve_alerts,
)
from admitone.kernel.bulk import store as organizations
from admitone.kernel.commands import Command, command
from admitone.kernel.contracts import Call
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import OrganizationId
from admitone.kernel.jobs import Delivered, Desk, Job, Lane, enqueue, errand
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.scope import Caller, PlatformScope, Role, Scope

CHECKS: Final = (check_trial_balance, check_balances, check_provider, check_chain)
PROOFS: Final = Lane("proofs", places=2)
ACROSS: Final = PlatformScope("prove the books of every organisation", Role.RELAY)
PAGE: Final = 500

RED: Final = AlertRule(
    "proof.red",
    AlertClass.PAGER,
    Above(0),
    "finance operations",
    "proof-red",
    "An organisation's books do not prove: somebody's money is not where the ledger says it is.",
)


@command()
async def note(tx: Tx, proved: Sequence[Proved]) -> list[bool | Refusal]:
    """Keep the verdicts; of several recomputations at once, the last one's."""
    await store.put_verdicts(tx, [finding for each in proved for finding in each.findings])
    return [True for _ in proved]


@command()
async def want(tx: Tx, wanted: Sequence[Caller]) -> list[bool | Refusal]:
    """Have it done by a worker; once for all who ask at once."""
    tx.publish(wanted[0], ProofWanted(organization_id=tx.scope.organization))
    return [True for _ in wanted]


class Prover:
    """Proves on behalf of a call, of a job or of an operator; all of them know how to read and to write."""

    def __init__(self, read: Callable[..., Awaitable[Any]], submit: Callable[..., Awaitable[Any]]) -> None:
        self._read = read
        self._submit = submit

    @classmethod
    def at(cls, desk: Desk) -> "Prover":
        async def read(query: Any, *args: Any, scope: Scope) -> Any:
            return await desk.database.read(scope, query, *args)

        async def submit(command: Command[Any, Any, Any], each: Any, *, scope: Scope) -> Any:
            return (await desk.batcher.submit(command, scope, each)).outcome

        return cls(read, submit)

    @classmethod
    def of(cls, call: Call) -> "Prover":
        return cls(call.read, call.batch)

    async def prove(
        self, organization: OrganizationId, caller: Caller, tell: Callable[[Check, int], None] | None = None
    ) -> list[Finding]:
        """Recompute everything, keep what came of it, and wake somebody if it must be."""
        scope = Scope(organization, "prove the books")
        look = Look(organization, caller, partial(self._read, scope=scope))
        if tell:
            look = replace(look, tell=tell)
        findings = [await check(look) for check in CHECKS]
        await self._submit(note, Proved(caller, tuple(findings)), scope=scope)
        for finding in findings:
            await self._alert(organization, caller, finding)
        return findings

    async def _alert(self, organization: OrganizationId, caller: Caller, finding: Finding) -> None:
        subject = f"{organization}:{finding.check}"
        if finding.verdict is Verdict.RED:
            first = finding.figures.differences[0]
            alert = Alert(
                RED,
                subject,
                f"{finding.differing} differences; the first: {first.word} {first.where}",
                organization,
                {"check": finding.check.value},
                caller,
            )
            await self._submit(raise_alerts, alert, scope=ALERTS)
        elif finding.verdict is Verdict.GREEN:
            await self._submit(resolve_alerts, Resolution(RED, subject), scope=ALERTS)


@errand("proof.prove", lane=PROOFS, seconds=7_200)
async def prove_wanted(desk: Desk, wanted: Delivered[ProofWanted]) -> None:
    await Prover.at(desk).prove(wanted.organization, wanted.caller)


@errand("proof.nightly", lane=PROOFS, seconds=3_600)
async def prove_everybody(desk: Desk, firing: Delivered[Firing]) -> None:
    """A job for each organisation, under the key of the night: cut off and begun anew, none is proved twice."""
    after, key = UUID(int=0), f"proof.nightly:{firing.payload.at:%Y-%m-%dT%H:%MZ}"
    while page := await desk.database.read(ACROSS, organizations.list_organizations, after, PAGE):
        jobs = [
            replace(
                Job.of(prove_wanted, ProofWanted(organization_id=each), firing.caller, key=key),
                organization_id=each.uuid,
            )
            for each in page
        ]
        await desk.database.run(ACROSS, partial(enqueue, jobs=jobs))
        after = page[-1].uuid

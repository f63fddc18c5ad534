"""Speaking with providers about disputes: with no transaction open, one case at a time.

Promise: whoever asks may be killed at any point, and whoever comes after asks the same under the same key: evidence is
submitted once. A provider that says no is believed only after its file was read: it may have taken the evidence before,
and lost the answer.
"""

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TypeVar

from admitone.finance.disputes import store
from admitone.finance.disputes.commands.answering import take_files, take_filings
from admitone.finance.disputes.model import Case, DisputeId, Evidence, FileRead, Filing, State
from admitone.finance.gateways.api import (
    NOT_OFFERED,
    Ability,
    Dispute,
    DisputeStatus,
    EvidenceOrder,
    Refused,
    Trouble,
    Unknown,
    UnknownStatus,
)
from admitone.finance.gateways.port import GATEWAYS, Gateway
from admitone.finance.payments.api import refusal_of
from admitone.kernel.commands import Command
from admitone.kernel.db import Tx
from admitone.kernel.ids import OrganizationId
from admitone.kernel.jobs import Desk
from admitone.kernel.scope import Caller, Scope
from admitone.kernel.telemetry import logger

Said = TypeVar("Said")
Input = TypeVar("Input")


@dataclass(frozen=True)
class Filed:
    """What became of evidence."""

    case: Case | None
    refused: str | None = None
    """The provider's word, if it did not take it, and still waits for some."""


@dataclass(frozen=True)
class Clerk:
    """Sees to the cases of one organisation, for whoever works at this desk."""

    desk: Desk
    organization: OrganizationId
    caller: Caller

    @property
    def _scope(self) -> Scope:
        return Scope(self.organization, "ask about a dispute")

    async def read_file(self, dispute: DisputeId) -> Case | None:
        """The case, with what its provider has on file. Raises what keeps that from being known."""
        case = await self.find(dispute)
        if case is None or case.is_closed or Ability.DISPUTES not in self._gateway(case).abilities:
            return case
        return await self._submit(take_files, FileRead(self.caller, dispute, await self._file(case)))

    async def file_evidence(self, dispute: DisputeId, number: int) -> Filed:
        """Give the provider what was said to it, unless something else was said since, or it is over. Raises what keeps
        the outcome from being known."""
        case, evidence = await self.desk.database.read(self._scope, _find_both, dispute, number)
        if case is None or evidence is None or not _is_still_meant(case, evidence):
            return Filed(case)
        if Ability.DISPUTES not in self._gateway(case).abilities:
            return Filed(await self._take(evidence, NOT_OFFERED), NOT_OFFERED)
        said = await self._answer(case, evidence)
        if isinstance(said, Dispute):
            return Filed(await self._take(evidence, said))
        if isinstance(said, Refused):
            return await self._refused(case, evidence, said.code)
        raise refusal_of(said)

    async def _refused(self, case: Case, evidence: Evidence, word: str) -> Filed:
        file = await self._file(case)
        after = await self._submit(take_files, FileRead(self.caller, case.id, file))
        if evidence.submits and after.state is not State.OPEN:
            return Filed(after)  # It had taken it, and we did not hear.
        still_waits = evidence.submits and file.status is DisputeStatus.NEEDS_RESPONSE
        return Filed(await self._take(evidence, word), word if still_waits else None)

    async def _answer(self, case: Case, evidence: Evidence) -> Dispute | Trouble:
        order = EvidenceOrder(
            self.caller,
            evidence.id,
            case.payment,
            case.organization,
            case.reference,
            evidence.texts,
            evidence.submits,
        )
        return await _heard(self._gateway(case).answer_dispute(order))

    async def _take(self, evidence: Evidence, answer: Dispute | str) -> Case:
        filing = Filing(self.caller, evidence.dispute, evidence.number, evidence.submits, answer)
        return await self._submit(take_filings, filing)

    async def _file(self, case: Case) -> Dispute:
        said = await _heard(self._gateway(case).find_dispute(self.caller, case.reference))
        if isinstance(said, Dispute):
            return said
        # One that is not there is not there yet: it was told of before it can be found.
        raise refusal_of(Unknown("is not there") if said is None else said)

    def _gateway(self, case: Case) -> Gateway:
        return GATEWAYS().get(case.provider)

    async def find(self, dispute: DisputeId) -> Case | None:
        return await self.desk.database.read(self._scope, store.find_case, dispute)

    async def _submit(self, command: Command[Tx, Input, Case], each: Input) -> Case:
        return (await self.desk.batcher.submit(command, self._scope, each)).outcome


async def _find_both(tx: Tx, dispute: DisputeId, number: int) -> tuple[Case | None, Evidence | None]:
    return await store.find_case(tx, dispute), await store.find_evidence(tx, dispute, number)


def _is_still_meant(case: Case, evidence: Evidence) -> bool:
    is_last = evidence.number == case.evidence
    return case.state is State.OPEN and is_last and evidence.number > case.filed


async def _heard(asking: Awaitable[Said | Trouble]) -> Said | Trouble:
    """What is said; a word that we do not know decides nothing."""
    try:
        return await asking
    except UnknownStatus as odd:
        logger().error("dispute.unknown_status", told=odd.status[:40])
        return Unknown(f"is {odd.status[:40]!r}")

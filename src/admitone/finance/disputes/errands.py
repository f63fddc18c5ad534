"""What is seen to later: files that are to be read, evidence that is on its way, and what is due.

Promise: somebody is told of every dispute that nobody has answered, louder the nearer its due date is (PAY-036,
FIN-075), and of none that somebody has; what a crash or a silent provider left undone is found again by the next look.
"""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from admitone.finance.disputes import store
from admitone.finance.disputes.asking import Clerk
from admitone.finance.disputes.facts import (
    DisputeClosed,
    DisputeEvidenceSubmitted,
    DisputeFact,
    DisputeOpened,
    EvidencePut,
)
from admitone.finance.disputes.model import Case, DisputeId, State
from admitone.finance.disputes.policy import SOON, Urgency, urgency_of
from admitone.kernel.alerts import ALERTS, Above, Alert, AlertClass, AlertRule, Resolution, raise_alerts, resolve_alerts
from admitone.kernel.alerts.commands import resolve_unseen
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.jobs import WEBHOOKS, Delivered, Desk, Kind, Lane, Priority, errand
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.scope import Caller, PlatformScope, Role
from admitone.kernel.telemetry import logger

DISPUTES: Final = Lane("disputes", places=4)
EVERYWHERE: Final = PlatformScope("look after disputes", Role.RELAY)
PAGE: Final = 500
AT_ONCE: Final = 8
PATIENCE: Final = timedelta(minutes=5)
"""Longer than the job that files evidence tries: one that is older has lost it."""
OWNER: Final = "finance operations"


def _rule(name: str, kind: AlertClass, runbook: str, says: str) -> AlertRule:
    return AlertRule(f"disputes.{name}", kind, Above(0), OWNER, runbook, says)


RULES: Final = {
    Urgency.WAITS: _rule(
        "opened",
        AlertClass.TICKET,
        "dispute-opened",
        "A cardholder wants money back, and the bank waits for evidence: somebody must answer.",
    ),
    Urgency.DUE: _rule(
        "evidence_due",
        AlertClass.TICKET,
        "dispute-evidence-due",
        "Evidence for a dispute is due within three days, and nothing was submitted.",
    ),
    Urgency.DUE_VERY_SOON: _rule(
        "evidence_due_very_soon",
        AlertClass.PAGER,
        "dispute-evidence-due",
        "Evidence for a dispute is due within a day, and nothing was submitted: the money is lost without it.",
    ),
    Urgency.OVERDUE: _rule(
        "evidence_overdue",
        AlertClass.TICKET,
        "dispute-evidence-due",
        "The time for evidence has passed, and nothing was submitted: the bank decides without us.",
    ),
}
REFUSED: Final = _rule(
    "evidence_refused",
    AlertClass.TICKET,
    "dispute-evidence-refused",
    "A provider did not take evidence that was submitted to it; somebody must submit it anew.",
)
ALL_RULES: Final = (*RULES.values(), REFUSED)


@errand("disputes.read_file", lane=DISPUTES, retry=WEBHOOKS, priority=Priority.CRITICAL)
async def read_file(desk: Desk, opened: Delivered[DisputeOpened]) -> None:
    """Somebody is told at once; then what the provider wants until when is read."""
    clerk = Clerk(desk, opened.organization, opened.caller)
    case = await clerk.find(opened.payload.dispute_id)
    if case is not None:
        await _tell(desk, [case], opened.caller)
        await clerk.read_file(case.id)


@errand("disputes.file_evidence", lane=DISPUTES, retry=WEBHOOKS, priority=Priority.CRITICAL)
async def file_evidence(desk: Desk, put: Delivered[EvidencePut]) -> None:
    """What was said goes to the provider."""
    await _file(Clerk(desk, put.organization, put.caller), put.payload.dispute_id, put.payload.evidence)


async def _file(clerk: Clerk, dispute: DisputeId, evidence: int) -> Case | None:
    """The case as it is then; where the provider did not take what was to be submitted, somebody is told."""
    filed = await clerk.file_evidence(dispute, evidence)
    if filed.case is not None and filed.refused is not None:
        alert = _alert(REFUSED, filed.case, clerk.caller, filed.refused)
        await clerk.desk.batcher.submit(raise_alerts, ALERTS, alert)
    return filed.case


def _ends(fact: type[DisputeFact], name: str) -> Kind[Any]:
    """Nobody need do anything any more."""

    async def end(desk: Desk, told: Delivered[Any]) -> None:
        for rule in ALL_RULES:
            await desk.batcher.submit(resolve_alerts, ALERTS, Resolution(rule, str(told.payload.dispute_id)))

    return Kind(name, fact, end, outside=True, lane=DISPUTES, retry=WEBHOOKS)


end_submitted: Final = _ends(DisputeEvidenceSubmitted, "disputes.end_submitted")
end_closed: Final = _ends(DisputeClosed, "disputes.end_closed")


@errand("disputes.watch", lane=Lane("dispute_watch", places=1), seconds=1_800)
async def watch(desk: Desk, firing: Delivered[Firing]) -> None:
    """What was left undone is done, and who must know knows."""
    began = await desk.database.read(ALERTS, _now)
    after = store.FIRST
    while cases := await desk.database.read(EVERYWHERE, store.list_everywhere, State.OPEN, after, PAGE):
        places = asyncio.Semaphore(AT_ONCE)
        seen = await asyncio.gather(*(_attend(desk, case, firing.caller, began, places) for case in cases))
        await _tell(desk, seen, firing.caller)
        after = cases[-1].id.uuid
    await desk.database.run(ALERTS, lambda tx: resolve_unseen(tx, [*RULES.values()], began))


async def _attend(desk: Desk, case: Case, caller: Caller, now: datetime, places: asyncio.Semaphore) -> Case:
    """As it is now: whoever answered at the provider's own page woke nobody here."""
    clerk = Clerk(desk, case.organization, caller)
    async with places:
        try:
            if case.is_being_submitted and case.submission and case.changed_at < now - PATIENCE:
                return await _file(clerk, case.id, case.submission) or case
            if case.told_at is None or (case.due_at is not None and case.due_at <= now + SOON):
                return await clerk.read_file(case.id) or case
        except Refusal as refusal:
            logger().warning("dispute.not_seen_to", disputeId=str(case.id), reason=refusal.code)
        except Exception:  # noqa: BLE001  It keeps nobody else waiting, and the next look finds it again.
            logger().exception("dispute.not_seen_to", disputeId=str(case.id))
    return case


async def _tell(desk: Desk, cases: Sequence[Case], caller: Caller) -> None:
    now = await desk.database.read(ALERTS, _now)
    for case in cases:
        urgency = urgency_of(case, now)
        if urgency is not None:
            await desk.batcher.submit(raise_alerts, ALERTS, _alert(RULES[urgency], case, caller))


def _alert(rule: AlertRule, case: Case, caller: Caller, word: str = "") -> Alert:
    until = f"evidence until {case.due_at:%Y-%m-%d %H:%M} UTC" if case.due_at else ""
    detail = ", ".join(filter(None, (f"{case.amount_minor} {case.currency}", until, word)))
    entities = {"disputeId": str(case.id), "paymentId": str(case.payment)}
    return Alert(rule, str(case.id), detail, case.organization, entities, caller)


async def _now(tx: Tx) -> datetime:
    return tx.now

"""Whom to wake, and until when.

Promise (FIN-043, U-18, OPS-002): an organisation whose books differ from its provider's pages for as long as an issue
of it is open; what a provider moved more of than the ledger says is told of in any case, also when it was rounded; what
stayed on a clearing account is told of. A lag is told of by how long it lasts.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any, Final

from admitone.finance.reconciliation.differences import DifferenceClass
from admitone.finance.reconciliation.model import IssueState, Noted
from admitone.finance.reconciliation.policy import COMPARED
from admitone.finance.reconciliation.store import issues as store
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
from admitone.kernel.alerts.model import Level
from admitone.kernel.alerts.policy import breached
from admitone.kernel.db import Tx
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Caller, Scope

OWNER: Final = "finance operations"
DIVERGENCE: Final = AlertRule(
    "reconciliation.divergence",
    AlertClass.PAGER,
    Above(0),
    OWNER,
    "reconciliation-divergence",
    "The ledger and a payment provider do not say the same of an organisation's money, by more than rounding.",
)
GATEWAY_ABOVE: Final = AlertRule(
    "reconciliation.gateway_above_ledger",
    AlertClass.TICKET,
    Above(0),
    OWNER,
    "reconciliation-divergence",
    "A payment provider moved more than the ledger expected, be it only cents that were rounded.",
)
STAYED: Final = AlertRule(
    "reconciliation.stayed",
    AlertClass.TICKET,
    Above(0),
    OWNER,
    "reconciliation-divergence",
    "Money stayed on an account through which it only passes, although its refund, dispute or payout is over.",
)
LAG: Final = AlertRule(
    "reconciliation.lag",
    AlertClass.TICKET,
    Above(900, seconds=3_600),
    OWNER,
    "reconciliation-lag",
    "Books that were to be compared with their providers have not been, for more than an hour and a quarter.",
)
EVENTS_WAITING: Final = AlertRule(
    "reconciliation.events_waiting",
    AlertClass.TICKET,
    Above(900),
    OWNER,
    "reconciliation-lag",
    "What a payment provider told us has had no effect for more than a quarter of an hour.",
)
RULES: Final = (DIVERGENCE, GATEWAY_ABOVE, STAYED, LAG, EVENTS_WAITING)


class Woken:
    """Raises and resolves what concerns one organisation."""

    def __init__(
        self,
        organization: OrganizationId,
        caller: Caller,
        read: Callable[..., Awaitable[Any]],
        submit: Callable[..., Awaitable[Any]],
    ) -> None:
        self._organization = organization
        self._caller = caller
        self._read = read
        self._submit = submit

    async def tell(self, noted: Noted) -> None:
        """After a run."""
        await self.tell_of_open()
        above = f"{noted.above} of them; the first: {noted.first_above}" if noted.above else ""
        await self._change(GATEWAY_ABOVE, above, {})

    async def tell_of_open(self) -> None:
        """By what is open now: whoever closes the last issue ends the alert."""
        scope = Scope(self._organization, "see what is open")
        counted, entities = await self._read(_open_now, scope=scope)
        compared = sum(counted.get(each, 0) for each in COMPARED)
        stayed = counted.get(DifferenceClass.STAYED, 0)
        await self._change(DIVERGENCE, f"{compared} issues are open" if compared else "", entities)
        await self._change(STAYED, f"{stayed} issues are open" if stayed else "", entities)

    async def _change(self, rule: AlertRule, detail: str, entities: dict[str, str]) -> None:
        subject = str(self._organization)
        if detail:
            alert = Alert(rule, subject, detail, self._organization, entities, self._caller)
            await self._submit(raise_alerts, alert, scope=ALERTS)
        else:
            await self._submit(resolve_alerts, Resolution(rule, subject), scope=ALERTS)


async def _open_now(tx: Tx) -> tuple[dict[DifferenceClass, int], dict[str, str]]:
    """How many of each class, and what to look at first."""
    counted: dict[DifferenceClass, int] = {}
    for group in await store.sum_open(tx):
        counted[group.difference] = counted.get(group.difference, 0) + group.issues
    newest = await store.list_issues(tx, IssueState.OPEN, None, 1)
    if not newest:
        return counted, {}
    found, entities = newest[0].found, {"issueId": str(newest[0].id), "reference": newest[0].found.reference}
    return counted, entities | ({"paymentId": str(found.payment)} if found.payment else {})


def is_overdue(rule: AlertRule, since: datetime, now: datetime) -> bool:
    """Whether something that has been waiting since then breaches its rule, which is about how long it waits. A wait
    grows by itself: nobody need have watched meanwhile to know when it grew too long."""
    assert isinstance(rule.threshold, Above)
    limit = rule.threshold.limit
    crossed = since + timedelta(seconds=limit)
    levels = [Level(now, (now - since).total_seconds())]
    return breached(rule.threshold, [Level(crossed, limit + 1), *levels] if crossed < now else levels)

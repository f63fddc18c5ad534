"""What is told of reconciliation."""

from datetime import datetime

from admitone.finance.reconciliation.differences import DifferenceClass
from admitone.finance.reconciliation.model import Closure, IssueId, RunId, RunState
from admitone.finance.sources.api import PaymentId
from admitone.kernel.facts import Fact
from admitone.kernel.ids import OrganizationId


class ReconciliationWanted(Fact, frozen=True):
    """Somebody wants an organisation's books compared with what providers moved."""

    name = "reconciliation.wanted"
    version = "1.0.0"
    subject = ("RECONCILIATION_RUN", "run_id")

    run_id: RunId
    since: datetime | None = None
    """Left out: from the beginning."""
    onward: bool = False
    """From where the last one ended."""


class ReconciliationOfAllWanted(Fact, frozen=True):
    """The same of every organisation."""

    name = "reconciliation.of_all_wanted"
    version = "1.0.0"
    subject = ("RECONCILIATION_RUN", "run_id")

    run_id: RunId
    since: datetime | None = None


class ReconciliationFinished(Fact, frozen=True):
    """A comparison was made, or could not be made: the daily report, for whoever is to have it."""

    name = "reconciliation.finished"
    version = "1.0.0"
    subject = ("RECONCILIATION_RUN", "run_id")

    run_id: RunId
    organization_id: OrganizationId
    state: RunState
    until: datetime
    counts: dict[str, int]
    open_issues: int


class ReconciliationIssueOpened(Fact, frozen=True):
    name = "reconciliation.issue_opened"
    version = "1.0.0"
    subject = ("RECONCILIATION_ISSUE", "issue_id")

    issue_id: IssueId
    difference: DifferenceClass
    kind: str
    payment_id: PaymentId | None
    here_minor: int
    there_minor: int
    currency: str


class ReconciliationIssueClosed(Fact, frozen=True):
    name = "reconciliation.issue_closed"
    version = "1.0.0"
    subject = ("RECONCILIATION_ISSUE", "issue_id")

    issue_id: IssueId
    how: Closure

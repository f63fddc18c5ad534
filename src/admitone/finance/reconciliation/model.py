"""Runs, issues, and what is asked of this package."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final

import msgspec

from admitone.finance.reconciliation.differences import Difference, DifferenceClass
from admitone.kernel.ids import Id, IdentityId
from admitone.kernel.scope import Caller
from admitone.kernel.states import Lifecycle

RESPONSIBLE: Final = "finance operations"
"""Whose issues are until somebody takes them."""


class RunId(Id, prefix="rcr"):
    """One comparison."""


class IssueId(Id, prefix="rci"):
    """One thing that differs."""


class RunState(StrEnum):
    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    DONE = "DONE"
    UNTOLD = "UNTOLD"
    """A provider did not show its journal: nothing was found, and nothing closed."""
    ABANDONED = "ABANDONED"
    """It was cut off, and another began."""


RUN: Final = Lifecycle(
    "reconciliation_run",
    initial=RunState.QUEUED,
    moves={
        RunState.QUEUED: (RunState.RUNNING,),
        RunState.RUNNING: (RunState.RUNNING, RunState.DONE, RunState.UNTOLD, RunState.ABANDONED),
        # Whoever was thought to be gone goes on, or a worker takes it up again.
        RunState.ABANDONED: (RunState.RUNNING, RunState.DONE, RunState.UNTOLD),
        RunState.UNTOLD: (RunState.RUNNING,),
    },
)


class IssueState(StrEnum):
    OPEN = "OPEN"
    CLOSED = "CLOSED"


ISSUE: Final = Lifecycle("reconciliation_issue", initial=IssueState.OPEN, moves={IssueState.OPEN: (IssueState.CLOSED,)})


class Closure(StrEnum):
    """How an issue was closed."""

    ROUNDING = "ROUNDING"
    """It was less than a unit, and was posted as rounding."""
    RESOLVED_BY_ITSELF = "RESOLVED_BY_ITSELF"
    """A later run found both sides the same."""
    BY_HAND = "BY_HAND"


class Issue(msgspec.Struct, frozen=True):
    """LedgerReconciliationIssue: a difference as it is kept."""

    id: IssueId
    found: Difference
    responsible: str
    taken_by: IdentityId | None
    state: IssueState
    closed_how: Closure | None
    closed_reason: str | None
    closed_by: IdentityId | None
    closed_at: datetime | None
    first_seen_at: datetime
    last_seen_at: datetime
    run: RunId


class Both(msgspec.Struct, frozen=True):
    """What came in, here and there, less what went out."""

    here_minor: int
    there_minor: int


class OpenIssues(msgspec.Struct, frozen=True):
    """Those of one class and currency."""

    difference: DifferenceClass
    currency: str
    issues: int
    apart_minor: int
    """What is there and not here, less what is here and not there."""
    oldest_at: datetime


class Run(msgspec.Struct, frozen=True):
    """A comparison, and what it came to."""

    id: RunId
    state: RunState
    since: datetime | None
    until: datetime | None
    counts: dict[str, int]
    sums: dict[str, Both]
    open_issues: tuple[OpenIssues, ...]
    reason: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class Counted(StrEnum):
    """What a run counts besides the differences of each class."""

    MATCHED = "MATCHED"
    TIMING = "TIMING"
    NOT_COMPARED = "NOT_COMPARED"
    """Transfers of payments through a provider that shows no journal."""
    MORE = "MORE"
    """Groups that differ and did not fit: so many differences at least."""
    ROUNDED = "ROUNDED"
    ACCEPTED = "ACCEPTED"
    """Somebody has closed just this difference."""
    ASKED = "ASKED"
    """Payments whose provider was asked, because it had moved what we did not have."""
    BOOKED = "BOOKED"
    """What a provider paid to the platform's bank, or took for itself, and was booked by its word."""
    MOVEMENTS = "MOVEMENTS"
    TRANSFERS = "TRANSFERS"


# -- What is asked of us


class Wanting(msgspec.Struct, frozen=True):
    """Have a worker compare; everything, or what moved since then."""

    caller: Caller
    since: datetime | None = None


class Beginning(msgspec.Struct, frozen=True):
    caller: Caller
    run: RunId
    since: datetime | None = None
    onward: bool = False
    """From where the last one ended."""


class Begun(msgspec.Struct, frozen=True):
    run: RunId
    since: datetime | None
    """Not later than the oldest issue that is open, so that each of them is looked at again."""
    is_over: bool
    """Whether it was made before."""


class Found(msgspec.Struct, frozen=True):
    """Some of what a run found, to be written down."""

    caller: Caller
    run: RunId
    began: datetime
    """When the run looked."""
    differences: tuple[Difference, ...] = ()
    timing: tuple[tuple[str, str, str], ...] = ()
    """What is in flight: an issue of it stays open."""


class Booking(msgspec.Struct, frozen=True):
    """What a provider moved of the platform's own, and we do not have."""

    caller: Caller
    own: tuple[Difference, ...]


class Noted(msgspec.Struct, frozen=True):
    """What became of it."""

    rounded: int = 0
    accepted: int = 0
    above: int = 0
    """How many the provider moved more of than the ledger says."""
    first_above: str = ""


class Settling(msgspec.Struct, frozen=True):
    """Close what this run looked at and did not see any more."""

    caller: Caller
    run: RunId
    since: datetime | None
    began: datetime
    most: int


class Finishing(msgspec.Struct, frozen=True):
    caller: Caller
    run: RunId
    since: datetime | None
    until: datetime
    counts: Mapping[str, int]
    sums: Mapping[str, Both]
    untold: str | None = None


class Closing(msgspec.Struct, frozen=True):
    caller: Caller
    issue: IssueId
    reason_code: str


class Taking(msgspec.Struct, frozen=True):
    caller: Caller
    issue: IssueId


class Late(msgspec.Struct, frozen=True):
    """How far comparisons are behind, over all organisations."""

    organizations: int
    behind_at: datetime | None
    """Up to when the one was compared that is furthest behind."""


class OpenOverall(msgspec.Struct, frozen=True):
    """What is open, over all organisations."""

    issues: int
    oldest_at: datetime | None


class Figures(msgspec.Struct, frozen=True):
    """How far behind everything is (OPS-002)."""

    at: datetime
    due_at: datetime
    """When everybody was last to be compared."""
    late_organizations: int
    """Those that have not been, since."""
    behind_at: datetime | None
    waiting_since: datetime | None
    """When the oldest event came that has had no effect yet."""
    open_issues: int
    oldest_issue_at: datetime | None

    @property
    def lag_seconds(self) -> int:
        return int((self.at - self.due_at).total_seconds()) if self.late_organizations else 0

    @property
    def waiting_seconds(self) -> int:
        return int((self.at - self.waiting_since).total_seconds()) if self.waiting_since else 0

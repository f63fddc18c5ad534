"""What an alert is, and the rule that it comes from.

Promise (OPS-001, OPS-006): a rule says everything that a human needs at two in the morning: how bad it is, from which
threshold on, whose it is, what it means in one sentence, and which page under `docs/runbooks` to open. Rules stand in
the manifests; `runbooks.check_rules` stops a process that has one without a complete page.

    DUPLICATE_PAYMENT = AlertRule(
        "payments.duplicate", AlertClass.PAGER, Above(0), owner="finance", runbook="duplicate-payment",
        says="One purchase was paid twice.",
    )
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from admitone.kernel.ids import PLATFORM_ORGANIZATION, Id, OrganizationId
from admitone.kernel.scope import Caller, Scope

NAME: Final = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)+")
RUNBOOK: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")

ALERTS: Final = Scope(PLATFORM_ORGANIZATION, "alerts")
"""Where alerts are raised and resolved. Whose transaction is open already publishes a fact, and an errand raises."""


class AlertId(Id, prefix="alr"):
    """Which alert."""


class AlertClass(StrEnum):
    PAGER = "PAGER"
    """Somebody is woken."""
    TICKET = "TICKET"
    """Somebody looks at it in the morning."""


@dataclass(frozen=True, slots=True)
class Level:
    """How high something stood at an instant."""

    at: datetime
    value: float


@dataclass(frozen=True, slots=True)
class Tally:
    """What was counted up to an instant since the process began: of all, and of those that are bad."""

    at: datetime
    bad: float
    all: float


Sample = Level | Tally


@dataclass(frozen=True, slots=True)
class Above:
    """Higher than `limit` for `seconds` without a break; with no seconds, at once."""

    limit: float
    seconds: float = 0

    def __str__(self) -> str:
        return f"> {self.limit:g} for {self.seconds:g} s" if self.seconds else f"> {self.limit:g} at once"


@dataclass(frozen=True, slots=True)
class ShareAbove:
    """More than `percent` of what was counted within the last `seconds` is bad.

    A percentile is one of these: the 95th of a wait is above five minutes if, and only if, more than 5 % waited longer.
    `beyond` is then from where on a wait is bad.
    """

    percent: float
    seconds: float
    beyond: float | None = None
    fewest: int = 1
    """Of less than that nothing is said."""

    def __str__(self) -> str:
        of = f" beyond {self.beyond:g} s" if self.beyond is not None else ""
        least = f" of at least {self.fewest}" if self.fewest > 1 else ""
        return f"> {self.percent:g} %{of}{least} within {self.seconds:g} s"


Threshold = Above | ShareAbove


@dataclass(frozen=True, slots=True)
class AlertRule:
    name: str
    alert_class: AlertClass
    threshold: Threshold
    owner: str
    runbook: str
    """The page's name under `docs/runbooks`, without `.md`."""
    says: str

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise TypeError(f"a rule is called package.what in lower case, not {self.name!r}")
        if not RUNBOOK.fullmatch(self.runbook):
            raise TypeError(f"{self.name}: a runbook is called like-this, not {self.runbook!r}")
        if not self.owner.strip() or not self.says.strip():
            raise TypeError(f"{self.name}: needs an owner and a sentence that tells a human what it means")
        lowest = self.threshold.limit if isinstance(self.threshold, Above) else self.threshold.percent
        if lowest < 0 or self.threshold.seconds < 0:
            raise TypeError(f"{self.name}: a threshold and its window are not negative")

    @property
    def page(self) -> str:
        """Where a human finds the runbook."""
        return f"docs/runbooks/{self.runbook}.md"


@dataclass(frozen=True, slots=True)
class Alert:
    """Something that a rule is about has happened. The same subject again is the same alert, until it is resolved."""

    rule: AlertRule
    subject: str
    detail: str = ""
    organization: OrganizationId | None = None
    """Whom it concerns, where it is one."""
    entities: Mapping[str, str] = field(default_factory=dict)
    """What to look at, by what it is: `{"jobId": …}`."""
    caller: Caller = field(default_factory=Caller)
    """By its correlation id the logs are found."""
    link: str = ""
    """To those logs."""

    @property
    def name(self) -> tuple[str, str]:
        return (self.rule.name, self.subject)


@dataclass(frozen=True, slots=True)
class Resolution:
    """Whatever the rule was about is over for this subject."""

    rule: AlertRule
    subject: str


@dataclass(frozen=True, slots=True)
class Seen:
    """An alert as it stands."""

    id: UUID
    rule: str
    alert_class: AlertClass
    subject: str
    concerns: UUID | None
    entities: Mapping[str, str]
    detail: str
    link: str
    correlation_id: UUID
    first_seen_at: datetime
    last_seen_at: datetime
    times: int

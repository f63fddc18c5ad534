"""What is told of alerts: that one was opened, and that one is over."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from admitone.kernel.alerts.model import AlertClass, AlertId
from admitone.kernel.facts import Fact
from admitone.kernel.ids import OrganizationId

RuleName = Annotated[str, Meta(pattern=r"^[a-z0-9_.]+$")]


class AlertRaised(Fact, frozen=True):
    """Everything that a human needs, so that whoever passes it on need not ask back."""

    name = "ops.alert"
    version = "1.0.0"
    subject = ("ALERT", "alert_id")

    alert_id: AlertId
    rule: RuleName
    alert_class: AlertClass
    says: str
    threshold: str
    owner: str
    runbook: str
    about: str
    """The subject within the rule: a lane, a kind of job."""
    organization: OrganizationId | None
    entities: dict[str, str]
    correlation_id: UUID
    detail: str
    link: str
    """To the logs of that correlation."""


class AlertResolved(Fact, frozen=True):
    name = "ops.alert_resolved"
    version = "1.0.0"
    subject = ("ALERT", "alert_id")

    alert_id: AlertId
    rule: RuleName
    alert_class: AlertClass
    about: str

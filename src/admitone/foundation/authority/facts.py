"""What authority tells."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from msgspec import Meta

from admitone.foundation.authority.model import SessionId
from admitone.kernel.facts import Fact
from admitone.kernel.ids import IdentityId, OrganizationId

EventKey = Annotated[str, Meta(pattern="^[a-z]{2,12}_[0-9a-f]{32}$")]
FeatureKey = Annotated[str, Meta(pattern="^[a-z0-9_.]+$")]
Because = Annotated[str, Meta(pattern="^[A-Z][A-Z0-9_]{2,63}$")]
CaseReference = Annotated[str, Meta(pattern="^[A-Za-z0-9][A-Za-z0-9_.:-]*$")]
Turned = Literal["SET", "LIFTED"]


class Alarm(StrEnum):
    """What is suspicious."""

    TOKEN_REUSED = "TOKEN_REUSED"  # noqa: S105
    NEW_DEVICE = "NEW_DEVICE"
    PASSWORD_CHANGED = "PASSWORD_CHANGED"  # noqa: S105
    EMAIL_CHANGED = "EMAIL_CHANGED"
    SECOND_FACTOR_ADDED = "SECOND_FACTOR_ADDED"
    SECOND_FACTOR_REMOVED = "SECOND_FACTOR_REMOVED"
    APPLE_LINKED = "APPLE_LINKED"
    CODE_GUESSED = "CODE_GUESSED"


class SecurityAlert(Fact, frozen=True):
    """Something happened to somebody's account that its owner might want to know (IDN-018)."""

    name = "security.alert"
    version = "1.0.0"
    subject = ("IDENTITY", "identity_id")

    identity_id: IdentityId
    alarm: Alarm
    session_id: SessionId | None = None


class EventKillSwitch(Fact, frozen=True):
    """New sales of an event were stopped, or may go on (SAF-020). `because` is what the operator said."""

    name = "safety.kill_switch.event"
    version = "1.0.0"
    subject = ("EVENT", "event_id")

    event_id: EventKey
    turned: Turned
    because: Because
    case_reference: CaseReference
    expires_at: datetime | None
    reason_code: Literal["KILL_SWITCH_EVENT"] = "KILL_SWITCH_EVENT"


class OrganizationKillSwitch(Fact, frozen=True):
    """New business of an organisation was stopped, or may go on (SAF-021)."""

    name = "safety.kill_switch.org"
    version = "1.0.0"
    subject = ("ORGANIZATION", "organization_id")

    organization_id: OrganizationId
    turned: Turned
    because: Because
    case_reference: CaseReference
    expires_at: datetime | None
    reason_code: Literal["KILL_SWITCH_ORG"] = "KILL_SWITCH_ORG"


class IdentityKillSwitch(Fact, frozen=True):
    """A person was suspended, or may come back (SAF-022)."""

    name = "safety.kill_switch.identity"
    version = "1.0.0"
    subject = ("IDENTITY", "identity_id")

    identity_id: IdentityId
    turned: Turned
    because: Because
    case_reference: CaseReference
    expires_at: datetime | None
    reason_code: Literal["KILL_SWITCH_IDENTITY"] = "KILL_SWITCH_IDENTITY"


class PlatformKillSwitch(Fact, frozen=True):
    """New business of everybody was stopped, or may go on (SAF-024)."""

    name = "safety.kill_switch.platform"
    version = "1.0.0"
    subject = ("ORGANIZATION", "organization_id")

    organization_id: OrganizationId
    turned: Turned
    because: Because
    case_reference: CaseReference
    expires_at: datetime | None
    reason_code: Literal["KILL_SWITCH_PLATFORM"] = "KILL_SWITCH_PLATFORM"


class FeatureSwitched(Fact, frozen=True):
    """A feature was switched on or off for the organisation that the fact belongs to; the platform's own is all of
    them (SAF-025)."""

    name = "feature.switched"
    version = "1.0.0"
    subject = ("FEATURE", "feature")

    feature: FeatureKey
    turned: Literal["ON", "OFF"]
    because: Because
    case_reference: CaseReference
    expires_at: datetime | None

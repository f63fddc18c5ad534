"""What authority tells."""

from enum import StrEnum

from admitone.foundation.authority.model import SessionId
from admitone.kernel.facts import Fact
from admitone.kernel.ids import IdentityId


class Alarm(StrEnum):
    """What is suspicious."""

    TOKEN_REUSED = "TOKEN_REUSED"  # noqa: S105
    NEW_DEVICE = "NEW_DEVICE"
    PASSWORD_CHANGED = "PASSWORD_CHANGED"  # noqa: S105
    EMAIL_CHANGED = "EMAIL_CHANGED"
    SECOND_FACTOR_REMOVED = "SECOND_FACTOR_REMOVED"
    CODE_GUESSED = "CODE_GUESSED"


class SecurityAlert(Fact, frozen=True):
    """Something happened to somebody's account that its owner might want to know (IDN-018)."""

    name = "security.alert"
    version = "1.0.0"
    subject = ("IDENTITY", "identity_id")

    identity_id: IdentityId
    alarm: Alarm
    session_id: SessionId | None = None

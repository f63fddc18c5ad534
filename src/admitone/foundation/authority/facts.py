"""What authority tells."""

from admitone.foundation.authority.model import SessionId
from admitone.kernel.facts import Fact
from admitone.kernel.ids import IdentityId


class SessionReused(Fact, frozen=True):
    """A spent refresh token was shown again, and its session ended (IDN-018)."""

    name = "security.alert"
    version = "1.0.0"
    subject = ("SESSION", "session_id")

    session_id: SessionId
    identity_id: IdentityId

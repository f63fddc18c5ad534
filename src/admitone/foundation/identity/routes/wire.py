"""What the auth API takes and gives in several places."""

from datetime import UTC, datetime
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from admitone.foundation.authority.api import Opened, SessionId
from admitone.kernel.contracts import Audience, Contract, Instant, Wire
from admitone.kernel.figures import QUARTER_THEN_HOUR
from admitone.kernel.ids import IdentityId
from admitone.kernel.limits import Limit, Per
from admitone.kernel.scope import PeopleScope
from admitone.kernel.texts import name_of

SCOPE: Final = PeopleScope()
VERSION: Final = "1.1.0"
REPEATS: Final = "none (CAUTH.02: sessions and letters, no financial effect)"
SESSION_COOKIE, REFRESH_COOKIE, DEVICE_COOKIE = "session", "refresh", "device"
HINT_COOKIE: Final = "signed-in"
"""Says that there is a session to go on with, and whose. It proves nothing: pages see it, where the refresh token never
goes."""
AUTH_PATH: Final = "/api/auth"
"""Where the cookies go that only this API reads."""

MAILS_PER_ADDRESS: Final = Limit("identity.mails_per_address", 20, 600, Per.ADDRESS)
"""From one place letters to at most so many people: a form that sends mail is a way to annoy strangers."""
PROOFS_PER_ADDRESS: Final = Limit("identity.proofs_per_address", 30, 600, Per.ADDRESS)
REFRESHES_PER_ADDRESS: Final = Limit("identity.refreshes_per_address", 120, 60, Per.ADDRESS)
SHOWN_PER_IDENTITY: Final = Limit("identity.shown_per_identity", 5, 600, Per.IDENTITY, cooldown=QUARTER_THEN_HOUR)
"""What somebody who is signed in may show, right or wrong: the figures of A1 for whoever is not (IDN-020)."""
CODES_PER_IDENTITY: Final = Limit("identity.codes_per_identity", 3, 1800, Per.IDENTITY)

Email = Annotated[str, Meta(max_length=320)]
Password = Annotated[str, Meta(max_length=1000)]
Code = Annotated[str, Meta(min_length=1, max_length=40)]
Token = Annotated[str, Meta(max_length=512)]
DisplayName = Annotated[str, Meta(min_length=1, max_length=100)]

BY_OWNER: Final = "BY_OWNER"
"""Why people change how they prove themselves, unless they say more."""
AN_EMAIL: Final = "ana@example.org"
A_PASSWORD: Final = "three brave otters"  # noqa: S105


class Named(Wire):
    """Has what somebody wants to be called; others read it, in letters and lists."""

    display_name: DisplayName | None = None

    def __post_init__(self) -> None:
        if self.display_name is not None:
            msgspec.structs.force_setattr(self, "display_name", name_of(self.display_name))


class Tokens(Wire):
    """A session's tokens: one to send as `Authorization: Bearer`, and one that is worth one rotation."""

    identity_id: IdentityId
    session_id: SessionId
    access_token: str
    access_expires_at: Instant
    refresh_token: str
    refresh_expires_at: Instant

    @classmethod
    def of(cls, opened: Opened) -> "Tokens":
        return cls(
            identity_id=opened.identity,
            session_id=opened.session,
            access_token=opened.access_token,
            access_expires_at=opened.access_expires_at,
            refresh_token=opened.refresh_token,
            refresh_expires_at=opened.refresh_expires_at,
        )


SOME_TOKENS: Final = Tokens(
    identity_id=IdentityId.parse("idn_0198c9a40000700080000000000000aa"),
    session_id=SessionId.parse("ses_0198c9a40000700080000000000000ab"),
    access_token=f"access_0_{'a' * 40}",
    access_expires_at=datetime(2026, 11, 16, 12, 15, tzinfo=UTC),
    refresh_token=f"refresh_0_{'b' * 40}",
    refresh_expires_at=datetime(2026, 12, 16, 12, 0, tzinfo=UTC),
)


def auth_contract(name: str, summary: str, **said: Any) -> Contract:
    """One operation of the auth API. Its effects are sessions and letters, which repeat harmlessly or expire."""
    usual: dict[str, Any] = {"audience": Audience.PUBLIC, "repeats": None if "get" in said else REPEATS}
    return Contract(
        id=f"CAUTH.02.{name}",
        version=VERSION,
        owner="identity",
        consumers=("web", "mobile", "session middleware"),
        summary=summary,
        order_key="none",
        **{**usual, **said},
    )

"""What identity is made of."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

import msgspec

from admitone.foundation.authority.api import Opened
from admitone.kernel.ids import Id, IdentityId
from admitone.kernel.scope import Caller
from admitone.kernel.words import Language

CODE_LASTS: Final = timedelta(minutes=10)
LINK_LASTS: Final = timedelta(minutes=30)
GUEST_LINK_LASTS: Final = timedelta(days=14)
ATTEMPTS: Final = 5
CODE_DIGITS: Final = 6


class ChallengeId(Id, prefix="chl"):
    """One code or link that must come back."""


class IdentityType(StrEnum):
    USER = "USER"
    GUEST_EMAIL = "GUEST_EMAIL"


class IdentityStatus(StrEnum):
    ACTIVE = "ACTIVE"
    TOMBSTONE = "TOMBSTONE"
    ERASED = "ERASED"


class Purpose(StrEnum):
    """What a challenge is for."""

    SIGN_IN = "SIGN_IN"
    RESET = "RESET"
    LINK = "LINK"
    CHANGE_EMAIL = "CHANGE_EMAIL"
    STEP_UP = "STEP_UP"


class Profile(msgspec.Struct, frozen=True):
    """What is personal about somebody."""

    email: str
    display_name: str | None
    language: Language


class Proofs(msgspec.Struct, frozen=True):
    """By what somebody can prove again that it is them."""

    has_password: bool
    has_authenticator: bool


class Account(msgspec.Struct, frozen=True):
    """A user as sign-in sees one."""

    identity: IdentityId
    email_verified_at: datetime | None
    password_hash: str | None
    has_second_factor: bool


class Prepared(msgspec.Struct, frozen=True):
    """What is sealed in a challenge: to whom it was sent, and what a new account is to begin with."""

    email: str
    language: Language
    password_hash: str | None = None
    display_name: str | None = None


class Challenge(msgspec.Struct, frozen=True):
    id: ChallengeId
    purpose: Purpose
    digest: bytes
    identity: IdentityId | None
    prepared: Prepared
    attempts_left: int
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None = None
    key: str | None = None

    def is_live(self, now: datetime) -> bool:
        return self.used_at is None and self.attempts_left > 0 and self.expires_at > now


class Lacking(StrEnum):
    """Why somebody was not signed in."""

    PROOF = "PROOF"
    SECOND_FACTOR = "SECOND_FACTOR"
    ACCOUNT = "ACCOUNT"


class Attempt(msgspec.Struct, frozen=True):
    """What came of an attempt to sign in. One that failed costs something, so it commits, and is no refusal."""

    opened: Opened | None = None
    lacking: Lacking | None = None
    is_new: bool = False
    email: str = ""
    """For the cookie by which the device is known again."""


class Starting(msgspec.Struct, frozen=True):
    """Send a code to an address."""

    caller: Caller
    prepared: Prepared
    code: str
    challenge: ChallengeId
    signs_up: bool = False


class Started(msgspec.Struct, frozen=True):
    challenge: ChallengeId
    expires_at: datetime


class Device(msgspec.Struct, frozen=True):
    """On what somebody signs in."""

    agent: str = "?"
    """What it calls itself."""
    cookie: str | None = None
    """By which we may know it again."""


class Finishing(msgspec.Struct, frozen=True):
    """A code or a link that came back."""

    caller: Caller
    digests: tuple[bytes, ...]
    """Of what came back, under every live key."""
    challenge: ChallengeId | None = None
    """Of a code; a link is found by its digest."""
    second_factor: str | None = None
    device: Device = Device()


class PasswordSignIn(msgspec.Struct, frozen=True):
    """Somebody whose password matched a hash that we had a moment ago."""

    caller: Caller
    identity: IdentityId
    password_hash: str
    better_hash: str | None
    device: Device
    second_factor: str | None = None


class NewPassword(msgspec.Struct, frozen=True):
    caller: Caller
    password_hash: str
    identity: IdentityId
    former_hash: str | None
    """What it must still be, so that of two changes at once one wins."""
    but: UUID | None = None
    """The session that goes on."""

"""Why a username cannot be had."""

from enum import StrEnum

from admitone.kernel.errors import Conflict, Invalid, NotFound


class Rule(StrEnum):
    """What a name must keep to, in the order in which it is looked at."""

    LENGTH = "LENGTH"
    """4 to 15 characters."""
    CHARACTERS = "CHARACTERS"
    """Letters of a script that we take, the digits 0 to 9, `.` and `_`; no spaces."""
    PUNCTUATION = "PUNCTUATION"
    """`.` and `_` stand inside, one at a time."""
    MIXED_SCRIPTS = "MIXED_SCRIPTS"
    """All letters are of scripts that are customarily written together."""
    RESERVED = "RESERVED"
    """No word of the platform's own, and no abuse."""


class UsernameInvalid(Invalid):
    """This cannot be a username."""

    code = "USERNAME_INVALID"
    next_step = "Choose 4 to 15 letters and digits of one script, with single dots or underscores between them."
    rule: Rule


class UsernameTaken(Conflict):
    """This username is taken."""

    code = "USERNAME_TAKEN"
    next_step = "Choose another one."


class UsernameCooldown(Conflict):
    """The username was changed a short while ago."""

    code = "USERNAME_COOLDOWN"
    next_step = "Take the former username back, or wait until the time has passed."
    retryable = True
    retry_after_seconds: int


class UsernameNotFound(NotFound):
    """Nobody goes by this username."""

    code = "USERNAME_NOT_FOUND"

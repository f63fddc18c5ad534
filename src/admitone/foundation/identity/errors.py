"""What identity refuses, and the codes of CAUTH.02."""

from enum import StrEnum

from admitone.kernel.errors import (
    Conflict,
    Forbidden,
    Invalid,
    Malformed,
    NotFound,
    Unauthenticated,
    Unavailable,
)


class AuthErrorCode(StrEnum):
    """The canonical set (IDN-011). Clients meet a code that is not here with a safe fallback: more may come."""

    FORBIDDEN = "FORBIDDEN"
    INVALID_EMAIL = "INVALID_EMAIL"
    RATE_LIMITED = "RATE_LIMITED"
    UNAUTHENTICATED = "UNAUTHENTICATED"
    MISSING_CREDENTIALS = "MISSING_CREDENTIALS"
    INVALID_CREDENTIALS = "INVALID_CREDENTIALS"
    EMAIL_NOT_CONFIRMED = "EMAIL_NOT_CONFIRMED"
    EMAIL_EXISTS = "EMAIL_EXISTS"
    WEAK_PASSWORD = "WEAK_PASSWORD"  # noqa: S105
    USERNAME_INVALID = "USERNAME_INVALID"
    USERNAME_TAKEN = "USERNAME_TAKEN"
    OTP_GENERATION_FAILED = "OTP_GENERATION_FAILED"
    RESET_LINK_FAILED = "RESET_LINK_FAILED"
    EMAIL_SEND_FAILED = "EMAIL_SEND_FAILED"
    MISSING_TOKENS = "MISSING_TOKENS"
    INVALID_SESSION = "INVALID_SESSION"
    APPLE_IDENTITY_MISSING = "APPLE_IDENTITY_MISSING"
    APPLE_IDENTITY_INVALID = "APPLE_IDENTITY_INVALID"
    ALREADY_LINKED = "ALREADY_LINKED"
    LOGOUT_FAILED = "LOGOUT_FAILED"
    CLEAR_FAILED = "CLEAR_FAILED"
    SERVER_ERROR = "SERVER_ERROR"
    INVALID_CODE = "INVALID_CODE"
    SECOND_FACTOR_REQUIRED = "SECOND_FACTOR_REQUIRED"
    NO_SECOND_FACTOR = "NO_SECOND_FACTOR"
    MISSING_PROOF = "MISSING_PROOF"
    APPLE_NOT_LINKED = "APPLE_NOT_LINKED"
    APPLE_UNAVAILABLE = "APPLE_UNAVAILABLE"


class InvalidEmail(Invalid):
    """This is no e-mail address."""

    code = "INVALID_EMAIL"


class MissingCredentials(Malformed):
    """An e-mail address and a password are needed."""

    code = "MISSING_CREDENTIALS"


class InvalidCredentials(Unauthenticated):
    """The e-mail address or the password is not right."""

    code = "INVALID_CREDENTIALS"
    next_step = "Try again, or ask for a code or a new password by e-mail."


class WeakPassword(Invalid):
    """This password is too easy to guess."""

    code = "WEAK_PASSWORD"
    next_step = "Take at least ten characters that are not on every list, and not your address."
    rule: str


class InvalidCode(Unauthenticated):
    """This code is not right, or it is too old."""

    code = "INVALID_CODE"
    next_step = "Ask for a new code."


class SecondFactorRequired(Unauthenticated):
    """A code of your authenticator is needed, too."""

    code = "SECOND_FACTOR_REQUIRED"
    next_step = "Send the same again with the code in secondFactor."


class NoSecondFactor(Conflict):
    """No authenticator is set up, or it was begun too long ago."""

    code = "NO_SECOND_FACTOR"
    next_step = "Begin again at /api/auth/totp/enrol."


class MissingProof(Malformed):
    """A password, a code of your authenticator or a code that was sent to you is needed."""

    code = "MISSING_PROOF"


class ResetLinkFailed(Forbidden):
    """This link does not work any more."""

    code = "RESET_LINK_FAILED"
    next_step = "Ask for a new one."


class MissingTokens(Malformed):
    """A refresh token is needed, in the body or as the cookie."""

    code = "MISSING_TOKENS"


class EmailExists(Conflict):
    """Another account has this address."""

    code = "EMAIL_EXISTS"


class IdentityNotFound(NotFound):
    """There is no such person."""

    code = "IDENTITY_NOT_FOUND"


class AppleIdentityMissing(Malformed):
    """An identity token of Apple is needed."""

    code = "APPLE_IDENTITY_MISSING"


class AppleIdentityInvalid(Unauthenticated):
    """This identity token of Apple is not valid."""

    code = "APPLE_IDENTITY_INVALID"
    next_step = "Sign in at Apple once more."


class AlreadyLinked(Conflict):
    """This Apple identity, or your account, is already linked to another."""

    code = "ALREADY_LINKED"


class AppleNotLinked(Unauthenticated):
    """No account is reached with this Apple identity."""

    code = "APPLE_NOT_LINKED"
    next_step = "Sign in another way, and link it to your account there."


class AppleUnavailable(Unavailable):
    """Apple cannot be asked right now; try again."""

    code = "APPLE_UNAVAILABLE"

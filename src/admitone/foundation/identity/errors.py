"""What identity refuses, and the codes of CAUTH.02."""

from enum import StrEnum

from admitone.kernel.errors import Conflict, Forbidden, Invalid, Malformed, NotFound, Unauthenticated


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

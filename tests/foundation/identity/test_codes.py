"""The codes that clients of the auth API may count on (IDN-011)."""

import pytest

from admitone.foundation.identity.errors import AuthErrorCode
from admitone.foundation.identity.routes import CONTRACTS

CANONICAL = """
    FORBIDDEN INVALID_EMAIL RATE_LIMITED UNAUTHENTICATED MISSING_CREDENTIALS INVALID_CREDENTIALS EMAIL_NOT_CONFIRMED
    EMAIL_EXISTS WEAK_PASSWORD USERNAME_INVALID USERNAME_TAKEN OTP_GENERATION_FAILED RESET_LINK_FAILED EMAIL_SEND_FAILED
    MISSING_TOKENS INVALID_SESSION APPLE_IDENTITY_MISSING APPLE_IDENTITY_INVALID ALREADY_LINKED LOGOUT_FAILED
    CLEAR_FAILED SERVER_ERROR
"""


@pytest.mark.covers("IDN-011")
def test_the_canonical_codes_are_exported_and_every_other_that_is_answered() -> None:
    exported = {str(code) for code in AuthErrorCode}
    assert exported >= set(CANONICAL.split())
    answered = {refusal.code for contract in CONTRACTS for refusal in contract.refuses}
    assert answered <= exported, "a new code is a minor change: say so"
    assert all(code.name == code.value for code in AuthErrorCode)

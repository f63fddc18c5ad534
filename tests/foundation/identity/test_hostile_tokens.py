"""What is shown instead of a token, and what the API promises by name (goals, hostile rows 12 and 16)."""

import base64
import json

import pytest

from admitone.foundation.identity.errors import AuthErrorCode
from admitone.foundation.identity.routes import CONTRACTS
from tests.foundation.identity.house import House

CODES = {
    "FORBIDDEN", "INVALID_EMAIL", "RATE_LIMITED", "UNAUTHENTICATED", "MISSING_CREDENTIALS", "INVALID_CREDENTIALS",
    "EMAIL_NOT_CONFIRMED", "EMAIL_EXISTS", "WEAK_PASSWORD", "USERNAME_INVALID", "USERNAME_TAKEN", "OTP_GENERATION_FAILED",
    "RESET_LINK_FAILED", "EMAIL_SEND_FAILED", "MISSING_TOKENS", "INVALID_SESSION", "APPLE_IDENTITY_MISSING",
    "APPLE_IDENTITY_INVALID", "ALREADY_LINKED", "LOGOUT_FAILED", "CLEAR_FAILED", "SERVER_ERROR",
}  # fmt: skip


@pytest.mark.covers("IDN-010")
def test_every_operation_of_the_public_auth_api_is_there():
    served = {f"{contract.method} {contract.path.removeprefix('/api/auth/')}" for contract in CONTRACTS}
    asked = {"login", "send-otp", "password/reset-request", "refresh", "logout", "clear", "check-email"}
    added = {"signup", "verify-otp", "verify-link", "password/reset", "password/change"}
    assert {f"POST {path}" for path in asked | added} | {"GET me", "GET check-email"} <= served


@pytest.mark.covers("IDN-011")
def test_every_error_code_of_the_source_is_exported():
    assert {code.value for code in AuthErrorCode} >= CODES


def a_jwt(header: dict[str, object], claims: dict[str, object], signature: str = "") -> str:
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in (header, claims)]
    return f"{'.'.join(parts)}.{signature}"


def hostile(token: str, refresh: str, identity: str) -> list[str]:
    """Nearly the token, tokens of other kinds, and what other systems would take."""
    claims = {"sub": identity, "exp": 9_999_999_999, "iss": "https://admitone.test", "aud": "admitone"}
    headers = [{"alg": "none"}, {"alg": "HS256"}, {"alg": "HS256", "kid": "../../dev/null"}, {"alg": "nOnE"}]
    headers += [{"alg": "RS256", "jku": "https://evil.test/keys"}, {"alg": "HS256", "kid": "' OR '1'='1"}]
    flipped = [f"{token[:n]}{'0' if token[n] != '0' else '1'}{token[n + 1 :]}" for n in range(len(token))]
    cut = [token[:n] for n in range(1, len(token))] + [token[n:] for n in range(1, len(token))]
    kinds = [token.replace("access", kind, 1) for kind in ("refresh", "link", "reset", "key", "ACCESS")]
    odd = [token.upper(), f"{token} {token}", f"{token},{token}", token + "\t0", "null", "[]", "%00"]
    jwts = [a_jwt(header, claims, signature) for header in headers for signature in ("", "x", "AAAA")]
    return [*flipped, *cut, *kinds, *odd, *jwts, refresh, identity, "x" * 512, "x" * 513, "x" * 5_000]


async def test_nothing_but_the_token_itself_is_a_session(house: House):
    ana = await house.a_user()
    token, refresh = ana.tokens["accessToken"], ana.tokens["refreshToken"]
    shown = [each for each in hostile(token, refresh, str(ana.identity)) if each != token]
    assert len(shown) >= 180
    for each in shown:
        for headers in ({"authorization": f"Bearer {each}"}, {"cookie": f"session={each}"}):
            answer = await ana.send("GET", "me", headers)
            assert answer.status_code == 401, headers
            assert set(answer.json()) >= {"errorCode", "message", "retryable", "correlationId"}
    for scheme in ("Basic", "bearer:", "Token", ""):
        assert (await ana.send("GET", "me", {"authorization": f"{scheme} {token}"})).status_code == 401
    assert (await ana.me()).status_code == 200


async def test_tokens_and_links_are_beyond_guessing(house: House):
    ana = await house.a_user()
    await ana.post("password/reset-request", email=ana.email)
    secrets = [ana.tokens["accessToken"], ana.tokens["refreshToken"], await house.token_to(ana.email)]
    for secret in secrets:
        chance = secret.rpartition("_")[2]
        assert len(bytes.fromhex(chance)) * 8 >= 96

"""Sign in with Apple: whom an identity token names, if Apple signed it for us (IDN-019).

Promise: a token counts if one of the keys that Apple publishes signed it by RS256, for one of our apps, in the form
that Apple gives it; one that says itself how it is to be checked does not. Whether it is recent is decided by whoever
has the database's clock (`AppleToken.is_current`). Keys are fetched with no transaction open and kept for an hour; a
token of a key that we do not know makes us look again, at most once a minute. While Apple cannot be asked nobody is
refused: they are told to try again.
"""

import asyncio
import base64
import hashlib
import json
import re
import time
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Protocol, Self
from urllib.parse import urlsplit

import jwt
import msgspec
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from admitone.foundation.identity.emails import normalise_email
from admitone.foundation.identity.errors import AppleIdentityInvalid, AppleUnavailable, InvalidEmail
from admitone.kernel.authority import FeatureDisabled
from admitone.kernel.breaker import Dependency
from admitone.kernel.config import Config, Key, reads
from admitone.kernel.crypto import same
from admitone.kernel.outbound import Answer, NotSent, Outbound, Request
from admitone.kernel.scope import Caller

ISSUER: Final = "https://appleid.apple.com"
KEYS_URL: Final = "https://appleid.apple.com/auth/keys"
LONGEST: Final = 8_192
SMALLEST_KEY_BITS: Final = 2_048
KEPT_SECONDS: Final = 3_600
LOOK_AGAIN_SECONDS: Final = 60
SHOWN_WITHIN: Final = timedelta(minutes=10)
"""Apple's tokens last for a day; one that is shown to us was made a moment ago."""
SKEW: Final = timedelta(minutes=1)
END_OF_TIME: Final = 253_402_300_799
ABOUT_KEYS: Final = frozenset({"jku", "jwk", "x5u", "x5c", "crit", "b64"})
"""Headers by which a token would tell us how it is to be checked."""

SIGNATURES: Final = jwt.PyJWS(algorithms=["RS256"])
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+", re.ASCII)


def _client_ids(text: str) -> frozenset[str]:
    found = frozenset(each.strip() for each in text.split(","))
    if "" in found:
        raise ValueError("an empty id")
    return found


def _keys_url(text: str) -> str:
    url = urlsplit(text)
    if url.scheme != "https" and not (url.scheme == "http" and url.hostname in ("127.0.0.1", "::1", "localhost")):
        raise ValueError("not https")
    return text


APPLE_CLIENT_IDS: Final = Key(
    "APPLE_CLIENT_IDS",
    "the ids of our apps at Apple, by comma; without them nobody signs in with Apple",
    check=reads(_client_ids),
)
APPLE_KEYS_URL: Final = Key(
    "APPLE_KEYS_URL", f"where Apple publishes its keys (default {KEYS_URL})", check=reads(_keys_url)
)
DEPENDENCY: Final = Dependency("apple")


class AppleToken(msgspec.Struct, frozen=True):
    """What a token says that Apple signed."""

    subject: str
    email: str | None
    """Only one that Apple has verified."""
    issued_at: datetime
    expires_at: datetime
    not_before: datetime

    def is_current(self, now: datetime) -> bool:
        begun = max(self.issued_at, self.not_before) <= now + SKEW
        return begun and now < self.expires_at and now < self.issued_at + SHOWN_WITHIN


class ReadsTokens(Protocol):
    """The port: what a token of Apple's says, or a refusal."""

    async def read(self, token: str, nonce: str | None, caller: Caller) -> AppleToken: ...


class NoApple:
    """Where no app is configured."""

    async def read(self, token: str, nonce: str | None, caller: Caller) -> AppleToken:  # noqa: ARG002
        raise FeatureDisabled


class Apple:
    """Reads tokens with the keys that Apple publishes."""

    def __init__(
        self,
        client_ids: Collection[str],
        keys_url: str,
        outbound: Outbound,
        *,
        dependency: Dependency = DEPENDENCY,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client_ids = frozenset(client_ids)
        self._request = Request(
            method="GET", url=keys_url, user_given=False, connect_seconds=3, read_seconds=5, deadline_seconds=8
        )
        self._outbound = outbound
        self._dependency = dependency
        self._clock = clock
        self._keys: Mapping[str, RSAPublicKey] = {}
        self._fetched_at: float | None = None
        self._fetching = asyncio.Lock()

    @classmethod
    def of(cls, config: Config, outbound: Outbound) -> "Self | NoApple":
        ids = config.find(APPLE_CLIENT_IDS)
        return cls(_client_ids(ids), config.find(APPLE_KEYS_URL) or KEYS_URL, outbound) if ids else NoApple()

    async def read(self, token: str, nonce: str | None, caller: Caller) -> AppleToken:
        kid = kid_of(token)
        key = self._known(kid)
        if key is None:
            async with self._fetching:  # Whoever waited finds what the first one fetched.
                if self._is_older_than(KEPT_SECONDS if kid in self._keys else LOOK_AGAIN_SECONDS):
                    await self._fetch(caller)
                key = self._known(kid)
        if key is None:
            raise AppleIdentityInvalid
        return token_of(claims_of(token, key), self._client_ids, nonce)

    def _known(self, kid: str) -> RSAPublicKey | None:
        return None if self._is_older_than(KEPT_SECONDS) else self._keys.get(kid)

    def _is_older_than(self, seconds: float) -> bool:
        return self._fetched_at is None or self._clock() - self._fetched_at >= seconds

    async def _fetch(self, caller: Caller) -> None:
        outcome = await self._outbound.call(self._dependency, self._request, caller)
        if isinstance(outcome, NotSent):
            raise outcome.refusal
        if not isinstance(outcome, Answer) or outcome.status != 200:
            raise AppleUnavailable
        keys = keys_of(outcome.body)
        if not keys:
            raise AppleUnavailable
        self._keys, self._fetched_at = keys, self._clock()


def keys_of(document: bytes) -> dict[str, RSAPublicKey]:
    """Of a published set, those with which RS256 is checked; others are there for somebody else."""
    try:
        published = json.loads(document)["keys"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return {}
    keys: dict[str, RSAPublicKey] = {}
    for each in published if isinstance(published, list) else ():
        key = _key_of(each) if isinstance(each, dict) else None
        if key is not None:
            keys[each["kid"]] = key
    return keys


def _key_of(each: dict[str, Any]) -> RSAPublicKey | None:
    usable = each.get("kty") == "RSA" and each.get("use", "sig") == "sig" and each.get("alg", "RS256") == "RS256"
    if not usable or not isinstance(each.get("kid"), str) or "d" in each:
        return None
    try:
        key = jwt.PyJWK(each, algorithm="RS256").key
    except (jwt.PyJWTError, ValueError, TypeError):
        return None
    return key if isinstance(key, RSAPublicKey) and key.key_size >= SMALLEST_KEY_BITS else None


def kid_of(token: str) -> str:
    """Which key is said to have signed it."""
    if len(token) > LONGEST or not _TOKEN.fullmatch(token):
        raise AppleIdentityInvalid
    header = _document(token.split(".")[0])
    kid = header.get("kid")
    if header.get("alg") != "RS256" or not isinstance(kid, str) or not ABOUT_KEYS.isdisjoint(header):
        raise AppleIdentityInvalid
    return kid


def claims_of(token: str, key: RSAPublicKey) -> dict[str, Any]:
    """What it says, after the signature was checked."""
    try:
        SIGNATURES.decode(token, key, algorithms=["RS256"])
    except (jwt.PyJWTError, ValueError):
        raise AppleIdentityInvalid from None
    return _document(token.split(".")[1])


def token_of(claims: Mapping[str, Any], client_ids: Collection[str], nonce: str | None) -> AppleToken:
    """The claims that count, each of exactly the form that Apple gives it."""
    subject, audience = claims.get("sub"), claims.get("aud")
    named = isinstance(subject, str) and 0 < len(subject) <= 255
    for_us = isinstance(audience, str) and audience in client_ids and claims.get("iss") == ISSUER
    if not named or not for_us or not _is_asked_for(claims, nonce):
        raise AppleIdentityInvalid
    return AppleToken(
        str(subject),
        _email_of(claims),
        _instant(claims.get("iat")),
        _instant(claims.get("exp")),
        _instant(claims.get("nbf", 0)),
    )


def _is_asked_for(claims: Mapping[str, Any], nonce: str | None) -> bool:
    """A token that was made for a nonce is worth nothing to whoever does not have it."""
    said = claims.get("nonce")
    if nonce is None:
        return said is None
    expected = hashlib.sha256(nonce.encode("utf-8", "surrogatepass")).hexdigest()
    return isinstance(said, str) and same(said.encode("utf-8", "surrogatepass"), expected.encode())


def _email_of(claims: Mapping[str, Any]) -> str | None:
    email, verified = claims.get("email"), claims.get("email_verified")
    if not isinstance(email, str) or not (verified is True or verified == "true"):
        return None
    try:
        return normalise_email(email)
    except InvalidEmail:
        return None


def _instant(seconds: object) -> datetime:
    if type(seconds) is not int or not 0 <= seconds <= END_OF_TIME:
        raise AppleIdentityInvalid
    return datetime.fromtimestamp(seconds, UTC)


def _document(segment: str) -> dict[str, Any]:
    """A part of a token, with no name in it twice: others might read the other one."""
    try:
        text = base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4))
        document = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise AppleIdentityInvalid from None
    if not isinstance(document, dict):
        raise AppleIdentityInvalid
    return document


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice")
    return found

"""The public keys by which OpenPix's events are recognised: `x-webhook-signature`, base64 of an RSA signature (PKCS#1
v1.5, SHA-256) over the very bytes.

Promise: a key counts when its identifier is the digest of the key itself. Any of those that they publish counts; one
that they took back, for an hour at most, or for a day while they cannot be asked. They are asked when a signature is
not recognised or the keys are old, and not more often than once a minute, however many come. The key is the same for
all their customers: it says who sent an event, and not for whom.
"""

import asyncio
import base64
import binascii
import hashlib
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key

from admitone.finance.gateways.openpix.objects import PublicKey, PublicKeys
from admitone.finance.gateways.signature import LONGEST_HEADER

HEADER: Final = "x-webhook-signature"
FRESH_FOR: Final = timedelta(hours=1)
TRUSTED_FOR: Final = timedelta(days=1)
PAUSE: Final = timedelta(minutes=1)
MOST_KEYS: Final = 8
WEAKEST_BITS: Final = 1_024
"""What they sign with now."""
NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)

Fetch = Callable[[], Awaitable[PublicKeys | None]]


class KeyRing:
    """The keys as they were last published."""

    def __init__(self) -> None:
        self._keys: Mapping[str, RSAPublicKey] = {}
        self._asked_at = NEVER
        self._answered_at = NEVER
        self._times_asked = 0
        self._asking = asyncio.Lock()

    def recognises(self, body: bytes, header: str, now: datetime) -> bool:
        signature = _signature(header)
        if signature is None or not self._is_usable(now):
            return False
        return any(_fits(key, signature, body) for key in self._keys.values())

    async def renew(self, fetch: Fetch, now: datetime) -> bool:
        """Whether there is something to recognise by that there was not before; who comes while somebody asks waits
        for the answer."""
        before = self._times_asked
        async with self._asking:
            if self._times_asked != before:
                return True
            if abs(now - self._asked_at) < PAUSE:
                return False
            published = await fetch()
            self._asked_at = now
            self._times_asked += 1
            if published is not None:
                self._answered_at = now
                self._keys = dict(_usable(published.public_keys[:MOST_KEYS]))
            return True

    def _is_usable(self, now: datetime) -> bool:
        age = now - self._answered_at
        return age <= FRESH_FOR or (age <= TRUSTED_FOR and now - self._asked_at <= PAUSE)


def _usable(published: Sequence[PublicKey]) -> Iterator[tuple[str, RSAPublicKey]]:
    for each in published:
        try:
            key = load_pem_public_key(each.key.encode())
        except (ValueError, UnsupportedAlgorithm):
            continue
        if isinstance(key, RSAPublicKey) and key.key_size >= WEAKEST_BITS and identifier_of(key) == each.key_identifier:
            yield each.key_identifier, key


def identifier_of(key: RSAPublicKey) -> str:
    return hashlib.sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()


def _signature(header: str) -> bytes | None:
    if not 0 < len(header) <= LONGEST_HEADER:
        return None
    try:
        return base64.b64decode(header, validate=True)
    except (binascii.Error, ValueError):
        return None


def _fits(key: RSAPublicKey, signature: bytes, body: bytes) -> bool:
    try:
        key.verify(signature, body, PKCS1v15(), hashes.SHA256())
    except InvalidSignature:
        return False
    return True

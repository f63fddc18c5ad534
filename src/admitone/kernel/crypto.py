"""Secrets: keys with versions, tokens kept as digests, columns nobody can read or move.

Promise: one key never serves two purposes (each purpose gets its own, derived by HKDF); keys rotate without losing
what was made under the old ones (GAP-18); the database holds digests of tokens, never tokens; an encrypted value
opens only in the row it was written for; and no key or secret shows in a repr, an error or a log.

    ring = KeyRing.parse("1:…,2:…")                        the highest version signs, all of them verify
    ring.hmac(email, purpose="identity.email")             what to store
    ring.all_hmacs(email, purpose="identity.email")        what to look up, under every live key
    ring.seal(document, Place(...)), ring.open(…, Place(...))
    new_secret("key", organization)                        the text for the caller once, the digest for us
"""

import base64
import binascii
import hashlib
import hmac
import os
import re
import secrets
from dataclasses import dataclass, field
from functools import lru_cache
from hmac import HMAC
from typing import Final, Self
from uuid import UUID

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from admitone.kernel.errors import Unauthenticated
from admitone.kernel.ids import OrganizationId
from admitone.kernel.ports import Port

_KEY_BYTES = 32
_NONCE_BYTES = 12
_TAG_BYTES = 16
_SECRET_BYTES = 20


class MalformedSecret(Unauthenticated):
    """This key or link is not complete."""

    code = "MALFORMED_SECRET"


class CannotOpen(Exception):
    """An encrypted value was changed, moved to another place, or outlived its key. Somebody must look at it."""


@dataclass(frozen=True, slots=True)
class Versioned:
    """A digest and the version of the key that made it. Store both."""

    version: int
    digest: bytes


@dataclass(frozen=True, slots=True)
class Place:
    """The one place in the database where an encrypted value may be read."""

    table: str
    column: str
    organization: UUID | None
    row: UUID

    def encoded(self) -> bytes:
        # JSON rather than joined text, so that no two places can read the same.
        return msgspec.json.encode([self.table, self.column, self.organization, self.row])


class KeyRing:
    """The live keys of one installation, by version."""

    def __init__(self, keys: dict[int, bytes]) -> None:
        if not keys:
            raise ValueError("no key at all")
        for version, key in keys.items():
            # The version is the first byte of an encrypted value.
            if not 1 <= version <= 255:
                raise ValueError("a key's version is a number from 1 to 255")
            if len(key) < _KEY_BYTES:
                raise ValueError(f"key {version} is shorter than {_KEY_BYTES} bytes")
        self._keys = dict(sorted(keys.items(), reverse=True))
        self.current = max(keys)
        self._derived = lru_cache(maxsize=256)(self._derive)
        self._prepared = lru_cache(maxsize=256)(self._prepare)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `1:base64,2:base64`. What is wrong is said by position, so that no key ends up in an error."""
        keys: dict[int, bytes] = {}
        for position, entry in enumerate(text.split(","), start=1):
            version, colon, encoded = entry.strip().partition(":")
            if not (colon and version.isascii() and version.isdigit() and len(version) <= 3):
                raise ValueError(f"entry {position} does not have the form version:base64")
            if int(version) in keys:
                raise ValueError(f"version {int(version)} appears twice")
            try:
                keys[int(version)] = single_line_base64(encoded)
            except ValueError:
                raise ValueError(f"entry {position} is not base64 on a single line") from None
        return cls(keys)

    @property
    def versions(self) -> tuple[int, ...]:
        """The live versions, newest first."""
        return tuple(self._keys)

    def hmac(self, text: str, purpose: str) -> Versioned:
        """The keyed digest under the current key: the same text gives the same digest, and only to us."""
        return self._hmac(self.current, text, purpose)

    def all_hmacs(self, text: str, purpose: str) -> tuple[Versioned, ...]:
        """The digest under every live key, newest first, to find what was stored before a rotation."""
        return tuple(self._hmac(version, text, purpose) for version in self._keys)

    def verifies(self, text: str, purpose: str, claimed: Versioned) -> bool:
        """Whether the digest was made by one of our live keys from this text for this purpose."""
        return claimed.version in self._keys and same(self._hmac(claimed.version, text, purpose).digest, claimed.digest)

    def seal(self, plain: bytes, place: Place) -> bytes:
        """Encrypt for one place: version, nonce, AES-256-GCM."""
        # Every column has a key of its own, so chance repeats a nonce under one only after billions of values.
        nonce = os.urandom(_NONCE_BYTES)
        cipher = AESGCM(self._column_key(self.current, place))
        return bytes([self.current]) + nonce + cipher.encrypt(nonce, plain, place.encoded())

    def open(self, sealed: bytes, place: Place) -> bytes:
        """Decrypt what was sealed for this very place, else CannotOpen."""
        if len(sealed) < 1 + _NONCE_BYTES + _TAG_BYTES:
            raise CannotOpen("too short")
        version, nonce, cipher_text = sealed[0], sealed[1 : 1 + _NONCE_BYTES], sealed[1 + _NONCE_BYTES :]
        if version not in self._keys:
            raise CannotOpen(f"no live key of version {version}")
        try:
            return AESGCM(self._column_key(version, place)).decrypt(nonce, cipher_text, place.encoded())
        except InvalidTag:
            raise CannotOpen(f"changed, or not written for {place.table}.{place.column} of this row") from None

    def is_current(self, sealed: bytes) -> bool:
        """Whether it was sealed with the newest key; if not, seal it again before the old key retires."""
        return sealed[:1] == bytes([self.current])

    def __repr__(self) -> str:
        return f"KeyRing(versions {', '.join(map(str, self._keys))})"

    def __reduce__(self) -> str:
        raise TypeError("keys are not written down")

    def _hmac(self, version: int, text: str, purpose: str) -> Versioned:
        mac = self._prepared(version, purpose).copy()
        mac.update(text.encode())
        return Versioned(version, mac.digest())

    def _prepare(self, version: int, purpose: str) -> HMAC:
        """Under load a copy costs a tenth of `hmac.digest`, which lets go of the interpreter's lock for each text."""
        return HMAC(self._derived(version, f"hmac:{purpose}"), digestmod="sha256")

    def _column_key(self, version: int, place: Place) -> bytes:
        return self._derived(version, f"column:{place.table}.{place.column}")

    def _derive(self, version: int, use: str) -> bytes:
        hkdf = HKDF(algorithm=SHA256(), length=_KEY_BYTES, salt=b"admitone", info=use.encode())
        return hkdf.derive(self._keys[version])


KEYRING: Final = Port[KeyRing]("kernel.keyring")
"""The keys of this process, for stores that seal and for whoever makes hashes."""


@dataclass(frozen=True, slots=True)
class NewSecret:
    """A fresh secret: the text goes to its owner once, the digest goes into the database."""

    text: str = field(repr=False)
    digest: bytes


@dataclass(frozen=True, slots=True)
class Secret:
    """What a presented secret says of itself. Nothing of it is true before its digest was found."""

    kind: str
    organization: OrganizationId | None
    text: str = field(repr=False)

    @property
    def digest(self) -> bytes:
        return digest_of(self.text)


# kind _ organisation in clear (0: none) _ 160 bits. Lower case and no punctuation at the end: it survives mails.
_SECRET = re.compile(r"(?P<kind>[a-z][a-z0-9]{1,11})_(?P<organization>[0-9a-f]{32}|0)_[0-9a-f]{40}", re.ASCII)


def new_secret(kind: str, organization: OrganizationId | None) -> NewSecret:
    """Make a secret that says in clear of which kind and whose it is, so that look-ups know where to go."""
    owner = organization.uuid.hex if organization else "0"
    text = f"{kind}_{owner}_{secrets.token_hex(_SECRET_BYTES)}"
    if not _SECRET.fullmatch(text):
        raise ValueError(f"{kind!r} is no kind of secret: two to twelve small letters or digits")
    return NewSecret(text, digest_of(text))


def read_secret(text: str) -> Secret:
    """Take a presented secret apart, else MalformedSecret."""
    parts = _SECRET.fullmatch(text)
    if parts is None:
        raise MalformedSecret
    owner = parts["organization"]
    return Secret(parts["kind"], None if owner == "0" else OrganizationId(UUID(hex=owner)), text)


def digest_of(text: str) -> bytes:
    """SHA-256 of a secret. It needs no salt and no slowness: nobody guesses 160 bits."""
    # Lone surrogates can arrive from a header; they must miss, not crash.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def same(one: bytes, other: bytes) -> bool:
    """Compare in a time that does not depend on where they differ."""
    return hmac.compare_digest(one, other)


def single_line_base64(text: str) -> bytes:
    """Decode base64 that stands on one line with its padding, as keys in the environment must (PLT-042)."""
    try:
        decoded = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("not base64 on a single line") from None
    if not decoded or base64.b64encode(decoded).decode() != text:
        raise ValueError("not base64 on a single line")
    return decoded

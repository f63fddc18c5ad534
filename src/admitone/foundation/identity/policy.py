"""Identity's decisions, and the small secrets that it hands out."""

import secrets
from datetime import datetime
from typing import Final
from uuid import uuid4

from admitone.foundation.identity.model import CODE_DIGITS, Challenge, ChallengeId, Purpose
from admitone.kernel.crypto import KEYRING, Versioned, same

CODES: Final = "identity.code"
DEVICES: Final = "identity.device"


def new_code() -> str:
    return f"{secrets.randbelow(10**CODE_DIGITS):0{CODE_DIGITS}d}"


def code_digest(challenge: ChallengeId, code: str) -> bytes:
    """Whoever reads the table soon guesses six digits, so the digest takes a key and belongs to one challenge."""
    return KEYRING().hmac(f"{challenge}:{code}", CODES).digest


def code_digests(challenge: ChallengeId, code: str) -> tuple[bytes, ...]:
    return tuple(each.digest for each in KEYRING().all_hmacs(f"{challenge}:{code}", CODES))


def comes_back(
    challenge: Challenge | None, digests: tuple[bytes, ...], purposes: frozenset[Purpose], now: datetime
) -> bool:
    """Whether what came back is what was sent. All comparisons are made, whatever the first says."""
    if challenge is None:
        return False
    right = [same(challenge.digest, digest) for digest in digests]
    return challenge.purpose in purposes and challenge.is_live(now) and any(right)


# -- Known devices: a cookie that we signed for one address. Whoever has it is counted apart from strangers (IDN-020).


def new_device_cookie(email: str) -> str:
    device = uuid4().hex
    signed = KEYRING().hmac(f"{device}:{email}", DEVICES)
    return f"{device}.{signed.version}.{signed.digest.hex()}"


def is_known_device(cookie: str | None, email: str) -> bool:
    """Whether we signed it for this address."""
    device, _, rest = (cookie or "").partition(".")
    version, _, digest = rest.partition(".")
    if not (version.isascii() and version.isdigit() and len(version) <= 3 and len(device) == 32 and len(digest) == 64):
        return False
    try:
        claimed = Versioned(int(version), bytes.fromhex(digest))
    except ValueError:
        return False
    return KEYRING().verifies(f"{device}:{email}", DEVICES, claimed)

"""Signatures of webhooks, as Stripe makes them: `t=1700000000,v1=hex[,v1=hex]`, HMAC-SHA256 over `t.body`.

Promise: what is accepted was signed with one of our secrets over these very bytes, within five minutes of now in either
direction. Schemes that we do not know are ignored, never believed. Comparing takes as long for a near miss as for
nonsense, and a header that is too long to be one is refused before anything is calculated.
"""

import hashlib
import hmac
import re
from datetime import UTC, datetime, timedelta
from typing import Final

HEADER: Final = "stripe-signature"
TOLERANCE: Final = timedelta(minutes=5)
LONGEST_HEADER: Final = 2_048
MOST_SIGNATURES: Final = 16
"""A provider that rolls its secret signs with two."""

_MOMENT: Final = re.compile(r"[0-9]{1,11}", re.ASCII)
_SIGNATURE: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)


def sign(body: bytes, secret: str, at: datetime) -> str:
    """The header that goes with this body."""
    moment = str(int(at.timestamp()))
    return f"t={moment},v1={_digest(body, secret, moment)}"


def verify(body: bytes, header: str, secret: str, now: datetime) -> bool:
    parts = _read(header)
    if parts is None:
        return False
    moment, signatures = parts
    if abs(datetime.fromtimestamp(int(moment), UTC) - now.replace(microsecond=0)) > TOLERANCE:
        return False
    expected = _digest(body, secret, moment)
    # Every one is compared: which of them was right is nobody's business.
    return sum(hmac.compare_digest(expected, each) for each in signatures) > 0


def _digest(body: bytes, secret: str, moment: str) -> str:
    return hmac.new(secret.encode(), moment.encode() + b"." + body, hashlib.sha256).hexdigest()


def _read(header: str) -> tuple[str, list[str]] | None:
    """The moment and the signatures of the scheme that we know, if it is such a header."""
    if len(header) > LONGEST_HEADER or not header.isascii():
        return None
    pairs = [pair.partition("=") for pair in header.split(",")]
    moments = [value for name, _, value in pairs if name == "t"]
    signatures = [value for name, _, value in pairs if name == "v1"]
    if len(moments) != 1 or not _MOMENT.fullmatch(moments[0]) or not 1 <= len(signatures) <= MOST_SIGNATURES:
        return None
    # One that cannot be a signature is as good as none, but does not spoil those beside it.
    return moments[0], [each for each in signatures if _SIGNATURE.fullmatch(each)]

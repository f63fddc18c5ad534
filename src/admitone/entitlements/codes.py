"""Codes: what a QR shows.

Promise (ENT-009): a code is derived from the key, the entitlement and its epoch, so that it can be shown again and
stands nowhere; we keep its digest, from which nobody gets back to it. Whoever has neither the key nor the wallet cannot
make one. It is of digits and capitals, which a QR holds densely and a person can read out.
"""

import base64
import hashlib
import re
from datetime import datetime
from typing import Final

from admitone.entitlements.kinds import TokenKind
from admitone.entitlements.model import EntitlementId, Token
from admitone.kernel.crypto import KEYRING

PURPOSE: Final = "entitlements.code"
PREFIX: Final = "A1:"
CODE: Final = re.compile(r"A1:[A-Z2-7]{32}")
LONGEST: Final = 64
"""Of whatever a camera may read and call a code."""
_BYTES = 20
_DIGEST_BYTES = 16


def code_of(entitlement: EntitlementId, epoch: int, key_version: int) -> str | None:
    """The code itself, to be shown; none, if its key is gone."""
    text = f"{entitlement.uuid.hex}:{epoch}"
    made = next((each for each in KEYRING().all_hmacs(text, PURPOSE) if each.version == key_version), None)
    return PREFIX + base64.b32encode(made.digest[:_BYTES]).decode() if made else None


def digest_of(code: str) -> bytes:
    """As it is kept, and as a device without a network keeps it. Whoever typed it may have typed small letters."""
    return hashlib.sha256(code.strip().upper().encode()).digest()[:_DIGEST_BYTES]


def new_token(entitlement: EntitlementId, epoch: int, kind: TokenKind, now: datetime) -> Token:
    version = KEYRING().current
    code = code_of(entitlement, epoch, version)
    assert code is not None, "the key that we sign with is there"
    return Token(digest_of(code), entitlement, epoch, version, now, now + kind.life)

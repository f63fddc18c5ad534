"""What the QR of a coupon says.

Promise (CPN-023, CPN-061): 64 hexadecimal digits, a keyed SHA-256 of an id that nobody is told, so that it can be shown
again to whoever has it live, follows from nothing that is public, and says nothing. We keep its digest.
"""

import hashlib
from typing import Final

from admitone.kernel.crypto import KEYRING
from admitone.verticals.coupons.model import Token, TokenId

PURPOSE: Final = "coupons.token"


def fresh(token: TokenId) -> tuple[int, bytes]:
    """By which key a new token is made, and its digest."""
    made = KEYRING().hmac(token.uuid.hex, PURPOSE)
    return made.version, digest_of(made.digest.hex())


def text_of(token: Token) -> str:
    """What its QR says."""
    made = KEYRING().all_hmacs(token.id.uuid.hex, PURPOSE)
    [text] = [each.digest.hex() for each in made if each.version == token.key_version]
    return text


def digest_of(text: str) -> bytes:
    """As it is kept. Whoever typed it may have typed capitals."""
    return hashlib.sha256(text.strip().lower().encode()).digest()

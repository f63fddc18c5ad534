"""Addresses: how they are compared, and how they are hidden.

Promise: two spellings of one address are one address (trim, NFKC, lower case); what stands in the database is a keyed
hash of it, under every live key, and the address itself sealed.
"""

import unicodedata
from typing import Final

from admitone.foundation.identity.errors import InvalidEmail
from admitone.foundation.mail.api import is_address
from admitone.kernel.crypto import KEYRING, Versioned

PURPOSE: Final = "identity.email"


def normalise_email(text: str) -> str:
    """The address as it is kept and compared; raises `InvalidEmail` for what is none."""
    # Lower case can undo the form, and the form can bring spaces: again until nothing changes.
    email = unicodedata.normalize("NFKC", text.strip()).lower()
    email = unicodedata.normalize("NFKC", email).lower().strip()
    if not is_address(email):
        raise InvalidEmail
    return email


def email_hashes(email: str) -> tuple[Versioned, ...]:
    """Of a normalised address, the newest key's first."""
    return KEYRING().all_hmacs(email, PURPOSE)


def subject_of(email: str) -> str:
    """The address as a subject of limits."""
    return email_hashes(email)[0].digest.hex()

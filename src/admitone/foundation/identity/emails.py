"""Addresses: how they are compared, and how they are hidden.

Promise: two spellings of one address are one address: before the @ by form and case (trim, NFKC, lower case), behind it
by the domain that they name, in its form in ASCII, to which mail is sent. So one mailbox has one spelling. What stands
in the database is a keyed hash of it, under every live key, and the address itself sealed.
"""

import unicodedata
from typing import Final

from admitone.foundation.identity.errors import InvalidEmail
from admitone.foundation.mail.api import is_address, on_the_wire
from admitone.kernel.crypto import KEYRING, Versioned

PURPOSE: Final = "identity.email"
_OTHER_ATS: Final = {0xFF20: "@", 0xFE6B: "@"}


def normalise_email(text: str) -> str:
    """The address as it is kept and compared; raises `InvalidEmail` for what is none."""
    # The domain as it was written: its names have a form of their own, and NFKC would make others of some.
    local, at, domain = text.strip().translate(_OTHER_ATS).rpartition("@")
    # Lower case can undo the form: again until nothing changes.
    for _ in range(2):
        local = unicodedata.normalize("NFKC", local).lower()
    email = f"{unicodedata.normalize('NFKC', local)}{at}{domain}"
    if not is_address(email):
        raise InvalidEmail
    return on_the_wire(email)


def email_hashes(email: str) -> tuple[Versioned, ...]:
    """Of a normalised address, the newest key's first."""
    return KEYRING().all_hmacs(email, PURPOSE)


def subject_of(email: str) -> str:
    """The address as a subject of limits."""
    return email_hashes(email)[0].digest.hex()

"""Passwords: argon2, off the event loop, one at a time.

Promise: hashing never blocks other calls: one thread of this process hashes, and whoever finds too many in line before
them is told to come back. Somebody who has no account costs what somebody who has one does.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from admitone.foundation.identity.errors import WeakPassword
from admitone.kernel.batch import Overloaded

SHORTEST: Final = 10
LONGEST: Final = 128
IN_LINE: Final = 128
"""How many may wait: some three seconds of hashing."""

# The figures that OWASP gives for argon2id with one lane.
HASHER: Final = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
NOBODYS: Final = "$argon2id$v=19$m=19456,t=2,p=1$RdZvlcdqoXQyu3uup03pmA$C9App6rVxS9VMFi8E3RxJPu+QXi8wz2c+aRzW0RJp9U"
"""What a password is compared with where there is none; as costly as the others."""
_COMMON: Final = frozenset(
    {
        "1234567890", "password123", "password1234", "qwertyuiop", "qwerty12345", "1q2w3e4r5t", "1qaz2wsx3edc",
        "iloveyou123", "letmein1234", "welcome1234", "administrator", "senha12345", "senha123456", "mudar12345",
        "benfica1904", "portugal123", "brasil12345", "flamengo123", "admitone123", "abcdefghij", "abcd123456",
        "0123456789", "0987654321", "12345678910", "123456789a", "a123456789", "passw0rd123", "changeme123",
    }
)  # fmt: skip
"""Those that are tried first, of the length that we take."""

_line = ThreadPoolExecutor(1, thread_name_prefix="argon2")
_waiting = 0


def refuse_weak(password: str, email: str = "") -> None:
    """Length counts most; what everybody tries first, or what stands in the address, counts for nothing."""
    if len(password) < SHORTEST:
        raise WeakPassword(rule="TOO_SHORT")
    if len(password) > LONGEST:
        raise WeakPassword(rule="TOO_LONG")
    plain = password.lower()
    if plain in _COMMON or len(set(plain)) < 5:
        raise WeakPassword(rule="TOO_COMMON")
    if email and (email.partition("@")[0] in plain or plain in email):
        raise WeakPassword(rule="LIKE_THE_ADDRESS")


async def hash_of(password: str) -> str:
    hashed: str = await _in_line(HASHER.hash, password)
    return hashed


async def matches(password: str, stored: str | None) -> bool:
    """Whether it is the one; without a hash to compare with, no, after the same work."""
    found: bool = await _in_line(_verify, password, stored or NOBODYS)
    return found and stored is not None


def is_outdated(stored: str) -> bool:
    return HASHER.check_needs_rehash(stored)


def _verify(password: str, stored: str) -> bool:
    try:
        return HASHER.verify(stored, password)
    except (VerificationError, InvalidHashError):
        return False


async def _in_line(work: Any, *words: Any) -> Any:
    global _waiting
    if _waiting >= IN_LINE:
        raise Overloaded(retry_after_seconds=2)
    _waiting += 1
    try:
        return await asyncio.get_running_loop().run_in_executor(_line, work, *words)
    finally:
        _waiting -= 1

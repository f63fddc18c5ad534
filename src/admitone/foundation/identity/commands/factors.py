"""The second factor: a code of an authenticator, or one of the codes kept for the day that it is lost.

Promise: a code is worth one use, also when it is shown twice within its half minute. Whoever shows wrong ones, wherever
they prove themselves, is counted until the next right one, and each fifth is told of (IDN-018).
"""

import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Final

import pyotp

from admitone.foundation.authority.facts import Alarm, SecurityAlert
from admitone.foundation.identity.store import factors
from admitone.kernel.crypto import digest_of, same
from admitone.kernel.db import PeopleTx
from admitone.kernel.ids import IdentityId
from admitone.kernel.scope import Caller

STEP_SECONDS: Final = 30
DRIFT: Final = (0, -1, 1)
"""Steps by which a clock may differ from ours."""
WRONG_ONES: Final = 5
"""After so many somebody is guessing."""
RECOVERY_CODES: Final = 10
RECOVERY_SIGNS: Final = "abcdefghjkmnpqrstuvwxyz23456789"
"""None that looks like another."""


async def accept(tx: PeopleTx, shown: Sequence[tuple[Caller, IdentityId, str]]) -> list[bool]:
    """For each person and what they showed, whether it is theirs and new."""
    known = await factors.lock_totp(tx, [identity for _, identity, _ in shown])
    reached = {identity: row["last_step"] for identity, row in known.items()}
    missed = {identity: row["missed"] for identity, row in known.items()}
    accepted = []
    for caller, identity, code in shown:
        row = known.get(identity)
        step = step_of(factors.secret_of(row), code, tx.now) if row and row["confirmed_at"] else None
        right = step is not None and step > reached[identity]
        if right and step is not None:
            reached[identity] = step
        else:
            right = await factors.use_recovery_code(tx, identity, recovery_digest(code))
        if row:
            missed[identity] = 0 if right else missed[identity] + 1
        if missed.get(identity) == WRONG_ONES:
            missed[identity] = 0
            tx.publish(caller, SecurityAlert(identity_id=identity, alarm=Alarm.CODE_GUESSED))
        accepted.append(right)
    await factors.step_on(tx, [(identity, reached[identity], missed[identity]) for identity in sorted(known)])
    return accepted


async def enrolled(tx: PeopleTx, identities: Sequence[IdentityId]) -> set[IdentityId]:
    """Who of them has a second factor."""
    rows = await factors.lock_totp(tx, identities)
    return {identity for identity, row in rows.items() if row["confirmed_at"]}


def step_of(secret: str, code: str, now: datetime) -> int | None:
    """The step of time whose code this is."""
    totp = pyotp.TOTP(secret, interval=STEP_SECONDS)
    current = totp.timecode(now)
    shown = plain(code).encode("utf-8", "surrogatepass")
    steps = [current + drift for drift in DRIFT if same(totp.generate_otp(current + drift).encode(), shown)]
    return steps[0] if steps else None


def new_recovery_codes() -> tuple[str, ...]:
    """Sixteen signs each: as good as 79 bits, so their digests need no key and outlive all keys."""
    texts = ("".join(secrets.choice(RECOVERY_SIGNS) for _ in range(16)) for _ in range(RECOVERY_CODES))
    return tuple("-".join(text[at : at + 4] for at in range(0, 16, 4)) for text in texts)


def recovery_digest(code: str) -> bytes:
    return digest_of(plain(code))


def plain(code: str) -> str:
    """As people type codes: in groups, with dashes, in capitals."""
    return code.replace(" ", "").replace("-", "").lower()

"""Authenticators: shown, confirmed, removed.

Promise: a secret counts when its owner has shown a code of it, and not before; until then the former one goes on. The
codes for the day that it is lost come with it, are shown once and stand here as digests.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

import msgspec
import pyotp

from admitone.foundation.authority.facts import Alarm, SecurityAlert
from admitone.foundation.identity.commands import factors as proofs
from admitone.foundation.identity.errors import IdentityNotFound, InvalidCode, NoSecondFactor
from admitone.foundation.identity.store import factors, people
from admitone.foundation.identity.store.factors import Confirmed
from admitone.kernel import audit
from admitone.kernel.audit import Entry
from admitone.kernel.commands import command
from admitone.kernel.db import PeopleTx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId
from admitone.kernel.scope import Caller

PENDING_LASTS: Final = timedelta(minutes=10)
ISSUER: Final = "Admit One"
"""Under which authenticators list it."""


class Enrolment(msgspec.Struct, frozen=True):
    caller: Caller
    identity: IdentityId
    secret: str
    reason_code: str


class Confirmation(msgspec.Struct, frozen=True):
    caller: Caller
    identity: IdentityId
    code: str
    recovery_digests: tuple[bytes, ...]


class Removal(msgspec.Struct, frozen=True):
    caller: Caller
    identity: IdentityId
    code: str


@command()
async def enrol(tx: PeopleTx, enrolments: Sequence[Enrolment]) -> list[str | Refusal]:
    """The address under which an authenticator takes each secret (`otpauth:`). Of two at once the last one counts."""
    await people.lock_identities(tx, [each.identity for each in enrolments])
    profiles = await people.list_profiles(tx, [each.identity for each in enrolments])
    known = [each for each in enrolments if each.identity in profiles]
    await factors.put_pending(tx, {each.identity: each.secret for each in known})
    entries = [Entry(each.caller, "identity.enrol_totp", str(each.identity), each.reason_code) for each in known]
    await audit.record(tx.platform, entries)
    return [
        pyotp.TOTP(each.secret).provisioning_uri(profiles[each.identity].email, issuer_name=ISSUER)
        if each.identity in profiles
        else IdentityNotFound()
        for each in enrolments
    ]


@command()
async def confirm(tx: PeopleTx, confirmations: Sequence[Confirmation]) -> list[bool | Refusal]:
    rows = await factors.lock_totp(tx, [each.identity for each in confirmations])
    confirmed: dict[IdentityId, Confirmed] = {}
    outcomes: list[bool | Refusal] = []
    for each in confirmations:
        row = rows.get(each.identity)
        pending = row is not None and row["pending_sealed"] and row["pending_at"] > tx.now - PENDING_LASTS
        if row is None or not pending or each.identity in confirmed:
            outcomes.append(NoSecondFactor())
            continue
        secret = factors.pending_of(row)
        step = proofs.step_of(secret, each.code, tx.now)
        if step is None:
            outcomes.append(InvalidCode())
            continue
        confirmed[each.identity] = Confirmed(each.identity, secret, step, each.recovery_digests)
        outcomes.append(True)
    await factors.confirm(tx, list(confirmed.values()))
    made = [each for each, outcome in zip(confirmations, outcomes, strict=True) if outcome is True]
    for each in made:
        tx.publish(each.caller, SecurityAlert(identity_id=each.identity, alarm=Alarm.SECOND_FACTOR_ADDED))
    await audit.record(
        tx.platform,
        [
            Entry(
                each.caller,
                "identity.confirm_totp",
                str(each.identity),
                before={"secondFactor": rows[each.identity]["confirmed_at"] is not None},
                after={"secondFactor": True},
            )
            for each in made
        ],
    )
    return outcomes


@command()
async def disable(tx: PeopleTx, removals: Sequence[Removal]) -> list[bool | Refusal]:
    """Whoever takes it away shows it once more."""
    enrolled = await proofs.enrolled(tx, [each.identity for each in removals])
    asked = [each for each in removals if each.identity in enrolled]
    accepted = iter(await proofs.accept(tx, [(each.caller, each.identity, each.code) for each in asked]))
    outcomes: list[bool | Refusal] = []
    removed: dict[IdentityId, Removal] = {}
    for each in removals:
        if each.identity not in enrolled:
            outcomes.append(NoSecondFactor())
        elif next(accepted):
            removed.setdefault(each.identity, each)
            outcomes.append(True)
        else:
            outcomes.append(InvalidCode())
    await factors.remove_totp(tx, list(removed))
    for identity, each in removed.items():
        tx.publish(each.caller, SecurityAlert(identity_id=identity, alarm=Alarm.SECOND_FACTOR_REMOVED))
    await audit.record(
        tx.platform,
        [
            Entry(
                each.caller,
                "identity.remove_totp",
                str(identity),
                before={"secondFactor": True},
                after={"secondFactor": False},
            )
            for identity, each in removed.items()
        ],
    )
    return outcomes

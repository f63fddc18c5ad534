"""What becomes of a right.

Promise: a right changes by one of these and by nothing else; each change writes where the right stands, one line of its
trail and one fact, in one transaction. Whatever ends the use of a right ends its codes at the same instant (ENT-009);
what begins it anew begins with a code that nobody has seen. REVOKED never returns.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Final, Protocol, TypeVar

import msgspec

from admitone.entitlements.codes import new_token
from admitone.entitlements.errors import EntitlementNotActive, EntitlementNotFound
from admitone.entitlements.facts import told_of
from admitone.entitlements.model import (
    Change,
    Changed,
    CheckinPolicy,
    Entitlement,
    EntitlementId,
    Hold,
    Revocation,
    Status,
    Token,
)
from admitone.entitlements.policy import relaxed, status_of
from admitone.entitlements.port import KINDS
from admitone.entitlements.store import entitlements as store
from admitone.entitlements.store import tokens as token_store
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId
from admitone.kernel.scope import Caller

COPIED: Final = ("methods", "max_entries", "reentry_minutes", "undo_minutes")
"""What a right has of the policy that it was granted under."""


class Move(msgspec.Struct, frozen=True):
    """One right before and after, and why."""

    caller: Caller
    kind: Change
    before: Entitlement
    after: Entitlement
    reason: str | None = None

    @classmethod
    def of(
        cls, caller: Caller, kind: Change, before: Entitlement, reason: str | None = None, /, **became: object
    ) -> "Move":
        after = msgspec.structs.replace(before, version=before.version + 1, **became)
        return cls(caller, kind, before, after, reason)

    @classmethod
    def with_code(
        cls,
        now: datetime,
        caller: Caller,
        kind: Change,
        before: Entitlement,
        reason: str | None = None,
        /,
        **more: object,
    ) -> "Move":
        """With a code that nobody has seen."""
        coded = {"epoch": before.epoch + 1, "coded_until": now + KINDS()[before.kind].life}
        return cls.of(caller, kind, before, reason, **(more | coded))


class _About(Protocol):
    @property
    def entitlement(self) -> EntitlementId: ...


About = TypeVar("About", bound=_About)
Decide = Callable[[About, Entitlement], Move | Refusal | None]
"""What becomes of it, why not, or nothing, if it is so already."""


class Suspension(msgspec.Struct, frozen=True):
    caller: Caller
    entitlement: EntitlementId
    hold: Hold


class Release(msgspec.Struct, frozen=True):
    """That reason is over; others stand."""

    caller: Caller
    entitlement: EntitlementId
    hold: Hold


class Revoking(msgspec.Struct, frozen=True):
    caller: Caller
    entitlement: EntitlementId
    why: Revocation


class Transfer(msgspec.Struct, frozen=True):
    """It becomes somebody else's, and the codes that its owner had are worth nothing."""

    caller: Caller
    entitlement: EntitlementId
    to: IdentityId


class Claim(msgspec.Struct, frozen=True):
    """Whose guest it was is somebody by now: the same person by another id, and codes stay as they are (IDN-004)."""

    caller: Caller
    entitlement: EntitlementId
    guest: IdentityId
    user: IdentityId


class Rescheduling(msgspec.Struct, frozen=True):
    """What it is for takes place at another time. What was over comes back, if that time is not: people decide in the
    morning that an evening was rained off."""

    caller: Caller
    entitlement: EntitlementId
    valid_from: datetime
    valid_until: datetime


class Relaxing(msgspec.Struct, frozen=True):
    """The policy lets in by more than when it was granted. Where it lets in by less, the right stays as it was."""

    caller: Caller
    entitlement: EntitlementId
    policy: CheckinPolicy
    policy_version: int


class Disowning(msgspec.Struct, frozen=True):
    """Its codes may be in the wrong hands: all of them end, and the next one is new."""

    caller: Caller
    entitlement: EntitlementId
    reason: str


@command()
async def suspend(tx: Tx, suspensions: Sequence[Suspension]) -> list[Entitlement | Refusal]:
    def move(each: Suspension, before: Entitlement) -> Move | Refusal | None:
        return held(each.caller, before, before.held_for | {each.hold}, tx.now)

    return await change(tx, suspensions, move)


@command()
async def release(tx: Tx, releases: Sequence[Release]) -> list[Entitlement | Refusal]:
    def move(each: Release, before: Entitlement) -> Move | Refusal | None:
        return held(each.caller, before, before.held_for - {each.hold}, tx.now)

    return await change(tx, releases, move)


@command()
async def revoke(tx: Tx, revokings: Sequence[Revoking]) -> list[Entitlement | Refusal]:
    def move(each: Revoking, before: Entitlement) -> Move | Refusal | None:
        return revoked(each.caller, before, each.why)

    return await change(tx, revokings, move)


@command()
async def transfer(tx: Tx, transfers: Sequence[Transfer]) -> list[Entitlement | Refusal]:
    users = await store.find_claimed(tx, {each.to for each in transfers})

    def move(each: Transfer, before: Entitlement) -> Move | Refusal | None:
        to = users.get(each.to, each.to)
        if before.owner == to:
            return None
        if before.status is not Status.ACTIVE or before.entries:
            return EntitlementNotActive(status=before.status.value)
        return Move.with_code(tx.now, each.caller, Change.TRANSFERRED, before, owner=to)

    return await change(tx, transfers, move)


@command()
async def claim(tx: Tx, claims: Sequence[Claim]) -> list[Entitlement | Refusal]:
    def move(each: Claim, before: Entitlement) -> Move | Refusal | None:
        if before.owner != each.guest:  # It was passed on meanwhile, or is the user's already.
            return None
        return Move.of(each.caller, Change.CLAIMED, before, owner=each.user)

    return await change(tx, claims, move)


@command()
async def reschedule(tx: Tx, reschedulings: Sequence[Rescheduling]) -> list[Entitlement | Refusal]:
    def move(each: Rescheduling, before: Entitlement) -> Move | Refusal | None:
        if (before.valid_from, before.valid_until) == (each.valid_from, each.valid_until):
            return None
        if before.status is Status.REVOKED:
            return EntitlementNotActive(status=before.status.value)
        window = {"valid_from": each.valid_from, "valid_until": each.valid_until}
        if before.status is not Status.EXPIRED or each.valid_until < tx.now:
            return Move.of(each.caller, Change.RESCHEDULED, before, **window)
        if not before.epoch:  # It was kept, and never given.
            return Move.of(each.caller, Change.RESCHEDULED, before, status=Status.PENDING, **window)
        back = status_of(msgspec.structs.replace(before, **window), tx.now)
        return Move.with_code(tx.now, each.caller, Change.RESCHEDULED, before, status=back, **window)

    return await change(tx, reschedulings, move)


@command()
async def relax(tx: Tx, relaxings: Sequence[Relaxing]) -> list[Entitlement | Refusal]:
    """`policy_version` stays that under which it was granted; the trail names the one that relaxed it (ENT-015)."""

    def move(each: Relaxing, before: Entitlement) -> Move | Refusal | None:
        after = relaxed(before, each.policy)
        if after == before or before.status in (Status.REVOKED, Status.EXPIRED):
            return None
        became = {name: getattr(after, name) for name in COPIED}
        return Move.of(each.caller, Change.RELAXED, before, f"policy {each.policy_version}", **became)

    return await change(tx, relaxings, move)


@command()
async def revoke_codes(tx: Tx, disownings: Sequence[Disowning]) -> list[Entitlement | Refusal]:
    def move(each: Disowning, before: Entitlement) -> Move | Refusal | None:
        if before.status is not Status.ACTIVE:
            return EntitlementNotActive(status=before.status.value)
        return Move.with_code(tx.now, each.caller, Change.CODES_REVOKED, before, each.reason)

    return await change(tx, disownings, move)


async def expire(tx: Tx, ids: Collection[EntitlementId], caller: Caller) -> int:
    """Those of these whose time is over (ENT-018); how many there were."""
    locked = await store.lock_entitlements(tx, [*ids], lambda own: own)
    moves = [
        Move.of(caller, Change.EXPIRED, each, status=Status.EXPIRED)
        for each in locked.values()
        if each.valid_until < tx.now and each.status in (Status.PENDING, Status.ACTIVE, Status.SUSPENDED)
    ]
    await write_moves(tx, moves)
    return len(moves)


def held(caller: Caller, before: Entitlement, holds: frozenset[Hold], now: datetime) -> Move | None:
    """How it stands when it is held for this; nothing, if that changes nothing or cannot be any more."""
    if before.status is Status.REVOKED or before.held_for == holds:
        return None
    reason = ",".join(sorted(holds ^ before.held_for))
    kind = Change.SUSPENDED if holds - before.held_for else Change.RELEASED
    if before.status in (Status.PENDING, Status.EXPIRED):  # It counts when it is given, or comes back.
        return Move.of(caller, kind, before, reason, held_for=holds)
    status = status_of(msgspec.structs.replace(before, held_for=holds), now)
    became = {"status": status, "held_for": holds}
    if status is Status.ACTIVE:
        return Move.with_code(now, caller, kind, before, reason, **became)
    return Move.of(caller, Change.EXPIRED if status is Status.EXPIRED else kind, before, reason, **became)


def revoked(caller: Caller, before: Entitlement, why: Revocation) -> Move | None:
    if before.status is Status.REVOKED:
        return None
    became = {"status": Status.REVOKED, "held_for": frozenset(), "revoked_for": why}
    return Move.of(caller, Change.REVOKED, before, why.value, **became)


async def change(tx: Tx, inputs: Sequence[About], decide: Decide[About]) -> list[Entitlement | Refusal]:
    """Lock, decide one after the other, write."""
    standing = await store.lock_entitlements(tx, inputs, lambda each: each.entitlement)
    moves: list[Move] = []
    outcomes: list[Entitlement | Refusal] = []
    for each in inputs:
        before = standing.get(each.entitlement)
        if before is None:
            outcomes.append(EntitlementNotFound())
            continue
        said = decide(each, before)
        if isinstance(said, Move):
            moves.append(said)
            standing[each.entitlement] = said.after
        outcomes.append(said if isinstance(said, Refusal) else standing[each.entitlement])
    await write_moves(tx, moves)
    return outcomes


async def write_moves(tx: Tx, moves: Sequence[Move]) -> None:
    """Where they stand, their trail, their codes, and the facts."""
    if not moves:
        return
    first = {each.before.id: each.before for each in reversed(moves)}
    last = {each.after.id: each.after for each in moves}
    await store.write_standings(tx, {own: each.version for own, each in first.items()}, [*last.values()])
    await store.insert_changes(tx, [_line(each, tx.now) for each in moves])
    await token_store.revoke(tx, [own for own, each in last.items() if _ends_codes(first[own], each)])
    await token_store.insert_tokens(tx, fresh_tokens([e for own, e in last.items() if e.epoch > first[own].epoch], tx))
    for each in moves:
        tx.publish(each.caller, told_of(each.kind, each.after, each.reason))


def _ends_codes(before: Entitlement, after: Entitlement) -> bool:
    return before.epoch > 0 and (after.status is not Status.ACTIVE or after.epoch > before.epoch)


def fresh_tokens(entitlements: Sequence[Entitlement], tx: Tx) -> list[Token]:
    """Of each that is good the code of its epoch."""
    usable = [each for each in entitlements if each.status is Status.ACTIVE]
    return [new_token(each.id, each.epoch, KINDS()[each.kind], tx.now) for each in usable]


def _line(move: Move, now: datetime) -> Changed:
    return Changed(
        entitlement_id=move.after.id.uuid,
        number=move.after.version,
        kind=move.kind,
        from_status=move.before.status,
        to_status=move.after.status,
        reason=move.reason,
        identity_id=move.after.owner.uuid,
        at=now,
        actor_id=move.caller.actor.uuid if move.caller.actor else None,
        cause_id=move.caller.causation_id,
        correlation_id=move.caller.correlation_id,
    )

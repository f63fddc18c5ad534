"""Giving rights.

Promise: whoever grants twice under one key grants once, and is shown the first (FUL: emission keys are unique). A right
begins with its code, unless a place is only kept; what is kept has neither code nor access (ENT-018). Whoever is given
something looks at its payment, held until the end: what nobody paid for is not given, and what was disputed or sent
back meanwhile opens no door.
"""

from collections.abc import Mapping, Sequence

import msgspec

from admitone.entitlements.commands.changing import Move, change, fresh_tokens
from admitone.entitlements.commands.following import follow_held
from admitone.entitlements.errors import EntitlementNotActive, EntitlementNotPaid
from admitone.entitlements.facts import told_of
from admitone.entitlements.model import Change, Changed, Entitlement, EntitlementId, Grant, Status
from admitone.entitlements.policy import status_of
from admitone.entitlements.port import KINDS
from admitone.entitlements.store import entitlements as store
from admitone.entitlements.store import tokens as token_store
from admitone.finance.payments import api as payments
from admitone.finance.payments.api import Payment
from admitone.finance.sources.api import PaymentId
from admitone.kernel.commands import command
from admitone.kernel.db import Overtaken, Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId
from admitone.kernel.scope import Caller


class Activation(msgspec.Struct, frozen=True):
    """What was kept is given: its payment succeeded (FIN-052)."""

    caller: Caller
    entitlement: EntitlementId
    payment: PaymentId | None = None


class About(msgspec.Struct, frozen=True):
    payment: PaymentId


@command()
async def grant(tx: Tx, grants: Sequence[Grant]) -> list[Entitlement | Refusal]:
    """Each once, for whoever owns it by then."""
    held = await payments.lock_payments(tx, [each for each in grants if each.payment])
    sound = [each for each in grants if each.pending or _is_paid(each.payment, held)]
    users = await store.find_claimed(tx, {each.owner for each in sound})
    fresh = {each.emission_key: _entitlement(tx, each, users.get(each.owner, each.owner)) for each in reversed(sound)}
    new = await store.insert_entitlements(tx, [*fresh.values()])
    known = await store.find_by_keys(tx, [key for key, each in fresh.items() if each.id not in new])
    if len(known) + len(new) != len(fresh):
        raise Overtaken  # One was granted by another this instant.
    given = [each for each in fresh.values() if each.id in new]
    callers = {each.emission_key: each.caller for each in reversed(sound)}
    await token_store.insert_tokens(tx, fresh_tokens(given, tx))
    await store.insert_changes(tx, [_line(each, callers[each.emission_key], tx) for each in given])
    for each in given:
        tx.publish(callers[each.emission_key], told_of(Change.GRANTED, each, None))
    standing = await follow_held(tx, held, {each.payment: each.caller for each in grants if each.payment})
    outcomes = fresh | known
    return [
        standing.get(right.id, right) if (right := outcomes.get(each.emission_key)) else EntitlementNotPaid()
        for each in grants
    ]


@command()
async def activate(tx: Tx, activations: Sequence[Activation]) -> list[Entitlement | Refusal]:
    """What was kept is given."""
    found = await store.find_entitlements(tx, {each.entitlement for each in activations})
    whose = {each.entitlement: each.payment or _payment_of(found.get(each.entitlement)) for each in activations}
    callers = {own: each.caller for each in activations if (own := whose[each.entitlement])}
    held = await payments.lock_payments(tx, [About(own) for own in callers])

    def decide(each: Activation, before: Entitlement) -> Move | Refusal | None:
        if before.status is Status.PENDING:
            if not _is_paid(whose[each.entitlement], held):
                return EntitlementNotPaid()
            became = {"status": status_of(before, tx.now), "payment_id": whose[each.entitlement]}
            return Move.with_code(tx.now, each.caller, Change.ACTIVATED, before, None, **became)
        return None if before.status is Status.ACTIVE else EntitlementNotActive(status=before.status.value)

    outcomes = await change(tx, activations, decide)
    standing = await follow_held(tx, held, callers)
    return [each if isinstance(each, Refusal) else standing.get(each.id, each) for each in outcomes]


def _is_paid(payment: PaymentId | None, held: Mapping[PaymentId, Payment]) -> bool:
    """Whether its money came, whatever became of it since; what names no payment costs none."""
    return payment is None or (payment in held and held[payment].applied)


def _payment_of(entitlement: Entitlement | None) -> PaymentId | None:
    return entitlement.payment_id if entitlement else None


def _entitlement(tx: Tx, grant: Grant, owner: IdentityId) -> Entitlement:
    kind, policy = KINDS()[grant.kind], grant.policy
    return Entitlement(
        organization=tx.scope.organization,
        id=EntitlementId.new(),
        emission_key=grant.emission_key,
        source=grant.source,
        line_key=grant.line_key,
        piece=grant.piece,
        payment_id=grant.payment,
        event_id=grant.event_id,
        session_id=grant.session_id,
        label=grant.label,
        owner=owner,
        kind=kind.name,
        offline_allowed=kind.offline,
        status=Status.PENDING if grant.pending else Status.ACTIVE,
        held_for=frozenset(),
        revoked_for=None,
        valid_from=grant.valid_from,
        valid_until=grant.valid_until,
        policy_version=grant.policy_version,
        methods=frozenset(policy.methods),
        max_entries=policy.entries,
        reentry_minutes=policy.reentry_minutes,
        undo_minutes=policy.undo_minutes,
        entries=0,
        entered=0,
        duplicates=0,
        consumed_at=None,
        last_entry_at=None,
        epoch=0 if grant.pending else 1,
        coded_until=None if grant.pending else tx.now + kind.life,
        version=1,
        created_at=tx.now,
        changed_at=tx.now,
    )


def _line(granted: Entitlement, caller: Caller, tx: Tx) -> Changed:
    return Changed(
        entitlement_id=granted.id.uuid,
        number=1,
        kind=Change.GRANTED,
        from_status=None,
        to_status=granted.status,
        reason=None,
        identity_id=granted.owner.uuid,
        at=tx.now,
        actor_id=caller.actor.uuid if caller.actor else None,
        cause_id=caller.causation_id,
        correlation_id=caller.correlation_id,
    )

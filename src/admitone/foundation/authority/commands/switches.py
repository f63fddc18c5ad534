"""Switches: stop something and lift the stop, switch a feature on and off.

Promise: a switch, its entry in the audit trail and its fact commit together; it holds everywhere from the next call on,
because nobody remembers the answer. A stop says for which case it stands and when it ends, and is the platform's alone
(`SCOPE`, and a constraint says so too); a feature is switched in the scope for which it shall be on, the platform's own
for everybody. Lifting needs the case that decided it (SAF-023).
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from admitone.foundation.authority.errors import (
    ExpiryOutOfRange,
    FeatureNotOn,
    NotStopped,
    UnknownFeature,
    UnknownOrganization,
)
from admitone.foundation.authority.facts import (
    EventKillSwitch,
    FeatureSwitched,
    IdentityKillSwitch,
    OrganizationKillSwitch,
    PlatformKillSwitch,
    Turned,
)
from admitone.foundation.authority.features import KNOWN
from admitone.foundation.authority.model import STOP_LASTS_AT_MOST, StopKind, Target
from admitone.foundation.authority.policy import feature, why_not_stop
from admitone.foundation.authority.store import members
from admitone.foundation.authority.store import switches as store
from admitone.foundation.authority.store.switches import Setting
from admitone.kernel import audit
from admitone.kernel.audit import Entry
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.facts import Fact
from admitone.kernel.ids import PLATFORM_ORGANIZATION, IdentityId, OrganizationId
from admitone.kernel.scope import Caller, Scope

SCOPE: Final = Scope(PLATFORM_ORGANIZATION, "kill switches")


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """Who turns a switch, why, and for which case."""

    caller: Caller
    reason_code: str
    case_reference: str

    def __post_init__(self) -> None:
        if self.caller.actor is None:
            raise TypeError("a switch is turned by a person")


class Stop(Order, frozen=True, kw_only=True):
    """Stop it until then, whatever was said about it before."""

    target: Target
    expires_at: datetime

    @property
    def key(self) -> str:
        return self.target.key

    @property
    def people(self) -> tuple[IdentityId, ...]:
        """Who stops, and whom, if it is a person."""
        assert self.caller.actor is not None
        if self.target.kind is not StopKind.IDENTITY or self.target.id is None:
            return (self.caller.actor,)
        return (self.caller.actor, IdentityId.parse(self.target.id))


class Lift(Order, frozen=True, kw_only=True):
    target: Target

    @property
    def key(self) -> str:
        return self.target.key


class SwitchOn(Order, frozen=True, kw_only=True):
    feature: str
    expires_at: datetime | None = None

    @property
    def key(self) -> str:
        return feature(self.feature)


class SwitchOff(Order, frozen=True, kw_only=True):
    feature: str

    @property
    def key(self) -> str:
        return feature(self.feature)


@command()
async def stop(tx: Tx, stops: Sequence[Stop]) -> list[Setting | Refusal]:
    """Nobody stops whoever could lift it: those who run the platform, by somebody of a higher rank only."""
    latest = tx.now + STOP_LASTS_AT_MOST
    ours = await members.lock_members(tx, sorted({who.uuid for each in stops for who in each.people}))
    refusals: list[Refusal | None] = []
    for each in stops:
        if not tx.now < each.expires_at <= latest:
            refusals.append(ExpiryOutOfRange(latest=latest))
        else:
            refusals.append(why_not_stop(*(ours.get(who.uuid) for who in each.people)))
    return await _turn_on(tx, "stop", stops, refusals)


@command()
async def lift(tx: Tx, lifts: Sequence[Lift]) -> list[bool | Refusal]:
    """Whether each goes on again; of two who lift one stop, one does."""
    return await _turn_off(tx, "lift_stop", lifts, NotStopped)


@command()
async def switch_on(tx: Tx, wanted: Sequence[SwitchOn]) -> list[Setting | Refusal]:
    if await members.find_group(tx) is None:
        return [UnknownOrganization() for _ in wanted]
    return await _turn_on(tx, "switch_feature_on", wanted, [_why_not_on(each, tx.now) for each in wanted])


@command()
async def switch_off(tx: Tx, unwanted: Sequence[SwitchOff]) -> list[bool | Refusal]:
    return await _turn_off(tx, "switch_feature_off", unwanted, FeatureNotOn)


def _why_not_on(wanted: SwitchOn, now: datetime) -> Refusal | None:
    if wanted.feature not in KNOWN:
        return UnknownFeature()
    return ExpiryOutOfRange() if wanted.expires_at and wanted.expires_at <= now else None


async def _turn_on(
    tx: Tx, action: str, orders: Sequence[Stop | SwitchOn], refusals: Sequence[Refusal | None]
) -> list[Setting | Refusal]:
    """Those that are not refused. The last word about one switch holds."""
    standing = await store.lock_switches(tx, orders)
    changed: dict[str, Setting] = {}
    entries = []
    outcomes: list[Setting | Refusal] = []
    for each, refusal in zip(orders, refusals, strict=True):
        if refusal:
            outcomes.append(refusal)
            continue
        assert each.caller.actor is not None
        setting = Setting(each.key, each.reason_code, each.case_reference, each.caller.actor, tx.now, each.expires_at)
        entries.append(_entry(action, each, standing.get(each.key), setting))
        standing[each.key] = changed[each.key] = setting
        outcomes.append(setting)
        tx.publish(each.caller, _told(each, each.expires_at))
    await store.put_switches(tx, list(changed.values()))
    await audit.record(tx, entries)
    return outcomes


async def _turn_off(
    tx: Tx, action: str, orders: Sequence[Lift | SwitchOff], missing: type[Refusal]
) -> list[bool | Refusal]:
    standing = await store.lock_switches(tx, orders)
    await store.remove_switches(tx, sorted(standing))
    entries = []
    outcomes: list[bool | Refusal] = []
    for each in orders:
        before = standing.pop(each.key, None)
        if before is None:
            outcomes.append(missing())
            continue
        # The trail says for which case it was set, and for which it was lifted.
        entries.append(_entry(action, each, before, None))
        outcomes.append(True)
        tx.publish(each.caller, _told(each, None))
    await audit.record(tx, entries)
    return outcomes


def _entry(
    action: str, order: Stop | Lift | SwitchOn | SwitchOff, before: Setting | None, after: Setting | None
) -> Entry:
    said = _said(after) if after else {"caseReference": order.case_reference}
    return Entry(order.caller, action, order.key, order.reason_code, _said(before) if before else None, said)


def _said(setting: Setting) -> dict[str, Any]:
    return {
        "reasonCode": setting.reason_code,
        "caseReference": setting.case_reference,
        "setBy": str(setting.set_by),
        "expiresAt": setting.expires_at,
    }


def _told(order: Stop | Lift | SwitchOn | SwitchOff, expires_at: datetime | None) -> Fact:
    if isinstance(order, SwitchOn | SwitchOff):
        return FeatureSwitched(
            feature=order.feature,
            turned="ON" if isinstance(order, SwitchOn) else "OFF",
            because=order.reason_code,
            case_reference=order.case_reference,
            expires_at=expires_at,
        )
    return _kill_switch(order, "SET" if isinstance(order, Stop) else "LIFTED", expires_at)


def _kill_switch(order: Stop | Lift, turned: Turned, expires_at: datetime | None) -> Fact:
    said: dict[str, Any] = {
        "turned": turned,
        "because": order.reason_code,
        "case_reference": order.case_reference,
        "expires_at": expires_at,
    }
    subject = order.target.id or ""
    match order.target.kind:
        case StopKind.EVENT:
            return EventKillSwitch(event_id=subject, **said)
        case StopKind.ORGANIZATION:
            return OrganizationKillSwitch(organization_id=OrganizationId.parse(subject), **said)
        case StopKind.IDENTITY:
            return IdentityKillSwitch(identity_id=IdentityId.parse(subject), **said)
        case StopKind.PLATFORM:
            return PlatformKillSwitch(organization_id=PLATFORM_ORGANIZATION, **said)

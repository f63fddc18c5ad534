"""Settings, modules, legal documents: what an organisation says of itself, has switched on, and agreed to."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec

from admitone.foundation.authority import api as authority
from admitone.foundation.authority.api import OrganizationModule
from admitone.foundation.organizations.errors import (
    CityNotFound,
    DocumentNotOnOffer,
    ModuleNeeded,
    SettingsOvertaken,
    TaxIdIncomplete,
)
from admitone.foundation.organizations.facts import DocumentAccepted, ModuleSwitched, SettingsChanged
from admitone.foundation.organizations.gate import gate
from admitone.foundation.organizations.model import (
    CRITICAL,
    ON_OFFER,
    PLAIN,
    Acceptance,
    Accepted,
    ModuleSwitch,
    Organization,
    Settings,
    SettingsChange,
)
from admitone.foundation.organizations.policy import ALWAYS_ON, why_not_invoiced_so
from admitone.foundation.organizations.store import organizations as store
from admitone.kernel import audit
from admitone.kernel.cities import find_cities
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal

LEGAL_IDENTITY = "LEGAL_IDENTITY_SETTINGS"
"""Why a change of the critical settings asks for the official e-mail."""


@command()
async def change_settings(tx: Tx, changes: Sequence[SettingsChange]) -> list[Organization | Refusal]:
    """Each is made to what its caller saw; what is critical only with a verified official e-mail."""
    before = await store.lock_organization(tx, changes)
    cities = await find_cities(tx, [change.settings.home_city for change in changes])
    now, entries = before, []
    outcomes: list[Organization | Refusal] = []
    for change in changes:
        outcome = _changed(now, change, cities)
        if isinstance(outcome, Organization):
            entries.append(_entry(change, now, outcome))
            tx.publish(change.caller, SettingsChanged(organization_id=now.id, settings_version=outcome.version))
            now = outcome
        outcomes.append(outcome)
    if entries:
        await store.change_settings(tx, before, now.settings, now.version - before.version)
        await audit.record(tx, entries)
    return outcomes


def _changed(now: Organization, change: SettingsChange, cities: Collection[str]) -> Organization | Refusal:
    if change.version != now.version:
        return SettingsOvertaken(version=now.version)
    settings = change.settings
    if (settings.tax_id is None) != (settings.tax_country is None):
        return TaxIdIncomplete()
    if settings.home_city not in cities:
        return CityNotFound(city=settings.home_city)
    if incomplete := why_not_invoiced_so(now.settings, settings):
        return incomplete
    if _differing(now.settings, settings, CRITICAL) and (refusal := gate(now.official, change.caller, LEGAL_IDENTITY)):
        return refusal
    return msgspec.structs.replace(now, settings=settings, version=now.version + 1)


def _differing(one: Settings, other: Settings, fields: Sequence[str]) -> list[str]:
    return [field for field in fields if getattr(one, field) != getattr(other, field)]


def _entry(change: SettingsChange, before: Organization, after: Organization) -> audit.Entry:
    """Names and addresses are named, and not told."""
    fields = Settings.__struct_fields__
    changed = _differing(before.settings, after.settings, fields)

    def told(each: Organization) -> Mapping[str, Any]:
        return {
            "version": each.version,
            **{field: getattr(each.settings, field) for field in changed if field in PLAIN},
        }

    return audit.Entry(
        change.caller,
        "organization.change_settings",
        str(after.id),
        before=told(before),
        after={**told(after), "changed": changed},
    )


@command()
async def switch_modules(tx: Tx, switches: Sequence[ModuleSwitch]) -> list[ModuleSwitch | Refusal]:
    """Whatever is switched is so from the next call on."""
    organization = await store.lock_organization(tx, switches)
    now = await authority.list_modules(tx)
    outcomes: list[ModuleSwitch | Refusal] = []
    entries, changed = [], {}
    for switch in switches:
        if switch.module in ALWAYS_ON and not switch.enabled:
            outcomes.append(ModuleNeeded(module=switch.module))
            continue
        outcomes.append(switch)
        before = now.get(switch.module, False)
        if before != switch.enabled:
            now[switch.module] = changed[switch.module] = switch.enabled
            subject, was, then = str(organization.id), {switch.module: before}, {switch.module: switch.enabled}
            entries.append(audit.Entry(switch.caller, "organization.switch_module", subject, before=was, after=then))
            fact = ModuleSwitched(
                organization_id=organization.id, module=OrganizationModule(switch.module), enabled=switch.enabled
            )
            tx.publish(switch.caller, fact)
    if entries:
        await authority.put_modules(tx, changed)
        await audit.record(tx, entries)
    return outcomes


@command()
async def accept_documents(tx: Tx, acceptances: Sequence[Acceptance]) -> list[Accepted | Refusal]:
    """Agree to a version that is on offer, once: who agrees again is told who did so first."""
    organization = await store.lock_organization(tx, acceptances)
    first = {(each.document, each.version): each for each in reversed(acceptances) if _is_on_offer(each)}
    rows = [
        store.AcceptanceRow(document, version, each.caller.actor.uuid, tx.now)
        for (document, version), each in sorted(first.items())
        if each.caller.actor
    ]
    fresh = await store.insert_acceptances(tx, rows)
    for key in sorted(fresh):
        each = first[key]  # type: ignore[index]
        assert each.caller.actor is not None
        fact = DocumentAccepted(
            organization_id=organization.id, document=each.document, accepted_by_id=each.caller.actor
        )
        tx.publish(each.caller, fact)
    entries = [
        audit.Entry(
            first[key].caller,  # type: ignore[index]
            "organization.accept_document",
            str(organization.id),
            after={"document": key[0], "version": key[1]},
        )
        for key in sorted(fresh)
    ]
    await audit.record(tx, entries)
    known = await store.find_acceptances(tx, rows)
    return [
        known[each.document, each.version] if _is_on_offer(each) else DocumentNotOnOffer(version=each.version)
        for each in acceptances
    ]


def _is_on_offer(each: Acceptance) -> bool:
    return each.version in ON_OFFER[each.document]

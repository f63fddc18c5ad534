"""The accounts of organisations at providers: opening them, and what providers say of them.

Promise: an account changes only in the organisation whose it is, by its own id, provider and mode; whatever does not
fit exactly is refused and changes nothing (FIN-022). What is older than what we know undoes nothing. Whoever is told
of a change is told once for each state (FIN-092).
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec

from admitone.finance.gateways.api import AccountOrder, ObjectType, Provider, Ref
from admitone.finance.payments.errors import AccountMismatch, AccountTypeRefused, OnboardingIncomplete
from admitone.finance.payments.facts import AccountChanged, AccountUnclear
from admitone.finance.payments.model import AccountTold, KnownAccount, Onboarding, account_name
from admitone.finance.payments.onboarding import account_order, missing_of
from admitone.finance.payments.policy import asked_at, fingerprint_of, is_news, onboarding_of
from admitone.finance.payments.store import accounts as store
from admitone.finance.payments.store.references import Belonging, put_refs
from admitone.foundation.organizations import api as organizations
from admitone.kernel import audit
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.scope import Caller

MOST_REQUIREMENTS: Final = 100
ONBOARDING: Final = "PAYMENTS_ONBOARDING"
"""Why the official e-mail is asked for."""


class Opening(msgspec.Struct, frozen=True):
    """Somebody wants their organisation to take payments through a provider."""

    caller: Caller
    provider: Provider
    livemode: bool


class Opened(msgspec.Struct, frozen=True):
    """What is ordered, and the account that it gave, if it was ordered before."""

    order: AccountOrder
    account: KnownAccount | None
    at: datetime
    """As of when its answer counts."""


@command()
async def open_accounts(tx: Tx, openings: Sequence[Opening]) -> list[Opened | Refusal]:
    """What is to be ordered for each, unless something is missing; who asked stands in the trail."""
    organization = await organizations.get_organization(tx)
    missing = missing_of(organization, await organizations.list_acceptances(tx))
    known = await store.find_accounts(tx)
    outcomes: list[Opened | Refusal] = []
    for each in openings:
        if refusal := organizations.gate(organization.official, each.caller, ONBOARDING):
            outcomes.append(refusal)
        elif missing:
            outcomes.append(OnboardingIncomplete(missing=missing))
        else:
            order = account_order(organization, each.provider, each.caller, livemode=each.livemode)
            account = known.get((each.provider, each.livemode))
            outcomes.append(Opened(order, account, asked_at(account, tx.now)))
    entries = [
        audit.Entry(each.caller, "payments.onboarding", str(organization.id), after={"provider": each.provider})
        for each, outcome in zip(openings, outcomes, strict=True)
        if isinstance(outcome, Opened)
    ]
    await audit.record(tx, entries)
    return outcomes


@command()
async def keep_accounts(tx: Tx, told: Sequence[AccountTold]) -> list[KnownAccount | Refusal]:
    """What a provider opened for this organisation becomes its account there; another never does after it."""
    known = await store.find_accounts(tx)
    refusals = [_refused(tx, each, known.get((each.provider, each.account.livemode)) or _first(each)) for each in told]
    fitting = [each for each, refusal in zip(told, refusals, strict=True) if refusal is None]
    foreign = await put_refs(tx, [Belonging(each.provider, _ref(each), None) for each in fitting])
    own = [each for each in fitting if _ref(each) not in foreign]
    firsts = {_first(each).name: each for each in reversed(own)}
    for kept in await store.keep_accounts(tx, [_first(each) for each in firsts.values()]):
        tell(tx, firsts[kept.name].caller, kept)
    outcomes = iter(await change_accounts(tx, own))
    return [
        refusal or (next(outcomes) if _ref(each) not in foreign else AccountMismatch())
        for each, refusal in zip(told, refusals, strict=True)
    ]


def _ref(told: AccountTold) -> Ref:
    return Ref(ObjectType.ACCOUNT, told.account.id)


def _first(told: AccountTold) -> KnownAccount:
    """An account as it is when we first hear of it."""
    account = told.account
    return KnownAccount(
        told.provider,
        account.livemode,
        account.id,
        onboarding_of(account, Onboarding.PENDING),
        account.charges_enabled,
        account.payouts_enabled,
        tuple(sorted(set(account.requirements_due))[:MOST_REQUIREMENTS]),
        told.at,
        version=1,
    )


@command()
async def change_accounts(tx: Tx, told: Sequence[AccountTold]) -> list[KnownAccount | Refusal]:
    """What each account may do from now on; the answer is what we hold now, also where this was no news.

    Events come in any order and carry whole seconds: of two that differ in one second nobody knows which was later,
    so the provider is asked (`AccountUnclear`).
    """
    before = await store.lock_accounts(tx, told)
    now = dict(before)
    outcomes: list[str | Refusal] = []
    for each in told:
        name = account_name(each.provider, livemode=each.account.livemode)
        refusal = _refused(tx, each, now.get(name))
        if refusal is None:
            now[name] = _heard(tx, each, now[name], before[name].version + 1)
        outcomes.append(refusal or name)
    await store.change_accounts(tx, [each for name, each in now.items() if each != before[name]])
    return [now[each] if isinstance(each, str) else each for each in outcomes]


def _refused(tx: Tx, told: AccountTold, known: KnownAccount | None) -> Refusal | None:
    account = told.account
    if known is None or known.account != account.id or account.organization not in (None, tx.scope.organization):
        return AccountMismatch()
    return AccountTypeRefused() if account.type != store.STANDARD else None


def _heard(tx: Tx, told: AccountTold, known: KnownAccount, version: int) -> KnownAccount:
    account = told.account
    first = _first(told)
    if told.at == known.told_at and fingerprint_of(first) != fingerprint_of(known):
        unclear = AccountUnclear(account_id=account.id, provider=told.provider, livemode=account.livemode)
        tx.publish(told.caller, unclear)
    if not is_news(told, known):
        return known
    heard = msgspec.structs.replace(
        known,
        onboarding_status=onboarding_of(account, known.onboarding_status),
        charges_enabled=account.charges_enabled,
        payouts_enabled=account.payouts_enabled,
        requirements_due=first.requirements_due,
        told_at=told.at,
        version=version,
    )
    if fingerprint_of(heard) != fingerprint_of(known):
        tell(tx, told.caller, heard)
    return heard


def tell(tx: Tx, caller: Caller, account: KnownAccount) -> None:
    tx.publish(
        caller,
        AccountChanged(
            account_id=account.account,
            provider=account.provider,
            onboarding_status=account.onboarding_status,
            charges_enabled=account.charges_enabled,
            payouts_enabled=account.payouts_enabled,
            fingerprint=fingerprint_of(account),
        ),
    )

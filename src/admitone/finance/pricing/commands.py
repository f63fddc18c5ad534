"""Changes of fee policies, and how an organisation wants its fee shown.

Promise: a change is a new version, with its entry in the audit trail and its fact; nothing that was priced before knows
of it. What the platform takes is the platform's business, for everybody and for one organisation alike: whoever calls
`set_policies` acts for the platform. The organisation has one choice, the mode, among those that its policy allows; it
is kept beside the policies and not as a version of them, so that choosing never keeps an old fee alive.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from admitone.finance.pricing import store
from admitone.finance.pricing.errors import AbsorbedNotAllowed, FeeModeFixed
from admitone.finance.pricing.facts import FeePolicyChanged
from admitone.finance.pricing.model import (
    Choice,
    FeeChoiceId,
    FeePolicyId,
    ModeChoice,
    Policy,
    PolicyChange,
    Target,
    Terms,
)
from admitone.finance.pricing.policy import is_allowed, is_platforms, strongest, why_not_change
from admitone.foundation.organizations.api import get_organization
from admitone.kernel import audit
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import PLATFORM_ORGANIZATION


@command()
async def set_policies(tx: Tx, changes: Sequence[PolicyChange]) -> list[Policy | Refusal]:
    """New versions for the scope's organisation; in the platform's own, for everybody. What is so already stays."""
    platforms = tx.scope.organization == PLATFORM_ORGANIZATION
    if not platforms:
        await get_organization(tx)
    # The number first: what somebody else changes after it takes the next one, and we are overtaken.
    last = await store.last_policy(tx)
    newest = dict((await store.find_newest(tx, [change.target for change in changes], [])).policies)
    outcomes: list[Policy | Refusal] = []
    fresh, entries = [], []
    for change in changes:
        before = newest.get((platforms, change.target.key))
        outcome = why_not_change(change, before, platforms=platforms) or _changed(tx, before, change, last + 1)
        if isinstance(outcome, Policy) and outcome is not before:
            last = outcome.version
            newest[platforms, change.target.key] = outcome
            fresh.append(outcome)
            entries.append(_entry(change, before, outcome))
            tx.publish(change.caller, _fact(tx, outcome.id))
        outcomes.append(outcome)
    await store.insert_policies(tx, fresh)
    await audit.record(tx, entries)
    return outcomes


def _changed(tx: Tx, before: Policy | None, change: PolicyChange, version: int) -> Policy:
    """The next version, or the one before if it says the same. A retired one repeats what it retires."""
    if before and not before.retired and change.terms == before.terms:
        return before
    terms = change.terms or (before.terms if before else Terms(0))
    return Policy(
        id=FeePolicyId.new(),
        organization=tx.scope.organization,
        version=version,
        target=change.target,
        terms=terms,
        retired=change.terms is None,
        created_by=change.caller.actor,
        created_at=tx.now,
    )


def _entry(change: PolicyChange, before: Policy | None, after: Policy) -> audit.Entry:
    def told(policy: Policy) -> Mapping[str, Any]:
        terms = msgspec.to_builtins(policy.terms)
        return {"id": str(policy.id), "version": policy.version, "retired": policy.retired, **terms}

    return audit.Entry(
        change.caller,
        "pricing.set_fee_policy",
        f"fee_policy:{change.target.key}",
        change.reason_code,
        before=told(before) if before else None,
        after=told(after),
    )


@command()
async def choose_modes(tx: Tx, choices: Sequence[ModeChoice]) -> list[Choice | Refusal]:
    """How the fee is shown from now on, where the organisation is the merchant. What is chosen already stays."""
    await get_organization(tx)
    types = [each.source_type for each in choices if each.source_type]
    last = await store.last_choice(tx)  # First, as above.
    newest = await store.find_newest(tx, [Target(), *map(Target, types)], types)
    now = dict(newest.choices)
    outcomes: list[Choice | Refusal] = []
    fresh, entries = [], []
    for each in choices:
        before = now.get(each.source_type or "")
        outcome = _why_not_mode(each, newest) or _chosen(tx, before, each, last + 1)
        if isinstance(outcome, Choice) and outcome is not before:
            last = outcome.version
            now[outcome.target] = outcome
            fresh.append(outcome)
            was, then = ({"feeMode": one.fee_mode} if one else None for one in (before, outcome))
            subject = f"fee_mode:{outcome.target}"
            entries.append(audit.Entry(each.caller, "pricing.choose_fee_mode", subject, before=was, after=then))
            tx.publish(each.caller, _fact(tx, outcome.id))
        outcomes.append(outcome)
    await store.insert_choices(tx, fresh)
    await audit.record(tx, entries)
    return outcomes


def _why_not_mode(choice: ModeChoice, newest: store.Newest) -> Refusal | None:
    """By the rule for all currencies: where one for a currency allows less, it is kept when a price is made."""
    if choice.source_type and is_platforms(choice.source_type):
        return FeeModeFixed()
    targets = [Target(choice.source_type), Target()] if choice.source_type else [Target()]
    policy = strongest(targets, newest.policies)
    return None if policy is None or is_allowed(choice.fee_mode, policy.terms) else AbsorbedNotAllowed()


def _chosen(tx: Tx, before: Choice | None, choice: ModeChoice, version: int) -> Choice:
    if before and before.fee_mode is choice.fee_mode:
        return before
    return Choice(FeeChoiceId.new(), version, choice.source_type, choice.fee_mode, choice.caller.actor, tx.now)


def _fact(tx: Tx, version: FeePolicyId | FeeChoiceId) -> FeePolicyChanged:
    return FeePolicyChanged(organization_id=tx.scope.organization, fee_policy_version=str(version))

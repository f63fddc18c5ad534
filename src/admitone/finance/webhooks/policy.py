"""Whose an event is. Pure.

Promise (FIN-063): what we wrote down ourselves decides first, references before accounts. Metadata may confirm; alone
they count only for an object on the platform's own account, which nobody but us can write to, and what they name must
be a payment of that organisation, which its own transaction checks. On an organisation's account its owner writes
whatever they like into metadata, so there only a reference says which payment it is. Two answers are none.
"""

from collections.abc import Mapping

import msgspec

from admitone.finance.gateways.api import Account, FactKind, ObjectType, ProviderEvent, Ref, Topic
from admitone.finance.payments.api import Owner
from admitone.finance.sources.api import PaymentId
from admitone.finance.webhooks.errors import ClaimedByTwo, NotYetResolved
from admitone.finance.webhooks.model import Basis
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import PLATFORM_ORGANIZATION, OrganizationId

Owners = Mapping[Ref, Owner]


class Whose(msgspec.Struct, frozen=True):
    organization: OrganizationId
    payment: PaymentId | None
    basis: Basis


def refs_of(event: ProviderEvent) -> tuple[Ref, ...]:
    """Everything by which its owner may be found."""
    account = event.envelope.account
    return (*event.refs, *((Ref(ObjectType.ACCOUNT, account),) if account else ()))


def whose(event: ProviderEvent, owners: Owners) -> Whose | Refusal:
    found = [owners[ref] for ref in refs_of(event) if ref in owners]
    claimed = event.account.organization if event.account else event.organization
    organizations = {owner.organization for owner in found}
    payments = {owner.payment for owner in found if owner.payment}
    if len(organizations | ({claimed} if claimed and organizations else set())) > 1:
        return ClaimedByTwo()
    if len(payments | ({event.payment} if event.payment and payments else set())) > 1:
        return ClaimedByTwo()
    if event.envelope.account and Ref(ObjectType.ACCOUNT, event.envelope.account) not in owners:
        return NotYetResolved()
    if organizations:
        [organization] = organizations
        believed = event.payment if claimed and not event.envelope.account else None
        payment = next(iter(payments), believed)
        basis = Basis.REFERENCE if any(ref in owners for ref in event.refs) else Basis.ACCOUNT
        return _complete(event, Whose(organization, payment, basis))
    return _of_nobody_we_know(event, claimed)


def _of_nobody_we_know(event: ProviderEvent, claimed: OrganizationId | None) -> Whose | Refusal:
    if claimed and event.payment:
        return Whose(claimed, event.payment, Basis.METADATA)
    if event.topic in (Topic.BALANCE, Topic.PAYOUT) and not claimed:
        return Whose(PLATFORM_ORGANIZATION, None, Basis.PLATFORM)
    return NotYetResolved()


def _complete(event: ProviderEvent, whose: Whose) -> Whose | Refusal:
    """What happened to a charge happened to a payment."""
    return NotYetResolved() if event.topic is Topic.CHARGE and whose.payment is None else whose


def is_known(event: ProviderEvent, whose: Whose) -> bool:
    """That a charge waits for its customer is no news of one that we have by its own name."""
    return (
        whose.basis is Basis.REFERENCE
        and bool(event.facts)
        and all(each.kind is FactKind.PENDING for each in event.facts)
    )


def is_clear(account: Account, owners: Owners) -> bool:
    """Whether an account is exactly one organisation's, and says nothing else itself (FIN-022)."""
    owner = owners.get(Ref(ObjectType.ACCOUNT, account.id))
    return owner is not None and account.organization in (None, owner.organization)

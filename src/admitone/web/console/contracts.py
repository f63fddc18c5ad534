"""Every page of this part."""

from typing import Final

from admitone.kernel.contracts import Contract
from admitone.web.console import (
    access,
    attendees,
    cancelling,
    event_list,
    events,
    later,
    ledger,
    legal_identity,
    moved,
    official_email,
    onboarding,
    orders,
    overview,
    profile,
    refunding,
    settings,
    team,
    ticket_types,
)

CONTRACTS: Final[tuple[Contract, ...]] = (
    *moved.CONTRACTS,
    *overview.CONTRACTS,
    *event_list.CONTRACTS,
    *events.CONTRACTS,
    *access.CONTRACTS,
    *ticket_types.CONTRACTS,
    *cancelling.CONTRACTS,
    *orders.CONTRACTS,
    *attendees.CONTRACTS,
    *refunding.CONTRACTS,
    *ledger.CONTRACTS,
    *team.CONTRACTS,
    *profile.CONTRACTS,
    *settings.CONTRACTS,
    *legal_identity.CONTRACTS,
    *official_email.CONTRACTS,
    *onboarding.CONTRACTS,
    *later.CONTRACTS,
)

"""Organisations and teams at the edge."""

from admitone.foundation.organizations.routes import (
    exporting,
    governing,
    invitations,
    layout,
    official_email,
    organizations,
    profile,
    team,
)
from admitone.foundation.organizations.routes.wires import LETTERS_PER_RECIPIENT, LETTERS_PER_RECIPIENT_HERE
from admitone.kernel.figures import INVITE_PER_ADDRESS, INVITE_PER_DEVICE

CONTRACTS = (
    *organizations.CONTRACTS,
    *profile.CONTRACTS,
    *layout.CONTRACTS,
    *governing.CONTRACTS,
    *official_email.CONTRACTS,
    *team.CONTRACTS,
    *invitations.CONTRACTS,
    *exporting.CONTRACTS,
)
LIMITS = (
    organizations.FOUNDED_PER_IDENTITY,
    official_email.LINKS_PER_ORGANIZATION,
    official_email.PROOFS_PER_ADDRESS,
    invitations.INVITATIONS_PER_ORGANIZATION,
    LETTERS_PER_RECIPIENT_HERE,
    LETTERS_PER_RECIPIENT,
    INVITE_PER_ADDRESS,
    INVITE_PER_DEVICE,
)

"""Every page of this part."""

from typing import Final

from admitone.web.account import (
    authenticators,
    emails,
    forgetting,
    invitations,
    links,
    mailed_codes,
    organizations,
    passwords,
    profile,
    signing_in,
    signing_up,
    stepping_up,
)

CONTRACTS: Final = (
    *signing_in.CONTRACTS,
    *mailed_codes.CONTRACTS,
    *links.CONTRACTS,
    *signing_up.CONTRACTS,
    *forgetting.CONTRACTS,
    *stepping_up.CONTRACTS,
    *profile.CONTRACTS,
    *emails.CONTRACTS,
    *passwords.CONTRACTS,
    *authenticators.CONTRACTS,
    *organizations.CONTRACTS,
    *invitations.CONTRACTS,
)

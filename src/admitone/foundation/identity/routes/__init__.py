"""The public auth API (CAUTH.02, with what its list leaves out as minor version 1.1.0)."""

from admitone.foundation.identity.routes import (
    apple,
    email_change,
    passwords,
    second_factor,
    sessions,
    signing_in,
    step_up,
)

CONTRACTS = (
    *signing_in.CONTRACTS,
    *passwords.CONTRACTS,
    *sessions.CONTRACTS,
    *second_factor.CONTRACTS,
    *step_up.CONTRACTS,
    *email_change.CONTRACTS,
    *apple.CONTRACTS,
)

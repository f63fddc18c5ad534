"""The public auth API (CAUTH.02, with what its list leaves out as minor version 1.1.0)."""

from admitone.foundation.identity.routes import passwords, sessions, signing_in

CONTRACTS = (*signing_in.CONTRACTS, *passwords.CONTRACTS, *sessions.CONTRACTS)

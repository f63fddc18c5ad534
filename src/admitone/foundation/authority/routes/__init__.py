"""Switches for those who run the installation; keys and devices for organisations."""

from admitone.foundation.authority.routes import keys, switches

CONTRACTS = (*switches.CONTRACTS, *keys.CONTRACTS)

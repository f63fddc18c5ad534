"""Organisations and teams at the edge."""

from admitone.foundation.organizations.routes import governing, organizations, team

CONTRACTS = (*organizations.CONTRACTS, *governing.CONTRACTS, *team.CONTRACTS)

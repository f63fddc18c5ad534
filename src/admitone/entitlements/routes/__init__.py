"""Entitlements at the edge."""

from admitone.entitlements.routes import doors, live, venue

CONTRACTS = (*doors.CONTRACTS, *venue.CONTRACTS, *live.CONTRACTS)
PERMISSIONS = doors.PERMISSIONS

"""Entitlements at the edge."""

from admitone.entitlements.routes import doors, venue

CONTRACTS = (*doors.CONTRACTS, *venue.CONTRACTS)
PERMISSIONS = doors.PERMISSIONS

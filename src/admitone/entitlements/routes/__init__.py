"""Entitlements at the edge."""

from admitone.entitlements.routes import doors, exporting, lists, live, venue

CONTRACTS = (*doors.CONTRACTS, *venue.CONTRACTS, *live.CONTRACTS, *lists.CONTRACTS, *exporting.CONTRACTS)
PERMISSIONS = doors.PERMISSIONS

"""Entitlements at the edge."""

from admitone.entitlements.routes import doors, exporting, lists, live, scanners, venue, why

CONTRACTS = (
    *doors.CONTRACTS,
    *venue.CONTRACTS,
    *live.CONTRACTS,
    *lists.CONTRACTS,
    *exporting.CONTRACTS,
    *why.CONTRACTS,
    *scanners.CONTRACTS,
)
PERMISSIONS = doors.PERMISSIONS

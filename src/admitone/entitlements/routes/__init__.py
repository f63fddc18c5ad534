"""Entitlements at the edge."""

from admitone.entitlements.routes import doors, venue, wallet
from admitone.kernel import figures

CONTRACTS = (*doors.CONTRACTS, *venue.CONTRACTS, *wallet.CONTRACTS)
PERMISSIONS = doors.PERMISSIONS
LIMITS = (*figures.SCANS_PER_DEVICE, *wallet.LIMITS)

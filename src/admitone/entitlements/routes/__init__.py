"""Entitlements at the edge."""

from admitone.entitlements.routes import doors, wallet
from admitone.kernel import figures

CONTRACTS = (*doors.CONTRACTS, *wallet.CONTRACTS)
PERMISSIONS = doors.PERMISSIONS
LIMITS = (*figures.SCANS_PER_DEVICE, *wallet.LIMITS)

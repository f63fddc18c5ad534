"""Entitlements at the edge."""

from admitone.entitlements.routes import doors, exporting, frames, lists, live, scanners, venue, wallet, why
from admitone.kernel import figures

CONTRACTS = (
    *doors.CONTRACTS,
    *frames.CONTRACTS,
    *venue.CONTRACTS,
    *live.CONTRACTS,
    *lists.CONTRACTS,
    *exporting.CONTRACTS,
    *why.CONTRACTS,
    *scanners.CONTRACTS,
    *wallet.CONTRACTS,
)
PERMISSIONS = doors.PERMISSIONS
LIMITS = (*figures.SCANS_PER_DEVICE, lists.SEARCHES_PER_PERSON, *frames.LIMITS, *wallet.LIMITS)

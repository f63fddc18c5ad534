"""Entitlements at the edge."""

from admitone.entitlements.routes import doors

CONTRACTS = (*doors.CONTRACTS,)
PERMISSIONS = doors.PERMISSIONS

"""Events at the edge."""

from admitone.verticals.events.routes import access, guests, offering, orders, planning, public, returning
from admitone.verticals.events.routes.wires import PERMISSIONS

CONTRACTS = (
    *planning.CONTRACTS,
    *offering.CONTRACTS,
    *access.CONTRACTS,
    *public.CONTRACTS,
    *orders.CONTRACTS,
    *guests.CONTRACTS,
    *returning.CONTRACTS,
)
LIMITS = (*orders.BUYING, *guests.LIMITS)

__all__ = ("CONTRACTS", "LIMITS", "PERMISSIONS")

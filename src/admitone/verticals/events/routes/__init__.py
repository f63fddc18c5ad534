"""Events at the edge."""

from admitone.verticals.events.routes import (
    access,
    attendees,
    guests,
    invoices,
    offering,
    orders,
    planning,
    public,
    reports,
    returning,
    seats,
)
from admitone.verticals.events.routes.wires import PERMISSIONS

CONTRACTS = (
    *planning.CONTRACTS,
    *offering.CONTRACTS,
    *access.CONTRACTS,
    *public.CONTRACTS,
    *orders.CONTRACTS,
    *guests.CONTRACTS,
    *seats.CONTRACTS,
    *reports.CONTRACTS,
    *attendees.CONTRACTS,
    *invoices.CONTRACTS,
    *returning.CONTRACTS,
)
LIMITS = (*orders.BUYING, *guests.LIMITS, *attendees.LIMITS)

__all__ = ("CONTRACTS", "LIMITS", "PERMISSIONS")

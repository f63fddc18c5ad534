"""Events at the edge."""

from admitone.verticals.events.routes import (
    access,
    attendees,
    buying,
    guests,
    invoices,
    offering,
    offers,
    orders,
    planning,
    public,
    reports,
    returning,
    sales,
    seats,
    seeing,
)
from admitone.verticals.events.routes.wires import PERMISSIONS

CONTRACTS = (
    *planning.CONTRACTS,
    *offering.CONTRACTS,
    *access.CONTRACTS,
    *public.CONTRACTS,
    *offers.CONTRACTS,
    *orders.CONTRACTS,
    *buying.CONTRACTS,
    *seeing.CONTRACTS,
    *guests.CONTRACTS,
    *seats.CONTRACTS,
    *reports.CONTRACTS,
    *sales.CONTRACTS,
    *attendees.CONTRACTS,
    *invoices.CONTRACTS,
    *returning.CONTRACTS,
)
LIMITS = (*buying.BUYING, *seeing.LIMITS, *guests.LIMITS, *attendees.LIMITS, *returning.LIMITS)

__all__ = ("CONTRACTS", "LIMITS", "PERMISSIONS")

"""Events at the edge."""

from admitone.verticals.events.routes import access, offering, planning, public
from admitone.verticals.events.routes.wires import PERMISSIONS

CONTRACTS = (*planning.CONTRACTS, *offering.CONTRACTS, *access.CONTRACTS, *public.CONTRACTS)

__all__ = ("CONTRACTS", "PERMISSIONS")

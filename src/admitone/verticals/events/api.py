"""The door of events: what finance and fulfilment are given of them, and how one is put on."""

from admitone.verticals.events.commands.issuing import BOOK
from admitone.verticals.events.commands.offering import Offering, Supply, Terms, offer
from admitone.verticals.events.commands.planning import Draft, Publishing, draft, publish
from admitone.verticals.events.model import About, AccessPolicy, EventId, Schedule, TicketTypeId, Venue
from admitone.verticals.events.shop import TicketShop
from admitone.verticals.events.store.events import find_events
from admitone.verticals.events.witness import TicketWitness

__all__ = (
    "BOOK",
    "About",
    "AccessPolicy",
    "Draft",
    "EventId",
    "Offering",
    "Publishing",
    "Schedule",
    "Supply",
    "Terms",
    "TicketShop",
    "TicketTypeId",
    "TicketWitness",
    "Venue",
    "draft",
    "find_events",
    "offer",
    "publish",
)

"""The door of events: what finance and fulfilment are given of them, how one is put on, sold for, and shown."""

from admitone.verticals.events.commands.issuing import BOOK
from admitone.verticals.events.commands.offering import Offering, Supply, Terms, offer
from admitone.verticals.events.commands.ordering import Placing, Want, place
from admitone.verticals.events.commands.planning import Cancelling, Draft, Publishing, cancel, draft, publish
from admitone.verticals.events.commands.returning import Returning, give_back
from admitone.verticals.events.errors import (
    EventNotFound,
    OrderNotFound,
    OrderNotPaid,
    SharedPoolNotFound,
    TicketTypeNotFound,
)
from admitone.verticals.events.model import (
    About,
    AccessMode,
    AccessPolicy,
    EventId,
    EventStatus,
    Order,
    OrderId,
    OrderState,
    Schedule,
    Session,
    SessionId,
    TicketStatus,
    TicketTypeId,
    Venue,
)
from admitone.verticals.events.policy import Availability
from admitone.verticals.events.queries import is_anything_on
from admitone.verticals.events.shop import TicketShop
from admitone.verticals.events.store.events import find_events
from admitone.verticals.events.store.tickets import find_of_orders as find_tickets
from admitone.verticals.events.witness import TicketWitness

__all__ = (
    "BOOK",
    "About",
    "AccessMode",
    "AccessPolicy",
    "Availability",
    "Cancelling",
    "Draft",
    "EventId",
    "EventNotFound",
    "EventStatus",
    "Offering",
    "Order",
    "OrderId",
    "OrderNotFound",
    "OrderNotPaid",
    "OrderState",
    "Placing",
    "Publishing",
    "Returning",
    "Schedule",
    "Session",
    "SessionId",
    "SharedPoolNotFound",
    "Supply",
    "Terms",
    "TicketShop",
    "TicketStatus",
    "TicketTypeId",
    "TicketTypeNotFound",
    "TicketWitness",
    "Venue",
    "Want",
    "cancel",
    "draft",
    "find_events",
    "find_tickets",
    "give_back",
    "is_anything_on",
    "offer",
    "place",
    "publish",
)

"""The door of events: what finance and fulfilment are given of them."""

from admitone.verticals.events.commands.issuing import BOOK
from admitone.verticals.events.shop import TicketShop
from admitone.verticals.events.witness import TicketWitness

__all__ = ("BOOK", "TicketShop", "TicketWitness")

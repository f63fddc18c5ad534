"""What became of events, for lists of them, for rights to them and for whoever sold something."""

from typing import Final

from admitone.kernel.facts import Fact
from admitone.verticals.events.model import EventId, TicketTypeId


class EventFact(Fact, frozen=True):
    """What all of them tell: which event, and after how many changes. What it is like now is asked of its rows."""

    name = "event.told"
    version = "1.0.0"
    subject = ("EVENT", "event_id")

    event_id: EventId
    event_version: int


class EventCreated(EventFact, frozen=True):
    """As a draft."""

    name = "event.created"


class EventChanged(EventFact, frozen=True):
    """It says something else of itself; when it takes place, and who may come, are other facts."""

    name = "event.changed"


class EventRescheduled(EventFact, frozen=True):
    """It, or a session of it, takes place at another time."""

    name = "event.rescheduled"


class EventPublished(EventFact, frozen=True):
    name = "event.published"


class EventCancelled(EventFact, frozen=True):
    """It does not take place. Whoever paid for it gets their money back (FIN-070)."""

    name = "event.cancelled"

    was_published: bool
    reason_code: str


class AccessPolicyChanged(EventFact, frozen=True):
    """Another version of who may buy, and of how people are let in, is in force."""

    name = "event.policy_changed"

    policy_version: int


class TicketTypeChanged(Fact, frozen=True):
    """It was put on offer, or is offered otherwise."""

    name = "ticket_type.changed"
    version = "1.0.0"
    subject = ("TICKET_TYPE", "ticket_type_id")

    ticket_type_id: TicketTypeId
    event_id: EventId
    type_version: int


FACTS: Final = (
    EventCreated,
    EventChanged,
    EventRescheduled,
    EventPublished,
    EventCancelled,
    AccessPolicyChanged,
    TicketTypeChanged,
)

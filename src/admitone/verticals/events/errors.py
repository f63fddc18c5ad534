"""Why events refuse."""

from admitone.kernel.errors import Conflict, Forbidden, Invalid, NotFound, Unauthenticated


class EventNotFound(NotFound):
    """There is no such event."""

    code = "EVENT_NOT_FOUND"


class TicketTypeNotFound(NotFound):
    """There is no such ticket."""

    code = "TICKET_TYPE_NOT_FOUND"


class EventNotOnSale(Conflict):
    """Nothing is sold for this event any more."""

    code = "EVENT_NOT_ON_SALE"
    reason: str


class TicketTypeNotOnSale(Conflict):
    """This ticket is not on sale now."""

    code = "TICKET_TYPE_NOT_ON_SALE"
    ticket_type: str
    reason: str


class TooManyTickets(Invalid):
    """That is more than one may order at once."""

    code = "TOO_MANY_TICKETS"
    next_step = "Order fewer."
    ticket_type: str
    most: int


class LinesInvalid(Invalid):
    """Name each ticket once, and of its seats as many as you want, each once."""

    code = "ORDER_LINES_INVALID"


class InviteNeeded(Forbidden):
    """This event is for those who were invited."""

    code = "INVITE_REQUIRED"
    next_step = "Use the link of your invitation."


class SignInToOrder(Unauthenticated):
    """Sign in to order tickets for this event."""

    code = "UNAUTHENTICATED"


class GuestKeyTooShort(Invalid):
    """Whoever knows the key of a guest's order is shown the order, so it must be one that nobody guesses."""

    code = "GUEST_KEY_TOO_SHORT"
    next_step = "Send a random one of 22 characters or more, a UUID for instance."


class AgeNotConfirmed(Invalid):
    """This event has a minimum age, and you have not said that you have reached it."""

    code = "AGE_NOT_CONFIRMED"
    next_step = "Confirm your age, if it is so."
    least_age: int


class OrderNotFound(NotFound):
    """There is no such order."""

    code = "ORDER_NOT_FOUND"


class OrderNotOpen(Conflict):
    """This order cannot be changed any more."""

    code = "ORDER_NOT_OPEN"
    state: str


class OrderBeingPaid(Conflict):
    """This order is being paid, or money came for it: it cannot be given up."""

    code = "ORDER_BEING_PAID"
    next_step = "Wait until that payment has ended."
    status: str


class OrderNotPaid(Conflict):
    """This order was not paid: there is nothing to invoice."""

    code = "ORDER_NOT_PAID"


class TicketNotFound(NotFound):
    """There is no such ticket in this order."""

    code = "TICKET_NOT_FOUND"
    ticket: str


class TicketNotActive(Conflict):
    """This ticket is not one that can be given back any more."""

    code = "TICKET_NOT_ACTIVE"
    ticket: str
    status: str


# -- Planning


class EventOvertaken(Conflict):
    """Somebody else changed this event meanwhile."""

    code = "EVENT_OVERTAKEN"
    next_step = "Look at it again, and repeat what you wanted."
    version: int


class EventIsCancelled(Conflict):
    """This event is cancelled."""

    code = "EVENT_CANCELLED"


class EventNotCancelled(Conflict):
    """This event is not cancelled."""

    code = "EVENT_NOT_CANCELLED"


class EventIsOver(Conflict):
    """This event is over."""

    code = "EVENT_OVER"


class TimesInvalid(Invalid):
    """These times do not fit together."""

    code = "EVENT_TIMES_INVALID"
    next_step = "Everything ends after it begins, and sessions take place within their event."
    problem: str


class SessionInUse(Conflict):
    """This session cannot be left out any more."""

    code = "SESSION_IN_USE"
    session: str


class SessionNotFound(NotFound):
    """There is no such session of this event."""

    code = "SESSION_NOT_FOUND"
    session: str


class TooManyParts(Conflict):
    """An event cannot have so many of these."""

    code = "TOO_MANY_PARTS"
    most: int


# -- Ticket types


class ZeroPriceNotAllowed(Invalid):
    """A price of nothing needs a decision that says so."""

    code = "ZERO_PRICE_NOT_ALLOWED"
    next_step = "Allow it for this ticket, or for the event."


class OnlyFreeTickets(Invalid):
    """This event has free tickets only."""

    code = "ONLY_FREE_TICKETS"
    next_step = "Set the price to 0, or the event's pricing mode to STANDARD."


class SalesWindowInvalid(Invalid):
    """Sales end after they begin."""

    code = "SALES_WINDOW_INVALID"


class FrozenBySale(Conflict):
    """This cannot be changed: tickets were sold, or are kept for somebody."""

    code = "FROZEN_BY_SALE"
    field: str


class SharedPoolNotFound(NotFound):
    """There is no such shared pool of this event."""

    code = "SHARED_POOL_NOT_FOUND"
    pool: str


class NotSeated(Conflict):
    """The places of this ticket have no numbers, or its number of places follows from its seats."""

    code = "NOT_SEATED"


# -- The access policy


class PolicyInvalid(Invalid):
    """These rules contradict each other."""

    code = "ACCESS_POLICY_INVALID"
    problem: str


class PolicyTightens(Conflict):
    """Tickets were sold: who may come and how they are let in can only be made easier."""

    code = "ACCESS_POLICY_TIGHTENS"
    fields: tuple[str, ...]


class LegacyPayload(Invalid):
    """This old form of the rules cannot be translated."""

    code = "LEGACY_PAYLOAD"
    next_step = "Send accessPolicy as it is described today."
    problem: str

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


class InviteNeeded(Forbidden):
    """This event is for those who were invited."""

    code = "INVITE_REQUIRED"
    next_step = "Use the link of your invitation."


class SignInToOrder(Unauthenticated):
    """Sign in to order tickets for this event."""

    code = "UNAUTHENTICATED"


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

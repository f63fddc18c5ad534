"""Where an order stands, as its page says it.

Promise: what is unknown is said to be unknown, and money that came for nothing is never called lost. That nothing was
charged is said only where nothing can have been, and of what came only what is known. Everything is read off the
order, its payment and whether its event takes place; nothing is decided here.
"""

from enum import StrEnum
from typing import Final

import msgspec

from admitone.finance.payments.api import CheckoutAnswer, Reason, Status
from admitone.verticals.events.api import EventStatus, OrderState, TicketStatus
from admitone.verticals.events.routes.orders import OrderItem, OwnAnswer
from admitone.verticals.events.routes.public import EventPageAnswer
from admitone.verticals.events.routes.purchases import PaymentAnswer


class Scene(StrEnum):
    PAY = "pay"
    """It waits for somebody to say how they pay."""
    GO_ON = "go-on"
    """The provider waits for the card."""
    PIX = "pix"
    ASKING = "asking"
    """The provider was asked, and nobody knows what it did."""
    CLOSING = "closing"
    """Nobody is to pay any more, and whether somebody did is not known yet."""
    BANK = "bank"
    """Paid, says the buyer; the bank has not said so yet."""
    ISSUING = "issuing"
    OWNED = "owned"
    OVER = "over"
    """Nothing is kept any more, and nothing was paid."""
    GIVEN_UP = "given-up"
    """So is this, and nobody is paying any more."""
    CALLED_OFF = "called-off"
    """The event does not take place, and nobody has paid anything for it."""
    LATE = "late"
    """Money came when the payment was closed: it pays for nothing, and goes back (U-26)."""
    UNFIT = "unfit"
    """Money came that is not what was asked for: it pays for nothing either, and goes back."""
    GOING_BACK = "going-back"
    WENT_BACK = "went-back"
    TAKEN = "taken"
    """The buyer's bank has the money, or decides who gets it."""


CHANGES_BY_ITSELF: Final = frozenset(
    {
        Scene.GO_ON,
        Scene.PIX,
        Scene.ASKING,
        Scene.CLOSING,
        Scene.BANK,
        Scene.ISSUING,
        Scene.LATE,
        Scene.UNFIT,
        Scene.GOING_BACK,
    }
)
INVITES: Final = frozenset({Scene.GO_ON, Scene.PIX})
"""To pay at the provider."""
CAME_TO_NOTHING: Final = frozenset({Status.FAILED, Status.CANCELLED, Status.EXPIRED})
"""Nothing was charged."""
WAITS_FOR_BUYER: Final = frozenset({Status.CREATED, Status.PENDING, Status.REQUIRES_ACTION})
HAS_PAID: Final = frozenset({Status.SUCCEEDED, Status.PARTIAL_REFUND, Status.CHARGEBACK_WON})
"""And is handed what it paid for. Of what is disputed the bank decides first."""
CONTESTED: Final = frozenset({Status.DISPUTED, Status.CHARGEBACK_LOST})


class Standing(msgspec.Struct, frozen=True):
    """The order, how its buyer goes on with a payment that was begun, and what is said of both."""

    order: OwnAnswer
    way: CheckoutAnswer | None = None
    event: EventPageAnswer | None = None
    """None, where it is not shown to anybody any more."""
    is_too_late: bool = False
    """To go that way: its time is over."""

    @property
    def scene(self) -> Scene:
        scene = scene_of(self.order, self.way, is_called_off=self.is_called_off)
        return Scene.CLOSING if self.is_too_late and scene in INVITES else scene

    @property
    def is_called_off(self) -> bool:
        return is_called_off(self.event)

    @property
    def last_try(self) -> Status | None:
        """How the last payment ended that came to nothing."""
        payment = self.order.payment
        return payment.status if payment and payment.status in CAME_TO_NOTHING else None

    @property
    def came_minor(self) -> int | None:
        """What came, in the currency that was asked for; none, if that is not known."""
        payment = self.order.payment
        return (payment.captured_minor or None) if payment else None

    @property
    def back_minor(self) -> int | None:
        """What went back, in the same way."""
        payment = self.order.payment
        return (payment.refunded_minor or None) if payment and payment.captured_minor is not None else None

    @property
    def changes_by_itself(self) -> bool:
        payment = self.order.payment
        is_contested = payment is not None and payment.status is Status.DISPUTED
        return self.scene in CHANGES_BY_ITSELF or (self.scene is Scene.TAKEN and is_contested)

    @property
    def is_watched(self) -> bool:
        """Also where a payment came to nothing: money may come for it all the same, and that is to be said."""
        return self.changes_by_itself or self.last_try is not None


def mark_of(order: OwnAnswer) -> str:
    """Another one as soon as there is something else to say."""
    payment = order.payment
    of_order = (order.state, "over" if order.is_expired else "kept", str(len(order.tickets)))
    if payment is None:
        return ".".join(of_order)
    return ".".join(
        (
            *of_order,
            str(payment.payment_id),
            payment.status,
            payment.refund_status,
            str(payment.refunded_minor),
            str(payment.captured_minor),
        )
    )


def is_called_off(event: EventPageAnswer | None) -> bool:
    return event is not None and event.status is EventStatus.CANCELLED


def scene_of(order: OwnAnswer | OrderItem, way: CheckoutAnswer | None = None, *, is_called_off: bool = False) -> Scene:
    scene = _of_state(order, way)
    return _of_called_off(scene, order.payment) if is_called_off else scene


def _of_called_off(scene: Scene, payment: PaymentAnswer | None) -> Scene:
    """What was paid goes back, whether tickets were made or not; whoever paid nothing has nothing to wait for."""
    if scene in INVITES:
        return Scene.CLOSING
    if scene in (Scene.PAY, Scene.OVER):
        return Scene.CALLED_OFF
    if scene in (Scene.ISSUING, Scene.OWNED):
        return Scene.GOING_BACK if costs(payment) else Scene.CALLED_OFF
    return scene


def _of_state(order: OwnAnswer | OrderItem, way: CheckoutAnswer | None) -> Scene:
    match order.state:
        case OrderState.FULFILLED:
            return _of_fulfilled(order)
        case OrderState.CANCELLED:
            return _of_given_up(order.payment)
        case OrderState.RETURNED:
            return _of_returned(order.payment)
        case _:
            return _of_open(order, way)


def costs(payment: PaymentAnswer | None) -> bool:
    return payment is not None and payment.amount_minor > 0


def _of_fulfilled(order: OwnAnswer | OrderItem) -> Scene:
    """Tickets that were issued let people in for as long as their money stays; what cost nothing may stay without."""
    payment = order.payment
    if payment is None or not costs(payment):
        return Scene.OWNED
    if payment.status in CONTESTED:
        return Scene.TAKEN
    return Scene.WENT_BACK if payment.status is Status.REFUNDED and not _has_free(order) else Scene.OWNED


def _has_free(order: OwnAnswer | OrderItem) -> bool:
    """Whether something that cost nothing is left of it. What was paid for is gone with its money, also before anybody
    has come by to write that down."""
    if not isinstance(order, OwnAnswer):
        return False
    free = {line.ticket_type_id for line in order.lines if line.unit_price_minor == 0}
    return any(each.status is TicketStatus.ACTIVE and each.ticket_type_id in free for each in order.tickets)


def _of_open(order: OwnAnswer | OrderItem, way: CheckoutAnswer | None) -> Scene:
    payment = order.payment
    if payment is None or payment.status in CAME_TO_NOTHING:
        return Scene.OVER if order.is_expired else Scene.PAY
    if payment.status in WAITS_FOR_BUYER:
        return _of_waiting(way)
    if payment.status in HAS_PAID and payment.manual_reason is None:
        return Scene.ISSUING
    return _of_money(payment)


def _of_waiting(way: CheckoutAnswer | None) -> Scene:
    if way and way.pix:
        return Scene.PIX
    return Scene.GO_ON if way and way.redirect_url else Scene.ASKING


def _of_given_up(payment: PaymentAnswer | None) -> Scene:
    """Whoever gave it up is told of money all the same: it may still come, or has."""
    if payment is None or payment.status in CAME_TO_NOTHING:
        return Scene.GIVEN_UP
    return Scene.ASKING if payment.status in WAITS_FOR_BUYER else _of_money(payment)


def _of_returned(payment: PaymentAnswer | None) -> Scene:
    """What cost nothing and could not be had has nothing to give back."""
    if not costs(payment):
        return Scene.OVER
    return Scene.TAKEN if payment and payment.status is Status.CHARGEBACK_LOST else _of_going_back(payment)


def _of_money(payment: PaymentAnswer) -> Scene:
    """What becomes of money that is on its way, or came, where it gave nobody tickets."""
    match payment.status:
        case Status.PROCESSING:
            return Scene.BANK
        case Status.NEEDS_MANUAL:
            return Scene.LATE if payment.manual_reason is Reason.LATE else Scene.UNFIT
        case status if status in CONTESTED:
            return Scene.TAKEN
        case _:
            return _of_going_back(payment)


def _of_going_back(payment: PaymentAnswer | None) -> Scene:
    if payment is None or payment.status is Status.REFUNDED:
        return Scene.WENT_BACK
    came = payment.captured_minor
    return Scene.WENT_BACK if came is not None and payment.refunded_minor >= came else Scene.GOING_BACK

"""What goes back: single tickets, by whoever may give back money; and all of an event that was cancelled."""

from typing import Annotated, Final

from msgspec import Meta

from admitone.finance.refunds.api import (
    FINANCE_REFUNDS_RW,
    REFUSES,
    Reason,
    RefundAnswer,
    RefundState,
    find_called_off,
    reason_by_hand,
)
from admitone.kernel.bulk import Status
from admitone.kernel.contracts import Call, Count, Example, IdempotencyKey, ReasonCode, Wire
from admitone.verticals.events.calling_off import cancellation_of
from admitone.verticals.events.commands.returning import Returning, give_back
from admitone.verticals.events.errors import (
    EventNotCancelled,
    EventNotFound,
    OrderNotFound,
    TicketNotActive,
    TicketNotFound,
)
from admitone.verticals.events.model import EventId, EventStatus, OrderId, TicketId
from admitone.verticals.events.routes.wires import EVENTS_R, SOME_EVENT, EventRequest, organisers
from admitone.verticals.events.store.events import find_events

MOST_TICKETS: Final = 1_000
SOME_ORDER: Final = OrderId.parse("ord_0198c9a40000700080000000000000b2")
SOME_TICKET: Final = TicketId.parse("tic_0198c9a40000700080000000000000b3")


class ReturnRequest(Wire):
    order_id: OrderId
    tickets: Annotated[list[TicketId], Meta(min_length=1, max_length=MOST_TICKETS)]
    reason_code: ReasonCode
    """One of those for which somebody may give back (FIN-071)."""
    idempotency_key: IdempotencyKey


returns = organisers(
    "ORDER.REFUND",
    "Give back single tickets of an order: when the money arrived, these are gone, and no others.",
    permission=FINANCE_REFUNDS_RW,
    post="/api/org/{organizationId}/orders/{orderId}/refund",
    takes=ReturnRequest,
    gives=RefundAnswer,
    refuses=(OrderNotFound, TicketNotFound, TicketNotActive, *REFUSES),
    verified_only=True,
    step_up=True,
    idempotent_by="idempotencyKey",
    order_key="orderId",
    examples=(
        Example(
            "Another's",
            takes=ReturnRequest(
                order_id=SOME_ORDER,
                tickets=[SOME_TICKET],
                reason_code=Reason.SERIOUS_FAILURE.value,
                idempotency_key="refund-1",
            ),
            refuses=OrderNotFound(),
        ),
    ),
)


@returns.serves
async def return_tickets(call: Call, request: ReturnRequest) -> RefundAnswer:
    reason = reason_by_hand(request.reason_code)
    wanted = Returning(call.caller, request.order_id, tuple(request.tickets), reason, request.idempotency_key)
    return RefundAnswer.of(await call.batch(give_back, wanted))


# -- All of an event


class CancellationAnswer(Wire):
    """How far it is that everybody has their money back."""

    event_id: EventId
    status: Status | None
    """Of the work that orders the refunds; none: it has not begun, or was long ago."""
    done: Count
    """Payments that were looked at."""
    total: Count | None
    percentage: Annotated[int, Meta(ge=0, le=100)] | None
    refunds: dict[RefundState, Count]
    """What became of them."""


progress = organisers(
    "CANCELLATION",
    "How far it is that everybody who paid for a cancelled event has their money back.",
    permission=EVENTS_R,
    get="/api/org/{organizationId}/events/{eventId}/cancellation",
    takes=EventRequest,
    gives=CancellationAnswer,
    refuses=(EventNotFound, EventNotCancelled),
    examples=(
        Example(
            "Half-way",
            takes=EventRequest(event_id=SOME_EVENT),
            gives=CancellationAnswer(
                event_id=SOME_EVENT,
                status=Status.RUNNING,
                done=250,
                total=500,
                percentage=50,
                refunds={RefundState.PENDING: 100, RefundState.SUCCEEDED: 150},
            ),
        ),
    ),
)


@progress.serves
async def show_progress(call: Call, request: EventRequest) -> CancellationAnswer:
    event = (await call.read(find_events, [request.event_id])).get(request.event_id)
    if event is None:
        raise EventNotFound
    if event.status is not EventStatus.CANCELLED:
        raise EventNotCancelled
    found = await call.read(find_called_off, cancellation_of(event.id))
    return CancellationAnswer(
        event_id=event.id,
        status=found.work.status if found.work else None,
        done=found.work.done if found.work else 0,
        total=found.work.total if found.work else None,
        percentage=found.work.percentage if found.work else None,
        refunds=dict(found.refunds),
    )


CONTRACTS: Final = (returns, progress)

"""What goes back: single tickets, by whoever may give back money; and all of an event that was cancelled."""

from typing import Annotated, Final

from msgspec import Meta

from admitone.finance.refunds.api import (
    FINANCE_REFUNDS_RW,
    REFUND,
    REFUSES,
    Asked,
    Reason,
    RefundAnswer,
    RefundId,
    RefundState,
    RefundStep,
    find_called_off,
    reason_by_hand,
)
from admitone.kernel.bulk import Status
from admitone.kernel.contracts import Call, Count, Example, IdempotencyKey, Minor, ReasonCode, Wire
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.figures import MINUTE
from admitone.kernel.limits import Limit, Per
from admitone.verticals.events.calling_off import cancellation_of, preview
from admitone.verticals.events.commands.returning import Returning, find_wanted, give_back
from admitone.verticals.events.errors import (
    EventIsCancelled,
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
# Not in A1, so ours: one look may plan thousands of refunds. The page looks when it is opened and when it is sent, and
# bad weather cancels more than one event.
PLANS: Final = Limit("cancellation_plans.per_organization", 12, MINUTE, Per.ORGANIZATION)
LIMITS: Final = (PLANS,)
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


# -- Before


class LookRequest(Wire):
    order_id: OrderId
    reason_code: ReasonCode
    tickets: Annotated[list[TicketId], Meta(max_length=MOST_TICKETS)] = []  # noqa: RUF012, msgspec copies it
    """None: all that is left of the order's payment, with whatever was paid beside its tickets."""


look = organisers(
    "ORDER.REFUND.LOOK",
    "What would go back, to whom and from whom, if tickets of an order were given back; nothing is done.",
    permission=FINANCE_REFUNDS_RW,
    get="/api/org/{organizationId}/orders/{orderId}/refund",
    takes=LookRequest,
    gives=RefundStep,
    refuses=(OrderNotFound, TicketNotFound, TicketNotActive, *REFUSES),
    order_key="orderId",
    examples=(
        Example(
            "Another's",
            takes=LookRequest(order_id=SOME_ORDER, reason_code=Reason.SERIOUS_FAILURE.value),
            refuses=OrderNotFound(),
        ),
    ),
)


@look.serves
async def look_at_return(call: Call, request: LookRequest) -> RefundStep:
    reason = reason_by_hand(request.reason_code)
    wanted = Returning(call.caller, request.order_id, tuple(request.tickets), reason, "")

    async def see(tx: Tx) -> RefundStep:
        found = await find_wanted(tx, wanted)
        if isinstance(found, Refusal):
            raise found
        asked = Asked(payment_id=found.payment, refund_id=RefundId.new(), reason=reason, pieces=found.pieces)
        [step] = await REFUND.look(tx, asked)
        return step

    return await call.read(see)


# -- All of an event


class AmountAnswer(Wire):
    currency: str
    amount_minor: Minor
    fee_minor: Minor
    """Of it, what the platform had taken and gives back."""


class PreviewAnswer(Wire):
    """What cancelling an event would do; nothing is done."""

    event_id: EventId
    tickets: Count
    """That would be good no more."""
    kept: Count
    """Tickets that somebody is about to pay: what is paid later goes back at once."""
    payments: Count
    """Whose money would go back."""
    amounts: list[AmountAnswer]
    disputed: Count
    """Payments whose money a bank has: it goes back only if the bank gives it to us."""
    is_complete: bool
    """Whether it is of all payments: of very many, only the first are looked at before."""
    digest: str
    """Whatever would be done otherwise has another one."""


plan = organisers(
    "CANCELLATION.PLAN",
    "Show what cancelling an event would do: whose money goes back, and what cannot. Nothing is done.",
    get="/api/org/{organizationId}/events/{eventId}/cancellation/plan",
    takes=EventRequest,
    gives=PreviewAnswer,
    refuses=(EventNotFound, EventIsCancelled),
    limits=LIMITS,
    wait_seconds=60,
    examples=(
        Example(
            "Two who paid",
            takes=EventRequest(event_id=SOME_EVENT),
            gives=PreviewAnswer(
                event_id=SOME_EVENT,
                tickets=3,
                kept=0,
                payments=2,
                amounts=[AmountAnswer(currency="EUR", amount_minor=7500, fee_minor=450)],
                disputed=0,
                is_complete=True,
                digest="5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef",
            ),
        ),
    ),
)


@plan.serves
async def show_plan(call: Call, request: EventRequest) -> PreviewAnswer:
    found = await call.read(preview, request.event_id)
    if found is None:
        raise EventNotFound
    if found.event.status is EventStatus.CANCELLED:
        raise EventIsCancelled
    said = found.refunds
    return PreviewAnswer(
        event_id=found.event.id,
        tickets=found.tickets,
        kept=found.kept,
        payments=said.payments,
        amounts=[
            AmountAnswer(currency=currency, amount_minor=minor, fee_minor=said.fees[currency])
            for currency, minor in sorted(said.amounts.items())
        ],
        disputed=said.disputed,
        is_complete=said.is_complete,
        digest=said.digest,
    )


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


CONTRACTS: Final = (returns, look, plan, progress)

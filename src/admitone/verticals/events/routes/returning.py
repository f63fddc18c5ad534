"""Giving back single tickets, by whoever may give back money."""

from typing import Annotated, Final

from msgspec import Meta

from admitone.finance.refunds.api import FINANCE_REFUNDS_RW, REFUSES, Reason, RefundAnswer, reason_by_hand
from admitone.kernel.contracts import Call, Example, IdempotencyKey, ReasonCode, Wire
from admitone.verticals.events.commands.returning import Returning, give_back
from admitone.verticals.events.errors import OrderNotFound, TicketNotActive, TicketNotFound
from admitone.verticals.events.model import OrderId, TicketId
from admitone.verticals.events.routes.wires import organisers

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


CONTRACTS: Final = (returns,)

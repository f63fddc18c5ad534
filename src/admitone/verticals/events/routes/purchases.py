"""What somebody has, and how it was paid, as buyers and organisers are shown it."""

from typing import Final

from admitone.entitlements.api import Entitlement, EntitlementId
from admitone.entitlements.api import Status as RightStatus
from admitone.finance.payments.api import Payment, Reason, Status
from admitone.finance.sources.api import PaymentId
from admitone.kernel.contracts import Count, Instant, Minor, Wire
from admitone.verticals.events.model import TicketId, TicketStatus, TicketTypeId
from admitone.verticals.events.reporting import SeenTicket
from admitone.verticals.events.routes.wires import SOME_TYPE, SOONER


class RightAnswer(Wire):
    """The right to enter that a ticket gave: one, or one for each session."""

    entitlement_id: EntitlementId
    session_id: str | None
    status: RightStatus
    valid_from: Instant
    valid_until: Instant
    entries: Count
    consumed_at: Instant | None
    """When its holder came in first."""

    @classmethod
    def of(cls, right: Entitlement) -> "RightAnswer":
        return cls(
            entitlement_id=right.id,
            session_id=right.session_id,
            status=right.status,
            valid_from=right.valid_from,
            valid_until=right.valid_until,
            entries=right.entries,
            consumed_at=right.consumed_at,
        )


class TicketAnswer(Wire):
    ticket_id: TicketId
    ticket_type_id: TicketTypeId
    seat: str | None
    status: TicketStatus
    price_minor: Minor
    rights: list[RightAnswer]
    issued_at: Instant

    @classmethod
    def of(cls, seen: SeenTicket) -> "TicketAnswer":
        ticket = seen.ticket
        return cls(
            ticket_id=ticket.id,
            ticket_type_id=ticket.ticket_type,
            seat=ticket.seat,
            status=ticket.status,
            price_minor=ticket.price_minor,
            rights=[RightAnswer.of(each) for each in seen.rights],
            issued_at=ticket.created_at,
        )


class PaymentAnswer(Wire):
    payment_id: PaymentId
    status: Status
    method: str
    currency: str
    amount_minor: Minor
    """With discounts, taxes and fees: what was asked for."""
    captured_minor: Minor | None
    """What came; none, where it came in another currency than was asked for."""
    manual_reason: Reason | None
    """Why what came paid for nothing."""
    refunded_minor: Minor
    refund_status: str
    """Whether more is on its way back."""
    created_at: Instant

    @classmethod
    def of(cls, payment: Payment) -> "PaymentAnswer":
        return cls(
            payment_id=payment.id,
            status=payment.status,
            method=payment.method,
            currency=payment.currency,
            amount_minor=payment.amount_minor,
            captured_minor=None if payment.manual_reason is Reason.CURRENCY_MISMATCH else payment.captured_minor,
            manual_reason=payment.manual_reason,
            refunded_minor=payment.refunded_minor,
            refund_status=payment.refund_state,
            created_at=payment.created_at,
        )


SOME_PAYMENT: Final = PaymentId.parse("pay_0198c9a40000700080000000000000bb")
A_PAYMENT: Final = PaymentAnswer(
    payment_id=SOME_PAYMENT,
    status=Status.SUCCEEDED,
    method="CARD",
    currency="EUR",
    amount_minor=5000,
    captured_minor=5000,
    manual_reason=None,
    refunded_minor=0,
    refund_status="NONE",
    created_at=SOONER,
)
A_TICKET: Final = TicketAnswer(
    ticket_id=TicketId.parse("tic_0198c9a40000700080000000000000d1"),
    ticket_type_id=SOME_TYPE,
    seat=None,
    status=TicketStatus.ACTIVE,
    price_minor=2500,
    rights=[],
    issued_at=SOONER,
)

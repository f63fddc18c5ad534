"""What is ordered of a provider for a payment: pure, so that whoever repeats an order repeats it exactly."""

from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace

from admitone.finance.gateways.api import ChargeOrder, HandOnOrder, Method, RefundOrder, ReversalOrder
from admitone.finance.ledger.api import Transfer
from admitone.finance.payments.model import GatewayIntent, Payment
from admitone.finance.sources.api import SettlementModel
from admitone.kernel.scope import Caller

LASTS: Final = {Method.CARD: timedelta(minutes=30), Method.PIX: timedelta(minutes=15)}
"""How long somebody has to pay, unless it is kept for them for less (U-24, PAY-052)."""
GRACE: Final = timedelta(minutes=2)
"""What is paid in the last moment is heard of a little later: a payment is closed by a sweep of every minute, at its
provider first, and until then its money counts. So long it is kept beyond the payment's own end."""


def expires_at(method: Method, now: datetime, kept_until: datetime) -> datetime:
    """Of a payment that begins now, for what is kept so long."""
    return min(kept_until, now + LASTS[method])


def charge_order(payment: Payment, intent: GatewayIntent, caller: Caller) -> ChargeOrder:
    """A destination charge with our fee where the organisation is the merchant, else a charge of our own (FIN-005)."""
    is_theirs = payment.settlement is SettlementModel.ORG_MOR
    return ChargeOrder(
        # The charge carries the id under which the payment began: whoever asks again, under an id of their own, must
        # say the same, or the provider refuses its key.
        caller=replace(caller, correlation_id=payment.correlation_id),
        key=intent.id,
        payment=payment.id,
        organization=payment.organization,
        method=Method(payment.method),
        amount_minor=payment.amount_minor,
        currency=payment.currency,
        settlement=payment.settlement,
        account=payment.account if is_theirs else None,
        application_fee_minor=payment.fee_minor if is_theirs else 0,
        description=intent.description,
        expires_at=payment.expires_at,
        metadata=(("source_type", payment.source.type.value), ("source_id", payment.source.id)),
        return_url=intent.return_url,
    )


def return_order(payment: Payment, intent: GatewayIntent, caller: Caller) -> RefundOrder:
    """Give back money: with the part of our fee that was decided, and of what paid for nothing with all of it."""
    assert payment.charge_id is not None
    is_theirs = payment.settlement is SettlementModel.ORG_MOR
    fee = min(payment.fee_minor, intent.amount_minor) if intent.fee_minor is None else intent.fee_minor
    return RefundOrder(
        caller=caller,
        key=intent.id,
        payment=payment.id,
        organization=payment.organization,
        charge=payment.charge_id,
        amount_minor=intent.amount_minor,
        currency=intent.currency,
        application_fee_minor=fee if is_theirs else 0,
        reverse_transfer=is_theirs,
    )


def reversal_order(payment: Payment, booked: Transfer, caller: Caller) -> ReversalOrder:
    """To the cent what the books say that came back."""
    assert payment.charge_id is not None
    assert booked.reference is not None
    return ReversalOrder(
        caller=caller,
        payment=payment.id,
        organization=payment.organization,
        charge=payment.charge_id,
        dispute=booked.reference,
        amount_minor=booked.amount_minor,
        currency=booked.currency,
    )


def hand_on_order(payment: Payment, booked: Transfer, caller: Caller) -> HandOnOrder:
    """To the cent what the books say that went to the organisation again."""
    assert payment.charge_id is not None
    assert payment.account is not None
    assert booked.reference is not None
    return HandOnOrder(
        caller=caller,
        payment=payment.id,
        organization=payment.organization,
        account=payment.account,
        charge=payment.charge_id,
        refund=booked.reference,
        amount_minor=booked.amount_minor,
        currency=booked.currency,
    )

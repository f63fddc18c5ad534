"""What an order says to Stripe: pure, so that whoever repeats an order repeats it to the letter.

Promise: nothing here depends on the clock or on who asks: Stripe refuses a key that comes back with other words.
Everything that we make at Stripe carries whose it is, and the key of the order that made it.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from admitone.finance.gateways.model import (
    AccountOrder,
    ChargeOrder,
    EvidenceOrder,
    HandOnOrder,
    PayoutOrder,
    RefundOrder,
    ReversalOrder,
)
from admitone.finance.gateways.stripe.objects import Intent
from admitone.finance.gateways.words import EPOCH
from admitone.finance.sources.api import SettlementModel

if TYPE_CHECKING:
    from stripe.params import (
        AccountCreateParams,
        AccountLinkCreateParams,
        DisputeUpdateParams,
        PaymentIntentCreateParams,
        RefundCreateParams,
        TransferCreateParams,
        TransferReversalCreateParams,
    )
    from stripe.params.checkout import SessionCreateParams, SessionCreateParamsPaymentIntentData

SHORTEST_SESSION: Final = timedelta(minutes=30)
LONGEST_SESSION: Final = timedelta(hours=24)
SLACK: Final = timedelta(minutes=5)
"""How late an order may be sent, or sent again, after it was given."""
DISPUTE: Final = "dispute"
"""Carried by what was taken back for one."""
RETURNED: Final = "returned_refund"
"""Carried by what was handed on again after one came back."""
APART: Final = "application_fee_apart"
"""Carried by a refund whose part of our fee goes back by an order of its own."""
COUNTED_OTHERWISE: Final = frozenset({"ISK", "MGA", "UGX"})
"""Currencies whose minor unit at Stripe is not that of ISO 4217, in which we count: the number that we would send is a
hundred times too much of the one, and a hundredth of the others. None of them is sold in through Stripe."""
WRITTEN: Final = {
    "refund_policy": "refund_policy_disclosure",
    "cancellation_policy": "cancellation_policy_disclosure",
}
"""Evidence that Stripe takes as a document under this name, and as a text under another."""


def metadata_of(order: ChargeOrder | RefundOrder, correlation_id: str) -> dict[str, str]:
    return {
        "orgId": str(order.organization),
        "payment_id": str(order.payment),
        "correlation_id": correlation_id,
        "order_key": str(order.key),
    }


def _carried(order: ChargeOrder) -> dict[str, str]:
    """A charge carries the id under which its payment began, whoever asks for it."""
    return dict(order.metadata) | metadata_of(order, str(order.caller.correlation_id))


def intent_parameters(order: ChargeOrder) -> "PaymentIntentCreateParams":
    given: PaymentIntentCreateParams = {
        "amount": order.amount_minor,
        "currency": order.currency.lower(),
        "description": order.description,
        "metadata": _carried(order),
        "payment_method_types": ["card"],
    }
    given.update(_split(order))
    return given


def pix_parameters(order: ChargeOrder) -> "PaymentIntentCreateParams":
    """Confirmed at once: the code is what the customer is shown. It ends at a time, and not after so many seconds,
    which would be others each time that the order is repeated."""
    given = intent_parameters(order)
    given["payment_method_types"] = ["pix"]
    given["payment_method_data"] = {"type": "pix"}
    given["payment_method_options"] = {"pix": {"expires_at": int(order.expires_at.timestamp())}}
    given["confirm"] = True
    return given


def session_parameters(order: ChargeOrder) -> "SessionCreateParams":
    assert order.return_url is not None
    metadata = _carried(order)
    intent: SessionCreateParamsPaymentIntentData = {"description": order.description, "metadata": metadata}
    intent.update(_split(order))
    given: SessionCreateParams = {
        "mode": "payment",
        "payment_method_types": ["card"],
        "line_items": [
            {
                "quantity": 1,
                "price_data": {
                    "currency": order.currency.lower(),
                    "unit_amount": order.amount_minor,
                    "product_data": {"name": order.description or str(order.payment)},
                },
            }
        ],
        "payment_intent_data": intent,
        "metadata": metadata,
        "client_reference_id": str(order.payment),
        "success_url": order.return_url,
        "cancel_url": order.return_url,
    }
    if ends := session_end(order):
        given["expires_at"] = ends
    return given


def session_end(order: ChargeOrder) -> int | None:
    """What Stripe may be told of it (U-25): a session of its lasts half an hour at least and a day at most. Counted
    from when the order was given, which its key says, so that it is the same however often it is repeated; told
    nothing, a session lasts a day, and we close it ourselves."""
    given_at = _given_at(order.key)
    if given_at is None or not SHORTEST_SESSION + SLACK <= order.expires_at - given_at <= LONGEST_SESSION:
        return None
    return int(order.expires_at.timestamp())


def _given_at(key: UUID) -> datetime | None:
    return EPOCH + timedelta(milliseconds=key.int >> 80) if key.version == 7 else None


def _split(order: ChargeOrder) -> Any:
    """A destination charge on behalf of whoever sells, less our fee (FIN-005, U-12); or all of it is ours to pay
    out."""
    if order.settlement is not SettlementModel.ORG_MOR:
        return {}
    assert order.account is not None, "such an order is refused before"
    fee = {"application_fee_amount": order.application_fee_minor} if order.application_fee_minor else {}
    return {"transfer_data": {"destination": order.account}, "on_behalf_of": order.account, **fee}


def refund_parameters(
    order: RefundOrder, intent: Intent, *, transferred: bool, fee_apart: bool
) -> "RefundCreateParams":
    """It carries the charge's own correlation id: a refund is ordered again by others than who began it."""
    apart = {APART: str(order.application_fee_minor)} if fee_apart else {}
    given: RefundCreateParams = {
        "payment_intent": intent.id,
        "amount": order.amount_minor,
        "metadata": metadata_of(order, intent.carried.get("correlation_id", "")) | apart,
    }
    if transferred:
        given["reverse_transfer"] = order.reverse_transfer
        given["refund_application_fee"] = order.application_fee_minor > 0 and not fee_apart
    return given


def reversal_parameters(order: ReversalOrder) -> "TransferReversalCreateParams":
    carried = {"orgId": str(order.organization), "payment_id": str(order.payment), DISPUTE: order.dispute}
    return {"amount": order.amount_minor, "metadata": carried}


def hand_on_parameters(order: HandOnOrder) -> "TransferCreateParams":
    carried = {"orgId": str(order.organization), "payment_id": str(order.payment), RETURNED: order.refund}
    return {
        "amount": order.amount_minor,
        "currency": order.currency.lower(),
        "destination": order.account,
        "transfer_group": hand_on_group(order),
        "metadata": carried,
    }


def hand_on_group(order: HandOnOrder) -> str:
    """By which it is looked for."""
    return f"{order.refund}:handed_on"


def account_parameters(order: AccountOrder) -> "AccountCreateParams":
    given: AccountCreateParams = {
        "type": "standard",
        "country": order.country,
        "metadata": {"orgId": str(order.organization), "order_key": str(order.key)},
    }
    if order.email:
        given["email"] = order.email
    return given


def link_parameters(account: str, return_url: str) -> "AccountLinkCreateParams":
    return {"account": account, "return_url": return_url, "refresh_url": return_url, "type": "account_onboarding"}


def transfer_parameters(order: PayoutOrder) -> "TransferCreateParams":
    return {
        "amount": order.amount_minor,
        "currency": order.currency.lower(),
        "destination": order.account,
        "transfer_group": str(order.key),
        "metadata": {"orgId": str(order.organization), "order_key": str(order.key)},
    }


def evidence_parameters(order: EvidenceOrder) -> "DisputeUpdateParams":
    evidence: Mapping[str, str] = {WRITTEN.get(shows, shows): text for shows, text in order.texts}
    return {"evidence": evidence, "submit": order.submit}  # type: ignore[typeddict-item]  # Stripe refuses other names.

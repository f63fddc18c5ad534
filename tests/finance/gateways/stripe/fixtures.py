"""Events as Stripe sends them: unexpanded objects, whole seconds, signed by Stripe's own SDK."""

from typing import Any

import msgspec
import stripe

from admitone.finance.sources.api import PaymentId
from admitone.kernel.ids import OrganizationId
from tests.finance.gateways.stripe.stages import KEYS

ORGANIZATION, PAYMENT = OrganizationId.new(), PaymentId.new()
CARRIED = {"orgId": str(ORGANIZATION), "payment_id": str(PAYMENT), "order_key": "k1"}
BORN, TOLD = 1_790_000_000, 1_790_000_060

INTENT = {
    "id": "pi_1",
    "object": "payment_intent",
    "amount": 5_000,
    "amount_received": 0,
    "canceled_at": None,
    "capture_method": "automatic_async",
    "client_secret": "pi_1_secret_x",
    "created": BORN,
    "currency": "eur",
    "customer": None,
    "description": "Two tickets",
    "last_payment_error": None,
    "latest_charge": None,
    "livemode": False,
    "metadata": CARRIED,
    "next_action": None,
    "payment_method": None,
    "payment_method_options": {"card": {"request_three_d_secure": "automatic"}},
    "payment_method_types": ["card"],
    "status": "requires_payment_method",
}
CHARGE = {
    "id": "ch_1",
    "object": "charge",
    "amount": 5_000,
    "amount_captured": 5_000,
    "amount_refunded": 2_000,
    "balance_transaction": "txn_1",
    "billing_details": {"email": "ana@example.org", "name": "Ana"},
    "created": BORN + 5,
    "currency": "eur",
    "disputed": False,
    "failure_code": None,
    "livemode": False,
    "metadata": CARRIED,
    "outcome": {"network_status": "approved_by_network", "reason": None, "type": "authorized"},
    "payment_intent": "pi_1",
    "refunded": False,
    "status": "succeeded",
    "transfer": "tr_1",
}
REFUND = {
    "id": "re_1",
    "object": "refund",
    "amount": 2_000,
    "balance_transaction": "txn_2",
    "charge": "ch_1",
    "created": BORN + 30,
    "currency": "eur",
    "metadata": CARRIED | {"order_key": "r1"},
    "payment_intent": "pi_1",
    "reason": None,
    "status": "succeeded",
}
TAKEN = {
    "id": "txn_3",
    "object": "balance_transaction",
    "amount": -5_000,
    "created": BORN + 40,
    "currency": "eur",
    "exchange_rate": None,
    "fee": 1_500,
    "net": -6_500,
    "reporting_category": "dispute",
    "source": "dp_1",
    "type": "adjustment",
}
GIVEN = TAKEN | {"id": "txn_4", "amount": 5_000, "created": BORN + 50, "fee": -1_500, "net": 6_500}
DISPUTE = {
    "id": "dp_1",
    "object": "dispute",
    "amount": 5_000,
    "balance_transactions": [TAKEN],
    "charge": "ch_1",
    "created": BORN + 40,
    "currency": "eur",
    "evidence": {},
    "evidence_details": {"due_by": BORN + 900_000, "has_evidence": False, "past_due": False, "submission_count": 0},
    "is_charge_refundable": False,
    "livemode": False,
    "metadata": {},
    "payment_intent": "pi_1",
    "reason": "fraudulent",
    "status": "needs_response",
}
SESSION = {
    "id": "cs_test_1",
    "object": "checkout.session",
    "amount_total": 5_000,
    "created": BORN,
    "currency": "eur",
    "expires_at": BORN + 86_400,
    "livemode": False,
    "metadata": CARRIED,
    "mode": "payment",
    "payment_intent": "pi_1",
    "payment_status": "paid",
    "status": "complete",
    "url": None,
}
ACCOUNT = {
    "id": "acct_1",
    "object": "account",
    "charges_enabled": True,
    "country": "PT",
    "metadata": {"orgId": str(ORGANIZATION)},
    "payouts_enabled": True,
    "requirements": {"currently_due": [], "past_due": [], "disabled_reason": None, "eventually_due": ["a"]},
    "type": "standard",
}
PAYOUT = {
    "id": "po_1",
    "object": "payout",
    "amount": 900,
    "arrival_date": BORN,
    "created": BORN,
    "currency": "eur",
    "failure_code": None,
    "livemode": False,
    "metadata": {},
    "status": "paid",
}
TRANSFER = {
    "id": "tr_9",
    "object": "transfer",
    "amount": 8_500,
    "amount_reversed": 0,
    "created": BORN,
    "currency": "eur",
    "destination": "acct_1",
    "livemode": False,
    "metadata": {"orgId": str(ORGANIZATION), "order_key": "p1"},
    "reversals": {"object": "list", "data": [], "has_more": False},
    "reversed": False,
    "source_transaction": None,
    "transfer_group": "p1",
}
DECLINED = {
    "charge": "ch_0",
    "code": "card_declined",
    "decline_code": "insufficient_funds",
    "payment_method": {"id": "pm_1", "object": "payment_method", "created": BORN},
    "type": "card_error",
}


def an_event(kind: str, about: dict[str, Any], **more: Any) -> dict[str, Any]:
    event = {
        "id": "evt_1",
        "object": "event",
        "api_version": "2026-08-26.dahlia",
        "created": TOLD,
        "data": {"object": about},
        "livemode": False,
        "pending_webhooks": 1,
        "request": {"id": "req_1", "idempotency_key": None},
        "type": kind,
    }
    return event | more


def as_sent(event: dict[str, Any]) -> bytes:
    """Stripe indents its webhooks."""
    return msgspec.json.format(msgspec.json.encode(event), indent=2)


def signed_by_stripe(body: bytes, secret: str = KEYS.account, at: int | None = None) -> dict[str, str]:
    return {"Stripe-Signature": stripe.WebhookSignature.generate_signature_header(body.decode(), secret, at)}

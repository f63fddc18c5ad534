"""Our own simulator in Stripe's clothes: its objects with Stripe's names, fields and habits.

This is ours, and not Stripe: it shows what we know of Stripe from its SDK and its papers. Where Stripe differs from the
simulator, Stripe's way is shown: objects name others by id unless asked to expand them; times are whole seconds; a
session has an intent only from when its customer tried; who fails 3DS leaves no charge; events carry what they are about
and nothing of what happened to it.
"""

from typing import Any

from admitone.finance.gateways.model import MovementKind
from admitone.finance.gateways.sandbox.objects import (
    MILLION,
    Account,
    Attempt,
    Dispute,
    Intent,
    MovementRow,
    Payout,
    Refund,
)

PIX_WORDS = {"pending": "requires_action", "paid": "succeeded", "expired": "requires_payment_method"}
UNPROVED = "authentication_required"
Shown = dict[str, Any]


def stripe_name(name: str) -> str:
    """The simulator's PIX charges and payouts have other names at Stripe."""
    return name.replace("pix_", "pi_pix", 1) if name.startswith("pix_") else name.replace("po_", "tr_", 1)


def own_name(name: str) -> str:
    return name.replace("pi_pix", "pix_", 1) if name.startswith("pi_pix") else name.replace("tr_", "po_", 1)


def like(name: str, prefix: str, more: str = "") -> str:
    """Another object's id, that belongs to this one."""
    return f"{prefix}_{more}{name.partition('_')[2]}"


def seconds(micros: int) -> int:
    return micros // MILLION


# -- What is to be paid


def has_charge(attempt: Attempt) -> bool:
    """Whether Stripe made one: not while a card asks who is there, nor when nobody could say."""
    return attempt.failure_code != UNPROVED and (
        attempt.status != "pending" or "processing" in attempt.status_transitions
    )


def intent(thing: Intent) -> Shown:
    charges = [each for each in thing.charges if has_charge(each)]
    latest = thing.latest
    ended = next(
        (thing.status_transitions[word] for word in ("canceled", "cancelled") if word in thing.status_transitions), None
    )
    if thing.session and "expired" in thing.status_transitions:
        ended = thing.status_transitions["expired"]
    return {
        "id": stripe_name(thing.id),
        "object": "payment_intent",
        "created": thing.created,
        "amount": thing.amount,
        "amount_received": thing.amount_received,
        "currency": thing.currency,
        "status": "canceled" if thing.status == "cancelled" else PIX_WORDS.get(thing.status, thing.status),
        "client_secret": f"{stripe_name(thing.id)}_secret_{like(thing.id, 'x')}",
        "description": thing.description,
        "metadata": thing.metadata,
        "livemode": False,
        "latest_charge": charges[-1].id if charges else None,
        "payment_method": like(latest.id, "pm") if latest else None,
        "payment_method_types": ["pix"] if thing.pix else ["card"],
        "payment_method_options": {"pix": {"expires_at": _pix_end(thing)}} if thing.pix else {"card": {}},
        "application_fee_amount": thing.application_fee_amount or None,
        "transfer_data": {"destination": thing.destination} if thing.destination else None,
        "on_behalf_of": thing.destination,
        "canceled_at": seconds(ended) if ended and thing.status in ("canceled", "cancelled") else None,
        "last_payment_error": _error(thing),
        "next_action": _next_action(thing),
    }


def _pix_end(thing: Intent) -> int:
    """Whoever lets a code expire lets its time pass."""
    expired = thing.status_transitions.get("expired")
    return min(thing.expires_at, seconds(expired)) if expired else thing.expires_at


def _error(thing: Intent) -> Shown | None:
    if thing.pix and thing.status == "expired":
        return {"code": "payment_intent_payment_attempt_expired", "type": "invalid_request_error"}
    latest = thing.latest
    if thing.status != "requires_payment_method" or latest is None or latest.status != "failed":
        return None
    card = {"id": like(latest.id, "pm"), "object": "payment_method", "created": latest.created}
    if latest.failure_code == UNPROVED:
        return {
            "code": "payment_intent_authentication_failure",
            "type": "invalid_request_error",
            "payment_method": card,
        }
    declined = {"code": "card_declined", "decline_code": _decline(latest), "type": "card_error"}
    return declined | {"charge": latest.id, "payment_method": card}


def _decline(attempt: Attempt) -> str:
    return "generic_decline" if attempt.failure_code == "card_declined" else attempt.failure_code or ""


def _next_action(thing: Intent) -> Shown | None:
    if thing.pix and thing.status == "pending":
        code = {
            "data": thing.pix.copy_paste,
            "expires_at": thing.pix.expires_at,
            "image_url_png": "",
            "image_url_svg": "",
        }
        return {"type": "pix_display_qr_code", "pix_display_qr_code": code}
    return {"type": "use_stripe_sdk", "use_stripe_sdk": {}} if thing.status == "requires_action" else None


def session(thing: Intent, *, ends_at: int) -> Shown:
    assert thing.session
    return {
        "id": thing.session.id,
        "object": "checkout.session",
        "created": thing.created,
        "status": thing.session.status,
        "payment_status": thing.session.payment_status,
        "expires_at": ends_at,
        "amount_total": thing.amount,
        "currency": thing.currency,
        "metadata": thing.metadata,
        "livemode": False,
        "url": thing.session.url if thing.session.status == "open" else None,
        "payment_intent": stripe_name(thing.id) if thing.charges else None,
    }


def charge(thing: Intent, attempt: Attempt) -> Shown:
    is_paid = attempt.status == "succeeded"
    is_split = is_paid and thing.destination is not None
    taken = attempt.balance_transaction
    return {
        "id": attempt.id,
        "object": "charge",
        "created": attempt.created,
        "amount": attempt.amount,
        "amount_captured": attempt.amount if is_paid else 0,
        "amount_refunded": attempt.amount_refunded,
        "currency": attempt.currency,
        "status": attempt.status,
        "captured": is_paid,
        "payment_intent": stripe_name(thing.id),
        "metadata": thing.metadata,
        "livemode": False,
        "balance_transaction": taken.id if taken else None,
        "disputed": bool(attempt.disputes),
        "failure_code": "card_declined" if attempt.failure_code else None,
        "outcome": {"reason": _decline(attempt) if attempt.failure_code else None, "type": "whatever"},
        "application_fee": like(attempt.id, "fee") if is_split and thing.application_fee_amount else None,
        "transfer": like(attempt.id, "tr", "of") if is_split else None,
    }


# -- What came after


def refund(thing: Refund, metadata: Shown) -> Shown:
    has_left = "succeeded" in thing.status_transitions
    return {
        "id": thing.id,
        "object": "refund",
        "created": seconds(min(thing.status_transitions.values())),
        "amount": thing.amount,
        "currency": thing.currency,
        "status": thing.status,
        "charge": thing.charge,
        "payment_intent": stripe_name(thing.payment_intent),
        "metadata": metadata,
        "failure_reason": thing.failure_reason,
        "balance_transaction": like(thing.id, "txn", "r") if has_left else None,
        "failure_balance_transaction": like(thing.id, "txn", "f") if has_left and thing.status == "failed" else None,
    }


def dispute(thing: Dispute) -> Shown:
    opened = thing.status_transitions["needs_response"]
    rows = [
        transaction(
            like(thing.id, "txn", "o"), "adjustment", -thing.amount, thing.currency, opened, thing.id, thing.fee
        )
    ]
    if won := thing.status_transitions.get("won"):
        row = transaction(
            like(thing.id, "txn", "w"), "adjustment", thing.amount, thing.currency, won, thing.id, -thing.fee
        )
        rows.append(row)
    return {
        "id": thing.id,
        "object": "dispute",
        "created": seconds(opened),
        "amount": thing.amount,
        "currency": thing.currency,
        "status": thing.status,
        "reason": thing.reason,
        "charge": thing.charge,
        "payment_intent": stripe_name(thing.payment_intent),
        "metadata": {},
        "livemode": False,
        "balance_transactions": rows,
        "evidence": thing.evidence,
        "evidence_details": {
            "due_by": thing.evidence_details.due_by,
            "has_evidence": thing.evidence_details.has_evidence,
            "submission_count": thing.evidence_details.submission_count,
            "past_due": False,
        },
    }


def fee(thing: Intent, attempt: Attempt, refunded: int) -> Shown:
    return {
        "id": like(attempt.id, "fee"),
        "object": "application_fee",
        "created": attempt.created,
        "amount": min(thing.application_fee_amount, attempt.amount),
        "amount_refunded": refunded,
        "currency": attempt.currency,
        "charge": like(attempt.id, "py"),
        "originating_transaction": attempt.id,
    }


# -- Accounts and payouts


def account(thing: Account) -> Shown:
    return {
        "id": thing.id,
        "object": "account",
        "type": thing.type,
        "country": thing.country,
        "charges_enabled": thing.charges_enabled,
        "payouts_enabled": thing.payouts_enabled,
        "metadata": thing.metadata,
        "requirements": {
            "currently_due": list(thing.requirements_due),
            "past_due": [],
            "disabled_reason": "requirements.past_due" if thing.status == "restricted" else None,
        },
    }


def transfer(thing: Payout) -> Shown:
    failed = thing.status_transitions.get("failed")
    back = [reversal(thing.id, thing.amount, seconds(failed))] if failed else []
    return {
        "id": stripe_name(thing.id),
        "object": "transfer",
        "created": thing.created,
        "amount": thing.amount,
        "amount_reversed": thing.amount if failed else 0,
        "reversed": bool(failed),
        "reversals": {"object": "list", "data": back, "has_more": False},
        "currency": thing.currency,
        "destination": thing.destination,
        "metadata": thing.metadata,
        "source_transaction": None,
        "transfer_group": thing.order_key,
    }


def reversal(payout: str, amount: int, created: int) -> Shown:
    own = {"id": like(payout, "trr"), "object": "transfer_reversal", "amount": amount, "created": created}
    return own | {"transfer": stripe_name(payout), "source_refund": None, "metadata": {}}


def payout(thing: Payout) -> Shown:
    """What the account pays to its owner's bank by itself: of the transfer it knows nothing."""
    own = {"id": like(thing.id, "po", "own"), "object": "payout", "created": thing.created, "metadata": {}}
    told = {
        "amount": thing.amount,
        "currency": thing.currency,
        "status": thing.status,
        "failure_code": thing.failure_code,
    }
    return own | told


# -- Its books


def transaction(name: str, kind: str, amount: int, currency: str, at: int, source: str, fee: int = 0) -> Shown:
    return {
        "id": name,
        "object": "balance_transaction",
        "created": seconds(at),
        "type": kind,
        "amount": amount,
        "fee": fee,
        "net": amount - fee,
        "currency": currency,
        "source": source,
        "exchange_rate": None,
    }


def charged(thing: Intent, attempt: Attempt) -> Shown:
    """Its fee is in it once the simulator has told it."""
    told = attempt.balance_transaction
    fees = [told, *attempt.fee_adjustments] if told else []
    name = told.id if told else like(attempt.id, "txn", "c")
    kind, at = "payment" if thing.pix else "charge", attempt.status_transitions["succeeded"]
    return transaction(name, kind, attempt.amount, attempt.currency, at, attempt.id, sum(each.fee for each in fees))


SIMPLE = {
    MovementKind.REFUND: ("refund", -1),
    MovementKind.REFUND_RETURNED: ("refund_failure", 1),
    MovementKind.TRANSFER: ("transfer", -1),
    MovementKind.APPLICATION_FEE: ("application_fee", 1),
    MovementKind.TRANSFER_REVERSED: ("transfer_refund", 1),
    MovementKind.TRANSFER_AGAIN: ("transfer", -1),
    MovementKind.APPLICATION_FEE_REFUNDED: ("application_fee_refund", -1),
    MovementKind.PAYOUT: ("transfer", -1),
    MovementKind.PAYOUT_RETURNED: ("transfer_refund", 1),
}
SOURCES = {
    MovementKind.TRANSFER: ("tr", "of"),
    MovementKind.APPLICATION_FEE: ("fee", ""),
    MovementKind.TRANSFER_REVERSED: ("trr", ""),
    MovementKind.TRANSFER_AGAIN: ("tr", "again"),
    MovementKind.APPLICATION_FEE_REFUNDED: ("fr", ""),
    MovementKind.PAYOUT: ("tr", ""),
    MovementKind.PAYOUT_RETURNED: ("trr", ""),
}


def moved(row: MovementRow) -> Shown:
    """A row that is about one thing alone."""
    kind = MovementKind(row.kind)
    word, sign = SIMPLE[kind]
    prefix = SOURCES.get(kind)
    source = like(row.reference, *prefix) if prefix else row.reference
    return transaction(like(row.id, "txn", "m"), word, sign * row.amount, row.currency, row.at, source)

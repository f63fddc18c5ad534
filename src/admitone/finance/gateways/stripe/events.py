"""What Stripe's events mean. Their objects name others by id only: what they cannot tell, they make us ask for.

Promise: the capture is told where nothing else can have happened by then; a refund or a dispute is told without it, and
whoever hears of one asks for the whole charge (unification (c)). A type that is not in the tables is kept and ignored.
What an organisation sells on its own account without us is its own business: there, only the account itself and what it
pays out are listened to. Our charges stand on the platform's account.
"""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from admitone.finance.gateways.model import (
    Envelope,
    ObjectType,
    ProviderEvent,
    ProviderFact,
    Ref,
    Topic,
)
from admitone.finance.gateways.stripe import reading
from admitone.finance.gateways.stripe.keys import CONNECT
from admitone.finance.gateways.stripe.objects import (
    Account,
    Attempt,
    Dispute,
    Intent,
    Payout,
    Refund,
    Session,
    Thing,
    Transfer,
)
from admitone.finance.gateways.stripe.parameters import RETURNED
from admitone.finance.gateways.words import envelope_of, id_in
from admitone.finance.sources.api import PaymentId
from admitone.kernel.errors import Malformed
from admitone.kernel.ids import OrganizationId


def read_event(payload: bytes, source: str) -> ProviderEvent:
    envelope, event = envelope_of(payload, source, CONNECT)
    dealt_with = (OF_ACCOUNTS if envelope.account else TYPES).get(event.type)
    if dealt_with is None:
        return ProviderEvent(envelope, Topic.NOTHING)
    kind, understand = dealt_with
    try:
        about = msgspec.json.decode(event.data.object, type=kind)
    except msgspec.DecodeError:
        raise Malformed from None
    return understand(envelope, about)


def _of_intent(envelope: Envelope, intent: Intent) -> ProviderEvent:
    facts = reading.facts_of(reading.Whole(intent), envelope.created)
    return _about_charge(envelope, reading.refs_of(intent), facts, intent)


def _of_session(envelope: Envelope, session: Session) -> ProviderEvent:
    facts = [*reading.session_facts(session, envelope.created)]
    return _about_charge(envelope, reading.session_refs(session), facts, session)


def _of_refunded(envelope: Envelope, attempt: Attempt) -> ProviderEvent:
    """How much went back of it so far, and not by which refunds: it tells nothing, and so it is asked for."""
    return _about_charge(envelope, reading.attempt_refs(attempt), [], attempt)


def _of_refund(envelope: Envelope, refund: Refund) -> ProviderEvent:
    facts = [*reading.refund_facts(refund, 0, envelope.created)]
    return _about_charge(envelope, reading.refund_refs(refund), facts, refund)


def _of_dispute(envelope: Envelope, dispute: Dispute) -> ProviderEvent:
    facts = [*reading.dispute_facts(dispute, envelope.created)]
    return _about_charge(envelope, reading.dispute_refs(dispute), facts, dispute)


def _about_charge(envelope: Envelope, refs: tuple[Ref, ...], facts: list[ProviderFact], thing: Thing) -> ProviderEvent:
    return ProviderEvent(
        envelope,
        Topic.CHARGE,
        refs=refs,
        facts=tuple(facts),
        organization=id_in(thing.carried, "orgId", OrganizationId),
        payment=id_in(thing.carried, "payment_id", PaymentId),
    )


def _of_balance(envelope: Envelope, _: Any) -> ProviderEvent:
    """Of whose charges, it does not say: fees that are not known yet are asked for."""
    return ProviderEvent(envelope, Topic.BALANCE)


def _of_account(envelope: Envelope, account: Account) -> ProviderEvent:
    understood = reading.account_of(account, livemode=envelope.livemode)
    return ProviderEvent(
        envelope,
        Topic.ACCOUNT,
        refs=(Ref(ObjectType.ACCOUNT, account.id),),
        organization=understood.organization,
        account=understood,
    )


def _of_payout(envelope: Envelope, payout: Payout) -> ProviderEvent:
    """From an account to its owner's bank; whose it is, the account says."""
    told = reading.payout_of(payout, envelope.created)
    return ProviderEvent(envelope, Topic.PAYOUT, refs=(Ref(ObjectType.PAYOUT, payout.id),), payout=told)


def _of_transfer(envelope: Envelope, transfer: Transfer) -> ProviderEvent:
    """By which we pay out. That of a charge happens with it, and is nothing of its own; nor is what is handed on again
    when a refund comes back."""
    if transfer.source_transaction is not None or RETURNED in transfer.carried:
        return ProviderEvent(envelope, Topic.NOTHING)
    return ProviderEvent(
        envelope,
        Topic.PAYOUT,
        refs=(Ref(ObjectType.PAYOUT, transfer.id), Ref(ObjectType.ACCOUNT, transfer.destination)),
        organization=id_in(transfer.carried, "orgId", OrganizationId),
        payout=reading.transfer_of(transfer),
    )


Understanding = dict[str, tuple[Any, Callable[[Envelope, Any], ProviderEvent]]]

TYPES: Final[Understanding] = {
    **dict.fromkeys(
        (
            "payment_intent.created",
            "payment_intent.requires_action",
            "payment_intent.processing",
            "payment_intent.succeeded",
            "payment_intent.payment_failed",
            "payment_intent.canceled",
        ),
        (Intent, _of_intent),
    ),
    **dict.fromkeys(("checkout.session.completed", "checkout.session.expired"), (Session, _of_session)),
    "charge.refunded": (Attempt, _of_refunded),
    **dict.fromkeys(
        ("charge.refund.updated", "refund.created", "refund.updated", "refund.failed"), (Refund, _of_refund)
    ),
    **dict.fromkeys(
        (
            "charge.dispute.created",
            "charge.dispute.updated",
            "charge.dispute.closed",
            "charge.dispute.funds_withdrawn",
            "charge.dispute.funds_reinstated",
        ),
        (Dispute, _of_dispute),
    ),
    "balance.available": (Any, _of_balance),
    **dict.fromkeys(("payout.paid", "payout.failed"), (Payout, _of_payout)),
    **dict.fromkeys(("transfer.created", "transfer.reversed"), (Transfer, _of_transfer)),
}
"""Of the platform's own account: what its webhook endpoint subscribes to."""
OF_ACCOUNTS: Final[Understanding] = {
    "account.updated": (Account, _of_account),
    **dict.fromkeys(("payout.paid", "payout.failed"), (Payout, _of_payout)),
}
"""Of connected accounts: what the Connect endpoint subscribes to."""

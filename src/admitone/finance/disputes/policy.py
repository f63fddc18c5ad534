"""Where a case stands, who is told of it, and what may be said to it: pure decisions.

Promise: where a case stands depends on what is known and not on the order in which it came: the facts of the payment
close it, submitted evidence moves it on, and nothing moves it back.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import IntEnum
from typing import Final

import msgspec

from admitone.finance.disputes.errors import (
    AlreadySubmitted,
    DisputeDecided,
    EvidenceMissing,
    EvidenceTooLate,
)
from admitone.finance.disputes.model import DISPUTE, Case, DisputeId, State, Statement, Texts
from admitone.finance.gateways.api import Dispute as File
from admitone.finance.gateways.api import DisputeStatus
from admitone.finance.payments.api import Payment, ToldDispute
from admitone.finance.pricing.api import Snapshot
from admitone.kernel.errors import Refusal
from admitone.kernel.money import Money

ASSUMED: Final = timedelta(days=7)
"""How long evidence is taken at the least, until the provider's file says it: rather too short than too long."""
SOON: Final = timedelta(hours=72)
VERY_SOON: Final = timedelta(hours=24)


# -- Where it stands


def opened(told: ToldDispute, payment: Payment, now: datetime) -> Case:
    """The case of a dispute that nobody has heard of here."""
    assert payment.provider is not None, "what costs nothing is not disputed"
    fresh = Case(
        id=DisputeId.new(),
        organization=payment.organization,
        city_code=payment.city_code,
        payment=payment.id,
        provider=payment.provider,
        reference=told.reference,
        state=State.OPEN,
        reason=told.reason,
        amount_minor=told.amount_minor,
        currency=told.currency or payment.currency,
        fee_minor=told.fee_minor,
        opened_at=told.opened_at,
        due_at=told.opened_at + ASSUMED,
        told_at=None,
        assignee=None,
        evidence=0,
        filed=0,
        submission=None,
        submitted_at=None,
        closed_at=None,
        version=0,
        created_at=now,
        changed_at=now,
    )
    return followed(fresh, told)


def followed(case: Case, told: ToldDispute) -> Case:
    """As the facts of its payment have it."""
    return msgspec.structs.replace(
        case,
        state=State.LOST if told.lost_at else State.WON if told.won_at else case.state,
        reason=case.reason or told.reason,
        amount_minor=told.amount_minor,
        fee_minor=told.fee_minor,
        opened_at=told.opened_at,
        due_at=case.due_at if case.told_at else told.opened_at + ASSUMED,
        closed_at=told.lost_at or told.won_at,
    )


def read(case: Case, file: File, now: datetime) -> Case:
    """As the provider's file has it: what it says of the end is left to the facts."""
    is_with_the_bank = file.status is DisputeStatus.UNDER_REVIEW or file.submissions > 0
    moves = is_with_the_bank and DISPUTE.may(case.state, State.EVIDENCE_SUBMITTED)
    return msgspec.structs.replace(
        case,
        state=State.EVIDENCE_SUBMITTED if moves else case.state,
        reason=file.reason or case.reason,
        due_at=file.due_at,
        told_at=now,
        submitted_at=now if moves else case.submitted_at,
    )


def is_news(case: Case, after: Case) -> bool:
    """Whether the file says anything that we did not know."""
    return case.told_at is None or msgspec.structs.replace(after, told_at=case.told_at) != case


# -- What may be said to it


def why_not(case: Case, statement: Statement, now: datetime) -> Refusal | None:
    if case.is_closed:
        return DisputeDecided()
    if case.state is State.EVIDENCE_SUBMITTED or case.submission is not None:
        return AlreadySubmitted()
    if case.told_at is not None and case.due_at is not None and case.due_at <= now:
        return EvidenceTooLate(due_at=case.due_at)
    has_words = statement.texts is not None or (statement.submits and case.evidence > 0)
    return None if has_words else EvidenceMissing()


# -- Who is told


class Urgency(IntEnum):
    WAITS = 0
    """Somebody must answer; there is time."""
    DUE = 1
    """Within three days."""
    DUE_VERY_SOON = 2
    """Within a day."""
    OVERDUE = 3


def urgency_of(case: Case, now: datetime) -> Urgency | None:
    """How urgent it is that somebody submits; nothing if somebody has, or it is over."""
    if case.state is not State.OPEN:
        return None
    if case.due_at is None:
        return Urgency.WAITS
    left = case.due_at - now
    if left <= timedelta(0):
        return Urgency.OVERDUE
    return Urgency.DUE_VERY_SOON if left <= VERY_SOON else Urgency.DUE if left <= SOON else Urgency.WAITS


# -- What the software itself can say


def drafted(payment: Payment, snapshot: Snapshot | None, testimony: Mapping[str, str]) -> Texts:
    """What is known of the sale, for somebody to read, complete and submit. Nobody is named in it, unless a vertical
    does. Of a price that cannot be read any more nothing is said."""
    known = {"uncategorized_text": "\n".join(_paid(payment))}
    if snapshot is not None:
        known["product_description"] = "\n".join(_bought(snapshot))
    return tuple(sorted((known | dict(testimony)).items()))


def _bought(snapshot: Snapshot) -> Sequence[str]:
    money = [(f"{line.quantity} x {line.label}", line.total) for line in snapshot.line_items]
    lines = [f"{what}: {Money(minor, snapshot.currency)}" for what, minor in money]
    return [*lines, f"In all: {Money(snapshot.total, snapshot.currency)}"]


def _paid(payment: Payment) -> Sequence[str]:
    said = [
        f"Ordered on {payment.created_at:%Y-%m-%d %H:%M} UTC as {payment.source}.",
        f"Paid by {payment.method.lower()}: {Money(payment.captured_minor, payment.currency)}.",
    ]
    if payment.refunded_minor:
        said.append(f"Given back before: {Money(payment.refunded_minor, payment.currency)}.")
    return said

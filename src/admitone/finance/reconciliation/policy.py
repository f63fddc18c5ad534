"""What follows from a difference: pure decisions.

Promise (U-18, MOR-043): always an issue. What is known on both sides and differs by less than a unit is rounding, is
posted as such and closes; what the provider moved more of than the ledger says is told of in any case; everything else
waits for somebody, who is woken. What is missing on one side, stands there twice or is in another currency is no
rounding, however little it is.

What a provider pays of the platform's balance to the platform's bank, or takes of it for itself, nobody here ordered:
its journal is the only paper of it, and it is booked as that says, in the platform's own books and nowhere else.
"""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final

from admitone.finance.gateways.api import MovementKind
from admitone.finance.ledger.api import Event, Posting, Transfer
from admitone.finance.payments.api import Payment
from admitone.finance.reconciliation.comparing.likeness import COMES_IN, KIND, kind_of, minor_of
from admitone.finance.reconciliation.comparing.sums import LONGEST_REFERENCE
from admitone.finance.reconciliation.differences import Difference, DifferenceClass
from admitone.finance.reconciliation.model import Closure, Issue, IssueId, IssueState
from admitone.finance.sources.api import Flow, Source, SourceType
from admitone.kernel.ids import PLATFORM_ORGANIZATION, OrganizationId
from admitone.kernel.scope import Caller

D = DifferenceClass
UNIT_MINOR: Final = 100
"""What is less is rounding (MOR-043)."""
ROUNDED: Final = frozenset({D.AMOUNT, D.FEE})
K = MovementKind
OWN: Final = {
    (K.BANK_PAYOUT, True): Event.BANK_PAYOUT,
    (K.BANK_PAYOUT_RETURNED, True): Event.BANK_PAYOUT_RETURNED,
    (K.ACCOUNT_FEE, True): Event.ACCOUNT_FEE,
    (K.ACCOUNT_FEE, False): Event.ACCOUNT_FEE_RETURNED,
}
"""What is booked by the provider's word, by its kind and whether there is more than nothing of it."""
COMPARED: Final = frozenset(D) - {D.STAYED}
"""What comes of comparing with the provider."""


class Step(StrEnum):
    """What is to be done with a difference."""

    OPEN = "OPEN"
    SEE_AGAIN = "SEE_AGAIN"
    ROUND = "ROUND"
    ACCEPT = "ACCEPT"
    """Somebody has closed just this, and it is as it was."""
    LEAVE = "LEAVE"
    """Somebody dealt with it while we looked: the next run sees what is left."""


def may_ask(payment: Payment) -> bool:
    """Whether a run asks for what it misses of this payment: not for the money itself of what only a webhook says that
    it was paid (U-51). The poller of webhooks has it told again; until then it is an issue."""
    return payment.captured_minor > 0 or not payment.manner.told_by_webhook


def step_of(found: Difference, known: Sequence[Issue], began: datetime) -> Step:
    """By the newest issues of its object, the newest first."""
    if any(each.closed_at is not None and each.closed_at >= began for each in known):
        return Step.LEAVE
    if is_rounding(found):
        return Step.ROUND
    if any(each.state is IssueState.OPEN for each in known):
        return Step.SEE_AGAIN
    return Step.ACCEPT if known and _is_accepted(found, known[0]) else Step.OPEN


def is_rounding(found: Difference) -> bool:
    """By what differs without what was rounded before: many little ones are not little."""
    apart = found.there_minor - (found.here_minor - found.rounded_minor)
    return found.difference in ROUNDED and found.payment is not None and abs(apart) < UNIT_MINOR


def is_above(found: Difference) -> bool:
    """Whether the provider moved more of it than the ledger says."""
    return found.difference in COMPARED and found.there_minor > found.here_minor


def _is_accepted(found: Difference, latest: Issue) -> bool:
    before = latest.found
    return latest.closed_how is Closure.BY_HAND and (
        (found.difference, found.here_minor, found.there_minor, found.here_currency)
        == (before.difference, before.here_minor, before.there_minor, before.here_currency)
    )


def rounding_of(found: Difference, issue: IssueId, transfers: Sequence[Transfer], caller: Caller) -> Posting | None:
    """What makes the ledger say what the provider says of this object, given everything that was posted for its
    payment. Nothing, if that is not what was compared: something was posted meanwhile."""
    own = [each for each in transfers if is_of(each, found)]
    kind = MovementKind(found.kind)
    if not own or sum(minor_of(each, kind) for each in own) != found.here_minor:
        return None
    more = found.there_minor - found.here_minor
    came_in = more if kind in COMES_IN else -more
    like = own[0]
    return Posting(
        caller=caller,
        event=Event.ROUNDED_UP if came_in > 0 else Event.ROUNDED_DOWN,
        flow=like.flow,
        currency=found.currency,
        amounts={"difference": abs(more)},
        cause=f"reconciliation:{issue}",
        payment=found.payment,
        source=Source(SourceType(like.source_type), like.source_id) if like.source_type and like.source_id else None,
        payee=like.payee_id,
        city_code=like.city_code,
        reference=found.reference or None,
        metadata={KIND: kind.value},
    )


def is_own(found: Difference, organization: OrganizationId, movements: int) -> bool:
    """Whether it is to be booked: of what stands there twice nobody knows whether it moved twice."""
    is_new = found.difference is D.MISSING_HERE and movements == 1 and found.reference != ""
    return is_new and organization == PLATFORM_ORGANIZATION and _own_event(found) is not None


def own_posting(found: Difference, caller: Caller) -> Posting:
    event = _own_event(found)
    assert event is not None
    return Posting(
        caller=caller,
        event=event,
        flow=Flow.OWN,
        currency=found.currency,
        amounts={"moved": abs(found.there_minor)},
        cause=f"{found.currency}:{found.reference}"[:LONGEST_REFERENCE],
        reference=found.reference,
    )


def _own_event(found: Difference) -> Event | None:
    return OWN.get((MovementKind(found.kind), found.there_minor > 0))


def is_of(transfer: Transfer, found: Difference) -> bool:
    """Whether it was posted for this object."""
    names = (kind_of(transfer), transfer.reference or "", transfer.currency)
    return names == (found.kind, found.reference, found.here_currency or found.currency)

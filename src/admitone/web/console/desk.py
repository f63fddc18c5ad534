"""What the pages of the office share: how states are told, what somebody may not see, and forms that are shown again.

Promise: what somebody may not see is left out of a page that shows other things too, and nothing is shown in its place.
Whoever must prove again that it is them is sent to do so, and is not shown a form again.
"""

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar
from uuid import uuid4

import msgspec

from admitone.kernel.contracts import Call
from admitone.kernel.errors import Forbidden, Refusal, Unauthenticated
from admitone.kernel.idempotency import KeyReused
from admitone.kernel.streaks import StepUpRequired
from admitone.web.form import Form

Shown = TypeVar("Shown")
Keyed = TypeVar("Keyed", bound=msgspec.Struct)
ROWS: Final = 25
"""Of a list at a time: a page stays light."""
ELSEWHERE: Final = (Unauthenticated, StepUpRequired)
"""What is not said beside a form, because something can be done about it on another page."""


@dataclass(frozen=True)
class States:
    """How the states of something are told: a word and a shape for each."""

    words: Mapping[str, str]
    shapes: Mapping[str, str]

    def word(self, state: object) -> str:
        return self.words.get(str(state), str(state))

    def shape(self, state: object) -> str:
        return self.shapes.get(str(state), "plain")


ORDER_WORDS: Final[dict[str, str]] = {
    "OPEN": "Being paid",
    "EXPIRED": "Expired",
    "FULFILLED": "Paid",
    "CANCELLED": "Cancelled",
    "RETURNED": "Given back",
}
PAYMENT_WORDS: Final[dict[str, str]] = {
    "CREATED": "Begun",
    "PENDING": "Waiting",
    "REQUIRES_ACTION": "Waits for the buyer",
    "PROCESSING": "In progress",
    "SUCCEEDED": "Paid",
    "FAILED": "It failed",
    "CANCELLED": "Cancelled",
    "EXPIRED": "Expired",
    "NEEDS_MANUAL": "Unknown",
    "PARTIAL_REFUND": "Partly refunded",
    "REFUNDED": "Refunded",
    "DISPUTED": "Disputed",
    "CHARGEBACK_WON": "Dispute won",
    "CHARGEBACK_LOST": "Dispute lost",
}
REFUND_WORDS: Final[dict[str, str]] = {
    "PLANNED": "Planned",
    "OVERTAKEN": "Overtaken",
    "PENDING": "On its way",
    "SUCCEEDED": "Refunded",
    "FAILED": "It failed",
}
TICKET_WORDS: Final[dict[str, str]] = {
    "ACTIVE": "Valid",
    "RESALE_LISTED": "Offered for resale",
    "TRANSFERRED": "Transferred",
    "REFUNDED": "Refunded",
    "DISPUTED": "Disputed",
    "CHARGEBACK_LOST": "Dispute lost",
}
RIGHT_WORDS: Final[dict[str, str]] = {
    "PENDING": "Kept for somebody",
    "ACTIVE": "Valid",
    "SUSPENDED": "Suspended",
    "EXPIRED": "Expired",
    "REVOKED": "Revoked",
}
SHAPES: Final = {
    "OPEN": "waiting",
    "CREATED": "waiting",
    "PENDING": "waiting",
    "REQUIRES_ACTION": "waiting",
    "PROCESSING": "waiting",
    "PLANNED": "waiting",
    "FULFILLED": "good",
    "SUCCEEDED": "good",
    "ACTIVE": "good",
    "CHARGEBACK_WON": "good",
    "PARTIAL_REFUND": "twice",
    "REFUNDED": "twice",
    "RETURNED": "twice",
    "RESALE_LISTED": "twice",
    "TRANSFERRED": "twice",
    "SUSPENDED": "twice",
    "NEEDS_MANUAL": "bad",
    "FAILED": "bad",
    "DISPUTED": "bad",
    "CHARGEBACK_LOST": "bad",
    "REVOKED": "bad",
}
GIVEN_BACK_IS_DONE: Final = {"SUCCEEDED": "good"}

ORDERS: Final = States(ORDER_WORDS, SHAPES)
PAYMENTS: Final = States(PAYMENT_WORDS, SHAPES)
REFUNDS: Final = States(REFUND_WORDS, SHAPES)
TICKETS: Final = States(TICKET_WORDS, SHAPES)
RIGHTS: Final = States(RIGHT_WORDS, SHAPES)


async def if_permitted(asking: Awaitable[Shown]) -> Shown | None:
    """What is answered, or nothing to whoever may not ask."""
    try:
        return await asking
    except Forbidden:
        return None


def refused(call: Call, typed: Any, refusal: Refusal) -> Form:
    """The form once more with what was typed, unless something is to be done elsewhere first."""
    if isinstance(refusal, ELSEWHERE):
        raise refusal
    return Form.refused(typed, refusal, call.words)


def new_key() -> str:
    """Under which what a form asks for is done once, however often it is sent."""
    return uuid4().hex


def shown_again(form: Keyed, refusal: Refusal) -> Keyed:
    """A refused form, under the key that it had: whoever does not know what became of the first try repeats that one.
    Only a key that did something else before gives way."""
    return msgspec.structs.replace(form, key=new_key()) if isinstance(refusal, KeyReused) else form

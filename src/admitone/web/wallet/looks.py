"""How a right looks to its owner: its state as a colour, a word and a shape, and where and when it counts.

Promise: what is said follows from the answers of the API and from nothing else. Of an event that cannot be seen any
more the right itself still says until when it counts.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from admitone.entitlements.api import Revocation, Status
from admitone.entitlements.routes.wallet import WalletItem, Withheld
from admitone.kernel.contracts import Call
from admitone.kernel.errors import NotFound
from admitone.kernel.ids import InvalidId
from admitone.verticals.events.api import EventId
from admitone.verticals.events.routes import public
from admitone.verticals.events.routes.public import EventPageAnswer, PageOfEventRequest
from admitone.verticals.events.routes.wires import SessionWire

KINDS: Final = {
    "pending": "waiting",
    "active": "good",
    "used": "plain",
    "held": "twice",
    "expired": "plain",
    "refunded": "bad",
    "cancelled": "bad",
    "revoked": "bad",
}
STATE_WORDS: Final[dict[str, str]] = {
    "pending": "Waiting",
    "active": "Active",
    "used": "Used",
    "held": "On hold",
    "expired": "Expired",
    "refunded": "Refunded",
    "cancelled": "Cancelled",
    "revoked": "Revoked",
}
WHY_WORDS: Final[dict[str, str]] = {
    Revocation.REFUND: "The money for it went back, so it opens no door.",
    Revocation.CHARGEBACK: "The payment was taken back at the bank, so it opens no door.",
    Revocation.CANCELLATION: "What it was for does not take place.",
    Revocation.ADMIN: "The organiser took it back. Ask them why.",
    Revocation.VIOLATION: "The organiser took it back, because a rule was broken. Ask them which.",
    Withheld.DISPUTE: "The payment is disputed at the bank. Until that is decided, it opens no door.",
    Withheld.REVIEW: "This order is being looked at. Until that is done, it opens no door.",
}
REVOKED: Final = {Revocation.REFUND: "refunded", Revocation.CANCELLATION: "cancelled"}


@dataclass(frozen=True)
class Look:
    item: WalletItem
    event: EventPageAnswer | None

    @property
    def kind(self) -> str:
        """Its colour and its shape."""
        return KINDS[self.state]

    @property
    def is_gone(self) -> bool:
        """Whether it was taken back for good."""
        return self.item.status is Status.REVOKED

    @property
    def word(self) -> str:
        return STATE_WORDS[self.state]

    @property
    def state(self) -> str:
        match self.item.status:
            case Status.PENDING:
                return "pending"
            case Status.SUSPENDED:
                return "held"
            case Status.REVOKED:
                return REVOKED.get(self.item.revoked_for, "revoked") if self.item.revoked_for else "revoked"
            case Status.EXPIRED:
                return "used" if self.item.entries else "expired"
            case Status.ACTIVE:
                return "used" if self.is_spent else "active"

    @property
    def is_spent(self) -> bool:
        return self.item.entries >= self.item.max_entries

    @property
    def why(self) -> list[str]:
        """What its owner should know about how it stands."""
        reasons = [*self.item.suspended_for, *([self.item.revoked_for] if self.item.revoked_for else [])]
        return [WHY_WORDS[each] for each in reasons]

    @property
    def title(self) -> str:
        return self.event.title if self.event else self.item.label

    @property
    def session(self) -> SessionWire | None:
        sessions = self.event.sessions if self.event else []
        return next((each for each in sessions if str(each.session_id) == self.item.session_id), None)

    @property
    def zone(self) -> str:
        return self.event.time_zone if self.event else "UTC"

    @property
    def begins(self) -> datetime | None:
        part = self.session or self.event
        return part.starts_at if part else None


async def look_at(call: Call, items: Iterable[WalletItem]) -> list[Look]:
    """Each with its event; the same event is asked for once."""
    shown = list(items)
    events = await _events(call, {each.event_id for each in shown if each.event_id})
    return [Look(each, events.get(each.event_id or "")) for each in shown]


async def _events(call: Call, ids: Iterable[str]) -> Mapping[str, EventPageAnswer]:
    found: dict[str, EventPageAnswer] = {}
    for each in ids:
        # What belongs to something else than an event of ours says of itself what there is to say.
        with suppress(NotFound, InvalidId):
            found[each] = await call.ask(public.one, PageOfEventRequest(event_id=EventId.parse(each)))
    return found

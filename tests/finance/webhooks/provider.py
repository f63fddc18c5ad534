"""A provider at the edge of the world: it says whatever a test wants it to say, signed as Stripe signs."""

import hashlib
import hmac
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from admitone.finance.gateways.api import (
    Ability,
    Account,
    Envelope,
    EventPage,
    FactKind,
    NotSent,
    Payout,
    PayoutStatus,
    Provider,
    ProviderEvent,
    ProviderFact,
    Ref,
    Refused,
    Topic,
    Trouble,
    UnknownStatus,
)
from admitone.finance.gateways.api import ObjectType as Is
from admitone.finance.sources.api import PaymentId
from admitone.kernel.errors import Malformed, Unavailable
from admitone.kernel.ids import OrganizationId, uuid7
from admitone.kernel.scope import Caller

CONNECT = "/api/organizacao/payouts/webhook"
TOLERANCE = timedelta(minutes=5)

KINDS = {
    "payment_intent.processing": FactKind.PROCESSING,
    "payment_intent.succeeded": FactKind.CAPTURED,
    "payment_intent.payment_failed": FactKind.FAILED,
    "payment_intent.canceled": FactKind.CANCELLED,
    "charge.refunded": FactKind.REFUNDED,
    "charge.dispute.created": FactKind.DISPUTE_OPENED,
}


def an_event(type: str = "payment_intent.succeeded", **said: Any) -> dict[str, Any]:  # noqa: A002  Its name at the provider.
    """An event with an id of its own; what is said of its object goes into it."""
    about = {"id": f"pi_{uuid7().hex}", "amount": 5000, "currency": "eur", **said.pop("object", {})}
    event = {
        "id": f"evt_{uuid7().hex}",
        "type": type,
        "created": int(datetime.now(UTC).timestamp()),
        "livemode": False,
        "data": {"object": about},
    }
    return {**event, **said}


class ScriptedGateway:
    """Says what it is told to say. It takes no orders, because nothing here gives it any."""

    provider = Provider.SANDBOX
    livemode = False
    methods = frozenset()
    abilities = frozenset({Ability.EVENTS})

    def __init__(self) -> None:
        self.secrets = {"sandbox": b"whsec_one", "sandbox_connect": b"whsec_two"}
        self.events: list[bytes] = []
        """What it lists."""
        self.pages_read = 0
        self.is_away = False
        self.page_size = 3
        self.forgotten: set[str] = set()
        """Places in its list that it does not know any more."""

    def sign(self, body: bytes, source: str = "sandbox", at: datetime | None = None) -> dict[str, str]:
        second = int((at or datetime.now(UTC)).timestamp())
        return {"stripe-signature": f"t={second},v1={self._mac(body, source, second)}"}

    def _mac(self, body: bytes, source: str, second: int) -> str:
        return hmac.new(self.secrets[source], f"{second}.".encode() + body, hashlib.sha256).hexdigest()

    def verify(self, body: bytes, headers: Mapping[str, str], route: str, now: datetime) -> Envelope | None:
        source = "sandbox_connect" if route == CONNECT else "sandbox"
        parts = dict(part.partition("=")[::2] for part in headers.get("stripe-signature", "").split(","))
        if not parts.get("t", "").isdigit() or not hmac.compare_digest(
            parts.get("v1", ""), self._mac(body, source, int(parts["t"]))
        ):
            return None
        if abs(now - datetime.fromtimestamp(int(parts["t"]), UTC)) > TOLERANCE:
            return None
        return self.open_envelope(body, source)

    def open_envelope(self, payload: bytes, source: str) -> Envelope:
        try:
            return _envelope(json.loads(payload), source)
        except (ValueError, KeyError, TypeError):
            raise Malformed() from None

    def read(self, payload: bytes, source: str) -> ProviderEvent:
        event = json.loads(payload)
        envelope, about = _envelope(event, source), event["data"]["object"]
        claimed = about.get("metadata", {})
        organization = OrganizationId.parse(claimed["orgId"]) if "orgId" in claimed else None
        payment = PaymentId.parse(claimed["payment_id"]) if "payment_id" in claimed else None
        if about.get("status") == "odd":
            raise UnknownStatus("odd", (Ref(Is.ACCOUNT, about["id"]),))
        if envelope.type == "account.updated":
            account = Account(about["id"], "standard", True, about.get("payouts", True), (), False, organization)
            return ProviderEvent(envelope, Topic.ACCOUNT, (Ref(Is.ACCOUNT, about["id"]),), account=account)
        if envelope.type == "balance.available":
            return ProviderEvent(envelope, Topic.BALANCE, tuple(Ref(Is.ACCOUNT, each) for each in about.get("of", ())))
        if envelope.type == "payout.paid":
            paid = Payout(about["id"], PayoutStatus.PAID, about["amount"], "EUR", envelope.created)
            return ProviderEvent(envelope, Topic.PAYOUT, (Ref(Is.PAYOUT, about["id"]),), payout=paid)
        if envelope.type == "payment_intent.odd":
            raise UnknownStatus("odd", (Ref(Is.INTENT, about["id"]),))
        if envelope.type not in KINDS:
            return ProviderEvent(envelope, Topic.NOTHING)
        fact = ProviderFact(
            KINDS[envelope.type],
            f"{KINDS[envelope.type].lower()}:{about['id']}",
            envelope.created,
            about["id"],
            about["amount"],
            about["currency"].upper(),
        )
        refs = (Ref(Is.INTENT, about.get("intent", about["id"])),)
        return ProviderEvent(envelope, Topic.CHARGE, refs, (fact,), organization, payment)

    async def list_events(self, caller: Caller, cursor: str | None, since: datetime) -> EventPage | Trouble:
        if self.is_away:
            return NotSent(Unavailable())
        if cursor in self.forgotten:
            return Refused("parameter_invalid")
        self.pages_read += 1
        told = [body for body in self.events if _envelope(json.loads(body), "sandbox").created >= since]
        at = int(cursor or 0)
        end = at + self.page_size
        return EventPage(tuple(told[at:end]), str(end) if end < len(told) else None)


def _envelope(event: dict[str, Any], source: str) -> Envelope:
    return Envelope(
        source,
        event["id"],
        event["type"],
        datetime.fromtimestamp(event["created"], UTC),
        event["livemode"],
        event.get("account"),
        (event.get("request") or {}).get("id"),
    )


def as_sent(event: dict[str, Any]) -> bytes:
    return msgspec.json.encode(event)

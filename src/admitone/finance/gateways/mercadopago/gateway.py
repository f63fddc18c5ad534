"""Mercado Pago as a gateway for PIX.

Promise: what it answers is what was ordered, in the mode that we are in, or it is no answer. Their list of refunds does
not say which order made one: as long as they remember keys, whoever looks for a refund is told to order it once more
under the same key, and after that nobody guesses.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final
from urllib.parse import quote, urlencode
from uuid import UUID

import msgspec

from admitone.finance.gateways import model
from admitone.finance.gateways.mercadopago import reading, signature
from admitone.finance.gateways.mercadopago.objects import Failure, Payment, Refund, Search
from admitone.finance.gateways.model import (
    ChargeOrder,
    Envelope,
    Provider,
    ProviderEvent,
    RefundOrder,
    Refused,
    Trouble,
)
from admitone.finance.gateways.pix import (
    CONFLICT,
    PIX_ROUTE,
    PixOnly,
    Read,
    carried,
    decoded,
    encoded,
    is_closed,
    read,
    reais_of,
    why_no_refund,
    why_not,
)
from admitone.kernel.breaker import Dependency
from admitone.kernel.outbound import Answer, Outbound, Outcome, Request
from admitone.kernel.scope import Caller

DEPENDENCY: Final = Dependency("gateway_mercadopago")
URL: Final = "https://api.mercadopago.com"
ROUTES: Final = (PIX_ROUTE, "/webhooks/mercadopago")
KEY: Final = "x-idempotency-key"
ALL_REFUNDS: Final = {"x-render-in-process-refunds": "true"}
"""Without it they hide those that are on their way, and call one that is a bad request."""
SOONEST_END: Final = timedelta(minutes=30)
"""They let no code end earlier. Ours ends when we cancel it; theirs is as much later for everybody, so that an order
that is repeated says the same."""
KEYS_LAST: Final = timedelta(days=1)
CLOCKS_DIFFER: Final = timedelta(minutes=1)
REPEATED: Final = "2001"
"""The same was asked for a moment ago: no answer to this one."""
LONGEST_DESCRIPTION: Final = 255


@dataclass(frozen=True, slots=True)
class Credentials:
    token: str = field(repr=False)
    webhook_secret: str = field(repr=False)
    payer_email: str
    """They want an address of every payer: one of our own stands for all of them, and buyers' stay here."""
    livemode: bool


class MercadoPagoGateway(PixOnly):
    provider: Final = Provider.MERCADOPAGO

    def __init__(self, credentials: Credentials, url: str, outbound: Outbound) -> None:
        self.livemode = credentials.livemode
        self._credentials = credentials
        self._url = url.rstrip("/")
        self._send = partial(outbound.call, DEPENDENCY)

    # -- Charges

    async def open_charge(self, order: ChargeOrder) -> model.Charge | Trouble:
        if refused := why_not(order):
            return refused
        given = self._parameters(order)
        said = _read(await self._call(order.caller, "POST", "/v1/payments", given, {KEY: str(order.key)}), Payment)
        if not isinstance(said, Payment):
            return said
        if (said.external_reference, said.minor) != (str(order.key), order.amount_minor):
            return Refused(CONFLICT)
        return await self._charge(order.caller, said)

    async def find_charge(self, caller: Caller, charge: str) -> model.Charge | Trouble | None:
        said = await self._call(caller, "GET", _path(charge))
        if _is_missing(said):
            return None
        payment = _read(said, Payment)
        return await self._charge(caller, payment) if isinstance(payment, Payment) else payment

    async def find_ordered(self, order: ChargeOrder) -> model.Charge | Trouble | None:
        if why_not(order):
            return None
        asked = urlencode({"external_reference": str(order.key), "sort": "date_created", "criteria": "asc"})
        found = _read(await self._call(order.caller, "GET", f"/v1/payments/search?{asked}"), Search)
        if not isinstance(found, Search):
            return found
        return await self.find_charge(order.caller, str(found.results[0].id)) if found.results else None

    async def cancel_charge(self, caller: Caller, charge: str) -> model.Charge | Trouble:
        said = _read(await self._call(caller, "PUT", _path(charge), {"status": "cancelled"}), Payment)
        if isinstance(said, Payment):
            return await self._charge(caller, said)
        # It says no to what is decided already, and not how.
        found = await self.find_charge(caller, charge) if isinstance(said, Refused) else None
        return found if isinstance(found, model.Charge) and is_closed(found) else said

    async def _charge(self, caller: Caller, payment: Payment) -> model.Charge | Trouble:
        """With what went back of it, which the payment itself does not tell in full."""
        if payment.live_mode is not self.livemode:
            return model.Unknown("answered of the other mode: test or live")
        if not reading.is_captured(payment):
            return reading.charge_of(payment, ())
        refunds = await self._refunds(caller, str(payment.id))
        return reading.charge_of(payment, refunds) if isinstance(refunds, tuple) else refunds

    # -- Refunds

    async def refund(self, order: RefundOrder) -> model.Refund | Trouble:
        if refused := why_no_refund(order):
            return refused
        given, headers = {"amount": reais_of(order.amount_minor)}, {KEY: str(order.key)} | ALL_REFUNDS
        path = f"{_path(order.charge)}/refunds"
        made = _read(await self._call(order.caller, "POST", path, given, headers), Refund)
        if not isinstance(made, Refund):
            return made
        if (str(made.payment_id), made.minor) != (order.charge, order.amount_minor):
            return Refused(CONFLICT)
        shown = await self._refunds(order.caller, order.charge)
        if not isinstance(shown, tuple) or made.id not in {each.id for each in shown}:
            return model.Unknown("made, and not shown yet")
        return reading.refund_of(made, shown, str(order.key))

    async def find_refund(self, order: RefundOrder) -> model.Refund | Trouble | None:
        ordered = _ordered_at(order.key)
        if ordered is None or datetime.now(UTC) - ordered < KEYS_LAST:
            return None
        shown = await self._refunds(order.caller, order.charge)
        if not isinstance(shown, tuple):
            return shown
        alike = [each for each in shown if each.minor == order.amount_minor]
        if any(each.date_created > ordered - CLOCKS_DIFFER for each in alike):
            return model.Unknown("there is a refund that this order may have made")
        return None

    async def _refunds(self, caller: Caller, charge: str) -> tuple[Refund, ...] | Trouble:
        path = f"{_path(charge)}/refunds"
        said: tuple[Refund, ...] | Trouble = _read(
            await self._call(caller, "GET", path, headers=ALL_REFUNDS), tuple[Refund, ...]
        )
        return said

    # -- What it tells

    def verify(self, body: bytes, headers: Mapping[str, str], route: str, now: datetime) -> Envelope | None:
        path, _, query = route.partition("?")
        if path not in ROUTES:
            return None
        signed = signature.verify(headers, query, self._credentials.webhook_secret, now)
        if signed is None:
            return None
        notice = reading.notice_of(body)
        if str(notice.data.id) != signed.about:
            return None
        said = reading.envelope_of(notice, self.provider.value)
        return msgspec.structs.replace(said, id=signed.id, created=signed.at, request_id=signed.request_id)

    def open_envelope(self, payload: bytes, source: str) -> Envelope:
        return reading.envelope_of(reading.notice_of(payload), source)

    def read(self, payload: bytes, source: str) -> ProviderEvent:
        return reading.read_event(payload, source)

    # -- The way

    def _parameters(self, order: ChargeOrder) -> dict[str, Any]:
        return {
            "transaction_amount": reais_of(order.amount_minor),
            "payment_method_id": "pix",
            "description": order.description[:LONGEST_DESCRIPTION],
            "external_reference": str(order.key),
            "date_of_expiration": (order.expires_at + SOONEST_END).astimezone(UTC).isoformat(timespec="milliseconds"),
            "payer": {"email": self._credentials.payer_email},
            "metadata": carried(order) | {reading.DEADLINE: order.expires_at.replace(microsecond=0).isoformat()},
        }

    async def _call(
        self, caller: Caller, method: str, path: str, given: Any = None, headers: Mapping[str, str] | None = None
    ) -> Outcome:
        request = Request(
            method=method,
            url=f"{self._url}{path}",
            user_given=False,
            headers={"authorization": f"Bearer {self._credentials.token}", "content-type": "application/json"}
            | dict(headers or {}),
            body=encoded(given),
            connect_seconds=5,
            read_seconds=10,
            deadline_seconds=15,
        )
        return await self._send(request, caller)


def _path(charge: str) -> str:
    return f"/v1/payments/{quote(charge, safe='')}"


def _ordered_at(key: UUID) -> datetime | None:
    """When an order was written down: its key says so."""
    return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=key.int >> 80) if key.version == 7 else None


def _read(outcome: Outcome, kind: type[Read]) -> Read | Trouble:
    said = read(outcome, kind, DEPENDENCY)
    if said is not None:
        return said
    assert isinstance(outcome, Answer)
    failure = decoded(outcome.body, Failure)
    if not isinstance(failure, Failure):
        return failure
    return model.Unknown("asked a moment ago") if failure.code == REPEATED else Refused(failure.code, failure.text)


def _is_missing(outcome: Outcome) -> bool:
    return isinstance(outcome, Answer) and outcome.status == 404

"""OpenPix as a gateway for PIX.

Promise: a charge and a refund have the key of our order as their name there: what was ordered is found by it, and what
was made under it in another amount is not taken for it. Who cancels a charge has it deleted: it is told once, with the
answer, and is nowhere afterwards. No call is made to verify an event unless its signature is not recognised.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final
from urllib.parse import quote

from admitone.finance.gateways import model
from admitone.finance.gateways.model import (
    ChargeOrder,
    Envelope,
    Provider,
    ProviderEvent,
    RefundOrder,
    Refused,
    Trouble,
)
from admitone.finance.gateways.openpix import reading
from admitone.finance.gateways.openpix.keys import HEADER, KeyRing
from admitone.finance.gateways.openpix.objects import (
    Charge,
    ChargeAnswer,
    Deleted,
    Failure,
    PublicKeys,
    RefundAnswer,
    Refunds,
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
    why_no_refund,
    why_not,
)
from admitone.kernel.breaker import Dependency
from admitone.kernel.outbound import Answer, Outbound, Outcome, Request
from admitone.kernel.scope import Caller

DEPENDENCY: Final = Dependency("gateway_openpix")
LIVE_URL: Final = "https://api.openpix.com.br"
TEST_URL: Final = "https://api.woovi-sandbox.com"
LIVE_HOSTS: Final = frozenset({"api.openpix.com.br", "api.woovi.com"})
TEST_HOSTS: Final = frozenset({"api.woovi-sandbox.com"})
ROUTES: Final = (PIX_ROUTE, "/webhooks/openpix")
LONGEST_COMMENT: Final = 140
NOT_FOUND: Final = ("not found", "não encontrad", "nao encontrad")
"""How they say so: the status of that answer is the one of any other mistake."""


@dataclass(frozen=True, slots=True)
class Credentials:
    app_id: str = field(repr=False)
    livemode: bool


class OpenPixGateway(PixOnly):
    provider: Final = Provider.OPENPIX

    def __init__(self, credentials: Credentials, url: str, outbound: Outbound) -> None:
        self.livemode = credentials.livemode
        self._credentials = credentials
        self._url = url.rstrip("/")
        self._send = partial(outbound.call, DEPENDENCY)
        self._keys = KeyRing()

    # -- Charges

    async def open_charge(self, order: ChargeOrder) -> model.Charge | Trouble:
        if refused := why_not(order):
            return refused
        path, given = "/api/v1/charge?return_existing=true", _parameters(order)
        said = _read(await self._call(order.caller, "POST", path, given), ChargeAnswer)
        if not isinstance(said, ChargeAnswer):
            return said
        if (said.charge.correlation_id, said.charge.value) != (str(order.key), order.amount_minor):
            return Refused(CONFLICT)
        return await self._with_refunds(order.caller, said.charge)

    async def find_charge(self, caller: Caller, charge: str) -> model.Charge | Trouble | None:
        found = await self._find(caller, charge)
        return await self._with_refunds(caller, found) if isinstance(found, Charge) else found

    async def find_ordered(self, order: ChargeOrder) -> model.Charge | Trouble | None:
        return None if why_not(order) else await self.find_charge(order.caller, str(order.key))

    async def cancel_charge(self, caller: Caller, charge: str) -> model.Charge | Trouble:
        found = await self._find(caller, charge)
        if found is None:
            return Refused("not_found")
        if not isinstance(found, Charge):
            return found
        known = await self._with_refunds(caller, found)
        if not isinstance(known, model.Charge) or is_closed(known):
            return known
        said = _read(await self._call(caller, "DELETE", _path(charge)), Deleted)
        if isinstance(said, Deleted):
            return reading.charge_of(found, (), reading.cancelled(found, datetime.now(UTC)))
        # It says no to what was decided meanwhile, and not how.
        anew = await self.find_charge(caller, charge) if isinstance(said, Refused) else None
        return anew if isinstance(anew, model.Charge) and is_closed(anew) else said

    async def _find(self, caller: Caller, charge: str) -> Charge | Trouble | None:
        said = await self._call(caller, "GET", _path(charge))
        if _is_missing(said):
            return None
        answer = _read(said, ChargeAnswer)
        return answer.charge if isinstance(answer, ChargeAnswer) else answer

    async def _with_refunds(self, caller: Caller, charge: Charge) -> model.Charge | Trouble:
        if not reading.is_captured(charge):
            return reading.charge_of(charge)
        said = await self._refunds(caller, charge.correlation_id)
        return reading.charge_of(charge, said.refunds) if isinstance(said, Refunds) else said

    # -- Refunds

    async def refund(self, order: RefundOrder) -> model.Refund | Trouble:
        if refused := why_no_refund(order):
            return refused
        given = {"correlationID": str(order.key), "value": order.amount_minor}
        said = _read(await self._call(order.caller, "POST", f"{_path(order.charge)}/refund", given), RefundAnswer)
        if not isinstance(said, RefundAnswer | Refused):
            return said
        # It may also say no because it was made before, under this very key.
        made = await self.find_refund(order)
        if isinstance(made, model.Refund):
            return made if made.fact.amount_minor == order.amount_minor else Refused(CONFLICT)
        if made is None and isinstance(said, Refused):
            return said
        return model.Unknown("made, and not shown yet")

    async def find_refund(self, order: RefundOrder) -> model.Refund | Trouble | None:
        charge = await self._find(order.caller, order.charge)
        if not isinstance(charge, Charge) or not reading.is_captured(charge):
            return None if isinstance(charge, Charge) else charge
        said = await self._refunds(order.caller, order.charge)
        return reading.refund_of(str(order.key), charge, said.refunds) if isinstance(said, Refunds) else said

    async def _refunds(self, caller: Caller, charge: str) -> Refunds | Trouble:
        return _read(await self._call(caller, "GET", f"{_path(charge)}/refund"), Refunds)

    # -- What it tells

    def verify(self, body: bytes, headers: Mapping[str, str], route: str, now: datetime) -> Envelope | None:
        header = _signature_in(headers, route)
        if header is None or not self._keys.recognises(body, header, now):
            return None
        return reading.envelope_of(body, self.provider.value, livemode=self.livemode)[0]

    async def renew(self, headers: Mapping[str, str], route: str, caller: Caller, now: datetime) -> bool:
        if _signature_in(headers, route) is None:
            return False
        return await self._keys.renew(partial(self._published, caller), now)

    async def _published(self, caller: Caller) -> PublicKeys | None:
        said = _read(await self._call(caller, "GET", "/api/v1/webhook/public-keys"), PublicKeys)
        return said if isinstance(said, PublicKeys) else None

    def open_envelope(self, payload: bytes, source: str) -> Envelope:
        return reading.envelope_of(payload, source, livemode=self.livemode)[0]

    def read(self, payload: bytes, source: str) -> ProviderEvent:
        return reading.read_event(payload, source, livemode=self.livemode)

    # -- The way

    async def _call(self, caller: Caller, method: str, path: str, given: Any = None) -> Outcome:
        request = Request(
            method=method,
            url=f"{self._url}{path}",
            user_given=False,
            headers={"authorization": self._credentials.app_id, "content-type": "application/json"},
            body=encoded(given),
            connect_seconds=5,
            read_seconds=10,
            deadline_seconds=15,
        )
        return await self._send(request, caller)


def _parameters(order: ChargeOrder) -> dict[str, Any]:
    return {
        "correlationID": str(order.key),
        "value": order.amount_minor,
        "comment": order.description[:LONGEST_COMMENT],
        "expiresDate": order.expires_at.astimezone(UTC).replace(microsecond=0).isoformat(timespec="milliseconds"),
        "additionalInfo": [{"key": key, "value": value} for key, value in carried(order).items()],
    }


def _path(charge: str) -> str:
    return f"/api/v1/charge/{quote(charge, safe='')}"


def _signature_in(headers: Mapping[str, str], route: str) -> str | None:
    if route.partition("?")[0] not in ROUTES:
        return None
    return next((value for name, value in headers.items() if name.lower() == HEADER), None)


def _read(outcome: Outcome, kind: type[Read]) -> Read | Trouble:
    said = read(outcome, kind, DEPENDENCY)
    if said is not None:
        return said
    assert isinstance(outcome, Answer)
    failure = decoded(outcome.body, Failure)
    return Refused(f"answered_{outcome.status}", failure.error) if isinstance(failure, Failure) else failure


def _is_missing(outcome: Outcome) -> bool:
    if not isinstance(outcome, Answer) or outcome.status not in (400, 404):
        return False
    failure = decoded(outcome.body, Failure)
    said = failure.error.lower() if isinstance(failure, Failure) else ""
    return outcome.status == 404 or any(words in said for words in NOT_FOUND)

"""A provider that speaks Stripe's REST over real HTTP, with our own simulator behind it. Ours, and not Stripe.

Every request is checked against the types of Stripe's SDK before it is done; one that fails is answered with 400 and kept
in `complaints`. Keys are kept as Stripe keeps them: the same words get the same answer, whatever it was; other words get
none. `script` says what becomes of the next calls.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any
from urllib.parse import urlsplit

import msgspec

from admitone.finance.gateways.sandbox.charges import No
from tests.finance.gateways.stripe.checking import check_request
from tests.finance.gateways.stripe.clothed import Clothed, Refusal
from tests.finance.gateways.stripe.forms import read_form
from tests.peer import head_of, read_request, send

API_KEY = "sk_test_of_the_one_who_plays_stripe"


class Peer(Clothed):
    """One account at Stripe."""

    def __init__(self) -> None:
        super().__init__()
        self.received: list[tuple[str, str, dict[str, str], dict[str, Any]]] = []
        self.complaints: list[str] = []
        self.script: list[str] = []
        self.port = 0
        self._answers: dict[str, tuple[str, int, bytes]] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def forget_keys(self) -> None:
        """A day passes."""
        self._answers.clear()

    # -- The wire

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.CancelledError):
            while request := await read_request(reader):
                fate = self.script.pop(0) if self.script else ""
                if fate == "gone":
                    break
                status, body = self._answer(request.method, request.path, request.headers, request.body.decode(), fate)
                if fate == "lost":
                    writer.write(head_of(200, "Content-Length: 1000") + b"{")
                    break
                date = format_datetime(datetime.fromtimestamp(self.now(), UTC), usegmt=True)
                await send(writer, body, f"Date: {date}", "Content-Type: application/json", status=status)
        writer.close()

    def _answer(self, method: str, path: str, headers: dict[str, str], body: str, fate: str) -> tuple[int, bytes]:
        url = urlsplit(path)
        form = url.query if method == "GET" else body
        self.received.append((method, url.path, headers, read_form(form)))
        if fate in ("busy", "error_before", "in_use"):
            return {"busy": 429, "error_before": 500, "in_use": 409}[fate], _error("api_error", fate)
        key = headers.get("idempotency-key") if method == "POST" else None
        if key in self._answers and self._answers[key][0] != f"{path}?{body}":
            return 400, _error("idempotency_error", None)
        if key in self._answers:
            return self._answers[key][1:]
        try:
            status, said = 200, msgspec.json.encode(self._handle(method, url.path, headers, form))
        except Refusal as no:
            return no.status, msgspec.json.encode({"error": no.said})
        if fate == "error_after":
            status, said = 500, _error("api_error", fate)
        if key:
            self._answers[key] = (f"{path}?{body}", status, said)
        return status, said

    def _handle(self, method: str, path: str, headers: dict[str, str], form: str) -> Any:
        if headers.get("authorization") != f"Bearer {API_KEY}":
            raise Refusal(401, "api_key_invalid")
        if headers.get("stripe-version") != "2026-08-26.dahlia":
            raise Refusal(400, "version_missing")
        try:
            check_request(method, path, form)
        except AssertionError as wrong:
            self.complaints.append(str(wrong))
            raise Refusal(400, "parameter_unknown") from None
        if method == "POST":
            self.ahead += timedelta(seconds=1)
        params = read_form(form)
        expand = params.pop("expand", [])
        for pattern, (verb, route) in _ROUTES.items():
            if verb == method and (found := re.fullmatch(pattern, path)):
                try:
                    shown = route(self, params, *found.groups())
                except No as no:
                    raise Refusal(no.status, no.code) from None
                for wanted in expand:
                    self._expand(shown, wanted.split("."), may_lack=False)
                return shown
        raise Refusal(404, "resource_missing")

    def _expand(self, shown: Any, path: list[str], *, may_lack: bool) -> None:
        """In place of an id, the thing itself. What has several kinds of sources need not have what one of them has."""
        here, *rest = path
        if isinstance(shown, list):
            for each in shown:
                self._expand(each, path, may_lack=may_lack)
            return
        if here not in shown:
            if not may_lack:
                raise Refusal(400, "property_cannot_be_expanded", param=here)
            return
        if isinstance(shown[here], str):
            shown[here] = self._thing(shown[here])
        if rest and shown[here] is not None:
            self._expand(shown[here], rest, may_lack=may_lack or here == "source")


ONE = r"([a-z]+_[A-Za-z0-9_]+)"
Serve = Callable[..., Any]
_ROUTES: dict[str, tuple[str, Serve]] = {}
for verb, pattern, serve in (
    ("POST", "/v1/payment_intents", Peer.open_intent),
    ("GET", "/v1/payment_intents/search", Peer.search),
    ("GET", f"/v1/payment_intents/{ONE}", Peer.show_intent),
    ("POST", f"/v1/payment_intents/{ONE}/cancel", Peer.cancel_intent),
    ("POST", "/v1/checkout/sessions", Peer.open_session),
    ("GET", "/v1/checkout/sessions", Peer.list_sessions),
    ("GET", f"/v1/checkout/sessions/{ONE}", Peer.show_session),
    ("POST", f"/v1/checkout/sessions/{ONE}/expire", Peer.expire_session),
    ("GET", "/v1/charges", Peer.list_charges),
    ("POST", "/v1/refunds", Peer.refund),
    ("GET", "/v1/refunds", Peer.list_refunds),
    ("GET", f"/v1/refunds/{ONE}", Peer.show_refund),
    ("GET", "/v1/disputes", Peer.list_disputes),
    ("GET", f"/v1/disputes/{ONE}", Peer.show_dispute),
    ("POST", f"/v1/disputes/{ONE}", Peer.answer_dispute),
    ("POST", f"/v1/application_fees/{ONE}/refunds", Peer.refund_fee),
    ("GET", f"/v1/application_fees/{ONE}/refunds", Peer.list_fee_refunds),
    ("POST", "/v1/accounts", Peer.open_account),
    ("GET", f"/v1/accounts/{ONE}", Peer.show_account),
    ("POST", "/v1/account_links", Peer.link_account),
    ("POST", "/v1/transfers", Peer.transfer),
    ("GET", "/v1/transfers", Peer.list_transfers),
    ("POST", f"/v1/transfers/{ONE}/reversals", Peer.reverse),
    ("GET", f"/v1/transfers/{ONE}/reversals", Peer.list_reversals),
    ("GET", "/v1/events", Peer.list_events),
    ("GET", "/v1/balance_transactions", Peer.list_transactions),
):
    _ROUTES[f"(?#{verb}){pattern}"] = (verb, serve)


def _error(kind: str, code: str | None) -> bytes:
    return msgspec.json.encode({"error": {"type": kind, "message": kind} | ({"code": code} if code else {})})


@asynccontextmanager
async def a_peer() -> AsyncIterator[Peer]:
    peer = Peer()
    server = await asyncio.start_server(peer.serve, "127.0.0.1", 0)
    peer.port = server.sockets[0].getsockname()[1]
    try:
        yield peer
    finally:
        server.close()

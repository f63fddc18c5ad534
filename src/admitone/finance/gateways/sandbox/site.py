"""The sandbox as a site of its own: its API, and a page on which a person is the customer, the bank and the provider.

Promise: it answers only as this machine (a page elsewhere that points a name at it gets nothing), takes forms only from
its own pages, needs nothing from elsewhere, and sends people back only to this machine or to the address whom it tells
what happens. Everything it shows is text.
"""

from datetime import datetime
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from admitone.finance.gateways import brcode
from admitone.finance.gateways.sandbox.buttons import buttons_of
from admitone.finance.gateways.sandbox.charges import No
from admitone.finance.gateways.sandbox.objects import MILLION, Account, Dispute, Intent, Kept, Payout, Refund
from admitone.finance.gateways.sandbox.reading import moment
from admitone.finance.gateways.sandbox.simulator import Lost, Simulator, Unreachable
from admitone.kernel.money import Money

HOSTS: Final = ("127.0.0.1", "localhost", "[::1]")
LONGEST_BODY: Final = 100_000
SHOWN: Final = 50
FINISHED: Final = frozenset({"succeeded", "paid", "canceled", "expired", "enabled"})
LEAVING: Final = frozenset({"pay", "authenticate", "clear", "expire", "complete"})
"""After these deeds, if something was finished by them, people go back to where they came from."""

_pages = Environment(
    loader=PackageLoader("admitone.finance.gateways.sandbox", "pages"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


class BrokenOff(Response):
    """An answer that ends in the middle: what becomes of one that is lost."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002  As ASGI has it.
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1000")]})
        await send({"type": "http.response.body", "body": b"{", "more_body": True})


class Site:
    """One sandbox's pages and API."""

    def __init__(self, simulator: Simulator, listener: str) -> None:
        self._simulator = simulator
        self._listener = urlsplit(listener)

    def application(self) -> Starlette:
        routes = [
            Route("/", self._home),
            Route("/health", _health),
            Route("/v1/{rest:path}", self._api, methods=["GET", "POST"]),
            Route("/{kind}/{name}", self._show),
            Route("/{kind}/{name}/{deed}", self._do, methods=["POST"]),
        ]
        hosts = Middleware(TrustedHostMiddleware, allowed_hosts=[*HOSTS], www_redirect=False)
        return Starlette(routes=routes, middleware=[hosts])

    async def _api(self, request: Request) -> Response:
        body = await _body(request)
        if body is None:
            return Response(status_code=413)
        path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        try:
            status, said = await self._simulator.reach(request.method, path, body, dict(request.headers))
        except Lost:
            return BrokenOff()
        except Unreachable:
            return Response(status_code=503)
        return Response(said, status, media_type="application/json")

    async def _home(self, _: Request) -> Response:
        found = self._simulator.list_newest
        return self._page(
            "home.html",
            charges=[_shown(each) for each in found(Intent, SHOWN)],
            accounts=[_shown(each) for each in found(Account, SHOWN)],
            payouts=[_shown(each) for each in found(Payout, SHOWN)],
            waiting=self._simulator.journal.count_deliveries(),
        )

    async def _show(self, request: Request) -> Response:
        thing = self._simulator.find(request.path_params["name"])
        if thing is None:
            return self._page("nothing.html", status=404)
        return self._of(thing, request.query_params.get("return_url", ""), "")

    async def _do(self, request: Request) -> Response:
        if not _is_own_form(request):
            return PlainTextResponse("Forms are taken from the sandbox's own pages only.", 403)
        body = await _body(request)
        if body is None:
            return Response(status_code=413)
        form = dict(parse_qsl(body.decode(errors="replace")))
        given = form.pop("return_url", "")
        name = request.path_params["name"]
        try:
            options = {key: value for key, value in form.items() if value}
            changed = self._simulator.act(request.path_params["deed"], name, **options)
        except (No, msgspec.ValidationError) as problem:
            thing = self._simulator.find(name)
            return self._of(thing, given, str(problem), 400) if thing else self._page("nothing.html", status=404)
        is_leaving = request.path_params["deed"] in LEAVING and changed.status in FINISHED
        back = self._way_back(changed, given) if is_leaving else None
        return RedirectResponse(back or f"/{request.path_params['kind']}/{name}", 303)

    def _of(self, thing: Kept, return_url: str, problem: str, status: int = 200) -> Response:
        pix = thing.pix if isinstance(thing, Intent) else None
        events = self._simulator.list_events_about(thing.id)
        return self._page(
            "thing.html",
            status=status,
            thing=_shown(thing),
            facts=_told(thing),
            buttons=buttons_of(thing),
            return_url=return_url,
            back=self._way_back(thing, return_url),
            problem=problem,
            pix=pix.copy_paste if pix else None,
            code=Markup(brcode.svg(pix.copy_paste)) if pix else None,  # noqa: S704  Drawn by us from a code of ours.
            events=[{"id": each.id, "type": each.type, "at": _when(each.created * MILLION)} for each in events],
        )

    def _way_back(self, thing: Kept, given: str) -> str | None:
        """Where the customer came from, if that is somewhere we send people."""
        wanted = (thing.return_url if isinstance(thing, Intent) else given) or ""
        if not _is_plain(wanted):
            return None
        url = urlsplit(wanted)
        is_here = url.hostname in ("127.0.0.1", "localhost", "::1")
        is_ours = (url.scheme, url.netloc) == (self._listener.scheme, self._listener.netloc)
        return wanted if url.scheme in ("http", "https") and (is_here or is_ours) else None

    def _page(self, template: str, *, status: int = 200, **shown: Any) -> Response:
        forms = f"'self' http://127.0.0.1:* http://localhost:* {self._listener.scheme}://{self._listener.netloc}"
        headers = {
            "content-security-policy": f"default-src 'none'; style-src 'unsafe-inline'; form-action {forms}; "
            "base-uri 'none'; frame-ancestors 'none'",
            "cache-control": "no-store",
            "referrer-policy": "no-referrer",
            "x-content-type-options": "nosniff",
        }
        return HTMLResponse(_pages.get_template(template).render(**shown), status, headers)


async def _health(_: Request) -> Response:
    return PlainTextResponse("ok")


async def _body(request: Request) -> bytes | None:
    """All of it, or nothing as soon as it is too long."""
    read = bytearray()
    async for chunk in request.stream():
        read += chunk
        if len(read) > LONGEST_BODY:
            return None
    return bytes(read)


def _is_plain(text: str) -> bool:
    """Whether browsers read it as we do: they take a backslash for a slash and leave out control characters."""
    try:
        url = urlsplit(text)
    except ValueError:
        return False
    return text.isprintable() and not {"\\", " "} & set(text) and "@" not in url.netloc


def _is_own_form(request: Request) -> bool:
    """A browser says where a form comes from, and of a page that tells nobody its address an origin of `null`; a
    program that says nothing is no browser that was led here."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")


def _when(micros: int) -> str:
    at: datetime = moment(micros)
    return f"{at:%Y-%m-%d %H:%M:%S}"


def _amount(minor: int, currency: str) -> str:
    return str(Money(minor, currency.upper()))


def _shown(thing: Kept) -> dict[str, str]:
    shown = {"id": thing.id, "status": thing.status, "at": _when(thing.created * MILLION)}
    if isinstance(thing, Intent):
        method = "PIX" if thing.pix else "card"
        return shown | {"kind": "charges", "what": f"{_amount(thing.amount, thing.currency)} by {method}"}
    if isinstance(thing, Payout):
        return shown | {"kind": "payouts", "what": f"{_amount(thing.amount, thing.currency)} to {thing.destination}"}
    return shown | {"kind": "accounts", "what": f"{thing.type} account, {thing.country}"}


def _told(thing: Kept) -> list[tuple[str, str]]:
    """What there is to know, line by line."""
    if isinstance(thing, Account):
        due = ", ".join(thing.requirements_due) or "nothing"
        return [
            ("Takes payments", "yes" if thing.charges_enabled else "no"),
            ("Is paid out to", "yes" if thing.payouts_enabled else "no"),
            ("Still to be told", due),
        ]
    if isinstance(thing, Payout):
        return [("Failed because", thing.failure_code)] if thing.failure_code else []
    told = [("For", thing.description or "nothing in particular"), ("Until", _when(thing.expires_at * MILLION))]
    for attempt in thing.charges:
        told.append(("Attempt", f"{attempt.failure_code or attempt.status} ({attempt.id})"))
        fees = [attempt.balance_transaction] if attempt.balance_transaction else []
        told += [("Fee", _amount(each.fee, each.currency)) for each in (*fees, *attempt.fee_adjustments)]
        undone: list[Refund | Dispute] = [*attempt.refunds, *attempt.disputes]
        told += [
            (each.object.capitalize(), f"{_amount(each.amount, each.currency)}, {each.status} ({each.id})")
            for each in undone
        ]
        told += [line for dispute in attempt.disputes for line in _told_of_dispute(dispute)]
    return told


def _told_of_dispute(dispute: Dispute) -> list[tuple[str, str]]:
    details = dispute.evidence_details
    until = [("Evidence until", _when(details.due_by * MILLION))] if details.due_by else []
    word = "submitted" if details.submission_count else "on file, not submitted"
    evidence = [(f"Evidence, {word}", f"{shows}: {text}") for shows, text in sorted(dispute.evidence.items())]
    return [*until, *evidence]

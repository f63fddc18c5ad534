"""Refusals as answers: the envelope for programs; for people a page, or the way to where they can do something.

Promise: whoever was looking at a page and has to sign in first, or to prove again that it is them, is sent there and
comes back to where they were; of a form that they had sent it is kept what they typed, where the pages keep it. Nobody
is sent to another site.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import quote, urlsplit

import msgspec

from admitone.kernel.contracts.answering import HTML_TYPE, JSON_TYPE, Answer, safety_headers
from admitone.kernel.contracts.call import Cookie
from admitone.kernel.contracts.contract import Contract
from admitone.kernel.contracts.incoming import Incoming
from admitone.kernel.contracts.media import Writes
from admitone.kernel.contracts.refusals import envelope_of, headers_of, json_of, page_of_refusal, status_of
from admitone.kernel.contracts.routing import Router
from admitone.kernel.errors import Refusal, TooLarge
from admitone.kernel.ids import IdentityId
from admitone.kernel.words import Words

_JSON_ERROR = safety_headers(JSON_TYPE)
_HTML_ERROR = safety_headers(HTML_TYPE)


@dataclass(frozen=True)
class Looking:
    """Somebody with a browser who is turned away: where they see a page, and the cookies that they came with."""

    here: str
    cookies: Mapping[str, str]


@dataclass(frozen=True)
class Sent:
    """A form that was read, and could not be taken."""

    contract: Contract
    request: msgspec.Struct | None
    caller: IdentityId | None = None
    """Who sent it, if they were let in."""


class RefusalPage(Protocol):
    """How a refusal looks to a person: what is said of it, with which status."""

    def __call__(self, envelope: Mapping[str, object], status: int, words: Words, looking: Looking) -> str: ...


class Keeps(Protocol):
    """What becomes of a form while whoever sent it does something else first: where it is shown again, and what their
    browser keeps until then."""

    def __call__(self, sent: Sent, looking: Looking) -> tuple[str, tuple[Cookie, ...]]: ...


@dataclass(frozen=True)
class Reception:
    """How people with a browser are turned away."""

    page: RefusalPage = page_of_refusal
    detours: Mapping[type[Refusal], str] = field(default_factory=dict)
    """To which page of ours somebody is sent who can do something about it there."""
    keeps: Keeps | None = None

    def detour_of(self, refusal: Refusal) -> str | None:
        return next((page for kind, page in self.detours.items() if isinstance(refusal, kind)), None)


def answer_of(
    refusal: Refusal,
    incoming: Incoming,
    contract: Contract | None,
    reception: Reception,
    *,
    here: str,
    sent: Sent | None = None,
) -> Answer:
    words = Words(incoming.language)
    own = headers_of(refusal)
    if isinstance(refusal, TooLarge):
        # What was not read is still on its way; there is nothing to do with this connection but to close it.
        own.append((b"connection", b"close"))
    status = status_of(type(refusal))
    if not _is_for_a_person(incoming, contract):
        content = json_of(refusal, incoming.correlation_text, words)
        return Answer(status, _JSON_ERROR, content, own=own, error_code=refusal.code)
    looking = Looking(here, dict(incoming.cookies()))
    detour = reception.detour_of(refusal)
    if detour is not None:
        back, cookies = reception.keeps(sent, looking) if reception.keeps and sent else (here, ())
        location = f"{detour}?next={quote(back, safe='')}"
        kept = [(b"set-cookie", each.header().encode()) for each in cookies]
        return Answer(303, _HTML_ERROR, own=[(b"location", location.encode()), *kept], error_code=refusal.code)
    text = reception.page(envelope_of(refusal, incoming.correlation_text, words), status, words, looking)
    return Answer(status, _HTML_ERROR, text.encode(), own=own, error_code=refusal.code)


def standing(incoming: Incoming, router: Router) -> str:
    """The page that was asked for; of a form that was sent, a page that can be looked at: the form's own address, or
    the page that it stood on, or the nearest above it."""
    query = incoming.query.decode("latin-1")
    if incoming.is_safe or router.shows(incoming.path):
        return f"{incoming.path}?{query}" if query else incoming.path
    before = urlsplit(incoming.headers.get(b"referer", b"").decode("latin-1"))
    if before.netloc.encode("latin-1") == incoming.headers.get(b"host", b"") and router.shows(before.path):
        return before._replace(scheme="", netloc="", fragment="").geturl()
    return router.page_above(incoming.path)


def _is_for_a_person(incoming: Incoming, contract: Contract | None) -> bool:
    if contract is not None:
        return contract.writes is Writes.PAGE
    return b"text/html" in incoming.headers.get(b"accept", b"") and not incoming.path.startswith("/api/")

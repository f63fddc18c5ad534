"""Answers out: status, headers, bytes.

Promise: every answer, also an error, also a file, carries the security headers, the correlation id and its caching
rule; whoever has the very bytes of a conditional answer is not sent them again; a streamed answer ends when its source
ends, its client leaves or the server stops, and its source is closed in each case.
"""

import hashlib
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from admitone.kernel.contracts.call import Call
from admitone.kernel.contracts.contract import NO_STORE, Contract
from admitone.kernel.contracts.media import Writes
from admitone.kernel.contracts.streaming import Event, events_as_bytes, stream_as_bytes
from admitone.kernel.contracts.wire import to_json

Header = tuple[bytes, bytes]

NOTHING_ALLOWED = b"default-src 'none'; frame-ancestors 'none'"
ONLY_OURS = b"default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
STRICT_TRANSPORT: Header = (b"strict-transport-security", b"max-age=63072000; includeSubDomains")

_ALWAYS: tuple[Header, ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"strict-origin-when-cross-origin"),
    (b"permissions-policy", b"camera=(self), geolocation=(self), microphone=(), payment=(self)"),
)
_FOR_PAGES: tuple[Header, ...] = (
    (b"content-security-policy", ONLY_OURS),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_FOR_OTHERS: tuple[Header, ...] = ((b"content-security-policy", NOTHING_ALLOWED),)
JSON_TYPE = b"application/json"
HTML_TYPE = b"text/html; charset=utf-8"


def safety_headers(content_type: bytes | None, cache: str = NO_STORE) -> tuple[Header, ...]:
    """The headers that depend only on what kind of answer it is."""
    policy = _FOR_PAGES if content_type == HTML_TYPE else _FOR_OTHERS
    kind: tuple[Header, ...] = ((b"content-type", content_type),) if content_type else ()
    return (*_ALWAYS, *policy, (b"cache-control", cache.encode()), *kind)


@dataclass(frozen=True, slots=True)
class File:
    """Bytes of some type; shown, or saved under a name."""

    content: bytes
    content_type: str
    download_name: str | None = None


@dataclass(frozen=True, slots=True)
class Stream:
    """Chunks of some type that are sent as they come."""

    chunks: AsyncIterator[bytes | str]
    content_type: str = "text/csv; charset=utf-8"
    download_name: str | None = None


@dataclass(frozen=True, slots=True)
class Redirect:
    """Instead of a page: look there (303, so that a posted form becomes a GET)."""

    location: str

    def __post_init__(self) -> None:
        # A browser reads //host and /\host as another site.
        if not re.fullmatch(r"/(?![/\\])[!-\[\]-~]*", self.location):
            raise ValueError("a redirect stays on this site")


@dataclass(slots=True)
class Answer:
    """What goes out: all of it in `content`, or piece by piece in `chunks`."""

    status: int
    headers: tuple[Header, ...]
    content: bytes = b""
    chunks: AsyncIterator[bytes] | None = None
    may_end_early: bool = False
    """Whether a stream that stops with the server may look complete: events yes, a table of payments never."""
    own: list[Header] = field(default_factory=list)
    """Headers of this one answer."""
    error_code: str = ""


class Answerer:
    """Makes answers of one contract from what its handler returned."""

    def __init__(self, contract: Contract) -> None:
        self._contract = contract
        self._status = contract.status
        self._json = safety_headers(None if contract.status == 204 else JSON_TYPE, contract.cache)
        self._make = {
            Writes.JSON: self._as_json,
            Writes.PAGE: self._as_page,
            Writes.FILE: self._as_file,
            Writes.STREAM: self._as_stream,
            Writes.EVENTS: self._as_events,
        }[contract.writes]

    def answer(self, given: Any, call: Call) -> Answer:
        answer = self._make(given)
        if call.replayed:
            answer.own.append((b"idempotency-replayed", b"true"))
        for cookie in call.set_cookies:
            answer.own.append((b"set-cookie", cookie.header().encode()))
        return self._unless_known(answer, call) if self._contract.conditional else answer

    def _unless_known(self, answer: Answer, call: Call) -> Answer:
        """RFC 9110, 13.1.2. Whoever may not see it was refused before."""
        if answer.status != 200:
            return answer
        tag = f'"{hashlib.blake2b(answer.content, digest_size=16).hexdigest()}"'
        answer.own.append((b"etag", tag.encode()))
        if not is_among(tag, call.headers.get("if-none-match") or ""):
            return answer
        return Answer(304, safety_headers(None, self._contract.cache), own=answer.own)

    def _as_json(self, given: Any) -> Answer:
        return Answer(self._status, self._json, b"" if given is None else to_json(given))

    def _as_page(self, given: str | Redirect) -> Answer:
        headers = safety_headers(HTML_TYPE, self._contract.cache)
        if isinstance(given, Redirect):
            return Answer(303, headers, own=[(b"location", given.location.encode())])
        return Answer(self._status, headers, given.encode())

    def _as_file(self, given: File) -> Answer:
        return Answer(self._status, self._file_headers(given), given.content)

    def _as_stream(self, given: Stream) -> Answer:
        return Answer(self._status, self._file_headers(given), chunks=stream_as_bytes(given.chunks))

    def _as_events(self, given: AsyncIterator[Event]) -> Answer:
        headers = (*safety_headers(b"text/event-stream", self._contract.cache), (b"x-accel-buffering", b"no"))
        return Answer(self._status, headers, chunks=events_as_bytes(given), may_end_early=True)

    def _file_headers(self, given: File | Stream) -> tuple[Header, ...]:
        headers = safety_headers(given.content_type.encode(), self._contract.cache)
        if given.download_name is None:
            return headers
        return (*headers, (b"content-disposition", disposition(given.download_name).encode()))


def is_among(tag: str, known: str) -> bool:
    """Whether a client has it, by the tags that it lists; caches on the way may have called it weak."""
    return known.strip() == "*" or tag in {each.strip().removeprefix("W/") for each in known.split(",")}


def disposition(download_name: str) -> str:
    """RFC 6266: a name of plain letters for old clients, the real one for the others."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", download_name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(download_name, safe='')}"

"""Answers out: status, headers, bytes.

Promise: every answer, also an error, also a file, carries the security headers, the correlation id and its caching
rule; whoever has the very bytes of a conditional answer is not sent them again; a streamed answer ends when its source
ends, its client leaves or the server stops, and its source is closed in each case.
"""

import gzip
import hashlib
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from enum import StrEnum
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
SCRIPT_TYPE = b"text/javascript; charset=utf-8"
"""A worker lives by the policy that its own script came with."""


def safety_headers(content_type: bytes | None, cache: str = NO_STORE) -> tuple[Header, ...]:
    """The headers that depend only on what kind of answer it is."""
    policy = _FOR_PAGES if content_type in (HTML_TYPE, SCRIPT_TYPE) else _FOR_OTHERS
    kind: tuple[Header, ...] = ((b"content-type", content_type),) if content_type else ()
    return (*_ALWAYS, *policy, (b"cache-control", cache.encode()), *kind)


class Encoding(StrEnum):
    GZIP = "gzip"
    IDENTITY = "identity"


VARIES: Header = (b"vary", b"accept-encoding")
PACKED: Header = (b"content-encoding", b"gzip")
QUICKLY = 1
"""What is packed for one caller is packed while others wait."""
NEVER = "q=0"
"""The weight of an encoding that a client does not take."""


def takes_packed(call: Call) -> bool:
    wanted = (each.replace(" ", "").split(";") for each in (call.headers.get("accept-encoding") or "").split(","))
    return any(name == Encoding.GZIP and NEVER not in weight for name, *weight in wanted)


@dataclass(frozen=True, slots=True)
class File:
    """Bytes of some type; shown, or saved under a name."""

    content: bytes
    content_type: str
    download_name: str | None = None
    encoding: Encoding | None = None
    """Where the same is to be had packed and plain: which of them this is. Caches are told that there are two."""
    cache: str | None = None
    """How long this one may be kept, where that is not what the contract says."""
    answers_for: str | None = None
    """Of a script that works in the background: the addresses that it may answer for, where those are more than lie
    beside it."""

    @classmethod
    def packed_for(cls, call: Call, kept: "Packed") -> "File":
        """As whoever calls takes it."""
        if kept.packed and takes_packed(call):
            return cls(kept.packed, kept.content_type, encoding=Encoding.GZIP)
        return cls(kept.plain, kept.content_type, encoding=Encoding.IDENTITY)


@dataclass(frozen=True, slots=True)
class Packed:
    """What is the same for everybody, packed once: nothing secret, so nobody learns anything from how long it is."""

    plain: bytes
    content_type: str
    packed: bytes = b""
    """Empty where packing saves nothing."""

    @classmethod
    def of(cls, plain: bytes, content_type: str) -> "Packed":
        packed = gzip.compress(plain, mtime=0)
        return cls(plain, content_type, packed if len(packed) < len(plain) else b"")


@dataclass(frozen=True, slots=True)
class Stream:
    """Chunks of some type that are sent as they come."""

    chunks: AsyncIterator[bytes | str]
    content_type: str = "text/csv; charset=utf-8"
    download_name: str | None = None


@dataclass(frozen=True, slots=True)
class Redirect:
    """Instead of a page: look there (303, so that a posted form becomes a GET; 301 for what has moved)."""

    location: str
    for_good: bool = False

    def __post_init__(self) -> None:
        if not _stays(self.location):
            raise ValueError("a redirect stays on this site")

    @classmethod
    def within(cls, wanted: str) -> "Redirect":
        """Where somebody says that they were going, if that is here; else to the start."""
        return cls(wanted if _stays(wanted) else "/")


def _stays(location: str) -> bool:
    # A browser reads //host and /\host as another site.
    return re.fullmatch(r"/(?![/\\])[!-\[\]-~]*", location) is not None


@dataclass(frozen=True, slots=True)
class Html:
    """A page with a status of its own: a form that is shown again because something in it is wrong."""

    text: str
    status: int = 200


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
        if self._contract.packs:
            self._pack(answer, call)
        if call.replayed:
            answer.own.append((b"idempotency-replayed", b"true"))
        for cookie in call.set_cookies:
            answer.own.append((b"set-cookie", cookie.header().encode()))
        return self._unless_known(answer, call) if self._contract.conditional else answer

    def _pack(self, answer: Answer, call: Call) -> None:
        answer.own.append(VARIES)
        if takes_packed(call):
            answer.content = gzip.compress(answer.content, QUICKLY, mtime=0)
            answer.own.append(PACKED)

    def _unless_known(self, answer: Answer, call: Call) -> Answer:
        """RFC 9110, 13.1.2. Whoever may not see it was refused before."""
        if answer.status != 200:
            return answer
        tag = f'"{hashlib.blake2b(answer.content, digest_size=16).hexdigest()}"'
        answer.own.append((b"etag", tag.encode()))
        if not is_among(tag, call.headers.get("if-none-match") or ""):
            return answer
        # With the headers of the whole: a browser keeps those of the latest answer, its policy among them.
        headers = tuple(header for header in answer.headers if header[0] != b"content-type")
        return Answer(304, headers, own=answer.own)

    def _as_json(self, given: Any) -> Answer:
        return Answer(self._status, self._json, b"" if given is None else to_json(given))

    def _as_page(self, given: str | Html | Redirect | Stream) -> Answer:
        if isinstance(given, Stream):  # What a page's button gives to take away; whoever is refused it sees a page.
            return self._as_stream(given)
        headers = safety_headers(HTML_TYPE, self._contract.cache)
        if isinstance(given, Redirect):
            status = 301 if given.for_good else 303
            return Answer(status, headers, own=[(b"location", given.location.encode())])
        if isinstance(given, Html):
            return Answer(given.status, headers, given.text.encode())
        return Answer(self._status, headers, given.encode())

    def _as_file(self, given: File) -> Answer:
        answer = Answer(self._status, self._file_headers(given), given.content)
        if given.encoding is not None:
            answer.own.append(VARIES)
        if given.encoding is Encoding.GZIP:
            answer.own.append(PACKED)
        if given.answers_for is not None:
            answer.own.append((b"service-worker-allowed", given.answers_for.encode()))
        return answer

    def _as_stream(self, given: Stream) -> Answer:
        return Answer(self._status, self._file_headers(given), chunks=stream_as_bytes(given.chunks))

    def _as_events(self, given: AsyncIterator[Event]) -> Answer:
        headers = (*safety_headers(b"text/event-stream", self._contract.cache), (b"x-accel-buffering", b"no"))
        return Answer(self._status, headers, chunks=events_as_bytes(given), may_end_early=True)

    def _file_headers(self, given: File | Stream) -> tuple[Header, ...]:
        own = given.cache if isinstance(given, File) else None
        headers = safety_headers(given.content_type.encode(), own or self._contract.cache)
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

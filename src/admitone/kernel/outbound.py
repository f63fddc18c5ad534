"""Calls to the world outside: the one HTTP client.

Promise: a call ends in time, takes no more memory than it was given, and its outcome says what is known and no more:

    Answer    the peer answered, whatever it said
    NotSent   certainly nothing of the request reached the peer
    Unknown   it was sent, at least in part, and nobody knows what became of it

It never runs inside a transaction: rows must not stay locked for as long as a stranger likes. It passes the breaker of
its dependency; failing to answer and answers from 500 are failures, others are not, also not 429: that is often one
customer's limit, and must not stop the others.

Addresses that users gave us (`user_given`) lead to public web servers only: names are resolved here, every address is
checked, and the connection goes to the address that was checked, so a name that changes its mind changes nothing.
Those calls pass no breaker: one customer's broken server says nothing about another's.

Redirects are not followed. Providers do not redirect; a webhook must not be told elsewhere; and whoever fetches a
page for a user calls again with the new address, which is then checked like the first. Proxies and credentials of the
environment, cookies and retries do not exist here: `httpcore`, the engine below `httpx`, knows none of them.
"""

import asyncio
import logging
import socket
import ssl
import time
import zlib
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from typing import Any, ClassVar, Final, Self

import httpcore
import httpx

from admitone.kernel import failpoints
from admitone.kernel.breaker import Admission, Breakers, Dependency
from admitone.kernel.db import in_transaction
from admitone.kernel.errors import Refusal, Unavailable
from admitone.kernel.scope import Caller
from admitone.kernel.targets import TargetForbidden, check_public, check_target, literal
from admitone.kernel.telemetry import Metrics, logger

CONNECTIONS: Final = 64
"""To one dependency, so that one that hangs takes none from the others."""
KEEP_SECONDS: Final = 15
LONGEST_URL: Final = 2_048
USER_AGENT: Final = f"admitone/{version('admitone')}"

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]

# In its most talkative mode it would tell the headers of every answer.
logging.getLogger("httpcore").setLevel(logging.WARNING)


class DependencyUnreachable(Unavailable):
    """Something that we depend on cannot be reached; nothing was sent there, try again."""

    code = "DEPENDENCY_UNREACHABLE"


class CallInsideTransaction(AssertionError):
    """A call to the world outside while a transaction is open: a bug."""


class _Unreadable(Exception):
    """The answer is larger than we take, or is not what it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to send where, and how long and how much to wait for."""

    method: str
    url: str = field(repr=False)
    user_given: bool
    """Whether the address comes from somebody else than our own configuration. To forget it would be a hole."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)
    connect_seconds: float = 5
    read_seconds: float = 20
    """Between two pieces of the answer."""
    deadline_seconds: float = 30
    """For everything together."""
    limit_bytes: int = 1_000_000
    """Of the answer, as sent and unpacked."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str] = field(repr=False)
    """By lower-case name."""
    body: bytes = field(repr=False)
    reason: ClassVar[None] = None

    @property
    def kind(self) -> str:
        return f"{self.status // 100}xx"


@dataclass(frozen=True, slots=True)
class NotSent:
    reason: str
    refusal: Refusal
    """Fit to be raised: the job engine and the edge know what to do with it."""
    status: ClassVar[None] = None
    kind: ClassVar = "not_sent"


@dataclass(frozen=True, slots=True)
class Unknown:
    reason: str
    status: int | None = None
    """Where the peer got as far as that before its answer broke off."""
    kind: ClassVar = "unknown"


Outcome = Answer | NotSent | Unknown


def is_healthy(outcome: Outcome) -> bool:
    """Whether this is how a dependency in good order behaves, also when it says no."""
    return isinstance(outcome, Answer) and outcome.status < 500


class Outbound:
    """Calls out, for as long as it is open."""

    def __init__(
        self,
        breakers: Breakers,
        metrics: Metrics,
        *,
        resolve: Resolve | None = None,
        wire: httpcore.AsyncNetworkBackend | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._breakers = breakers
        self._metrics = metrics.calls_out
        self._tls = tls or httpx.create_ssl_context()
        wire = wire or httpcore.AnyIOBackend()
        # Threads apart: names whose servers never answer are easily given, and must not keep us from finding providers.
        self._trusted = _Network(wire, resolve or Names(), public_only=False)
        self._checked = _Network(wire, resolve or Names(), public_only=True)
        self._pools: dict[tuple[str, bool], httpcore.AsyncConnectionPool] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        pools, self._pools = self._pools, {}
        for pool in pools.values():
            await pool.aclose()
        self._trusted.close()
        self._checked.close()

    async def call(self, dependency: Dependency, request: Request, caller: Caller) -> Outcome:
        if in_transaction():
            raise CallInsideTransaction(f"{dependency.name} was to be called while a transaction is open")
        assert request.deadline_seconds < dependency.probe_seconds, "a probe must not be given up while it is under way"
        started = time.monotonic()
        outcome = await self._attempt(dependency, request, caller)
        self._tell(dependency, request, caller, outcome, time.monotonic() - started)
        return outcome

    async def _attempt(self, dependency: Dependency, request: Request, caller: Caller) -> Outcome:
        target = _read_target(request)
        if isinstance(target, NotSent):
            return target
        if request.user_given:
            return await self._send(dependency, request, target, caller)
        try:
            admission = await self._breakers.admit(dependency)
        except Unavailable as refusal:
            return NotSent(refusal.code.lower(), refusal)
        outcome = await self._send(dependency, request, target, caller)
        await self._report(admission, outcome)
        return outcome

    async def _report(self, admission: Admission, outcome: Outcome) -> None:
        try:
            await self._breakers.report(admission, healthy=is_healthy(outcome))
        except Unavailable:
            # What the peer said must not be lost because we could not count it; a probe that is not reported expires.
            logger().warning("outbound.not_counted", dependency=admission.dependency.name)

    async def _send(self, dependency: Dependency, request: Request, target: httpx.URL, caller: Caller) -> Outcome:
        progress, status = _Progress(), None
        try:
            failpoints.reach("outbound.before")
            async with (
                asyncio.timeout(request.deadline_seconds),
                self._pool(dependency, request).stream(
                    request.method,
                    httpcore.URL(
                        scheme=target.raw_scheme, host=target.raw_host, port=target.port, target=target.raw_path
                    ),
                    headers=_headers(request, target, caller),
                    content=request.body,
                    extensions={"timeout": _timeouts(request), "trace": progress},
                ) as response,
            ):
                status = response.status
                body = await _read(response, request.limit_bytes)
            failpoints.reach("outbound.after")
            return Answer(status, _by_name(response.headers), body)
        except TargetForbidden as refusal:
            return NotSent("target_forbidden", refusal)
        except httpcore.LocalProtocolError:
            raise  # A header that is none, or the like: our own bug.
        except (
            httpcore.NetworkError,
            httpcore.TimeoutException,
            httpcore.ProtocolError,
            OSError,
            _Unreadable,
        ) as error:
            reason = type(error).__name__.strip("_")
            return Unknown(reason, status) if progress.sent else NotSent(reason, DependencyUnreachable())

    def _pool(self, dependency: Dependency, request: Request) -> httpcore.AsyncConnectionPool:
        """Trusted and user-given calls never share a connection: it was checked for one of them only."""
        key = (dependency.name, request.user_given)
        if key not in self._pools:
            self._pools[key] = httpcore.AsyncConnectionPool(
                ssl_context=self._tls,
                max_connections=CONNECTIONS,
                max_keepalive_connections=0 if request.user_given else CONNECTIONS,
                keepalive_expiry=KEEP_SECONDS,
                network_backend=self._checked if request.user_given else self._trusted,
            )
        return self._pools[key]

    def _tell(self, dependency: Dependency, request: Request, caller: Caller, outcome: Outcome, seconds: float) -> None:
        self._metrics.called(dependency.name, outcome.kind, seconds)
        (logger().info if is_healthy(outcome) else logger().warning)(
            "outbound.called",
            dependency=dependency.name,
            method=request.method,
            host=_host_of(request.url),
            outcome=outcome.kind,
            status=outcome.status,
            reason=outcome.reason,
            seconds=round(seconds, 4),
            correlationId=str(caller.correlation_id),
        )


class _Progress:
    """How far a call has come, as `httpcore` tells it."""

    def __init__(self) -> None:
        self.sent = False
        self._stream: httpcore.AsyncNetworkStream | None = None

    async def __call__(self, event: str, told: Mapping[str, Any]) -> None:
        match event:
            case "connection.connect_tcp.complete":
                self._stream = told["return_value"]
            case "connection.start_tls.failed" if self._stream:
                await self._stream.aclose()  # httpcore leaves it open when the deadline comes in the middle of this.
            case "http11.send_request_headers.started":
                self.sent = True


def _read_target(request: Request) -> httpx.URL | NotSent:
    """The address as it will be called, or why it will not. No part of it is read again later."""
    try:
        url = httpx.URL(request.url) if len(request.url) <= LONGEST_URL else None
        if url is None or url.scheme not in ("http", "https") or url.userinfo or not url.host:
            return NotSent("target_forbidden", TargetForbidden())
        if request.user_given:
            check_target(url.raw_host.decode(), _port_of(url))
    except (httpx.InvalidURL, UnicodeError, TargetForbidden):
        return NotSent("target_forbidden", TargetForbidden())
    return url


def _port_of(url: httpx.URL) -> int:
    if url.port is not None:
        return url.port
    return 443 if url.scheme == "https" else 80


def _host_of(url: str) -> str | None:
    """For the log. The path may hold a secret."""
    with suppress(httpx.InvalidURL, UnicodeError):
        return httpx.URL(url[:LONGEST_URL]).host
    return None


def _headers(request: Request, target: httpx.URL, caller: Caller) -> list[tuple[str, str]]:
    ours = {
        "Host": target.netloc.decode("ascii"),
        "User-Agent": USER_AGENT,
        "Accept": "*/*",
        "Accept-Encoding": "gzip",
        "X-Correlation-Id": str(caller.correlation_id),
    }
    if request.body or request.method in ("POST", "PUT", "PATCH"):
        ours["Content-Length"] = str(len(request.body))
    given = {name.lower() for name in request.headers}
    return [*((name, value) for name, value in ours.items() if name.lower() not in given), *request.headers.items()]


def _timeouts(request: Request) -> dict[str, float]:
    return {
        "pool": request.connect_seconds,
        "connect": request.connect_seconds,
        "read": request.read_seconds,
        "write": request.read_seconds,
    }


async def _read(response: httpcore.Response, limit: int) -> bytes:
    """The body, unpacked; never more of it in memory than we take, whatever it would unpack to."""
    packing = _by_name(response.headers).get("content-encoding", "identity").strip().lower()
    if packing not in ("identity", "gzip", "x-gzip"):
        raise _Unreadable
    unpacking = None if packing == "identity" else zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    received, body = 0, bytearray()
    async for piece in response.aiter_stream():
        received += len(piece)
        try:
            body += unpacking.decompress(piece, limit + 1 - len(body)) if unpacking else piece
        except zlib.error:
            raise _Unreadable from None
        if max(received, len(body)) > limit:
            raise _Unreadable
    if unpacking and received and (not unpacking.eof or unpacking.unused_data):
        raise _Unreadable  # It broke off, or goes on in a way that we would leave out.
    return bytes(body)


def _by_name(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    named: dict[str, str] = {}
    for name, value in headers:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        named[key] = f"{named[key]}, {text}" if key in named else text
    return named


class Names:
    """Asks the system where a name leads, in threads of its own."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(8, thread_name_prefix="names")

    async def __call__(self, host: str, port: int) -> list[str]:
        ask = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
        found = await asyncio.get_running_loop().run_in_executor(self._threads, ask)
        return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


class _Network(httpcore.AsyncNetworkBackend):
    """Resolves, checks, and connects to exactly what was checked. TLS still asks for the certificate of the name."""

    def __init__(self, wire: httpcore.AsyncNetworkBackend, resolve: Resolve, *, public_only: bool) -> None:
        self._wire = wire
        self._resolve = resolve
        self._public_only = public_only

    def close(self) -> None:
        if isinstance(self._resolve, Names):
            self._resolve.close()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  httpcore's own signature
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        try:
            async with asyncio.timeout(timeout):
                addresses = [host] if literal(host) else await self._resolve(host, port)
                if self._public_only:
                    check_public(addresses)
                return await self._connect(addresses, port, timeout, local_address, socket_options)
        except TimeoutError as late:
            raise httpcore.ConnectTimeout from late
        except (OSError, UnicodeError) as unknown:  # There is no such name, or it cannot be one.
            raise httpcore.ConnectError from unknown

    async def _connect(
        self, addresses: Sequence[str], port: int, seconds: float | None, *options: Any
    ) -> httpcore.AsyncNetworkStream:
        """The first that can be reached. Each has its share of the time: a dead one leaves some for the next."""
        failure: Exception = httpcore.ConnectError("no address")
        for address in addresses:
            try:
                return await self._wire.connect_tcp(address, port, seconds and seconds / len(addresses), *options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    async def sleep(self, seconds: float) -> None:
        await self._wire.sleep(seconds)

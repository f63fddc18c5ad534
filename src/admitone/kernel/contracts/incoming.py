"""What came over the wire, before any of it is believed.

Promise: never more of a body is held than the contract takes, never longer waited than a slow phone needs; an
address is the socket's, unless a proxy that we trust says otherwise; a correlation id is always a UUID.
"""

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Iterator, Mapping
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any, Final
from uuid import UUID

from admitone.kernel.contracts.refusals import RepeatedHeader, RequestTooSlow
from admitone.kernel.errors import Malformed, TooLarge
from admitone.kernel.ids import uuid7
from admitone.kernel.patience import Patience
from admitone.kernel.words import Language, choose

LANGUAGE_COOKIE: Final = "language"
"""What the person chose, whatever the browser says."""
SAFE: Final = frozenset({"GET", "HEAD"})
BODY_SECONDS: Final = 30
_ONCE = frozenset(
    (
        b"authorization",
        b"content-length",
        b"content-type",
        b"host",
        b"origin",
        b"x-device-id",
        b"x-orya-internal-secret",
    )
)
_UUID = re.compile(rb"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
# What begins with key_ is a device that proved which one it is; nobody else may call itself so.
_DEVICE = re.compile(rb"(?!key_)[A-Za-z0-9._:-]{1,128}")


class ClientLeft(Exception):
    """There is nobody to answer."""


class MalformedDevice(Malformed):
    """The header x-device-id takes 1 to 128 letters, digits and the signs . _ : - and does not begin with key_"""

    code = "MALFORMED_DEVICE"


class Headers(Mapping[str, str]):
    """Headers as text, under their names in lower case."""

    __slots__ = ("_raw",)

    def __init__(self, raw: Mapping[bytes, bytes]) -> None:
        self._raw = raw

    def __getitem__(self, name: str) -> str:
        return self._raw[name.lower().encode("latin-1")].decode("latin-1")

    def __iter__(self) -> Iterator[str]:
        return (name.decode("latin-1") for name in self._raw)

    def __len__(self) -> int:
        return len(self._raw)


class Proxies:
    """Whose word about the client we take."""

    def __init__(self, trusted: tuple[str, ...] = ()) -> None:
        self._networks: tuple[IPv4Network | IPv6Network, ...] = tuple(ip_network(each) for each in trusted)
        self.trusts = lru_cache(maxsize=4096)(self._trusts)

    def _trusts(self, address: str) -> bool:
        try:
            return any(ip_address(address) in network for network in self._networks)
        except ValueError:
            return False

    def client_of(self, peer: str, forwarded: str) -> str:
        """The rightmost address in the chain that is not one of our proxies: what stands left of it may be made up."""
        client = peer
        for hop in reversed(forwarded.split(",")):
            address = _address(hop.strip())
            if not self.trusts(client) or address is None:
                break
            client = address
        return client


def _address(text: str) -> str | None:
    """Some proxies write `address:port`, and IPv6 in brackets."""
    try:  # Most write four numbers and no more, which the system reads ten times as fast.
        socket.inet_pton(socket.AF_INET, text)
    except (OSError, ValueError):
        return _unusual_address(text)
    return text


def _unusual_address(text: str) -> str | None:
    bracketed = re.fullmatch(r"\[([^\]]+)\](:\d+)?", text)
    if bracketed:
        text = bracketed[1]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        return str(ip_address(text))
    except ValueError:
        return None


class Incoming:
    """One request as the server hands it over."""

    __slots__ = (
        "_announced",
        "_patience",
        "_receive",
        "address",
        "body",
        "correlation_id",
        "correlation_text",
        "headers",
        "method",
        "path",
        "query",
        "scheme",
    )

    def __init__(self, scope: Mapping[str, Any], receive: Any, proxies: Proxies, patience: Patience) -> None:
        self._receive = receive
        self._patience = patience
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.query: bytes = scope["query_string"]
        self.body = b""
        self._announced: int | None = None
        raw = scope["headers"]
        self.headers: dict[bytes, bytes] = dict(raw)
        given = self.headers.get(b"x-correlation-id")
        self.correlation_id = UUID(given.decode()) if given and _UUID.fullmatch(given) else uuid7()
        self.correlation_text = str(self.correlation_id)
        self.scheme: str = scope["scheme"]
        client = scope.get("client")
        self.address: str | None = client[0] if client else None
        if self.address and b"x-forwarded-for" in self.headers and proxies.trusts(self.address):
            self._believe_proxy(proxies, raw)

    def _believe_proxy(self, proxies: Proxies, raw: Any) -> None:
        assert self.address is not None
        forwarded = b",".join(value for name, value in raw if name == b"x-forwarded-for")
        self.address = proxies.client_of(self.address, forwarded.decode("latin-1"))
        if self.headers.get(b"x-forwarded-proto") == b"https":
            self.scheme = "https"

    def settle_repeated(self, raw: Any) -> None:
        """A header that decides something must come once; the values of others are joined, as HTTP has it."""
        if len(self.headers) == len(raw):
            return
        joined: dict[bytes, bytes] = {}
        for name, value in raw:
            if name in joined and name in _ONCE:
                raise RepeatedHeader(header=name.decode("latin-1"))
            separator = b"; " if name == b"cookie" else b", "
            joined[name] = joined[name] + separator + value if name in joined else value
        self.headers = joined

    @property
    def device(self) -> str | None:
        given = self.headers.get(b"x-device-id")
        if given is None:
            return None
        if not _DEVICE.fullmatch(given):
            raise MalformedDevice()
        return given.decode()

    @property
    def is_safe(self) -> bool:
        """Whether whoever sent it expects that nothing changes."""
        return self.method in SAFE

    @property
    def language(self) -> Language:
        """The one that the person chose, or the one that the browser likes best."""
        chosen = dict(self.cookies()).get(LANGUAGE_COOKIE) if b"cookie" in self.headers else None
        accepted = self.headers.get(b"accept-language", b"").decode("latin-1")
        return choose(chosen or accepted)

    def cookies(self) -> Iterator[tuple[str, str]]:
        for pair in self.headers.get(b"cookie", b"").decode("latin-1").split(";"):
            name, equals, value = pair.partition("=")
            if equals:
                yield name.strip(), value.strip().strip('"')

    def refuse_large(self, limit_bytes: int) -> None:
        """What the client itself announces as too large is not read at all."""
        announced = self.headers.get(b"content-length")
        if announced is None:
            return
        if not announced.isdigit():
            raise Malformed()
        self._announced = int(announced)
        if self._announced > limit_bytes:
            raise TooLarge(limit_bytes=limit_bytes)

    async def read(self, limit_bytes: int) -> bytes:
        """The whole body; most come in one piece."""
        message = await self._receive_within(BODY_SECONDS)
        if message["type"] == "http.disconnect":
            raise ClientLeft
        body: bytes = message.get("body", b"")
        if len(body) > limit_bytes:
            raise TooLarge(limit_bytes=limit_bytes)
        # Granian says that more is to come even when all has come; waiting for nothing would cost a turn of the loop.
        if message.get("more_body") and len(body) != self._announced:
            body = b"".join([body, *[chunk async for chunk in self.chunks(limit_bytes - len(body), limit_bytes)]])
        return body

    async def chunks(self, left_bytes: int, limit_bytes: int) -> AsyncIterator[bytes]:
        """The body piece by piece, until it is over, too large or too slow."""
        deadline = asyncio.get_running_loop().time() + BODY_SECONDS
        more = True
        while more:
            message = await self._receive_within(deadline - asyncio.get_running_loop().time())
            if message["type"] == "http.disconnect":
                raise ClientLeft
            chunk = message.get("body", b"")
            left_bytes -= len(chunk)
            if left_bytes < 0:
                raise TooLarge(limit_bytes=limit_bytes)
            yield chunk
            more = message.get("more_body", False)

    async def _receive_within(self, seconds: float) -> Any:
        try:
            return await self._patience.within(seconds, self._receive())
        except TimeoutError:
            raise RequestTooSlow() from None

"""A provider of PIX on 127.0.0.1, over real HTTP: ours, for tests, and nobody's software.

What Mercado Pago and OpenPix have in common stands here: charges, what customers and banks do with them, a network that
loses answers, webhooks. How each of them says it stands in `mercadopago/peer.py` and `openpix/peer.py`, as their papers
say they do.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, TypeVar
from urllib.parse import parse_qs, unquote

from admitone.finance.gateways.brcode import BrCode
from admitone.kernel.ids import uuid7
from tests.finance.gateways.stage import Webhook
from tests.peer import Received, read_request, send

FEE = 99


class Fault(StrEnum):
    """What becomes of one call."""

    NONE = "NONE"
    LOST = "LOST"
    """It is done, and the line breaks."""
    ERROR_BEFORE = "ERROR_BEFORE"
    ERROR_AFTER = "ERROR_AFTER"
    BUSY = "BUSY"
    KEY_IN_USE = "KEY_IN_USE"
    GARBLED = "GARBLED"
    """It is done, and what is said of it cannot be read."""


class No(Exception):
    """The provider refuses."""

    def __init__(self, status: int, said: Any) -> None:
        super().__init__(str(said))
        self.status, self.said = status, said


@dataclass
class Returned:
    id: str
    minor: int
    status: str
    at: datetime


@dataclass
class Charged:
    """A charge as the provider keeps it."""

    id: str
    key: str
    minor: int
    created: datetime
    expires: datetime
    said: dict[str, Any]
    status: str
    changed: datetime
    paid_at: datetime | None = None
    fee_minor: int | None = None
    refunds: list[Returned] = field(default_factory=list)

    @property
    def given_back(self) -> int:
        return sum(each.minor for each in self.refunds if each.status not in ("rejected", "REJECTED"))

    @property
    def code(self) -> str:
        return BrCode(merchant="Loja", city="RIO", url=f"pix.example.com/{self.id}", amount_minor=self.minor).encode()


class PixPeer:
    """In memory, for as long as it listens."""

    def __init__(self) -> None:
        self.charges: dict[str, Charged] = {}
        self.sent: list[Webhook] = []
        self.received: list[Received] = []
        self.faults: list[Fault] = []
        self.port = 0
        self._last = datetime.now(UTC)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def now(self) -> datetime:
        """Always later than before, by a millisecond at least: that is how exactly they tell it."""
        now = datetime.now(UTC)
        now = now.replace(microsecond=now.microsecond // 1000 * 1000)
        self._last = max(now, self._last.replace(microsecond=self._last.microsecond // 1000 * 1000) + MILLISECOND)
        return self._last

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while request := await read_request(reader):
            self.received.append(request)
            fault = self.faults.pop(0) if self.faults else Fault.NONE
            if not await self._answer(request, writer, fault):
                break
        writer.close()

    async def _answer(self, request: Received, writer: asyncio.StreamWriter, fault: Fault) -> bool:
        match fault:
            case Fault.BUSY:
                return await send(writer, b"{}", status=429)
            case Fault.KEY_IN_USE:
                return await send(writer, b"{}", status=409)
            case Fault.ERROR_BEFORE:
                return await send(writer, b"", status=500)
        try:
            status, said = self.handle(request)
        except No as refusal:
            status, said = refusal.status, refusal.said
        match fault:
            case Fault.LOST:
                return False
            case Fault.ERROR_AFTER:
                return await send(writer, b"", status=502)
            case Fault.GARBLED:
                return await send(writer, b"<html>", status=200)
        return await send(writer, json.dumps(said).encode(), status=status)

    def handle(self, request: Received) -> tuple[int, Any]:
        raise NotImplementedError

    def tell(self, what: str, charge: Charged, **more: Any) -> None:
        """Put the webhook into the post."""
        raise NotImplementedError

    def act(self, deed: str, own: str, **options: Any) -> None:
        """What a customer, a bank or the owner of the account does."""
        getattr(self, f"do_{deed}")(self.charges[own], **options)

    def back(self, charge: Charged, minor: int, status: str, own: str) -> Returned:
        """Give money back, as much as is there."""
        if charge.paid_at is None or minor <= 0 or charge.given_back + minor > charge.minor:
            raise No(400, self.refusal("3024", "cannot be refunded"))
        returned = Returned(own, minor, status, self.now())
        charge.refunds.append(returned)
        return returned

    def refusal(self, code: str, text: str) -> Any:
        raise NotImplementedError


@dataclass(frozen=True)
class Asked:
    """A request, taken apart."""

    method: str
    path: str
    query: dict[str, str]
    given: dict[str, Any]
    headers: dict[str, str]

    @classmethod
    def of(cls, request: Received) -> "Asked":
        path, _, query = request.path.partition("?")
        given = json.loads(request.body, parse_float=str) if request.body else {}
        asked = {name: values[0] for name, values in parse_qs(query).items()}
        return cls(request.method, unquote(path), asked, given, request.headers)


MILLISECOND = timedelta(milliseconds=1)
Some = TypeVar("Some", bound=PixPeer)


@asynccontextmanager
async def listening(peer: Some) -> AsyncIterator[Some]:
    server = await asyncio.start_server(peer.serve, "127.0.0.1", 0)
    peer.port = server.sockets[0].getsockname()[1]
    try:
        yield peer
    finally:
        server.close()


def new_name() -> str:
    return uuid7().hex

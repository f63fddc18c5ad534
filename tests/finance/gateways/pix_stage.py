"""Providers of PIX as stages of the conformance suite: the adapter, over real HTTP, and its peer."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from admitone.finance.gateways.port import Gateway
from admitone.kernel.batch import Batcher
from admitone.kernel.breaker import Breakers, Dependency
from admitone.kernel.db import Database
from admitone.kernel.ids import uuid7
from admitone.kernel.outbound import Outbound, Outcome, Request
from admitone.kernel.scope import Caller
from admitone.kernel.telemetry import Metrics
from tests.finance.gateways.mercadopago.peer import MercadoPagoPeer
from tests.finance.gateways.openpix.peer import OpenPixPeer
from tests.finance.gateways.pix_peer import listening
from tests.finance.gateways.stage import EVERYTHING, Webhook


class PixStage:
    def __init__(
        self,
        gateway: Gateway,
        peer: Any,
        outbound: Outbound,
        *,
        signs: frozenset[str] = EVERYTHING,
        keeps_cancelled: bool = True,
    ) -> None:
        self.gateway, self.peer, self.outbound = gateway, peer, outbound
        self.signs, self.keeps_cancelled = signs, keeps_cancelled

    async def do(self, deed: str, thing: str, **options: Any) -> None:
        self.peer.act(deed, thing, **options)

    async def webhooks(self) -> list[Webhook]:
        return list(self.peer.sent)


class Apart(Outbound):
    """Whose troubles are nobody else's: the breakers of a test are its own."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._own = uuid7().hex[-8:]

    async def call(self, dependency: Dependency, request: Request, caller: Caller) -> Outcome:
        return await super().call(replace(dependency, name=f"{dependency.name}_{self._own}"), request, caller)


@asynccontextmanager
async def calling_out(database: Database) -> AsyncIterator[Outbound]:
    metrics = Metrics()
    async with Apart(Breakers(Batcher(database), metrics), metrics) as outbound:
        yield outbound


@asynccontextmanager
async def mercadopago(database: Database) -> AsyncIterator[PixStage]:
    async with listening(MercadoPagoPeer()) as peer, calling_out(database) as outbound:
        yield PixStage(peer.gateway(outbound), peer, outbound, signs=frozenset({"time"}))


@asynccontextmanager
async def openpix(database: Database) -> AsyncIterator[PixStage]:
    async with listening(OpenPixPeer()) as peer, calling_out(database) as outbound:
        yield PixStage(peer.gateway(outbound), peer, outbound, signs=frozenset({"body"}), keeps_cancelled=False)


STAGES = {"mercadopago": mercadopago, "openpix": openpix}

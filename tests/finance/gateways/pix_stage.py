"""A provider of PIX as a stage of the conformance suite: its adapter, over real HTTP, and its peer."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from admitone.finance.gateways.port import Gateway
from admitone.kernel.batch import Batcher
from admitone.kernel.breaker import Breakers
from admitone.kernel.db import Database
from admitone.kernel.outbound import Outbound
from admitone.kernel.telemetry import Metrics
from tests.finance.gateways.conformance import EVERYTHING, Webhook
from tests.finance.gateways.pix_peer import PixPeer


class PixStage:
    def __init__(
        self, gateway: Gateway, peer: PixPeer, *, signs: frozenset[str] = EVERYTHING, keeps_cancelled: bool = True
    ) -> None:
        self.gateway, self.peer = gateway, peer
        self.signs, self.keeps_cancelled = signs, keeps_cancelled

    async def do(self, deed: str, thing: str, **options: Any) -> None:
        self.peer.act(deed, thing, **options)

    async def webhooks(self) -> list[Webhook]:
        return list(self.peer.sent)


@asynccontextmanager
async def calling_out(database: Database) -> AsyncIterator[Outbound]:
    metrics = Metrics()
    async with Outbound(Breakers(Batcher(database), metrics), metrics) as outbound:
        yield outbound

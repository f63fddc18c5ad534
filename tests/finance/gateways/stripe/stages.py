"""Stripe as a stage of the conformance suite: the real adapter, over real HTTP, to who plays Stripe here."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import msgspec

from admitone.finance.gateways import signature
from admitone.finance.gateways.stripe.gateway import StripeGateway
from admitone.finance.gateways.stripe.keys import Keys, source_of
from admitone.kernel.outbound import Outbound
from tests.finance.gateways.stage import EVERYTHING, Webhook
from tests.finance.gateways.stripe.peer import API_KEY, Peer, a_peer

KEYS = Keys(API_KEY, "whsec_of_the_platforms_account", "whsec_of_connected_accounts")


class StripeStage:
    signs = EVERYTHING
    keeps_cancelled = True

    def __init__(self, peer: Peer, outbound: Outbound) -> None:
        self.peer = peer
        self.gateway = StripeGateway(KEYS, peer.url, outbound)

    async def do(self, deed: str, thing: str, **options: Any) -> None:
        self.peer.act(deed, thing, **options)

    async def webhooks(self) -> list[Webhook]:
        return [self._webhook(event, route) for event, route in self.peer.events()]

    def _webhook(self, event: dict[str, Any], route: str) -> Webhook:
        body = msgspec.json.encode(event)
        signed = signature.sign(body, KEYS.signing(source_of(route)), datetime.now(UTC))
        return Webhook(route, {signature.HEADER: signed, "content-type": "application/json"}, body)


@asynccontextmanager
async def a_stage(outbound: Outbound) -> AsyncIterator[StripeStage]:
    async with a_peer() as peer:
        yield StripeStage(peer, outbound)
        assert peer.complaints == []

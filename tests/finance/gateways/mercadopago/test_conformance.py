"""Mercado Pago passes the suite that every provider must pass, over real HTTP."""

from collections.abc import AsyncIterator

import pytest

from admitone.kernel.db import Database
from tests.finance.gateways.conformance import Conformance
from tests.finance.gateways.mercadopago.peer import MercadoPagoPeer
from tests.finance.gateways.pix_peer import listening
from tests.finance.gateways.pix_stage import PixStage, calling_out


@pytest.fixture(scope="module")
async def over_http(database: Database) -> AsyncIterator[PixStage]:
    async with listening(MercadoPagoPeer()) as peer, calling_out(database) as outbound:
        yield PixStage(peer.gateway(outbound), peer, signs=frozenset({"time"}))


class TestMercadoPago(Conformance):
    @pytest.fixture
    def stage(self, over_http: PixStage) -> PixStage:
        return over_http

"""OpenPix passes the suite that every provider must pass, over real HTTP."""

from collections.abc import AsyncIterator

import pytest

from admitone.kernel.db import Database
from tests.finance.gateways.conformance import Conformance
from tests.finance.gateways.pix_stage import PixStage, openpix
from tests.finance.gateways.webhook_conformance import WebhookConformance


@pytest.fixture(scope="module")
async def over_http(database: Database) -> AsyncIterator[PixStage]:
    async with openpix(database) as stage:
        yield stage


class TestOpenPix(Conformance, WebhookConformance):
    @pytest.fixture
    def stage(self, over_http: PixStage) -> PixStage:
        return over_http

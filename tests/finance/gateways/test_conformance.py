"""The sandbox passes the suite that every provider must pass: in process, and over HTTP as a process of its own."""

from collections.abc import AsyncIterator

import pytest

from admitone.kernel.batch import Batcher
from admitone.kernel.breaker import Breakers
from admitone.kernel.db import Database
from admitone.kernel.outbound import Outbound
from admitone.kernel.telemetry import Metrics
from tests.finance.gateways.conformance import Conformance
from tests.finance.gateways.dispute_conformance import DisputeConformance
from tests.finance.gateways.stages import HttpStage, InProcessStage, a_client, a_listener, a_sandbox_process
from tests.finance.gateways.webhook_conformance import WebhookConformance


@pytest.fixture(scope="module")
async def over_http(database: Database, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[HttpStage]:
    """One process for all tests: what they share is what a provider's customers share."""
    home = tmp_path_factory.mktemp("sandbox") / "home"
    metrics = Metrics()
    async with (
        a_listener() as (listener, sent),
        a_sandbox_process(home, "--fees-after", "1000000", listener=listener) as (port, _),
        Outbound(Breakers(Batcher(database), metrics), metrics) as outbound,
        a_client(port) as client,
    ):
        yield HttpStage(client, outbound, sent)


class TestInProcess(Conformance, WebhookConformance, DisputeConformance):
    @pytest.fixture
    def stage(self) -> InProcessStage:
        return InProcessStage()


class TestOverHttp(Conformance, WebhookConformance, DisputeConformance):
    @pytest.fixture
    def stage(self, over_http: HttpStage) -> HttpStage:
        return over_http

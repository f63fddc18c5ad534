"""Webhooks: how many a second are verified, sealed, kept with their job, and acknowledged (figure 5).

usage: python -m bench.webhooks
"""

import asyncio
import itertools
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final
from uuid import uuid4

import asyncpg
import msgspec

from admitone.finance.gateways import signature
from admitone.finance.gateways.api import Account, AccountOrder, Charge, ChargeOrder, Method
from admitone.finance.gateways.sandbox.gateway import SandboxGateway
from admitone.finance.gateways.sandbox.keys import CARD_ROUTE, Keys
from admitone.finance.gateways.sandbox.simulator import Simulator
from admitone.finance.sources.api import PaymentId, SettlementModel
from admitone.kernel.ids import OrganizationId, uuid7
from admitone.kernel.scope import Caller
from bench.calibration import calibrate
from bench.figures import Figures
from bench.ground import Ground, a_cluster, a_ground
from bench.identity import KEYS, NOWHERE
from bench.load import Report, drive
from bench.server import a_server

SANDBOX: Final = Keys.of("the sandbox of the bench")
SECONDS: Final = 8
AT_MOST_A_SECOND: Final = 10_000
"""Events are prepared and signed for this rate."""
EVERY_TENTH: Final = 10
"""Of what a provider tells comes twice."""


def measure(figures: Figures) -> None:
    print("\nWebhooks: verified, sealed, kept with their job, acknowledged")
    with a_cluster() as cluster:
        ground = a_ground(cluster, organizations=1, name="bench_webhooks")
        calibration = calibrate(ground)
        print(calibration)
        with a_server(ground, module="bench.serve_webhooks", ADMITONE_KEYS=KEYS, SMTP_URL=NOWHERE) as port:
            _tell(port, 64, 2)
            reports = {connections: _tell(port, connections, SECONDS) for connections in (64, 256)}
        kept = _kept(ground)
    for connections, report in reports.items():
        figures.note(f"{connections:4} connections {report}  [{report.tool}]")
    fastest = max(report.rate for report in reports.values())
    figures.must("webhooks kept and acknowledged", fastest, 3_000 * min(1.0, calibration.s), "/s")
    figures.must_not_exceed("receipts without payload, job or fact", kept, 0, "rows")


def _tell(port: int, connections: int, seconds: float) -> Report:
    """A provider that tells as fast as it is listened to."""
    report = drive(port, connections, requests(), seconds, AT_MOST_A_SECOND)
    if report.refused:
        raise RuntimeError(f"{report.refused} events were not acknowledged")
    return report


def _kept(ground: Ground) -> int:
    """How many receipts lack something; nobody has worked on them."""

    async def ask() -> int:
        connection = await asyncpg.connect(ground.cluster.url("postgres", ground.database))
        try:
            [row] = await connection.fetch(
                "SELECT r.receipts, r.receipts - p.payloads AS p, r.receipts - j.jobs AS j, r.receipts - f.facts AS f"
                "  FROM (SELECT count(*) AS receipts FROM webhooks.receipt) AS r,"
                "       (SELECT count(*) AS payloads FROM webhooks.payload) AS p,"
                "       (SELECT count(*) AS jobs FROM kernel.job WHERE kind = 'webhooks.resolve') AS j,"
                "       (SELECT count(*) AS facts FROM kernel.event_log WHERE type = 'webhook.received') AS f"
            )
        finally:
            await connection.close()
        assert row["receipts"] > 0
        return abs(row["p"]) + abs(row["j"]) + abs(row["f"])

    return asyncio.run(ask())


# -- The provider


def requests() -> Iterator[bytes]:
    """Signed events, each of a charge that was paid; a tenth of them comes twice."""
    event = msgspec.json.decode(asyncio.run(_an_event()))
    head, tail = msgspec.json.encode({**event, "id": "@"}).split(b"@")
    for number in itertools.count():
        body = head + b"evt_%s" % uuid4().hex.encode() + tail
        header = signature.sign(body, SANDBOX.account, datetime.now(UTC))
        request = (
            f"POST {CARD_ROUTE} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
            f"{signature.HEADER}: {header}\r\ncontent-length: {len(body)}\r\n\r\n"
        ).encode() + body
        yield request
        if number % EVERY_TENTH == 0:
            yield request


async def _an_event() -> bytes:
    """What the sandbox says when a charge is paid."""
    simulator = Simulator(SANDBOX)
    gateway, organization = SandboxGateway.in_process(simulator), OrganizationId.new()
    account = await gateway.open_account(AccountOrder(Caller(), uuid7(), organization, "PT", None))
    assert isinstance(account, Account), account
    simulator.act("complete", account.id)
    order = ChargeOrder(
        caller=Caller(),
        key=uuid7(),
        payment=PaymentId.new(),
        organization=organization,
        method=Method.CARD,
        amount_minor=5000,
        currency="EUR",
        settlement=SettlementModel.ORG_MOR,
        account=account.id,
        application_fee_minor=300,
        description="Two tickets",
        expires_at=datetime.now(UTC).replace(year=datetime.now(UTC).year + 1),
    )
    charge = await gateway.open_charge(order)
    assert isinstance(charge, Charge), charge
    simulator.act("pay", charge.id)
    bodies = [each.body for each in simulator.due_deliveries() if b'"payment_intent.succeeded"' in each.body]
    return bodies[-1]


if __name__ == "__main__":
    measure(Figures())

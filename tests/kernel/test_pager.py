"""An alert leaves the house: signed, to whom its class says, at least once; without an address it is an error."""

import asyncio
import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import asyncpg
import pytest

from admitone.entrypoints.duties import duties_of
from admitone.kernel.alerts import ALERTS, AlertClass, raise_alerts
from admitone.kernel.batch import Batcher
from admitone.kernel.breaker import Breakers
from admitone.kernel.config import Config, ConfigurationProblem
from admitone.kernel.db import Database
from admitone.kernel.ids import uuid7
from admitone.kernel.jobs import Desk
from admitone.kernel.jobs.worker import Worker
from admitone.kernel.module import MODULE as KERNEL
from admitone.kernel.outbound import Outbound
from admitone.kernel.pager import PAGER_SECRET, PAGER_URL, SIGNATURE, TICKET_URL, Pager
from admitone.kernel.telemetry import Metrics
from tests.alerts import TOY_RULE, an_alert, told_about
from tests.jobs import BRISK, DEADLINE_SECONDS

TICKET_RULE = replace(TOY_RULE, alert_class=AlertClass.TICKET)


class Mailbox(HTTPServer):
    """Somebody who takes pages, over a real socket; says 500 as often as it is told."""

    def __init__(self, failures: int = 0) -> None:
        self.taken: list[tuple[str, Mapping[str, str], bytes]] = []
        self.failures = failures
        super().__init__(("127.0.0.1", 0), Letterbox)
        self.url = f"http://127.0.0.1:{self.server_port}"


class Letterbox(BaseHTTPRequestHandler):
    server: Mailbox

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.failures -= 1
        failed = self.server.failures >= 0
        if not failed:
            self.server.taken.append((self.path, dict(self.headers), body))
        self.send_response(500 if failed else 202)
        self.end_headers()

    def log_message(self, *said: object) -> None:
        pass


@pytest.fixture
def mailbox():
    with Mailbox(failures=1) as box:
        serving = Thread(target=box.serve_forever)
        serving.start()
        yield box
        box.shutdown()
        serving.join()


@pytest.fixture
async def outbound(batcher: Batcher):
    metrics = Metrics()
    async with Outbound(Breakers(batcher, metrics), metrics) as outbound:
        yield outbound


async def until_done(superuser: asyncpg.Connection, subject: str) -> None:
    """Until the pager has run for the alert about this subject."""
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not await superuser.fetchval(  # noqa: ASYNC110  Another process tells nobody.
            "SELECT count(*) FROM kernel.inbox AS i JOIN kernel.event_log AS e ON i.key = 'ops.page:' || e.id"
            " WHERE e.payload->>'about' = $1",
            subject,
        ):
            await asyncio.sleep(0.05)


async def page_about(database: Database, superuser: asyncpg.Connection, pager: Pager, *alerts) -> None:
    batcher = Batcher(database)
    worker = Worker(Desk(database, batcher, {Pager: pager}), duties_of([KERNEL]), Metrics(), BRISK)
    running = asyncio.create_task(worker.run())
    try:
        await database.run(ALERTS, lambda tx: raise_alerts(tx, alerts))
        for alert in alerts:
            await until_done(superuser, alert.subject)
    finally:
        worker.stop()
        await running
        await batcher.drain(5)


async def test_an_alert_leaves_the_house_signed_to_whom_its_class_says(
    database: Database, superuser: asyncpg.Connection, mailbox: Mailbox, outbound: Outbound
):
    secret = b"a secret that the pager shares with us"
    addresses = {AlertClass.PAGER: f"{mailbox.url}/page", AlertClass.TICKET: f"{mailbox.url}/ticket"}
    urgent, later = an_alert(detail="now"), replace(an_alert(), rule=TICKET_RULE)
    await page_about(database, superuser, Pager(outbound, addresses, secret), urgent, later)
    taken = {json.loads(body)["about"]: (path, headers, body) for path, headers, body in mailbox.taken}
    assert taken[urgent.subject][0] == "/page" and taken[later.subject][0] == "/ticket"
    _, headers, body = taken[urgent.subject]
    assert [json.loads(body)] == await told_about(superuser, urgent.subject)
    seconds, digest = (part.partition("=")[2] for part in headers[SIGNATURE].split(","))
    assert digest == hmac.new(secret, seconds.encode() + b"." + body, hashlib.sha256).hexdigest()


async def test_without_an_address_the_alert_is_an_error_in_the_log(
    database: Database, superuser: asyncpg.Connection, capsysbinary, outbound: Outbound
):
    alert = an_alert(entities={"paymentId": "pay_7"})
    await page_about(database, superuser, Pager(outbound), alert)
    said = [json.loads(line) for line in capsysbinary.readouterr().out.splitlines() if alert.subject.encode() in line]
    [line] = [line for line in said if line["event"] == "alert.nobody_to_tell"]
    assert line["level"] == "error" and line["entities"] == {"paymentId": "pay_7"}
    assert line["correlationId"] == str(alert.caller.correlation_id)


def test_an_address_without_a_secret_is_refused(tmp_path, outbound: Outbound):
    keys = (PAGER_URL, TICKET_URL, PAGER_SECRET)
    given = {"ADMITONE_DATA": str(tmp_path), TICKET_URL.name: "https://tickets.example.org/new"}
    with pytest.raises(ConfigurationProblem, match=PAGER_SECRET.name):
        Pager.of(Config.load(given, keys), outbound)
    complete = Config.load({**given, PAGER_SECRET.name: str(uuid7())}, keys)
    assert Pager.of(complete, outbound).addresses == {AlertClass.TICKET: "https://tickets.example.org/new"}
    assert "tickets.example.org" not in repr(Pager.of(complete, outbound)), "the address itself may be a secret"

"""Checkouts: how many a second are priced, written, charged at the sandbox and answered (figure 3), and how many are
settled when their buyers pay (as much of figure 4 as there is: checkout, webhook, ledger, facts relayed).

usage: python -m bench.checkout [SECONDS PAYMENTS]         measure
       python -m bench.checkout fair                       buyers who pay, and a provider that tells of it; on
                                                           standard input a `Fair`

Every buyer is signed in and comes from an address of their own, through a proxy that we trust, so that every limit
stays on. Nobody buys the same twice. One organisation sells everything: what contends in production contends here.
"""

import asyncio
import itertools
import json
import os
import re
import selectors
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import asyncpg

from admitone.finance.gateways.api import Account, AccountOrder, Provider
from admitone.finance.gateways.sandbox.deeds import Options
from admitone.finance.gateways.sandbox.gateway import SandboxGateway
from admitone.finance.gateways.sandbox.simulator import Delivery, Simulator
from admitone.finance.payments.commands.accounts import keep_accounts
from admitone.finance.payments.model import AccountTold, KnownAccount
from admitone.kernel.db import Database
from admitone.kernel.embedded import SUPERUSER
from admitone.kernel.ids import uuid7
from admitone.kernel.scope import Caller, Scope
from bench.calibration import calibrate
from bench.figures import Figures, side_by_side
from bench.ground import Ground, a_cluster, a_ground
from bench.identity import KEYS, NOWHERE, PEOPLE, seed_people
from bench.load import Connection, HungUp, Report, drive
from bench.server import ROOT, a_server
from bench.shop import JOURNAL, a_simulator

PATH: Final = "/api/payments/intent"
SECONDS: Final = 6
PAYMENTS: Final = 6_000
FEW, MANY = 64, 256
"""Connections of buyers; at rush hour there are many."""
AT_MOST_A_SECOND: Final = 4_000
"""Checkouts are prepared for this rate."""
COURIERS: Final = 128
"""Connections on which the provider tells."""
PATIENCE_SECONDS: Final = 180
WARMING_UP: Final = 300
EVENTS_OF_A_PAYMENT: Final = 1
"""That it was paid."""
PAID_EVENT: Final = b'"payment_intent.succeeded"'
SECRET: Final = "whoever measures may look at the figures"
SERVER: Final = "bench.serve_checkout"
COMMANDS: Final = ("begin", "take_answers")
SET_UP: Final = "set up\n"

STAY = "UPDATE authority.session SET access_expires_at = lasts_until"
"""A bench may take longer than the quarter of an hour for which somebody is signed in."""
SETTLED = "SELECT count(*) AS settled FROM payments.payment WHERE status = 'SUCCEEDED'"
UNBALANCED = """
    SELECT count(*) AS wrong
      FROM payments.payment AS p
      LEFT JOIN (SELECT payment_id, sum(amount_minor) AS gross
                   FROM ledger.transfer
                  WHERE entry_type = 'GROSS'
                  GROUP BY payment_id) AS t ON t.payment_id = p.id
     WHERE p.status = 'SUCCEEDED'
       AND t.gross IS DISTINCT FROM p.amount_minor
"""
LEFT = """
    SELECT (SELECT count(*) FROM kernel.outbox WHERE published_at IS NULL)
           + (SELECT count(*) FROM kernel.job WHERE run_at <= now() AND kind <> 'ledger.roll') AS left
"""
"""Whoever rolls the ledger does so for a minute, whether there is something to roll or not."""


@dataclass(frozen=True)
class Fair:
    """Who buys where."""

    port: int
    organization: str
    tokens: list[str]
    journal: str
    seconds: float = SECONDS
    payments: int = PAYMENTS
    event: str = ""
    """Of tickets: what for."""
    ticket_type: str = ""

    @property
    def surroundings(self) -> dict[str, str]:
        """What its server and its worker are told."""
        return {
            "ADMITONE_KEYS": KEYS,
            "TRUSTED_PROXIES": "127.0.0.1",
            "SMTP_URL": NOWHERE,
            "ORYA_CRON_SECRET": SECRET,
            JOURNAL: self.journal,
        }

    def requests(self) -> Iterator[bytes]:
        """Checkouts, each of a source of its own; buyers take turns."""
        run = uuid7().hex[-12:]
        for number in itertools.count():
            body = (
                f'{{"organizationId":"{self.organization}","sourceType":"TICKET_ORDER",'
                f'"sourceId":"ord-{run}-{number}","idempotencyKey":"{run}-{number}"}}'
            )
            yield self.post(PATH, number % len(self.tokens), body)

    def post(self, path: str, buyer: int, body: str) -> bytes:
        """As one of the buyers, from an address of their own."""
        return (
            f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
            f"authorization: Bearer {self.tokens[buyer]}\r\n"
            f"x-forwarded-for: 10.{buyer >> 16 & 255}.{buyer >> 8 & 255}.{buyer & 255}\r\n"
            f"content-length: {len(body)}\r\n\r\n{body}"
        ).encode()

    def charge_in(self, answer: bytes) -> str:
        """What its buyer pays at the provider."""
        secret: str = json.loads(answer)["clientSecret"]
        return secret.partition("_secret_")[0]


def measure(figures: Figures, seconds: float = SECONDS, payments: int = PAYMENTS) -> None:
    with a_cluster() as cluster, tempfile.TemporaryDirectory() as folder:
        ground = a_ground(cluster, organizations=1, name="bench_checkout")
        calibration = calibrate(ground)
        print(f"\nCheckouts. {calibration}")
        checkouts(figures, ground, a_fair(ground, Path(folder), seconds=seconds), min(1.0, calibration.s))
        # Where nobody bought before: what no webhook told of those the worker would ask for, and settle too.
        ground = a_ground(cluster, organizations=1, name="bench_settled")
        settled(figures, ground, a_fair(ground, Path(folder), payments=payments))


def a_fair(ground: Ground, folder: Path, people: int = PEOPLE, **more: Any) -> Fair:
    """Buyers, and an organisation that may sell to them."""
    tokens, journal = asyncio.run(seed_people(ground.url, people)), folder / f"{ground.database}.db"
    ground.psql("-c", STAY, "-c", "VACUUM authority.session")
    asyncio.run(_may_sell(ground, a_simulator(journal)))
    return Fair(0, str(ground.members[0].organization), tokens, str(journal), **more)


async def _may_sell(ground: Ground, simulator: Simulator) -> None:
    """The organisation has an account at the sandbox, in order."""
    gateway, own = SandboxGateway.in_process(simulator), ground.members[0].organization
    account = await gateway.open_account(AccountOrder(Caller(), uuid7(), own, "PT", None))
    assert isinstance(account, Account), account
    simulator.act("complete", account.id)
    complete = await gateway.find_account(Caller(), account.id)
    assert isinstance(complete, Account), complete
    simulator.delivered(*simulator.due_deliveries())
    told = AccountTold(Caller(), Provider.SANDBOX, complete, datetime.now(UTC))
    async with Database(ground.url) as database:
        [kept] = await database.run(Scope(own, "bench"), lambda tx: keep_accounts(tx, [told]))
    assert isinstance(kept, KnownAccount), kept


# -- Figure 3


@dataclass(frozen=True)
class Bought:
    """What came of a load of checkouts, and what it took."""

    report: Report
    commits_each: float
    batches: dict[str, float]
    """How many inputs a batch had in the mean, by its command."""

    def __str__(self) -> str:
        sizes = ", ".join(f"{command} {size:.1f}" for command, size in self.batches.items())
        return f"{self.report}  in batches of {sizes}  {self.commits_each:.2f} commits each"


def checkouts(figures: Figures, ground: Ground, fair: Fair, s: float) -> None:
    print(f"\nPOST {PATH}, {len(fair.tokens):,} buyers, one organisation")

    def rate(name: str, port: int, seconds: float, connections: int = FEW) -> float:
        bought = _buy(ground, replace(fair, port=port, seconds=seconds), connections)
        figures.note(f"{name:10} {connections:3} connections {bought}  [{bought.report.tool}]")
        return bought.report.rate

    with ExitStack() as stack:
        together = stack.enter_context(a_server(ground, module=SERVER, **fair.surroundings))
        apart = stack.enter_context(a_server(ground, "--one-by-one", module=SERVER, **fair.surroundings))
        for port in (together, apart):
            rate("warming up", port, 3)
        many, few, alone = side_by_side(
            lambda: rate("coalesced", together, fair.seconds, MANY),
            lambda: rate("coalesced", together, fair.seconds),
            lambda: rate("one by one", apart, fair.seconds / 2),
        )
    figures.must("full checkout", max(many, few), 900 * s, "/s")
    figures.note(f"coalesced over one by one {few / alone:.2f} x at {FEW} connections")


def _buy(ground: Ground, fair: Fair, connections: int) -> Bought:
    commits, flown = _commits(ground), _flown(fair.port)
    report = drive(fair.port, connections, fair.requests(), fair.seconds, AT_MOST_A_SECOND)
    if report.refused:
        raise RuntimeError(f"{report.refused} checkouts were refused, or failed")
    commits, flown = _commits(ground) - commits, _flown(fair.port) - flown
    batches = {command: flown[f"{command}_sum"] / flown[f"{command}_count"] for command in COMMANDS}
    return Bought(report, commits / flown[f"{COMMANDS[0]}_sum"], batches)


def _commits(ground: Ground) -> int:
    """How many transactions have written so far: every one of ours takes a number when it begins."""
    [row] = ask(ground, "SELECT pg_current_xact_id()::text::bigint AS number")
    return int(row["number"])


def _flown(port: int) -> Counter[str]:
    """Inputs and flights of our commands so far, as the server counts them."""
    connection = Connection(port)
    connection.send(f"GET /metrics HTTP/1.1\r\nhost: 127.0.0.1\r\nx-orya-internal-secret: {SECRET}\r\n\r\n".encode())
    while connection.status() is None:
        pass
    connection.socket.close()
    lines = re.findall(
        r'admitone_batch_inputs_(sum|count)\{command="[a-z.]+\.(\w+)"\} ([\d.]+)', connection.body.decode()
    )
    return Counter({f"{command}_{what}": int(float(number)) for what, command, number in lines})


def ask(ground: Ground, sql: str) -> list[asyncpg.Record]:
    async def fetch() -> list[asyncpg.Record]:
        connection = await asyncpg.connect(ground.cluster.url(SUPERUSER, ground.database))
        try:
            return await connection.fetch(sql)
        finally:
            await connection.close()

    return asyncio.run(fetch())


# -- As much of figure 4 as there is


def settled(figures: Figures, ground: Ground, fair: Fair) -> None:
    print(f"\nCheckout, webhooks over HTTP, one worker, ledger: until {fair.payments:,} payments are settled")
    with a_server(ground, module=SERVER, **fair.surroundings) as port, a_worker(ground, fair):
        _settle(ground, replace(fair, port=port, payments=WARMING_UP))
        heard, done, relayed = _settle(ground, replace(fair, port=port))
    [row] = ask(ground, UNBALANCED)
    figures.must_not_exceed("settled payments that the ledger has otherwise", row["wrong"], 0, "payments")
    figures.note(f"settled {fair.payments / done:,.0f}/s; with every fact relayed {fair.payments / relayed:,.0f}/s")
    figures.note(f"all told after {heard:.1f} s, all settled after {done:.1f} s, all relayed after {relayed:.1f} s")


def _settle(ground: Ground, fair: Fair) -> tuple[float, float, float]:
    """After how many seconds all was told, all was settled, and nothing was left to do."""
    expected = ask(ground, SETTLED)[0]["settled"] + fair.payments
    began, heard = open_fair("bench.checkout", fair)
    until(lambda: ask(ground, SETTLED)[0]["settled"] >= expected, "all payments are settled")
    done = time.perf_counter() - began
    work_off(ground)
    return heard, done, time.perf_counter() - began


def open_fair(module: str, fair: Fair) -> tuple[float, float]:
    """When the first buyer came, and after how many seconds everybody had paid. Before they come, everything is set
    up: that a process begins is nothing that an order costs."""
    command = [sys.executable, "-m", module, "fair"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as market:
        assert market.stdin
        assert market.stdout
        market.stdin.write(json.dumps(asdict(fair)) + "\n")
        market.stdin.flush()
        assert market.stdout.readline() == SET_UP
        began = time.perf_counter()
        market.stdin.close()
    if market.returncode:
        raise subprocess.CalledProcessError(market.returncode, command)
    return began, time.perf_counter() - began


def until(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        if time.monotonic() > deadline:
            raise RuntimeError(f"it is not so that {what}")
        time.sleep(0.1)


def work_off(ground: Ground) -> None:
    """Until the workers have done what there is."""
    until(lambda: not ask(ground, LEFT)[0]["left"], "nothing is left to do")


@contextmanager
def a_worker(ground: Ground, fair: Fair, module: str = "bench.work_checkout") -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("wb") as log:
        environment = {**os.environ, "DATABASE_URL": ground.url, "ADMITONE_DATA": folder, **fair.surroundings}
        command = [sys.executable, "-m", module]
        working = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        try:
            yield
        finally:
            working.terminate()
            working.wait(20)


class Market:
    """Buyers who pay as soon as they may, and the provider that tells us so, in one loop."""

    def __init__(self, fair: Fair) -> None:
        self._simulator = a_simulator(Path(fair.journal))
        self._fair = fair
        self._checkouts = itertools.islice(fair.requests(), fair.payments)
        self.left = fair.payments * EVENTS_OF_A_PAYMENT
        """Events that are still to be heard."""
        self.untold = 0
        """Events that happened and that no courier has taken."""
        self._to_pay: list[str] = []
        self._due: list[Delivery] = []
        self._taken: set[int] = set()
        self._heard: list[Delivery] = []
        self._answers = selectors.DefaultSelector()
        self._buyers = [self._connect(fair.port) for _ in range(MANY)]
        self._couriers = [self._connect(fair.port) for _ in range(COURIERS)]

    def _connect(self, port: int) -> Connection:
        connection = Connection(port)
        self._answers.register(connection.socket, selectors.EVENT_READ, connection)
        return connection

    def open(self) -> None:
        """Once we are told that they may come."""
        print(SET_UP, end="", flush=True)
        sys.stdin.read()
        self.run()

    def run(self) -> None:
        """Until everybody has paid and everything was heard."""
        under_way: dict[Connection, Delivery] = {}
        while self.left:
            if self._to_pay:
                self._pay()
            self._send(under_way)
            for key, _ in self._answers.select(timeout=1):
                connection: Connection = key.data
                try:
                    status = connection.status()
                except HungUp:
                    self._call_back(connection)
                    continue
                if status is None:
                    continue
                if delivery := under_way.pop(connection, None):
                    _expect(connection, status)
                    self._heard.append(delivery)
                    self.left -= _tells_of_payment(delivery)
                    self._couriers.append(connection)
                else:
                    self.answer(connection, status)
                    self._buyers.append(connection)

        self._acknowledge()

    def _call_back(self, connection: Connection) -> None:
        """Every request has a key, so that it may come twice."""
        self._answers.unregister(connection.socket)
        connection.send_again()
        self._answers.register(connection.socket, selectors.EVENT_READ, connection)

    def answer(self, connection: Connection, status: int) -> None:
        """What a buyer does who was answered: pay."""
        _expect(connection, status)
        self.pay(self._fair.charge_in(connection.body))

    def _acknowledge(self) -> None:
        self._simulator.delivered(*self._heard)
        self._taken -= {each.id for each in self._heard}
        self._heard.clear()

    def pay(self, charge: str) -> None:
        self._to_pay.append(charge)

    def _pay(self) -> None:
        """All who may, at once: a provider does not close its books after each of its customers."""
        with self._simulator.journal.writing():
            for charge in self._to_pay:
                self._simulator.perform("pay", charge, Options())
        self.untold += EVENTS_OF_A_PAYMENT * len(self._to_pay)
        self._to_pay.clear()

    def send(self, buyer: Connection, request: bytes) -> None:
        buyer.send(request)

    def _send(self, under_way: dict[Connection, Delivery]) -> None:
        while self._buyers and (request := next(self._checkouts, None)):
            self.send(self._buyers.pop(), request)
        if self._couriers and not self._due and self.untold:
            self._acknowledge()
            # What we have not heard within a second is told anew; here it is only on its way.
            self._due = [each for each in self._simulator.due_deliveries() if each.id not in self._taken]
            self._taken.update(each.id for each in self._due)
            self.untold -= sum(map(_tells_of_payment, self._due))
        while self._couriers and self._due:
            connection = self._couriers.pop()
            under_way[connection] = self._due.pop()
            connection.send(_post(under_way[connection]))


def _expect(connection: Connection, status: int) -> None:
    if status != 200:
        raise RuntimeError(f"an answer was {status}: {connection.body[:500]!r}")


def _tells_of_payment(delivery: Delivery) -> bool:
    """And not of a charge that nobody paid and that is closed by now."""
    return PAID_EVENT in delivery.body


def _post(delivery: Delivery) -> bytes:
    headers = "".join(f"{name}: {value}\r\n" for name, value in delivery.headers.items())
    head = f"POST {delivery.path} HTTP/1.1\r\nhost: 127.0.0.1\r\n{headers}content-length: {len(delivery.body)}\r\n\r\n"
    return head.encode() + delivery.body


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["fair"]:
            Market(Fair(**json.loads(sys.stdin.readline()))).open()
        case numbers:
            measure(Figures(), *map(int, numbers))

"""Load over HTTP: `wrk` where it is installed, else our own generator, in a process of its own either way.

The load is closed: a fixed number of connections, each sending its next request when it has its answer. What to send
is a list of heads (one per caller) and a body with blanks; each request has its own idempotency key and device.
"""

import json
import random
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

DEVICES = 20_000
"""Enough that nobody meets the limit of 120 a minute."""


@dataclass(frozen=True)
class Plan:
    """What to send: to `path`, as one of the callers (credential, organisation, number of counters)."""

    port: int
    path: str
    callers: Sequence[tuple[str, str, int]]
    connections: int = 64
    seconds: float = 5
    counter: str = ""
    """Always this counter, instead of one by chance."""
    may_be_refused: bool = False
    method: str = "POST"
    """GET: the credential alone."""


@dataclass(frozen=True)
class Report:
    tool: str
    rate: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    refused: int

    def __str__(self) -> str:
        return f"{self.rate:8,.0f}/s  p50 {self.p50_ms:6.2f}  p95 {self.p95_ms:6.2f}  p99 {self.p99_ms:6.2f} ms" + (
            f"  ({self.refused} not 2xx)" if self.refused else ""
        )


def load(plan: Plan) -> Report:
    """Send the load; an answer that is not 2xx where none is expected makes every figure worthless."""
    report = _with_wrk(plan) if shutil.which("wrk") else _with_our_own(plan)
    if report.refused and not plan.may_be_refused:
        raise RuntimeError(f"{report.refused} answers of {plan.path} were refusals or errors")
    return report


LUA = """
local callers = {}
for line in io.lines("%(callers)s") do
    local key, org, counters = line:match("(%%S+) (%%S+) (%%S+)")
    callers[#callers + 1] = {key, org, tonumber(counters)}
end
local run, sent = "%(run)s", 0
request = function()
    sent = sent + 1
    local caller = callers[math.random(#callers)]
    if "%(method)s" == "GET" then
        return wrk.format("GET", "%(path)s", {["authorization"] = "Bearer " .. caller[1]})
    end
    local counter = "%(counter)s"
    if counter == "" then counter = "counter_" .. math.random(caller[3]) end
    local headers = {["content-type"] = "application/json", ["authorization"] = "Bearer " .. caller[1],
        ["x-orya-org-id"] = caller[2], ["x-device-id"] = "device" .. math.random(%(devices)d)}
    return wrk.format("POST", "%(path)s", headers,
        '{"counter":"' .. counter .. '","amount":1,"idempotencyKey":"' .. run .. "-" .. sent .. '"}')
end
done = function(summary, latency, requests)
    print(string.format('{"requests": %%d, "micros": %%d, "refused": %%d, "p50": %%f, "p95": %%f, "p99": %%f}',
        summary.requests, summary.duration, summary.errors.status + summary.errors.connect + summary.errors.read
        + summary.errors.write + summary.errors.timeout,
        latency:percentile(50), latency:percentile(95), latency:percentile(99)))
end
"""


def _with_wrk(plan: Plan) -> Report:
    with tempfile.TemporaryDirectory() as folder:
        callers, script = Path(folder) / "callers", Path(folder) / "load.lua"
        callers.write_text("\n".join(f"{key} {org} {counters}" for key, org, counters in plan.callers))
        blanks = {
            "callers": callers,
            "run": random.randrange(10**12),
            "counter": plan.counter,
            "devices": DEVICES,
            "path": plan.path,
            "method": plan.method,
        }
        script.write_text(LUA % blanks)
        command = ["wrk", "-t1", f"-c{plan.connections}", f"-d{plan.seconds}s", "-s", str(script)]
        said = subprocess.run(
            [*command, f"http://127.0.0.1:{plan.port}"], capture_output=True, text=True, check=True
        ).stdout
    figures = json.loads([line for line in said.splitlines() if line.startswith("{")][-1])
    rate = figures["requests"] / figures["micros"] * 1e6
    return Report("wrk", rate, figures["p50"] / 1e3, figures["p95"] / 1e3, figures["p99"] / 1e3, figures["refused"])


def _with_our_own(plan: Plan) -> Report:
    said = subprocess.run(
        [sys.executable, "-m", "bench.load"], input=json.dumps(asdict(plan)), capture_output=True, text=True, check=True
    ).stdout
    return Report(**json.loads(said))


class Connection:
    """One connection of our own generator: sends, and sends again when the whole answer is there."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sent_at = 0.0
        self.body = b""
        """Of the last answer."""
        self._got = b""

    def send(self, request: bytes) -> None:
        self.sent_at = time.perf_counter()
        self.socket.sendall(request)

    def status(self) -> int | None:
        """Of the answer, once all of it has come."""
        self._got += self.socket.recv(65536)
        head, end, body = self._got.partition(b"\r\n\r\n")
        if not end:
            return None
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        if len(body) < length:
            return None
        self.body, self._got = body, b""
        return int(head[9:12])


class Requests:
    """An endless supply of requests, each different."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._run = random.randrange(10**12)
        self._sent = 0

    def next(self) -> bytes:
        self._sent += 1
        credential, organization, counters = random.choice(self._plan.callers)
        if self._plan.method == "GET":
            head = f"GET {self._plan.path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {credential}\r\n\r\n"
            return head.encode()
        counter = self._plan.counter or f"counter_{random.randint(1, counters)}"
        body = f'{{"counter":"{counter}","amount":1,"idempotencyKey":"{self._run}-{self._sent}"}}'
        return (
            f"POST {self._plan.path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
            f"authorization: Bearer {credential}\r\nx-orya-org-id: {organization}\r\n"
            f"x-device-id: device{random.randint(1, DEVICES)}\r\ncontent-length: {len(body)}\r\n\r\n{body}"
        ).encode()


def generate(plan: Plan) -> Report:
    requests = Requests(plan)
    return drive(plan.port, plan.connections, iter(requests.next, None), plan.seconds)


def drive(port: int, connections: int, requests: Iterator[bytes], seconds: float) -> Report:
    """Closed load of whatever these requests are."""
    waiting = selectors.DefaultSelector()
    for _ in range(connections):
        connection = Connection(port)
        waiting.register(connection.socket, selectors.EVENT_READ, connection)
        connection.send(next(requests))
    began, latencies, statuses = time.perf_counter(), [], Counter[int]()
    while (now := time.perf_counter()) - began < seconds:
        for key, _ in waiting.select(timeout=1):
            connection = key.data
            status = connection.status()
            if status is not None:
                latencies.append(time.perf_counter() - connection.sent_at)
                statuses[status] += 1
                connection.send(next(requests))
    latencies.sort()
    at = [latencies[int(len(latencies) * share)] * 1e3 for share in (0.5, 0.95, 0.99)]
    refused = sum(count for status, count in statuses.items() if not 200 <= status < 300)
    return Report("our own generator", len(latencies) / (now - began), *at, refused)


def in_turns(plans: Sequence[Plan], times: int) -> list[float]:
    """One caller who sends to each in turn: the median of each, in ms. Whatever the machine does falls on all alike."""
    sources = [(Requests(plan), Connection(plan.port), []) for plan in plans]
    for _ in range(times):
        for requests, connection, taken in sources:
            connection.send(requests.next())
            while (status := connection.status()) is None:
                pass
            if status != 200:
                raise RuntimeError(f"an answer was {status}")
            taken.append(time.perf_counter() - connection.sent_at)
    for _, connection, _ in sources:
        connection.socket.close()
    return [median(taken[times // 10 :]) * 1e3 for _, _, taken in sources]


if __name__ == "__main__":
    print(json.dumps(asdict(generate(Plan(**json.load(sys.stdin))))))

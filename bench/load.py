"""Load over HTTP: `wrk` where it is installed, else our own generator, in a process of its own either way.

The load is closed: a fixed number of connections, each sending its next request when it has its answer. Requests are
prepared in a file, so that making them costs the machine nothing while it is measured.
"""

import itertools
import json
import math
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
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parent.parent
AT_MOST_A_SECOND = 30_000
"""Requests are prepared for this rate; whoever is faster runs out of them, and the load ends early."""
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
    requests = iter(Requests(plan).next, None)
    report = drive(plan.port, plan.connections, requests, plan.seconds)
    if report.refused and not plan.may_be_refused:
        raise RuntimeError(f"{report.refused} answers of {plan.path} were refusals or errors")
    return report


def drive(
    port: int, connections: int, requests: Iterator[bytes], seconds: float, at_most_a_second: int = AT_MOST_A_SECOND
) -> Report:
    """Closed load of these requests, each sent once: they are written down first, so that sending costs little.

    `wrk` must send something when there is none left; it asks for a page then, whose answer it does not wait for.
    """
    with tempfile.TemporaryDirectory() as folder:
        prepared = Path(folder) / "requests"
        with prepared.open("wb") as file:
            for request in itertools.islice(requests, connections + int(at_most_a_second * seconds)):
                file.write(b"%d\n%b" % (len(request), request))
        if shutil.which("wrk"):
            return _with_wrk(prepared, port, connections, seconds)
        return _with_our_own(prepared, port, connections, seconds)


def drive_at(port: int, rate: float, requests: Iterator[bytes], seconds: float, connections: int = 64) -> Report:
    """Open load: so many a second, whatever the answers do. What waits for a free connection waits, and that counts."""
    with tempfile.TemporaryDirectory() as folder:
        prepared = Path(folder) / "requests"
        with prepared.open("wb") as file:
            for request in itertools.islice(requests, int(rate * seconds)):
                file.write(b"%d\n%b" % (len(request), request))
        return _with_our_own(prepared, port, connections, seconds, rate)


LUA = """
local prepared, requests, sent = io.open("%s", "rb"), {}, 0
while true do
    local length = prepared:read("*l")
    if not length then break end
    requests[#requests + 1] = prepared:read(tonumber(length))
end
request = function()
    if sent == #requests then
        wrk.thread:stop()
        return "GET / HTTP/1.1\\r\\nhost: 127.0.0.1\\r\\n\\r\\n"
    end
    sent = sent + 1
    return requests[sent]
end
done = function(summary, latency, requests)
    print(string.format('{"requests": %%d, "micros": %%d, "refused": %%d, "p50": %%f, "p95": %%f, "p99": %%f}',
        summary.requests, summary.duration, summary.errors.status + summary.errors.connect + summary.errors.read
        + summary.errors.write + summary.errors.timeout,
        latency:percentile(50), latency:percentile(95), latency:percentile(99)))
end
"""


def _with_wrk(prepared: Path, port: int, connections: int, seconds: float) -> Report:
    script = prepared.with_suffix(".lua")
    script.write_text(LUA % prepared)
    # Whoever waits longer than wrk's usual two seconds would count as refused.
    command = ["wrk", "-t1", f"-c{connections}", f"-d{math.ceil(seconds)}s", "--timeout", "30s", "-s", str(script)]
    said = subprocess.run([*command, f"http://127.0.0.1:{port}"], capture_output=True, text=True, check=True).stdout
    figures = json.loads([line for line in said.splitlines() if line.startswith("{")][-1])
    rate = figures["requests"] / figures["micros"] * 1e6
    return Report("wrk", rate, figures["p50"] / 1e3, figures["p95"] / 1e3, figures["p99"] / 1e3, figures["refused"])


def _with_our_own(prepared: Path, port: int, connections: int, seconds: float, rate: float = 0) -> Report:
    command = [sys.executable, "-m", "bench.load", str(prepared), str(port), str(connections), str(seconds), str(rate)]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return Report(**json.loads(said))


class HungUp(ConnectionError):
    """The server ended the connection: nobody had said anything for a while."""


class Connection:
    """One connection of our own generator: sends, and sends again when the whole answer is there."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.sent_at = 0.0
        self.body = b""
        """Of the last answer."""
        self._asked = b""
        """What is not answered yet."""
        self._got = b""
        self._connect()

    def _connect(self) -> None:
        self.socket = socket.create_connection(("127.0.0.1", self._port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, request: bytes) -> None:
        self.sent_at, self._asked = time.perf_counter(), request
        with suppress(ConnectionError):  # It is heard of where the answer is read.
            self.socket.sendall(request)

    def send_again(self) -> None:
        """On a new connection, what was not answered on the old one."""
        self.socket.close()
        self._connect()
        self._got = b""
        if self._asked:
            self.socket.sendall(self._asked)

    def status(self) -> int | None:
        """Of the answer, once all of it has come."""
        try:
            came = self.socket.recv(65536)
        except ConnectionError as lost:
            raise HungUp from lost
        if not came:
            raise HungUp
        self._got += came
        head, end, body = self._got.partition(b"\r\n\r\n")
        if not end:
            return None
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        if len(body) < length:
            return None
        self.body, self._got, self._asked = body, b"", b""
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


def generate(prepared: Path, port: int, connections: int, seconds: float) -> Report:
    """What wrk does, where there is none."""
    requests, waiting = _read(prepared), selectors.DefaultSelector()
    for request in itertools.islice(requests, connections):
        connection = Connection(port)
        waiting.register(connection.socket, selectors.EVENT_READ, connection)
        connection.send(request)
    began, latencies, statuses = time.perf_counter(), [], Counter[int]()
    while (now := time.perf_counter()) - began < seconds and waiting.get_map():
        for key, _ in waiting.select(timeout=1):
            connection = key.data
            status = connection.status()
            if status is None:
                continue
            latencies.append(time.perf_counter() - connection.sent_at)
            statuses[status] += 1
            if request := next(requests, b""):
                connection.send(request)
            else:
                waiting.unregister(connection.socket)
    latencies.sort()
    at = [latencies[int(len(latencies) * share)] * 1e3 for share in (0.5, 0.95, 0.99)]
    refused = sum(count for status, count in statuses.items() if not 200 <= status < 300)
    return Report("our own generator", len(latencies) / (now - began), *at, refused)


def generate_at(prepared: Path, port: int, connections: int, rate: float) -> Report:
    """Each at its own moment, counted from then: an answer that comes late delays nobody's clock but its own."""
    requests, waiting = list(_read(prepared)), selectors.DefaultSelector()
    idle = [Connection(port) for _ in range(connections)]
    for connection in idle:
        waiting.register(connection.socket, selectors.EVENT_READ, connection)
    began, latencies, statuses, sent = time.perf_counter(), list[float](), Counter[int](), 0
    while len(latencies) < len(requests):
        due = began + sent / rate
        while sent < len(requests) and idle and time.perf_counter() >= due:
            connection = idle.pop()
            connection.send(requests[sent])
            connection.sent_at, sent = due, sent + 1
            due = began + sent / rate
        waits = max(due - time.perf_counter(), 0) if sent < len(requests) and idle else 1
        for key, _ in waiting.select(timeout=waits):
            if (status := key.data.status()) is not None:
                latencies.append(time.perf_counter() - key.data.sent_at)
                statuses[status] += 1
                idle.append(key.data)
    taken = time.perf_counter() - began
    latencies.sort()
    at = [latencies[int(len(latencies) * share)] * 1e3 for share in (0.5, 0.95, 0.99)]
    refused = sum(count for status, count in statuses.items() if not 200 <= status < 300)
    return Report("our own generator", len(latencies) / taken, *at, refused)


def _read(prepared: Path) -> Iterator[bytes]:
    with prepared.open("rb") as file:
        while length := file.readline():
            yield file.read(int(length))


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
    file, *numbers = sys.argv[1:]
    port, connections, seconds, rate = int(numbers[0]), int(numbers[1]), float(numbers[2]), float(numbers[3])
    paced = rate and generate_at(Path(file), port, connections, rate)
    print(json.dumps(asdict(paced or generate(Path(file), port, connections, seconds))))

"""What we say about ourselves while running: one JSON line per event, and figures for Prometheus.

Promise: every line carries `correlationId` and `orgId` (null when there is none, OPS-005), is redacted (`redaction`)
before it is written, is one line whatever is in it, and logging never raises. Libraries that use Python's own logging
come out the same way. Exceptions show their type, their redacted message and where they passed, never the values of
variables. Figures live in the registry of one application, not in a global one.

    log = logger()
    with bound(correlationId=call.correlation_id, orgId=call.organization):
        log.info("contract.served", contract="C03", status=200)
"""

import logging
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from itertools import islice
from traceback import walk_tb
from types import TracebackType
from typing import Any, BinaryIO, cast

import msgspec
import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from structlog.typing import FilteringBoundLogger

from admitone.kernel.redaction import redact_fields, redact_text, words_of

_MOST_FRAMES = 30
_MOST_CAUSES = 5
_LONGEST_LINE = 64_000

_nothing: Mapping[str, Any] = {"correlationId": None, "orgId": None}
_context: ContextVar[Mapping[str, Any]] = ContextVar("admitone_log_context", default=_nothing)


@contextmanager
def bound(**ids: Any) -> Iterator[None]:
    """Everything logged inside, in this task and those it starts, carries these ids."""
    token = _context.set({**_context.get(), **ids})
    try:
        yield
    finally:
        _context.reset(token)


def bind(**ids: Any) -> None:
    """The same for the rest of a task that is ours alone: a request runs in one."""
    _context.set({**_context.get(), **ids})


class Output:
    """Where lines go. One for the process; loggers that live for ever find the present stream through it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.stream: BinaryIO | None = None

    def write(self, line: bytes) -> None:
        stream = self.stream or sys.stdout.buffer
        with self._lock, suppress(OSError, ValueError):  # A closed pipe is no reason to refuse a request.
            stream.write(line + b"\n")
            stream.flush()

    debug = info = warning = error = critical = exception = msg = write


_output = Output()


def logger() -> FilteringBoundLogger:
    return cast("FilteringBoundLogger", structlog.get_logger())


def configure(level: str = "info", stream: BinaryIO | None = None) -> None:
    """Send all logs, ours and those of libraries, to standard output as JSON lines.

    Loggers keep the level that they were first used with; the stream can change at any time.
    """
    _output.stream = stream
    minimum = logging.getLevelNamesMapping()[level.upper()]
    _configure_structlog(minimum, keep=True)
    root = logging.getLogger()
    root.handlers[:] = [LibraryLogs()]
    root.setLevel(minimum)


def _configure_structlog(minimum: int, *, keep: bool) -> None:
    structlog.configure(
        processors=[line_of],
        wrapper_class=structlog.make_filtering_bound_logger(minimum),
        logger_factory=lambda *_: _output,
        cache_logger_on_first_use=keep,
    )


class LibraryLogs(logging.Handler):
    """Takes what libraries log and writes it as we write ours."""

    def emit(self, record: logging.LogRecord) -> None:
        fields = {"event": _said_by(record), "logger": record.name, "exc_info": record.exc_info}
        _output.write(line_of(None, record.levelname.lower(), fields))


def _said_by(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # noqa: BLE001  A library whose arguments do not fit its text must not stop us.
        return str(record.msg)


def line_of(_logger: Any, level: str, fields: MutableMapping[str, Any]) -> bytes:
    """One event as one line of JSON. It cannot fail: a line that cannot be written says so instead."""
    try:
        return _encoded(_line(level, fields))
    except Exception as failure:  # noqa: BLE001  See the promise: logging never raises.
        return _encoded({"at": _now(), "level": level, "event": "log.failed", "error": type(failure).__name__})


def _line(level: str, fields: MutableMapping[str, Any]) -> dict[str, Any]:
    raised = fields.pop("exc_info", None)
    fields.pop("stack_info", None)
    shown = redact_fields({**_context.get(), **fields})
    # Ours come first and cannot be overwritten.
    shown.pop("at", None)
    shown.pop("level", None)
    line = {"at": _now(), "level": "error" if level == "exception" else level, "event": shown.pop("event", ""), **shown}
    if raised:
        line["exception"] = _told(_exception(raised))
    return line


def _encoded(line: dict[str, Any]) -> bytes:
    try:
        encoded = msgspec.json.encode(line)
    except UnicodeEncodeError:
        encoded = msgspec.json.encode(_without_surrogates(line))
    if len(encoded) <= _LONGEST_LINE:
        return encoded
    ours = {name: line.get(name) for name in ("at", "level", "event", "correlationId", "orgId")}
    return msgspec.json.encode({**ours, "cut": len(encoded)})


def _without_surrogates(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-8", "replace").decode()
        case dict():
            return {_without_surrogates(key): _without_surrogates(inner) for key, inner in value.items()}
        case list():
            return [_without_surrogates(inner) for inner in value]
        case _:
            return value


def _now() -> datetime:
    # The process's own clock: a log line tells when it was written, not when business happened.
    return datetime.now(UTC)


def _exception(raised: Any) -> BaseException | None:
    match raised:
        case BaseException():
            return raised
        case (_, BaseException() as error, _):
            return error
        case _:
            return sys.exc_info()[1]


def _told(error: BaseException | None) -> list[dict[str, Any]]:
    """The exception and what caused it, each with type, message and the places it passed."""
    chain: list[dict[str, Any]] = []
    while error is not None and len(chain) < _MOST_CAUSES:
        told: dict[str, Any] = {
            "type": f"{type(error).__module__}.{type(error).__qualname__}",
            "message": redact_text(words_of(error)),
            "stack": _places(error.__traceback__),
        }
        if isinstance(error, BaseExceptionGroup):
            told["within"] = [_told(inner)[0] for inner in error.exceptions[:_MOST_CAUSES]]
        chain.append(told)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return chain


def _places(traceback: TracebackType | None) -> list[str]:
    """`kernel/db.py:120 run`, the innermost last. Folders of the machine are nobody's business."""
    frames = ((frame.f_code, line) for frame, line in walk_tb(traceback))
    places = [
        f"{'/'.join(code.co_filename.split('/')[-2:])}:{line} {code.co_name}" for code, line in islice(frames, 500)
    ]
    return places[-_MOST_FRAMES:]


# Until somebody configures, nothing may escape unredacted either.
_configure_structlog(logging.INFO, keep=False)


CONTENT_TYPE = CONTENT_TYPE_LATEST
"""Of what `render` gives."""

_LATENCY_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.8, 1.6, 5.0)
"""0.4 and 0.8 are promises (OPS-003) and 0.3 is a threshold (OPS-002), so they are borders."""
_WAIT_SECONDS = (0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0)
_JOB_SECONDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0, 60.0, 120.0, 300.0, 900.0)
"""120 and 300 are thresholds (OPS-002)."""
_CALL_SECONDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_BATCH_INPUTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """The figures of one application. Bind the labels once, outside the hot path: `latency.labels("C03")`."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # Twice the lines, and nobody reads them.
        own = self.registry = CollectorRegistry(auto_describe=True)
        self.requests = Counter(
            "admitone_contract_requests",
            "Requests answered, by contract, HTTP status and error code (empty when it went well).",
            ("contract", "status", "error_code"),
            registry=own,
        )
        self.latency = Histogram(
            "admitone_contract_seconds",
            "From the first byte read to the answer.",
            ("contract",),
            registry=own,
            buckets=_LATENCY_SECONDS,
        )
        self.batch_size = Histogram(
            "admitone_batch_inputs",
            "Inputs that shared one transaction.",
            ("command",),
            registry=own,
            buckets=_BATCH_INPUTS,
        )
        self.batch_wait = Histogram(
            "admitone_batch_wait_seconds",
            "How long an input waited for the batch before its own.",
            ("command",),
            registry=own,
            buckets=_WAIT_SECONDS,
        )
        self.retries = Counter(
            "admitone_command_retries",
            "Transactions run again, by cause.",
            ("role", "cause"),
            registry=own,
        )
        self.pool = Gauge(
            "admitone_pool_connections",
            "Connections to the database, by role and by state (busy, idle).",
            ("role", "state"),
            registry=own,
        )
        self.calls_out = CallsOut(own)
        self.jobs = JobFigures(own)

    def retried(self, role: str, cause: str) -> None:
        """What `db` tells of each transaction that is run again."""
        self.retries.labels(role, cause).inc()

    def watch_pool(self, role: str, count: Callable[[], tuple[int, int]]) -> None:
        """Ask for busy and idle connections whenever somebody looks."""
        self.pool.labels(role, "busy").set_function(lambda: count()[0])
        self.pool.labels(role, "idle").set_function(lambda: count()[1])

    def flew(self, command: str, size: int, waited_seconds: float) -> None:
        """What `batch` tells of each flight."""
        self.batch_size.labels(command).observe(size)
        self.batch_wait.labels(command).observe(waited_seconds)


class JobFigures:
    """What `jobs` tells."""

    def __init__(self, own: CollectorRegistry) -> None:
        self._executed = Counter(
            "admitone_jobs", "Jobs executed, by kind and outcome (done, failed).", ("kind", "outcome"), registry=own
        )
        self._buried = Counter(
            "admitone_jobs_buried",
            "Jobs that became dead letters, by kind and reason.",
            ("kind", "reason"),
            registry=own,
        )
        self.wait = Histogram(
            "admitone_job_wait_seconds",
            "From the instant a job was due to its claim.",
            ("lane",),
            registry=own,
            buckets=_JOB_SECONDS,
        )
        self._took = Histogram(
            "admitone_job_run_seconds",
            "Of an execution; of many jobs, where they share a transaction.",
            ("kind",),
            registry=own,
            buckets=_JOB_SECONDS,
        )
        self._relayed = Counter("admitone_facts_relayed", "Facts told to their subscribers.", registry=own)

    def executed(self, kind: str, done: int, failed: int, seconds: float) -> None:
        self._executed.labels(kind, "done").inc(done)
        self._executed.labels(kind, "failed").inc(failed)
        self._took.labels(kind).observe(seconds)

    def buried(self, kind: str, reason: str) -> None:
        self._buried.labels(kind, reason).inc()

    def waited(self, lane: str, seconds: float, organization: object) -> None:
        """With an organisation that felt it as the example."""
        self.wait.labels(lane).observe(seconds, {"orgId": str(organization)})

    def relayed(self, facts: int) -> None:
        self._relayed.inc(facts)


class CallsOut:
    """The figures of those we depend on."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.breaker = Gauge(
            "admitone_breaker_state",
            "How this process last saw the breaker of a dependency: 0 closed, 1 half open, 2 open.",
            ("dependency",),
            registry=registry,
        )
        self.breaker_changes = Counter(
            "admitone_breaker_changes",
            "Changes of a breaker's state, by the state that it came to.",
            ("dependency", "state"),
            registry=registry,
        )
        self.calls = Counter(
            "admitone_outbound_calls",
            "Calls to a dependency, by outcome: the class of the answer's status, not_sent, unknown.",
            ("dependency", "outcome"),
            registry=registry,
        )
        self.seconds = Histogram(
            "admitone_outbound_seconds",
            "From the decision to call to the last byte of the answer, or to giving up.",
            ("dependency",),
            registry=registry,
            buckets=_CALL_SECONDS,
        )

    def breaker_is(self, dependency: str, state: str) -> None:
        """What `breaker` tells of each call that it admits or rejects."""
        self.breaker.labels(dependency).set(("CLOSED", "HALF_OPEN", "OPEN").index(state))

    def called(self, dependency: str, outcome: str, seconds: float) -> None:
        """What `outbound` tells of each call."""
        self.calls.labels(dependency, outcome).inc()
        self.seconds.labels(dependency).observe(seconds)


def render(registry: CollectorRegistry) -> bytes:
    """What /metrics answers."""
    return generate_latest(registry)

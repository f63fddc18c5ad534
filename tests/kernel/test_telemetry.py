"""Logs: one redacted JSON line per event, whatever happens. Metrics: figures of one application."""

import asyncio
import io
import json
import logging
import time

import pytest
import structlog

from admitone.kernel import telemetry
from admitone.kernel.ids import OrganizationId, uuid7
from admitone.kernel.telemetry import Metrics, bound, configure, logger, render


class Lines(io.BytesIO):
    def read_all(self) -> list[dict]:
        return [json.loads(line) for line in self.getvalue().splitlines()]

    @property
    def only(self) -> dict:
        (line,) = self.read_all()
        return line


@pytest.fixture
def lines():
    root, before = logging.getLogger(), structlog.get_config()
    handlers, level, stream = root.handlers[:], root.level, telemetry._output.stream
    out = Lines()
    configure(stream=out)
    yield out
    structlog.configure(**before)
    telemetry._output.stream, root.handlers[:] = stream, handlers
    root.setLevel(level)


@pytest.mark.covers("OPS-005")
def test_every_line_carries_correlation_and_organization(lines):
    organization, correlation = OrganizationId.new(), uuid7()
    with bound(correlationId=correlation, orgId=organization):
        with bound(entitlementId="ent_1"):
            logger().info("scan.refused", reason="UNKNOWN")
        logging.getLogger("library").warning("slow")
    logger().info("idle")
    mine, library, idle = lines.read_all()
    assert mine["entitlementId"] == "ent_1" and mine["reason"] == "UNKNOWN"
    for line in (mine, library):
        assert (line["correlationId"], line["orgId"]) == (str(correlation), str(organization))
    assert "entitlementId" not in library
    assert idle["correlationId"] is None and idle["orgId"] is None


@pytest.mark.covers("OPS-005")
async def test_tasks_that_run_together_do_not_mix_their_ids(lines):
    async def serve(number: int) -> None:
        with bound(correlationId=number):
            await asyncio.sleep(0)
            logger().info("served", number=number)

    await asyncio.gather(*(serve(number) for number in range(20)))
    assert len(lines.read_all()) == 20
    assert all(line["correlationId"] == line["number"] for line in lines.read_all())


def test_an_event_is_one_line_with_time_and_level(lines):
    logger().warning("two\nlines", text="a\r\nb\u2028c\x00")
    assert lines.getvalue().count(b"\n") == 1
    assert lines.only["level"] == "warning" and lines.only["event"] == "two\nlines"
    assert lines.only["at"].endswith("Z")


def test_what_is_below_the_level_is_not_written(lines):
    logger().debug("noise")
    logging.getLogger("library").debug("noise")
    assert lines.getvalue() == b""


def test_ours_cannot_be_overwritten(lines):
    logger().info("true", at="never", level="none")
    assert lines.only["level"] == "info" and lines.only["at"] != "never"


@pytest.mark.covers("PRV-004")
def test_an_exception_tells_type_and_place_but_no_person_and_no_variables(lines):
    password = "hunter2"
    try:
        try:
            raise KeyError("ana@example.org")
        except KeyError as error:
            raise ValueError(f"cannot mail ana@example.org with password={password}") from error
    except ValueError:
        logger().exception("mail.failed")
    assert b"ana@" not in lines.getvalue() and b"hunter2" not in lines.getvalue()
    outer, inner = lines.only["exception"]
    assert (outer["type"], inner["type"]) == ("builtins.ValueError", "builtins.KeyError")
    assert outer["message"].startswith("cannot mail [redacted]")
    assert outer["stack"][-1].startswith("kernel/test_telemetry.py:")
    assert lines.only["level"] == "error"


@pytest.mark.covers("PRV-004")
def test_the_exceptions_of_a_group_are_told_and_redacted_too(lines):
    logger().error(
        "failed", exc_info=ExceptionGroup("both for ana@example.org", [ValueError("ana@example.org"), OSError("x")])
    )
    assert b"ana@" not in lines.getvalue()
    assert [inner["type"] for inner in lines.only["exception"][0]["within"]] == [
        "builtins.ValueError",
        "builtins.OSError",
    ]


def test_an_endless_chain_and_an_endless_stack_are_cut(lines):
    one, other = ValueError("one"), ValueError("other")
    one.__cause__, other.__cause__ = other, one
    logger().error("chain", exc_info=one)

    def dig(depth: int) -> None:
        dig(depth + 1)

    try:
        dig(0)
    except RecursionError:
        logger().exception("deep")
    chain, deep = lines.read_all()
    assert len(chain["exception"]) == 5
    assert len(deep["exception"][0]["stack"]) <= 30


@pytest.mark.covers("PRV-004")
def test_libraries_are_written_and_redacted_like_ourselves(lines):
    library = logging.getLogger("library.part")
    library.warning("login of %s failed", "ana@example.org")
    try:
        raise OSError("token=hunter2")
    except OSError:
        library.exception("broken")
    first, second = lines.read_all()
    assert first["event"] == "login of [redacted] failed" and first["logger"] == "library.part"
    assert second["exception"][0]["message"] == "token=[redacted]" and second["level"] == "error"


def test_a_library_whose_arguments_do_not_fit_is_heard_all_the_same(lines):
    record = logging.LogRecord("library", logging.WARNING, "x.py", 1, "%d wrong arguments", ("not a number",), None)
    telemetry.LibraryLogs().handle(record)
    assert lines.only["event"] == "%d wrong arguments"


class Explosive(dict):
    def items(self):
        raise RuntimeError("boom")


@pytest.mark.parametrize(
    "odd",
    ["\ud800", {"\ud800": ["\udfff"]}, 2**70, float("nan"), Explosive(a=1), b"\xff\xfe", object(), {1: {None: {}}}],
)
def test_logging_never_raises(lines, odd):
    logger().info("odd", value=odd)
    assert lines.only["event"] in ("odd", "log.failed")


def test_letters_that_cannot_be_written_are_replaced_and_the_rest_is_told(lines):
    logger().info("odd", value="a\ud800b", nested={"\ud800": ["\udfff"]}, status=200)
    assert lines.only["event"] == "odd" and lines.only["value"] == "a?b" and lines.only["status"] == 200


def test_a_closed_stream_does_not_stop_a_request(lines):
    lines.close()
    logger().info("nobody hears this")


def test_a_line_is_never_endless(lines):
    logger().info("large", **{f"k{number}": ["\x00" * 1_900] * 20 for number in range(60)})
    assert len(lines.getvalue()) < 100_000


@pytest.mark.covers("PRV-004")
def test_before_anybody_configures_nothing_escapes_either(capsysbinary):
    logger().info("early", email="ana@example.org")
    assert json.loads(capsysbinary.readouterr().out)["email"] == "[redacted]"


def test_a_line_is_cheap(lines):
    log = logger().bind()
    with bound(correlationId=str(uuid7()), orgId=str(OrganizationId.new())):
        best = min(
            seconds_for(2_000, lambda: log.info("contract.served", contract="C03", status=200)) for _ in range(5)
        )
    assert best / 2_000 < 5e-3  # About 10 µs when nobody else uses the machine.


def seconds_for(times: int, action) -> float:
    started = time.perf_counter()
    for _ in range(times):
        action()
    return time.perf_counter() - started


@pytest.mark.covers("CON-007")
def test_figures_are_counted_per_contract_status_and_error_code():
    metrics = Metrics()
    served, latency = metrics.requests.labels("C03", "200", ""), metrics.latency.labels("C03")
    served.inc()
    served.inc()
    metrics.requests.labels("C03", "409", "CONFLICT").inc()
    latency.observe(0.3)
    page = render(metrics.registry).decode()
    assert 'admitone_contract_requests_total{contract="C03",error_code="",status="200"} 2.0' in page
    assert 'admitone_contract_requests_total{contract="C03",error_code="CONFLICT",status="409"} 1.0' in page
    assert 'admitone_contract_seconds_bucket{contract="C03",le="0.4"} 1.0' in page
    assert 'admitone_contract_seconds_bucket{contract="C03",le="0.2"} 0.0' in page


def test_batches_retries_and_pools_are_figures_too():
    metrics = Metrics()
    metrics.flew("increment", 17, 0.002)
    metrics.retried("admitone_app", "DeadlockDetectedError")
    metrics.watch_pool("admitone_app", lambda: (3, 1))
    page = render(metrics.registry).decode()
    assert 'admitone_batch_inputs_bucket{command="increment",le="32.0"} 1.0' in page
    assert 'admitone_batch_wait_seconds_count{command="increment"} 1.0' in page
    assert 'admitone_command_retries_total{cause="DeadlockDetectedError",role="admitone_app"} 1.0' in page
    assert 'admitone_pool_connections{role="admitone_app",state="busy"} 3.0' in page
    assert "_created" not in page


def test_two_applications_do_not_share_figures():
    one, other = Metrics(), Metrics()
    one.retried("admitone_app", "DeadlockDetectedError")
    assert b"deadlock" not in render(other.registry)

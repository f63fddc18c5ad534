"""Calls out: what is known afterwards, how much they may cost, and when they are not made at all."""

import asyncio
import datetime
import gc
import io
import json
import socket
import ssl
import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from admitone.kernel import failpoints, telemetry
from admitone.kernel.batch import Batcher
from admitone.kernel.breaker import Breakers, Dependency, DependencyUnavailable
from admitone.kernel.db import Database, PlatformTx, Tx
from admitone.kernel.driver import DatabaseUnavailable
from admitone.kernel.ids import uuid7
from admitone.kernel.outbound import (
    USER_AGENT,
    Answer,
    CallInsideTransaction,
    DependencyUnreachable,
    NotSent,
    Outbound,
    Outcome,
    Request,
    Unknown,
)
from admitone.kernel.scope import Caller, PlatformScope, Role
from admitone.kernel.targets import TargetForbidden
from admitone.kernel.telemetry import Metrics
from tests.builders import a_caller, an_organization
from tests.peer import Peer, a_peer
from tests.proxy import a_wire


@pytest.fixture
async def peer() -> AsyncIterator[Peer]:
    async with a_peer() as peer:
        yield peer


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


@pytest.fixture
async def outbound(batcher: Batcher, metrics: Metrics) -> AsyncIterator[Outbound]:
    async with Outbound(Breakers(batcher, metrics), metrics) as outbound:
        yield outbound


@pytest.fixture
def dependency() -> Dependency:
    return Dependency(f"test_{uuid7().hex}")


@pytest.fixture
def lines() -> AsyncIterator[io.BytesIO]:
    written = io.BytesIO()
    telemetry._output.stream = written
    yield written
    telemetry._output.stream = None


def a_request(url: str, method: str = "GET", **changes: object) -> Request:
    return Request(**{"method": method, "url": url, "user_given": False, **changes})  # type: ignore[arg-type]


async def call(outbound: Outbound, dependency: Dependency, url: str, **changes: object) -> Outcome:
    return await outbound.call(dependency, a_request(url, **changes), a_caller())


async def test_an_answer_is_given_as_it_came(outbound: Outbound, dependency: Dependency, peer: Peer) -> None:
    caller = Caller()
    request = a_request(peer.url("/ok?a=1"), "POST", body=b"12345", headers={"Idempotency-Key": "k1"})
    answer = await outbound.call(dependency, request, caller)
    assert isinstance(answer, Answer)
    assert (answer.status, json.loads(answer.body), answer.headers["x-two"]) == (200, {"got": 5}, "a, b")
    [received] = peer.received
    assert (received.method, received.path, received.body) == ("POST", "/ok?a=1", b"12345")
    assert received.headers == {
        "host": f"127.0.0.1:{peer.port}",
        "user-agent": USER_AGENT,
        "accept": "*/*",
        "accept-encoding": "gzip",
        "x-correlation-id": str(caller.correlation_id),
        "content-length": "5",
        "idempotency-key": "k1",
    }


async def test_a_post_without_a_body_says_so(outbound: Outbound, dependency: Dependency, peer: Peer) -> None:
    assert isinstance(await call(outbound, dependency, peer.url(), method="POST"), Answer)
    assert peer.received[0].headers["content-length"] == "0"


async def test_a_connection_is_used_again(outbound: Outbound, dependency: Dependency, peer: Peer) -> None:
    for _ in range(3):
        assert isinstance(await call(outbound, dependency, peer.url()), Answer)
    assert peer.connections == 1


@pytest.mark.parametrize("status", [200, 204, 302, 400, 402, 404, 409, 422, 429, 500, 503])
async def test_every_status_is_an_answer(
    outbound: Outbound, dependency: Dependency, peer: Peer, metrics: Metrics, status: int
) -> None:
    answer = await call(outbound, dependency, peer.url(f"/{status}"))
    assert isinstance(answer, Answer) and answer.status == status
    assert metrics.calls_out.calls.labels(dependency.name, f"{status // 100}xx")._value.get() == 1
    assert metrics.calls_out.seconds.labels(dependency.name)._sum.get() > 0


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/hang", None),
        ("/reset", None),
        ("/leave", None),
        ("/junk", None),
        ("/drip-headers", None),
        ("/endless-headers", None),
        ("/reset-midway", 200),
        ("/leave-midway", 200),
        ("/drip", 200),
        ("/large", 200),
        ("/endless", 200),
        ("/bomb", 200),
        ("/packed-in-half", 200),
        ("/packed-and-more", 200),
        ("/packed-badly", 200),
        ("/packed-strangely", 200),
    ],
)
async def test_what_was_sent_and_not_answered_is_unknown(
    outbound: Outbound, dependency: Dependency, peer: Peer, metrics: Metrics, path: str, status: int | None
) -> None:
    deadline = 2 if path in ("/hang", "/drip", "/drip-headers") else 30
    outcome = await call(outbound, dependency, peer.url(path), deadline_seconds=deadline, limit_bytes=100_000)
    assert isinstance(outcome, Unknown)
    assert outcome.status == status
    assert len(peer.received) == 1, "and it is not sent again"
    assert metrics.calls_out.calls.labels(dependency.name, "unknown")._value.get() == 1


async def test_silence_is_given_up_before_the_deadline(outbound: Outbound, dependency: Dependency, peer: Peer) -> None:
    outcome = await call(outbound, dependency, peer.url("/hang"), read_seconds=0.1, deadline_seconds=50)
    assert outcome == Unknown("ReadTimeout")


async def test_a_bomb_does_not_go_off(outbound: Outbound, dependency: Dependency, peer: Peer) -> None:
    tracemalloc.start()
    try:
        assert isinstance(await call(outbound, dependency, peer.url("/bomb"), limit_bytes=100_000), Unknown)
        assert tracemalloc.get_traced_memory()[1] < 4_000_000, "of the twenty megabytes that it holds"
    finally:
        tracemalloc.stop()


async def test_an_answer_as_large_as_allowed_is_taken(outbound: Outbound, dependency: Dependency, peer: Peer) -> None:
    for limit, kind in ((200_000, Answer), (199_999, Unknown)):
        assert isinstance(await call(outbound, dependency, peer.url("/large"), limit_bytes=limit), kind)
    for limit, kind in ((20 * 2**20, Answer), (20 * 2**20 - 1, Unknown)):
        assert isinstance(await call(outbound, dependency, peer.url("/bomb"), limit_bytes=limit), kind)


async def test_a_packed_answer_is_unpacked(outbound: Outbound, dependency: Dependency, peer: Peer) -> None:
    answer = await call(outbound, dependency, peer.url("/packed"))
    assert isinstance(answer, Answer) and answer.body == b"unpacked"


@pytest.fixture
def closed_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


async def test_where_nobody_listens_nothing_was_sent(
    outbound: Outbound, dependency: Dependency, closed_port: int
) -> None:
    outcome = await call(outbound, dependency, f"http://127.0.0.1:{closed_port}/")
    assert outcome == NotSent("ConnectError", DependencyUnreachable())


async def test_who_does_not_greet_was_sent_nothing(outbound: Outbound, dependency: Dependency, peer: Peer) -> None:
    """It takes the connection and waits for more, so that TLS is never agreed on."""
    url = peer.url(scheme="https")
    outcome = await call(outbound, dependency, url, connect_seconds=0.2)
    assert outcome == NotSent("ConnectTimeout", DependencyUnreachable())
    outcome = await call(outbound, dependency, url, deadline_seconds=0.2)
    assert outcome == NotSent("TimeoutError", DependencyUnreachable())
    gc.collect()  # A connection that was left open would be heard of now.


async def test_a_name_that_nobody_knows_was_sent_nothing(
    batcher: Batcher, metrics: Metrics, dependency: Dependency
) -> None:
    async def unknown(host: str, port: int) -> list[str]:
        raise socket.gaierror("Name or service not known")

    async def mute(host: str, port: int) -> list[str]:
        await asyncio.sleep(3600)
        return []

    async def empty(host: str, port: int) -> list[str]:
        return []

    for resolve in (unknown, mute, empty):
        async with Outbound(Breakers(batcher, metrics), metrics, resolve=resolve) as outbound:
            outcome = await call(outbound, dependency, "http://stripe.example/", connect_seconds=0.1)
            assert isinstance(outcome, NotSent) and isinstance(outcome.refusal, DependencyUnreachable)


async def test_the_next_address_is_tried_when_the_first_is_dead(
    batcher: Batcher, metrics: Metrics, dependency: Dependency, peer: Peer
) -> None:
    async def two(host: str, port: int) -> list[str]:
        return ["127.9.9.9", "127.0.0.1"]

    async with Outbound(Breakers(batcher, metrics), metrics, resolve=two) as outbound:
        assert isinstance(await call(outbound, dependency, peer.url(host="stripe.example")), Answer)
    assert peer.received[0].headers["host"] == f"stripe.example:{peer.port}"


async def test_the_systems_names_lead_to_trusted_targets(
    outbound: Outbound, dependency: Dependency, peer: Peer
) -> None:
    assert isinstance(await call(outbound, dependency, peer.url(host="localhost")), Answer)


async def test_a_redirect_is_an_answer_and_nobody_follows_it(
    outbound: Outbound, dependency: Dependency, peer: Peer
) -> None:
    answer = await call(outbound, dependency, peer.url("/redirect"), method="POST", body=b"card")
    assert isinstance(answer, Answer) and answer.status == 307
    assert answer.headers["location"] == peer.url("/ok")
    assert [received.path for received in peer.received] == ["/redirect"]


async def test_nothing_is_kept_between_calls_and_nothing_is_taken_from_the_environment(
    dependency: Dependency,
    peer: Peer,
    batcher: Batcher,
    metrics: Metrics,
    closed_port: int,
    monkeypatch,
    tmp_path: Path,
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{closed_port}")
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login us password s3cret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    async with Outbound(Breakers(batcher, metrics), metrics) as outbound:
        for _ in range(2):
            assert isinstance(await call(outbound, dependency, peer.url("/cookie")), Answer)
    for received in peer.received:
        assert not {"cookie", "authorization", "proxy-authorization"} & received.headers.keys()


def a_certificate(tmp_path: Path, name: str) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "peer.pem"
    file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    return file


async def to_loopback(host: str, port: int) -> list[str]:
    return ["127.0.0.1"]


@pytest.mark.parametrize(
    ("host", "trusted", "kind"),
    [("stripe.example", True, Answer), ("evil.example", True, NotSent), ("stripe.example", False, NotSent)],
)
async def test_a_peer_must_prove_its_name(
    batcher: Batcher, dependency: Dependency, tmp_path: Path, host: str, trusted: bool, kind: type
) -> None:
    """The connection goes to an address; the certificate must still be that of the name."""
    file = a_certificate(tmp_path, "stripe.example")
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    client = ssl.create_default_context(cafile=str(file)) if trusted else None
    metrics = Metrics()
    async with (
        a_peer(server) as peer,
        Outbound(Breakers(batcher, metrics), metrics, resolve=to_loopback, tls=client) as outbound,
    ):
        outcome = await call(outbound, dependency, peer.url("/ok", "https", host))
        assert isinstance(outcome, kind)
        assert len(peer.received) == (kind is Answer)


@pytest.mark.covers("FUN-046")
async def test_a_dependency_that_keeps_failing_is_not_called(
    outbound: Outbound, dependency: Dependency, peer: Peer
) -> None:
    for path in ("/500", "/503", "/reset", "/junk", "/leave-midway"):
        await call(outbound, dependency, peer.url(path))
    outcome = await call(outbound, dependency, peer.url())
    assert isinstance(outcome, NotSent) and isinstance(outcome.refusal, DependencyUnavailable)
    assert 1 <= outcome.refusal.retry_after_seconds <= 30
    assert len(peer.received) == 5


@pytest.mark.covers("FUN-046")
@pytest.mark.parametrize("status", [302, 400, 402, 404, 409, 422, 429])
async def test_a_declined_card_never_opens_the_breaker(
    outbound: Outbound, dependency: Dependency, peer: Peer, status: int
) -> None:
    for _ in range(10):
        answer = await call(outbound, dependency, peer.url(f"/{status}"))
        assert isinstance(answer, Answer) and answer.status == status


async def test_who_cannot_be_reached_opens_the_breaker(
    outbound: Outbound, dependency: Dependency, closed_port: int
) -> None:
    for _ in range(5):
        await call(outbound, dependency, f"http://127.0.0.1:{closed_port}/")
    outcome = await call(outbound, dependency, f"http://127.0.0.1:{closed_port}/")
    assert isinstance(outcome, NotSent) and outcome.reason == "dependency_unavailable"


async def test_without_a_database_nothing_is_sent(dependency: Dependency, peer: Peer, closed_port: int) -> None:
    metrics = Metrics()
    async with (
        Database(f"postgresql://admitone@127.0.0.1:{closed_port}/none") as away,
        Outbound(Breakers(Batcher(away), metrics), metrics) as outbound,
    ):
        outcome = await call(outbound, dependency, peer.url())
    assert isinstance(outcome, NotSent) and isinstance(outcome.refusal, DatabaseUnavailable)
    assert peer.received == []


async def test_an_answer_is_not_lost_because_the_database_is(
    database_url: str, dependency: Dependency, peer: Peer
) -> None:
    metrics = Metrics()
    async with a_wire(database_url) as (wire, through), Database(through) as database:

        async def cut() -> None:
            wire.refuse = True
            await wire.close()

        peer.before_answering = cut
        async with Outbound(Breakers(Batcher(database), metrics), metrics) as outbound:
            answer = await call(outbound, dependency, peer.url("/503"))
    assert isinstance(answer, Answer) and answer.status == 503


async def test_the_network_breaks_before_or_after(outbound: Outbound, dependency: Dependency, peer: Peer) -> None:
    with failpoints.armed("outbound.before", failpoints.cut):
        assert isinstance(await call(outbound, dependency, peer.url()), NotSent)
    assert peer.received == []
    with failpoints.armed("outbound.after", failpoints.cut):
        assert await call(outbound, dependency, peer.url()) == Unknown("ConnectionResetError", 200)
    assert len(peer.received) == 1


async def test_nobody_calls_out_inside_a_transaction(
    outbound: Outbound, dependency: Dependency, peer: Peer, database: Database
) -> None:
    scope = await an_organization(database)
    platform = PlatformScope("test", Role.AUTHORITY)

    async def at_once(tx: Tx | PlatformTx) -> None:
        await call(outbound, dependency, peer.url())

    async def in_a_task(tx: Tx | PlatformTx) -> None:
        await asyncio.create_task(at_once(tx))

    async def in_tasks(tx: Tx | PlatformTx) -> None:
        await asyncio.gather(at_once(tx), at_once(tx))

    async def after_another(tx: Tx | PlatformTx) -> None:
        await database.read(platform, nothing)
        await at_once(tx)

    async def nothing(tx: PlatformTx) -> None: ...

    for work in (at_once, in_a_task, in_tasks, after_another):
        for attempt in (database.run(scope, work), database.read(scope, work), database.run(platform, work)):
            with pytest.raises(CallInsideTransaction):
                await attempt
    assert peer.received == []
    assert isinstance(await call(outbound, dependency, peer.url()), Answer)


async def test_a_task_may_call_out_once_the_transaction_that_started_it_has_ended(
    outbound: Outbound, dependency: Dependency, peer: Peer, database: Database
) -> None:
    ended = asyncio.Event()

    async def later() -> Outcome:
        await ended.wait()
        return await call(outbound, dependency, peer.url())

    async def work(tx: PlatformTx) -> asyncio.Task[Outcome]:
        return asyncio.create_task(later())

    task = await database.run(PlatformScope("test", Role.AUTHORITY), work)
    ended.set()
    assert isinstance(await task, Answer)


async def test_calls_are_logged_without_their_secrets(
    outbound: Outbound, dependency: Dependency, peer: Peer, lines: io.BytesIO
) -> None:
    caller = Caller()
    request = a_request(
        peer.url("/ok/hook/s3cretpath?code=s3cretquery"),
        "POST",
        headers={"Authorization": "Bearer s3cretheader"},
        body=b"s3cretbody",
        deadline_seconds=20,
    )
    assert "s3cret" not in repr(request)
    outcome = await outbound.call(dependency, a_request(peer.url("/cookie")), caller)
    assert "s3cret" not in repr(outcome)
    await outbound.call(dependency, request, caller)
    bad = a_request("http://us:s3cret@127.0.0.1/")
    await outbound.call(dependency, bad, caller)
    assert b"s3cret" not in lines.getvalue()
    told = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert {line["correlationId"] for line in told} == {str(caller.correlation_id)}
    first, _, third = told
    assert {key: first[key] for key in ("event", "level", "dependency", "method", "host", "outcome", "status")} == {
        "event": "outbound.called",
        "level": "info",
        "dependency": dependency.name,
        "method": "GET",
        "host": "127.0.0.1",
        "outcome": "2xx",
        "status": 200,
    }
    assert first["seconds"] >= 0
    assert (third["level"], third["outcome"], third["reason"]) == ("warning", "not_sent", "target_forbidden")


@pytest.mark.parametrize(
    "url", ["ftp://127.0.0.1/", "file:///etc/passwd", "/relative", "", "http://", "http://[::1", "x" * 3000]
)
async def test_what_is_no_web_address_is_not_called(outbound: Outbound, dependency: Dependency, url: str) -> None:
    assert await call(outbound, dependency, url) == NotSent("target_forbidden", TargetForbidden())


async def test_a_call_may_not_outlast_a_probe(outbound: Outbound, dependency: Dependency, peer: Peer) -> None:
    with pytest.raises(AssertionError, match="probe"):
        await call(outbound, dependency, peer.url(), deadline_seconds=dependency.probe_seconds)


async def test_a_header_that_is_none_is_a_bug(outbound: Outbound, dependency: Dependency, peer: Peer) -> None:
    with pytest.raises(Exception, match=r"(?i)header"):
        await call(outbound, dependency, peer.url(), headers={"X": "a\r\nInjected: b"})
    assert peer.received == []


async def test_an_address_of_version_six_is_called_in_brackets(outbound: Outbound, dependency: Dependency) -> None:
    peer = Peer()
    server = await asyncio.start_server(peer.serve, "::1", 0)
    peer.port = server.sockets[0].getsockname()[1]
    assert isinstance(await call(outbound, dependency, peer.url(host="[::1]")), Answer)
    assert peer.received[0].headers["host"] == f"[::1]:{peer.port}"
    server.close()
    await peer.close()

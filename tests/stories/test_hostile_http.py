"""Bytes that no well-meaning client sends, on a real socket.

Whatever comes, the answer is ours (with its envelope) or the server's bare refusal, never a bare 500; it never holds
anything of another organisation; nothing is waited for without end; and the next caller is served as if nothing had
been.
"""

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from admitone.kernel.db import Database
from admitone.kernel.scope import Scope
from tests.builders import a_credential, an_organization, rows_of, value_of
from tests.toy.routes import INCREMENT, READ
from tests.toy.server import ToyServer, a_toy_server

SECRET_NAME = "only-for-their-eyes"
BODY = b'{"counter":"visits","amount":1,"idempotencyKey":"k"}'
CHUNKED = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
LENGTH = b"content-length: %d" % len(BODY)
BODY_SECONDS = 1


@pytest.fixture(scope="module")
def server(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ToyServer]:
    home: Path = tmp_path_factory.mktemp("hostile")
    with a_toy_server(database_url, home, TOY_BODY_SECONDS=str(BODY_SECONDS)) as server:
        yield server


@dataclass(frozen=True)
class Answers:
    """Everything that came back on one connection."""

    raw: bytes
    seconds: float

    @property
    def statuses(self) -> list[int]:
        return [int(part[:3]) for part in self.raw.split(b"HTTP/1.1 ")[1:]]

    @property
    def status(self) -> int:
        [status] = self.statuses
        return status

    @property
    def error_code(self) -> str:
        """Of our envelope; empty where the server refused before we saw anything."""
        body = self.raw.partition(b"\r\n\r\n")[2]
        return json.loads(body)["errorCode"] if body.startswith(b"{") else ""


@dataclass(frozen=True)
class Attacker:
    """A member of one organisation who wants to see another's."""

    server: ToyServer
    database: Database
    credential: str
    own: Scope
    theirs: Scope

    def post(self, *headers: bytes, body: bytes = BODY, path: str = "/api/toy/increments") -> bytes:
        known = (f"x-orya-org-id: {self.own.organization}".encode(), b"content-type: application/json")
        return self.request("POST", path, *known, *headers) + body

    def last_request(self, method: str, target: str, *headers: bytes) -> bytes:
        return self.request(method, target, b"connection: close", *headers)

    def request(self, method: str, target: str, *headers: bytes) -> bytes:
        target = target.replace("OWN", str(self.own.organization)).replace("THEIRS", str(self.theirs.organization))
        first = [f"{method} {target} HTTP/1.1".encode(), b"host: admitone.test"]
        return b"\r\n".join([*first, f"authorization: Bearer {self.credential}".encode(), *headers, b"", b""])

    async def send(self, raw: bytes, *, patience: float = 5) -> Answers:
        """Send, read until the server hangs up or has nothing more to say; then see that all is as it was."""
        began = time.monotonic()
        reader, writer = await asyncio.open_connection("127.0.0.1", self.server.port, limit=2**20)
        try:
            writer.write(raw)
            heard = await self._hear(reader, patience)
        finally:
            writer.transport.abort()
        answers = Answers(heard, time.monotonic() - began)
        assert SECRET_NAME.encode() not in answers.raw
        assert all(status < 500 for status in answers.statuses), answers.raw
        return answers

    async def _hear(self, reader: asyncio.StreamReader, patience: float) -> bytes:
        """Who keeps the connection open after an answer gets a moment to say more."""
        heard = b""
        try:
            while chunk := await asyncio.wait_for(reader.read(2**16), 0.2 if heard else patience):
                heard += chunk
        except (TimeoutError, ConnectionResetError):
            pass
        return heard


@pytest.fixture
async def attacker(server: ToyServer, database: Database, superuser):
    own, theirs = await an_organization(database), await an_organization(database, SECRET_NAME)
    credential = await a_credential(superuser, own, INCREMENT, READ)
    attacker = Attacker(server, database, credential.text, own, theirs)
    yield attacker
    assert server.lives
    assert (await attacker.send(attacker.last_request("GET", "/org/OWN/counters"))).status == 200


FRAMINGS: dict[str, tuple[list[bytes], bytes]] = {
    "two lengths": ([LENGTH, b"content-length: 5"], BODY),
    "a list of lengths": ([LENGTH + b", 5"], BODY),
    "a signed length": ([b"content-length: +5"], BODY),
    "a negative length": ([b"content-length: -1"], BODY),
    "a length in hex": ([b"content-length: 0x10"], BODY),
    "an endless length": ([b"content-length: " + b"9" * 40], BODY),
    "an unknown coding": ([b"transfer-encoding: xchunked"], CHUNKED),
    "chunked is not last": ([b"transfer-encoding: chunked, identity"], CHUNKED),
    "a vertical tab before chunked": ([b"transfer-encoding:\x0bchunked"], CHUNKED),
    "a space before the colon": ([b"transfer-encoding : chunked"], CHUNKED),
    "a chunk of no size": ([b"transfer-encoding: chunked"], b"zz\r\nabc\r\n0\r\n\r\n"),
    "a chunk of any size": ([b"transfer-encoding: chunked"], b"f" * 20 + b"\r\nabc\r\n0\r\n\r\n"),
    "a chunk that is longer than it says": ([b"transfer-encoding: chunked"], b"2\r\n" + BODY + b"\r\n0\r\n\r\n"),
}


@pytest.mark.parametrize("name", FRAMINGS)
async def test_a_body_whose_end_is_unclear_is_refused(attacker: Attacker, name: str) -> None:
    headers, body = FRAMINGS[name]
    answers = await attacker.send(attacker.post(b"connection: close", *headers, body=body))
    assert answers.status == 400
    assert await value_of(attacker.database, attacker.own) == 0


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ([LENGTH, b"transfer-encoding: chunked"], CHUNKED),
        ([b"content-length: 5", b"transfer-encoding: chunked"], CHUNKED),
        ([b"transfer-encoding: chunked", b"content-length: 5"], b"0\r\n\r\n"),
        ([b"transfer-encoding: identity, chunked", b"content-length: 0"], CHUNKED),
        ([b"transfer-encoding: chunked", b"transfer-encoding: identity"], CHUNKED),
    ],
)
async def test_no_second_request_hides_behind_a_length_and_a_coding(
    attacker: Attacker, headers: list[bytes], body: bytes
) -> None:
    """Where a proxy goes by one and we by the other, what follows would be read as somebody else's request."""
    hidden = attacker.request("PUT", "/org/OWN/counters/smuggled", b"content-length: 0")
    answers = await attacker.send(attacker.post(*headers, body=body + hidden))
    assert len(answers.statuses) == 1
    assert await rows_of(attacker.database, attacker.own, "toy.counter") == 1


async def test_a_second_request_that_does_not_hide_is_served(attacker: Attacker) -> None:
    """So that the test above would see one that did."""
    second = attacker.request("GET", "/org/OWN/counters")
    assert (await attacker.send(attacker.post(LENGTH, body=BODY + second))).statuses == [200, 200]


HEADERS: dict[str, tuple[list[bytes], set[int]]] = {
    "64 KB in one line": ([b"x-long: " + b"a" * 2**16], {200, 431}),
    "1 MB in one line": ([b"x-long: " + b"a" * 2**20], {431}),
    "10,000 headers": ([b"x-%d: 1" % number for number in range(10_000)], {431}),
    "200 times the organisation": ([b"x-orya-org-id: nobody"] * 90, {403}),
    "a NUL": ([b"x-note: a\0b"], {400}),
    "a bare CR": ([b"x-note: a\rb"], {400}),
    "a folded line": ([b"x-note: a", b" b"], {400}),
    "a NUL in a name": ([b"x-no\0te: a"], {400}),
    "a CR in what we send back": ([b"x-correlation-id: a\rset-cookie: session=stolen"], {400}),
    "an LF in what we send back": ([b"x-correlation-id: a\nset-cookie: session=stolen"], {200, 400}),
    "bytes that are no text": ([b"cookie: \xff\xfe=\x80", b"x-note: \xff"], {200, 400}),
    "two hosts": ([b"host: evil.example"], {400}),
    "two keys": ([b"authorization: Bearer other"], {400}),
}


@pytest.mark.parametrize("name", HEADERS)
async def test_strange_headers_are_harmless(attacker: Attacker, name: str) -> None:
    headers, expected = HEADERS[name]
    answers = await attacker.send(attacker.last_request("GET", "/org/OWN/counters", *headers))
    assert answers.status in expected
    assert b"set-cookie" not in answers.raw


@pytest.mark.parametrize(
    "target",
    [
        "/org/THEIRS/counters",
        "http://evil.example/org/THEIRS/counters",
        "http://admitone.test/org/THEIRS/counters",
        "//admitone.test/org/THEIRS/counters",
        "/org/OWN/../THEIRS/counters",
        "/org/OWN/counters/../../THEIRS/counters",
        "/org/OWN%2f..%2fTHEIRS/counters",
        "/org/OWN%2F%2e%2e%2FTHEIRS/counters",
        "/org/OWN/..;/THEIRS/counters",
        "/org/OWN;THEIRS/counters",
        "/org/THEIRS;OWN/counters",
        "/org/THEIRS;x=OWN/counters",
        "/org/OWN%00THEIRS/counters",
        "/org/OWN,THEIRS/counters",
        "/org/OWN\\..\\THEIRS/counters",
        "/org/THEIRS%2fcounters",
        "/org%2fTHEIRS%2fcounters",
        "/%6frg/THEIRS/counters",
        "/org/THEIRS/counters%2ecsv",
        "/org/THEIRS/counters/live",
        "/org/OWN/counters?organizationId=THEIRS",
        "/org/OWN/counters?organizationI%64=THEIRS",
        "/org/THEIRS/counters?organizationId=OWN",
        "/org/OWN/counters?organizationId=OWN&organizationId=THEIRS",
        "/org/OWN/counters?organizationId=OWN;organizationId=THEIRS",
        "/api/internal/toy/peek?organization=THEIRS",
        "/api%2finternal/toy/peek?organization=THEIRS",
        "*",
        "THEIRS",
    ],
)
@pytest.mark.covers("TEN-T06")
async def test_no_spelling_of_an_address_opens_another_organisation(attacker: Attacker, target: str) -> None:
    answers = await attacker.send(attacker.last_request("GET", target))
    assert (answers.status, answers.error_code) in {
        (403, "PERMISSION_DENIED"),
        (403, "ORG_CONTEXT_REQUIRED"),
        (403, "INTERNAL_ONLY"),
        (404, "NOT_FOUND"),
        (422, "VALIDATION_FAILED"),
    }


@pytest.mark.parametrize("place", [b"x-orya-org-id: %s", b"X-ORYA-ORG-ID: %s", b"cookie: organizationId=%s"])
async def test_no_header_turns_a_request_for_one_organisation_into_one_for_another(
    attacker: Attacker, place: bytes
) -> None:
    theirs = str(attacker.theirs.organization).encode()
    answers = await attacker.send(attacker.last_request("GET", "/org/OWN/counters", place % theirs))
    assert answers.status == (200 if b"cookie" in place else 403)


@pytest.mark.parametrize("header", ["x-http-method-override", "x-http-method", "x-method-override", "x-original-url"])
async def test_headers_that_override_are_not_obeyed(attacker: Attacker, header: str) -> None:
    told = b"POST" if "method" in header else f"/org/{attacker.theirs.organization}/counters".encode()
    organization = f"x-orya-org-id: {attacker.own.organization}".encode()
    request = attacker.last_request("GET", "/api/toy/increments", organization, header.encode() + b": " + told, LENGTH)
    answers = await attacker.send(request + BODY)
    assert (answers.status, answers.error_code) == (405, "METHOD_NOT_ALLOWED")
    assert await value_of(attacker.database, attacker.own) == 0


@pytest.mark.parametrize("method", ["TRACE", "CONNECT", "PROPFIND", "get", "DELETE", "G\xcbT"])
async def test_other_methods_are_refused(attacker: Attacker, method: str) -> None:
    answers = await attacker.send(attacker.last_request(method, "/org/OWN/counters"))
    assert answers.status in (400, 405)


@pytest.mark.parametrize(
    "raw",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc" + b"\0" * 500,
        b"GET /toy\r\n\r\n",
        b"GET /toy HTTP/9.9\r\nhost: x\r\n\r\n",
        b"\r\n" * 1000 + b"\0",
        b"GET " + b"/" * 100_000 + b" HTTP/1.1\r\nhost: x\r\n\r\n",
        b"GET /toy HTTP/1.1\r\n: nameless\r\n\r\n",
        b"\xff" * 10_000,
    ],
)
async def test_what_is_not_http_is_refused(attacker: Attacker, raw: bytes) -> None:
    answers = await attacker.send(raw)
    assert answers.status in (400, 404, 414, 431)


SLOW_BODIES = [
    (LENGTH, b""),
    (LENGTH, BODY[:10]),
    (b"transfer-encoding: chunked", b""),
    (b"transfer-encoding: chunked", b"5\r\n{"),
]


@pytest.mark.parametrize("path", ["/api/toy/increments", "/api/toy/webhook"])
async def test_nobody_waits_for_a_body_without_end(attacker: Attacker, path: str) -> None:
    requests = [attacker.post(b"connection: close", header, body=begin, path=path) for header, begin in SLOW_BODIES]
    answers = await asyncio.gather(*(attacker.send(raw, patience=BODY_SECONDS + 20) for raw in requests))
    assert [each.statuses for each in answers] == [[408]] * len(SLOW_BODIES)
    assert {each.error_code for each in answers} == {"REQUEST_TOO_SLOW"}


async def test_bodies_that_trickle_hold_nobody_else_up(attacker: Attacker) -> None:
    connections = [await asyncio.open_connection("127.0.0.1", attacker.server.port) for _ in range(50)]
    for _, slow in connections:
        slow.write(attacker.post(LENGTH, body=BODY[:5]))
    answers = await attacker.send(attacker.post(b"connection: close", LENGTH))
    assert answers.status == 200
    for _, slow in connections:
        slow.transport.abort()
    assert await value_of(attacker.database, attacker.own) == 1

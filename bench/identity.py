"""Identity: what a session costs, what a stranger can tell from the time, and what hashing does to everybody else.

usage: python -m bench.identity PORT SECONDS       fifty who sign in all the time, for `others_while_hashing`
"""

import asyncio
import base64
import itertools
import json
import selectors
import subprocess
import sys
import time
import timeit
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from statistics import median, quantiles

from admitone.foundation.authority.api import MemberRole, Membership, Method, Opening, open_sessions
from admitone.foundation.authority.model import Known, KnownSession
from admitone.foundation.authority.policy import decide
from admitone.foundation.identity.commands import accounts
from admitone.foundation.identity.commands.accounts import NewAccount
from admitone.foundation.identity.model import Profile
from admitone.foundation.identity.passwords import HASHER
from admitone.kernel.authority import Ask, Audience
from admitone.kernel.crypto import KEYRING, KeyRing
from admitone.kernel.db import Database, PeopleTx
from admitone.kernel.ids import IdentityId, OrganizationId, uuid7
from admitone.kernel.scope import Caller, PeopleScope
from admitone.kernel.words import Language
from bench.calibration import calibrate
from bench.figures import Figures, ratio
from bench.ground import a_cluster, a_ground
from bench.load import Connection, Plan, load
from bench.server import ROOT, a_server

PEOPLE = 5_000
AT_ONCE = 1_000
PAIRS = 150
SPRAYED = 50_000
SIGNING_IN = 50
A_PASSWORD = "three brave otters"
KEY = bytes(range(32))
KEYS = f"1:{base64.b64encode(KEY).decode()}"
NOWHERE = "smtp://127.0.0.1:2525"
"""Letters stay in the database: no worker runs here."""
LIVE = b"GET /health/live HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
ASKED = {
    "signup": {"password": "four brave otters"},
    "send-otp": {},
    "password/reset-request": {},
    "check-email": {},
    "login": {"password": "a wrong password"},
}


def measure(figures: Figures) -> None:
    permission_checks(figures)
    with a_cluster() as cluster:
        ground = a_ground(cluster, organizations=1, name="bench_people")
        calibration = calibrate(ground)
        print(calibration)
        tokens = asyncio.run(seed_people(ground.url))
        # Behind a proxy everybody has an address of their own; without one, whatever they say is not believed.
        surroundings = {"ADMITONE_KEYS": KEYS, "TRUSTED_PROXIES": "127.0.0.1", "SMTP_URL": NOWHERE}
        with a_server(ground, module="bench.serve_people", **surroundings) as port:
            sessions(figures, port, tokens, calibration.c)
            others_while_hashing(figures, port)
            what_the_time_tells(figures, port)
        with a_server(ground, module="bench.serve_people", ADMITONE_KEYS=KEYS) as port:
            made_up_addresses(figures, port)


async def seed_people(url: str, people: int = PEOPLE) -> list[str]:
    """People who have a password and a session; their access tokens."""
    hashed = HASHER.hash(A_PASSWORD)
    with KEYRING.wired(KeyRing({1: KEY})):
        async with Database(url) as database:

            async def settle(tx: PeopleTx, numbers: range) -> list[str]:
                new = [
                    NewAccount(Caller(), Profile(person(n), None, Language.ENGLISH), hashed, is_verified=True)
                    for n in numbers
                ]
                identities = await accounts.create(tx, new)
                opening = [
                    Opening(each, Method.PASSWORD, tx.now) for each in identities if isinstance(each, IdentityId)
                ]
                return [opened.access_token for opened in await open_sessions(tx, opening)]

            tokens: list[str] = []
            for first in range(0, people, AT_ONCE):
                numbers = range(first, min(first + AT_ONCE, people))
                tokens += await database.run(PeopleScope("bench"), partial(settle, numbers=numbers))
            return tokens


def person(number: int) -> str:
    return f"person{number}@example.org"


# -- What a session costs


def permission_checks(figures: Figures) -> None:
    print("\nA permission check, in process")
    now, organization = datetime.now(UTC), OrganizationId.new()
    ask = Ask(Audience.ORGANIZATION, "x", organization, "EVENTS_RW", None, Caller())
    session = KnownSession(uuid7(), IdentityId.new(), True, now, False)
    known = Known(session, None, Membership(MemberRole.ADMIN), None, frozenset({"EVENTOS"}))
    times = 20_000
    taken = min(timeit.repeat(lambda: decide(ask, known, frozenset(), now), number=times, repeat=5))
    figures.must_not_exceed("a permission check", taken / times * 1e6, 20, "µs")


def sessions(figures: Figures, port: int, tokens: list[str], c: float) -> None:
    print(f"\nGET /api/auth/me, {len(tokens):,} sessions, 64 connections")
    report = load(Plan(port, "/api/auth/me", [(token, "-", 0) for token in tokens], method="GET"))
    figures.note(f"{report}  [{report.tool}]")
    figures.must("who is signed in, over C", report.rate / c, 0.8)


# -- What hashing does to others


def others_while_hashing(figures: Figures, port: int) -> None:
    print(f"\nGET /health/live while {SIGNING_IN} sign in all the time, and alone, in turns")
    _latencies(port, seconds=1)
    figures.must_not_exceed(
        "p99 of others while people sign in, over alone",
        ratio(lambda: _while_hashing(figures, port), lambda: _p99(_latencies(port, seconds=4))),
        3,
        "x",
    )


def _while_hashing(figures: Figures, port: int) -> float:
    command = [sys.executable, "-m", "bench.identity", str(port), "6"]
    signing = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    time.sleep(1)
    busy = _p99(_latencies(port, seconds=4))
    said, _ = signing.communicate()
    figures.note(f"p99 {busy:.2f} ms; signed in: {said.strip()}")
    return busy


def _latencies(port: int, seconds: float) -> list[float]:
    """One caller, a few hundred times a second: who asks as fast as possible measures nothing but themselves."""
    connection, taken = Connection(port), []
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        connection.send(LIVE)
        while (status := connection.status()) is None:
            pass
        assert status == 200
        taken.append((time.perf_counter() - connection.sent_at) * 1e3)
        time.sleep(0.002)
    connection.socket.close()
    return taken


def _p99(latencies: list[float]) -> float:
    return quantiles(latencies, n=100)[98]


# -- What a stranger can tell


def what_the_time_tells(figures: Figures, port: int) -> None:
    print(f"\nKnown and unknown addresses, {PAIRS} pairs in turns")
    connection, number = Connection(port), itertools.count(PEOPLE // 2)
    for path, more in ASKED.items():
        known, unknown = [], []
        for _ in range(PAIRS):
            own = next(number)
            known.append(_asked(connection, path, person(own), more))
            unknown.append(_asked(connection, path, f"nobody{own}@example.org", more))
        apart = abs(median(known) - median(unknown))
        figures.note(f"{path:24} known {median(known):6.2f} ms, unknown {median(unknown):6.2f} ms")
        figures.must_not_exceed(f"what the time of {path} tells", apart, 5, "ms")
    connection.socket.close()


def _asked(connection: Connection, path: str, email: str, more: dict[str, str]) -> float:
    connection.send(_post(path, {"email": email, **more}, _somewhere()))
    while connection.status() is None:
        pass
    return (time.perf_counter() - connection.sent_at) * 1e3


# -- Brute force


def made_up_addresses(figures: Figures, port: int) -> None:
    print(f"\n{SPRAYED:,} sign-ins that each say they come from somewhere else")
    requests = (
        _post("login", {"email": f"victim{n}@example.org", "password": "a guess"}, _somewhere())
        for n in itertools.count()
    )
    began = time.perf_counter()
    statuses = _drive(port, 32, requests, SPRAYED)
    figures.note(f"{dict(statuses)} in {time.perf_counter() - began:.0f} s")
    figures.must_not_exceed("tries that were let through", SPRAYED - statuses[429], 10, "tries")


_places = itertools.count(1)


def _somewhere() -> str:
    number = next(_places)
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def _post(path: str, body: dict[str, str], address: str) -> bytes:
    text = json.dumps(body)
    return (
        f"POST /api/auth/{path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
        f"x-forwarded-for: {address}\r\ncontent-length: {len(text)}\r\n\r\n{text}"
    ).encode()


def _drive(port: int, connections: int, requests: Iterator[bytes], times: float, seconds: float = 600) -> Counter[int]:
    """Closed load until so many were answered; their statuses."""
    waiting, statuses, until = selectors.DefaultSelector(), Counter[int](), time.perf_counter() + seconds
    sent = 0
    for _ in range(connections):
        connection = Connection(port)
        waiting.register(connection.socket, selectors.EVENT_READ, connection)
        connection.send(next(requests))
        sent += 1
    while statuses.total() < times and time.perf_counter() < until:
        for key, _ in waiting.select(timeout=1):
            status = key.data.status()
            if status is not None:
                statuses[status] += 1
                if sent < times:
                    key.data.send(next(requests))
                    sent += 1
    return statuses


if __name__ == "__main__":
    own = (
        _post("login", {"email": person(n), "password": A_PASSWORD}, f"172.16.{n >> 8}.{n & 255}")
        for n in range(PEOPLE)
    )
    print(dict(_drive(int(sys.argv[1]), SIGNING_IN, own, float("inf"), float(sys.argv[2]))))

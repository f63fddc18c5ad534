"""Everything on one machine, in the foreground: the database, its migrations, then the API, a worker
and, where payments are a game, the sandbox as children.

Promise: one Ctrl-C (or SIGTERM) stops them, then the database, within 5 s, and that is a success. A second one
does not wait. Whatever kills this process, even kill -9, ends its children too. A child that ends by itself ends
everything, with a word about it and a status that says failure.
"""

import asyncio
import http.client
import os
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from admitone.entrypoints.asking import is_own_machine
from admitone.entrypoints.demo import PASSWORD, Club, Ground, find_club, is_wanted, lay_out, lines_of, signs_of
from admitone.entrypoints.serve import require_free_port
from admitone.entrypoints.wiring import wire
from admitone.finance.gateways.port import own_sandbox_port, runs_own_sandbox
from admitone.foundation.mail.port import Mailbox, check_way
from admitone.kernel.config import Config
from admitone.kernel.embedded import SUPERUSER, Cluster, spawn
from admitone.kernel.migrate import migrate

# Together, with what the database gets when it does not listen (see its keeper), less than 5 s.
CHILDREN_PATIENCE_SECONDS = 2.2
DATABASE_PATIENCE_SECONDS = 1.5
READY_SECONDS = 60.0


def run(config: Config) -> int:
    """Returns the exit status."""
    check_way(config)
    require_free_port(config.host, config.port)
    if runs_own_sandbox(config):
        require_free_port("127.0.0.1", own_sandbox_port(config))
    try:
        with _stoppable(), _database(config) as (database_url, direct_url):
            _bring_up_to_date(config, direct_url)
            club = _lay_out_demo(config, database_url) if is_own_machine(config) else None
            return _serve_until_told(config.on_database(database_url), database_url, club)
    except KeyboardInterrupt:
        return 0


@contextmanager
def _stoppable() -> Iterator[None]:
    """Being told to end is the same as Ctrl-C, wherever we are: also in the minutes that a recovery may take."""

    def interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    orders = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    former = {order: signal.signal(order, interrupt) for order in orders}
    try:
        yield
    finally:
        for order, handler in former.items():
            signal.signal(order, handler)


@contextmanager
def _database(config: Config) -> Iterator[tuple[str, str]]:
    """The runtime's and the migrator's way to the database: the one that was named, or ours."""
    if config.database_url is not None:
        yield config.database_url, config.direct_url or config.database_url
        return
    cluster = Cluster(config.home, tell=_say)
    server = cluster.start()
    try:
        yield server.url(), server.url(user=SUPERUSER)
    finally:
        cluster.stop(patience=DATABASE_PATIENCE_SECONDS)


def _bring_up_to_date(config: Config, direct_url: str) -> None:
    for migration in asyncio.run(migrate(direct_url, runtime_login=config.runtime_login)):
        _say(f"Applied {migration.file}: {migration.why}")


def _lay_out_demo(config: Config, database_url: str) -> Club | None:
    """Something to try, where it is wanted. Whose door to show, if it is there."""

    async def lay_out_once() -> Club | None:
        async with Ground.of(database_url, config) as ground:
            if await is_wanted(ground):
                _say("Laying out the demonstration.")
                await lay_out(ground)
            return await find_club(ground.database)

    wire(config)
    return asyncio.run(lay_out_once())


def _serve_until_told(config: Config, database_url: str, club: Club | None) -> int:
    children: dict[str, subprocess.Popen[bytes]] = {}
    try:
        children["API"] = _start("serve", config, database_url)
        doors = [(children["API"], _reachable(config.host), config.port, "/health/ready")]
        if runs_own_sandbox(config):
            children["sandbox"] = _start("sandbox", config, database_url)
            doors.append((children["sandbox"], "127.0.0.1", own_sandbox_port(config), "/"))
        # A worker that finds no sandbox takes it for a provider that is down, and asks nothing of it for a while.
        is_ready = all(_wait_until_it_answers(*door) for door in doors)
        children["worker"] = _start("worker", config, database_url)
        if is_ready:
            _welcome(config, club)
        ended, status = _wait_for_first(children)
    except KeyboardInterrupt:
        _stop(children.values())
        return 0
    _say(f"The {ended} ended unexpectedly (status {status}); stopping everything.")
    _stop(children.values())
    return 1


def _start(command: str, config: Config, database_url: str) -> subprocess.Popen[bytes]:
    surroundings = {
        "DATABASE_URL": database_url,
        "PORT": str(config.port),
        "ADMITONE_DATA": str(config.home),
        "ADMITONE_WORKER_GRACE": "1.5",
    }
    words = [sys.executable, "-m", "admitone.entrypoints.cli", command]
    return spawn(words, last_wish=signal.SIGTERM, stdin=subprocess.DEVNULL, env={**os.environ, **surroundings})


def _wait_for_first(children: Mapping[str, subprocess.Popen[bytes]]) -> tuple[str, int]:
    while True:
        for name, child in children.items():
            if (status := child.poll()) is not None:
                return name, status
        time.sleep(0.1)


def _stop(children: Collection[subprocess.Popen[bytes]]) -> None:
    deadline = time.monotonic() + CHILDREN_PATIENCE_SECONDS
    try:
        for child in children:
            child.terminate()
        for child in children:
            child.wait(max(0, deadline - time.monotonic()))
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        for child in children:
            child.kill()
            child.wait()


def _wait_until_it_answers(child: subprocess.Popen[bytes], host: str, port: int, path: str) -> bool:
    deadline = time.monotonic() + READY_SECONDS
    while child.poll() is None and time.monotonic() < deadline:
        if _answers(host, port, path):
            return True
        time.sleep(0.05)
    return False


def _answers(host: str, port: int, path: str) -> bool:
    asked = http.client.HTTPConnection(host, port, timeout=2)
    try:
        asked.request("GET", path)
        return asked.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        asked.close()


def _reachable(host: str) -> str:
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  # We ask there, we do not listen.


def _welcome(config: Config, club: Club | None) -> None:
    address = _address(config)
    places = [
        ("Storefront", address),
        ("Reference", f"{address}/docs"),
        *([("Mailbox", f"{address}/dev/mailbox")] if Mailbox.of(config) else []),
        *([("Sandbox", f"http://127.0.0.1:{own_sandbox_port(config)}")] if runs_own_sandbox(config) else []),
        ("Health", f"{address}/health/ready"),
        ("Data", str(config.home)),
    ]
    lines = [f"  {name:<11}{where}" for name, where in places]
    if club:
        lines += [
            "",
            f"Sign in with the password: {PASSWORD} (everybody: admitone seed)",
            *lines_of(signs_of(address, club)),
        ]
    _say("\n".join(["\nAdmit One is running.", *lines, "\nCtrl-C stops everything.\n"]))


def _address(config: Config) -> str:
    host = _reachable(config.host)
    return f"http://[{host}]:{config.port}" if ":" in host else f"http://{host}:{config.port}"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)

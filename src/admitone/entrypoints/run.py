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

from admitone.entrypoints.demo import CLUB, PASSWORD, lay_out
from admitone.entrypoints.serve import require_free_port
from admitone.finance.gateways.port import own_sandbox_port, runs_own_sandbox
from admitone.foundation.identity.api import is_anybody
from admitone.foundation.mail.port import Mailbox, check_way, is_private
from admitone.kernel.config import Config
from admitone.kernel.crypto import KEYRING
from admitone.kernel.db import Database
from admitone.kernel.embedded import SUPERUSER, Cluster, spawn
from admitone.kernel.migrate import migrate
from admitone.kernel.scope import PeopleScope

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
            is_ours = config.database_url is None and is_private(config)
            if is_ours:
                _lay_out_demo(config, database_url)
            return _serve_until_told(config.on_database(database_url), database_url, demo=is_ours)
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


def _lay_out_demo(config: Config, database_url: str) -> None:
    """Where nobody has ever been: something to try."""

    async def lay_out_once() -> None:
        async with Database(database_url) as database:
            if not await database.read(PeopleScope("demo"), is_anybody):
                await lay_out(database)

    with KEYRING.wired(config.keyring):
        asyncio.run(lay_out_once())


def _serve_until_told(config: Config, database_url: str, *, demo: bool) -> int:
    children: dict[str, subprocess.Popen[bytes]] = {}
    try:
        children = {"API": _start("serve", config, database_url), "worker": _start("worker", config, database_url)}
        is_ready = _wait_until_ready(config, children["API"])
        if runs_own_sandbox(config):
            children["sandbox"] = _start("sandbox", config, database_url)
        if is_ready:
            _welcome(config, demo=demo)
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


def _wait_until_ready(config: Config, api: subprocess.Popen[bytes]) -> bool:
    deadline = time.monotonic() + READY_SECONDS
    while api.poll() is None and time.monotonic() < deadline:
        if _is_ready(config):
            return True
        time.sleep(0.05)
    return False


def _is_ready(config: Config) -> bool:
    asked = http.client.HTTPConnection(_reachable(config.host), config.port, timeout=2)
    try:
        asked.request("GET", "/health/ready")
        return asked.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        asked.close()


def _reachable(host: str) -> str:
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  # We ask there, we do not listen.


def _welcome(config: Config, *, demo: bool) -> None:
    host = _reachable(config.host)
    address = f"http://[{host}]:{config.port}" if ":" in host else f"http://{host}:{config.port}"
    sign_in = f"  Sign in    owner@{CLUB}.example, password: {PASSWORD} (others: admitone seed)\n" if demo else ""
    sandbox = f"  Sandbox    http://127.0.0.1:{own_sandbox_port(config)}\n" if runs_own_sandbox(config) else ""
    mailbox = f"  Mailbox    {address}/dev/mailbox\n" if Mailbox.of(config) else ""
    _say(
        "\nAdmit One is running.\n"
        f"  API        {address}\n"
        f"  Reference  {address}/docs\n"
        f"  Health     {address}/health/ready\n"
        f"{mailbox}"
        f"{sandbox}"
        f"{sign_in}"
        f"  Data       {config.home}\n"
        "Ctrl-C stops everything.\n"
    )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)

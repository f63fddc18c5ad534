"""The sandbox in the foreground, as a process of its own: its API, its pages and its courier.

Promise: it listens on this machine only, uses no database of ours, and ends at SIGTERM or SIGINT within a moment; what
it answered is in its file.
"""

import asyncio
import signal
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer
import uvloop
from granian.constants import HTTPModes, Interfaces
from granian.server.embed import Server

from admitone.entrypoints.asking import Data, Misunderstood, config_of
from admitone.entrypoints.serve import require_free_port
from admitone.finance.gateways.port import (
    Courier,
    Faults,
    Journal,
    Simulator,
    Site,
    Terms,
    own_sandbox_port,
    sandbox_keys,
)
from admitone.kernel import telemetry
from admitone.kernel.config import Config

HOST = "127.0.0.1"


def sandbox(
    port: Annotated[
        int | None, typer.Option(help="Where to listen (default: the port after the API's).", min=1, max=65535)
    ] = None,
    journal: Annotated[Path | None, typer.Option(help="The file of its books (default: in the data folder).")] = None,
    listener: Annotated[str | None, typer.Option(help="Whom to tell what happens (default: the API here).")] = None,
    seed: Annotated[int, typer.Option(help="Where its chance comes from.")] = 1,
    faults: Annotated[str, typer.Option(help="As in lost=500,dropped=100: chances in ten thousandths.")] = "",
    fees_after: Annotated[int, typer.Option(help="After how many seconds it tells its fees.", min=0)] = 3,
    data: Data = None,
) -> None:
    """Serve a payment provider to play with, on this machine only. No money moves."""
    config = config_of(data)
    try:
        wrong = Faults.parse(faults)
    except ValueError as problem:
        raise Misunderstood(str(problem)) from None
    chosen = port or own_sandbox_port(config)
    require_free_port(HOST, chosen)
    telemetry.configure()
    simulator = Simulator(
        sandbox_keys(config),
        Journal(journal or own_journal(config)),
        seed=seed,
        faults=wrong,
        terms=Terms(fees_after=timedelta(seconds=fees_after)),
        url=f"http://{HOST}:{chosen}",
    )
    uvloop.run(_serve(simulator, chosen, listener or f"http://{HOST}:{config.port}"))


def own_journal(config: Config) -> Path:
    """Where it keeps its books, unless somebody says otherwise."""
    folder = config.home / "sandbox"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder / "journal.sqlite"


async def _serve(simulator: Simulator, port: int, listener: str) -> None:
    server = Server(
        Site(simulator, listener).application(),
        address=HOST,
        port=port,
        interface=Interfaces.ASGINL,
        http=HTTPModes.http1,
        websockets=False,
        log_enabled=False,
    )
    loop = asyncio.get_running_loop()
    for order in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(order, server.stop)
    telling = asyncio.create_task(Courier(simulator, listener).run())
    telling.add_done_callback(lambda _: server.stop())  # type: ignore[no-untyped-call]
    try:
        await server.serve()
    finally:
        telling.cancel()
        with suppress(asyncio.CancelledError):
            await telling

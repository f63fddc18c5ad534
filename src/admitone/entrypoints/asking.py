"""What every command of `admitone` shares: the data folder, the settings, and a database to ask."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from admitone.entrypoints.http import database_url
from admitone.entrypoints.modules import MODULES
from admitone.entrypoints.wiring import wire
from admitone.foundation.mail.port import is_private
from admitone.kernel.config import Config, surroundings
from admitone.kernel.db import Database

Result = TypeVar("Result")


class Misunderstood(Exception):
    """What was asked for does not exist, or cannot be; the text says what can."""


Data = Annotated[Path | None, typer.Option(help="The folder for the embedded database and local secrets.")]


def config_of(data: Path | None, port: int | None = None) -> Config:
    """The surroundings; options win."""
    options = {"PORT": port, "ADMITONE_DATA": data}
    chosen = {name: str(value) for name, value in options.items() if value is not None}
    return Config.load(surroundings() | chosen, [key for module in MODULES for key in module.config])


def is_own_machine(config: Config) -> bool:
    """Whether this is a person's own machine, with our own database, where nobody else reaches us."""
    return config.database_url is None and is_private(config)


def require_own_machine(config: Config) -> None:
    if not is_own_machine(config):
        raise Misunderstood(
            "This is for a person's own machine, on the embedded database, where nobody else reaches us: not for"
            " production, nor with DATABASE_URL, TRUSTED_PROXIES, PUBLIC_URL or ADMITONE_HOST of the outside."
        )


def on_people(data: Path | None, work: Callable[[Database], Awaitable[Result]]) -> Result:
    """The same for work that seals and opens what is personal."""
    wire(config_of(data))
    return on_database(data, work)


def on_database(data: Path | None, work: Callable[[Database], Awaitable[Result]]) -> Result:
    """Run the work on a database that already runs."""
    url = database_url(config_of(data))

    async def run() -> Result:
        async with Database(url) as database:
            return await work(database)

    return asyncio.run(run())

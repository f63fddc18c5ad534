"""The auth API behind a proxy that we trust, so that every visitor can have an address of their own."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from admitone.entrypoints.http import Application, assemble
from admitone.entrypoints.modules import MODULES
from admitone.foundation.authority.api import TableAuthority
from admitone.kernel.config import Config
from tests.foundation.identity.house import PROXY, House


@pytest.fixture(scope="session")
async def behind_proxy(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    surroundings = {
        "DATABASE_URL": database_url,
        "ADMITONE_DATA": str(tmp_path_factory.mktemp("home")),
        "TRUSTED_PROXIES": PROXY,
    }
    application = assemble(Config.load(surroundings), MODULES, TableAuthority(), strict=True)
    await application.start()
    yield application
    await application.close()


@pytest.fixture
async def house(behind_proxy: Application, superuser: asyncpg.Connection) -> House:
    return House(behind_proxy, superuser)

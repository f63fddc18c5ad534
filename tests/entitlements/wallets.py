"""A hall at another hour, what its wallets show then, and the schedules when they fire.

async with later(hall, database_url, hours=23) as then:
    await fires(then, errands.renew_codes)
    code = await shown(then, ticket)
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from admitone.entitlements.codes import code_of
from admitone.entitlements.commands.renewing import Renewal, renew
from admitone.entitlements.model import Entitlement, Token
from admitone.entitlements.port import KINDS
from admitone.entitlements.queries import find_shown
from admitone.kernel.batch import Batcher
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database
from admitone.kernel.ids import PLATFORM_ORGANIZATION, uuid7
from admitone.kernel.jobs import Delivered, Desk, Kind
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.scope import Caller
from tests.entitlements.rights import Hall


@asynccontextmanager
async def later(hall: Hall, url: str, **by: float) -> AsyncIterator[Hall]:
    """The same hall so much later."""
    async with Database(url, clock=Clock(timedelta(**by))) as database:
        batcher = Batcher(database)
        yield replace(hall, database=database, batcher=batcher)
        await batcher.drain()


async def fires(hall: Hall, kind: Kind[Any]) -> None:
    """The schedule comes by."""
    now = datetime.now(UTC)
    fired = Delivered(uuid7(), PLATFORM_ORGANIZATION, Firing(kind.name, now), Caller(), "k", None, 1, now)
    await kind.work(Desk(hall.database, hall.batcher), fired)


async def shown(hall: Hall, ticket: Entitlement) -> str:
    """What a wallet shows, as its route finds it."""
    token: Token | None = await hall.database.read(hall.scope, find_shown, ticket.id, ticket.owner)
    token = token or await hall.submit(renew, Renewal(ticket.id, KINDS()[ticket.kind].overlap, ticket.owner))
    assert token is not None
    code = code_of(ticket.id, token.epoch, token.key_version)
    assert code is not None
    return code

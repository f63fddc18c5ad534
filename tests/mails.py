"""Builders for letters: posted in a transaction, carried by a real worker, and what became of them."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from admitone.foundation.mail.api import Letter, Template, post
from admitone.foundation.mail.handlers import deliver
from admitone.foundation.mail.model import Fate, Opened
from admitone.foundation.mail.postman import Postman, Smtp
from admitone.foundation.mail.settings import Server, sender_of
from admitone.kernel.batch import Batcher
from admitone.kernel.breaker import Breakers, Dependency
from admitone.kernel.db import Database
from admitone.kernel.ids import uuid7
from admitone.kernel.jobs import Kind
from admitone.kernel.scope import Scope
from admitone.kernel.telemetry import Metrics
from admitone.kernel.words import Language
from tests.builders import a_caller
from tests.jobs import DEADLINE_SECONDS, a_worker, duties
from tests.smtp import MailServer

SENDER = sender_of("Tickets <no-reply@tickets.example>")
SITE = "https://tickets.example"
CODE = "492817"


def an_address() -> str:
    """That no other test writes to."""
    return f"ana.{uuid7().hex}@example.org"


def a_letter(to: str, **said: Any) -> Letter:
    return Letter(
        said.pop("caller", None) or a_caller(),
        to,
        said.pop("template", Template.SIGN_IN_CODE),
        said.pop("language", Language.ENGLISH),
        said.pop("values", {"code": CODE, "minutes": 10}),
        **said,
    )


def a_receipt(to: str, **said: Any) -> Letter:
    """For which nobody sits and waits."""
    values = {"event": "Fado", "tickets": 2, "when": "soon", "place": "here", "amount": "0", "order": "1", "link": "/"}
    return a_letter(to, template=Template.ORDER_RECEIPT, values=values, **said)


async def posted(database: Database, scope: Scope, *letters: Letter) -> int:
    return await database.run(scope, lambda tx: post(tx, letters))


def a_postman(server: MailServer, batcher: Batcher, url: str = "", **said: Any) -> Postman:
    """With a breaker of its own, so that tests do not hear of each other's outages."""
    dependency = Dependency(f"mail_{uuid7().hex}")
    smtp = Smtp(Server.parse(url or server.url), Breakers(batcher, Metrics()), dependency, **said)
    return Postman(smtp, SENDER, SITE)


async def delivered(postman: Postman, letter: Opened) -> Fate:
    """One letter, alone; raises what went wrong with it."""
    [came] = await postman.deliver([letter])
    if isinstance(came, Fate):
        return came
    raise came


@asynccontextmanager
async def a_mail_worker(
    database: Database,
    batcher: Batcher,
    superuser: asyncpg.Connection,
    scope: Scope,
    carrying: MailServer | Postman,
    kinds: Sequence[Kind[Any]] = (deliver,),
) -> AsyncIterator[None]:
    """Carries the letters of this organisation, and not what other tests left lying, for as long as this lasts."""
    await superuser.execute(
        "UPDATE kernel.job SET run_at = now() + '1 day'"
        " WHERE lane = ANY($1::text[]) AND organization_id <> $2 AND worker IS NULL",
        [kind.lane.name for kind in kinds],
        scope.organization.uuid,
    )
    postman = a_postman(carrying, batcher) if isinstance(carrying, MailServer) else carrying
    async with a_worker(database, duties(*kinds), services={Postman: postman}):
        yield


async def send_all(
    database: Database, batcher: Batcher, superuser: asyncpg.Connection, scope: Scope, carrying: MailServer | Postman
) -> None:
    async with a_mail_worker(database, batcher, superuser, scope, carrying):
        await until_settled(superuser, scope)


async def until_settled(superuser: asyncpg.Connection, scope: Scope) -> None:
    """Until no letter of the organisation has a job any more. Nobody waits for a retry to come by itself."""
    async with asyncio.timeout(DEADLINE_SECONDS):
        while await superuser.fetchval(
            "SELECT count(*) FROM kernel.job WHERE organization_id = $1", scope.organization.uuid
        ):
            await superuser.execute(
                "UPDATE kernel.job SET run_at = now() WHERE organization_id = $1 AND worker IS NULL AND run_at > now()",
                scope.organization.uuid,
            )
            await asyncio.sleep(0.02)


async def letters_of(superuser: asyncpg.Connection, scope: Scope) -> list[asyncpg.Record]:
    return await superuser.fetch(
        "SELECT * FROM mail.letter WHERE organization_id = $1 ORDER BY id", scope.organization.uuid
    )

"""Limits as callers meet them; and without its counters, whatever carries a limit is closed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.entrypoints.http import assemble
from admitone.kernel import bans, streaks
from admitone.kernel.authority import Ask, Authority, AuthorityReader
from admitone.kernel.bans import Ban
from admitone.kernel.batch import Batcher
from admitone.kernel.config import Config
from admitone.kernel.contracts import Audience, Call, Contract, Edge, Example, ShortText, Wire
from admitone.kernel.db import Database, RowBusy
from admitone.kernel.driver import DatabaseUnavailable
from admitone.kernel.errors import Unavailable
from admitone.kernel.figures import (
    CHECKOUT_PER_ADDRESS,
    CHECKOUT_PER_IDENTITY_AND_SOURCE,
    FREE_CHECKOUT_FAILURES,
    LOGIN_PER_ADDRESS,
    LOGIN_PER_IDENTITY,
)
from admitone.kernel.ids import uuid7
from admitone.kernel.limits import Limit, Per, by_identity
from admitone.kernel.manifest import Module
from admitone.kernel.scope import Caller
from admitone.kernel.streaks import Mark, Outcome, Result
from tests.builders import a_caller, a_credential, an_organization
from tests.conftest import INTERNAL_SECRET
from tests.proxy import a_wire
from tests.toy.authority import NobodyKnown, ToyAuthority

PLENTY = Limit("test.plenty", count=10**6, seconds=60, per=Per.ADDRESS)


class SignIn(Wire):
    email: ShortText


class Purchase(Wire):
    source: ShortText


LOGIN = LOGIN_PER_IDENTITY.on(lambda request: request.email.casefold())
CHECKOUT = CHECKOUT_PER_IDENTITY_AND_SOURCE.on(lambda request: request.source)


def a_door(path: str, entered: list[str], *limits: Limit, **said: Any) -> Contract:
    """A contract that needs the database for nothing but its callers."""
    usual = {"version": "1.0.0", "owner": "door", "consumers": ("tests",), "summary": "Come in.", "order_key": "none"}
    said = {"audience": Audience.PUBLIC, "repeats": "none (no side effects)", **said}
    door = Contract(id=f"DOOR.{path.strip('/').upper()}", post=path, limits=limits, **usual, **said)

    async def enter(call: Call) -> None:
        entered.append(call.contract.path)

    async def enter_with(call: Call, request: Any) -> None:
        entered.append(call.contract.path)

    if door.takes:
        enter_with.__annotations__["request"] = door.takes
    door.serves(enter_with if door.takes else enter)
    return door


@asynccontextmanager
async def served(url: str, home: Path, *doors: Contract, authority: Authority | None = None) -> AsyncIterator[Edge]:
    surroundings = {"DATABASE_URL": url, "ADMITONE_DATA": str(home), "ORYA_CRON_SECRET": INTERNAL_SECRET}
    module = Module(name="door", contracts=doors, limits=tuple({limit for door in doors for limit in door.limits}))
    application = assemble(Config.load(surroundings), [module], authority or NobodyKnown(), strict=True)
    await application.start()
    yield application.edge
    await application.close()


def an_address() -> str:
    return f"10.{'.'.join(str(byte) for byte in uuid7().bytes[-3:])}"


async def post(edge: Edge, path: str, address: str = "203.0.113.9", key: str = "", **body: str) -> httpx.Response:
    headers = {"authorization": f"Bearer {key}"} if key else {}
    transport = httpx.ASGITransport(edge, client=(address, 4711))
    async with httpx.AsyncClient(transport=transport, base_url="http://admitone.test") as client:
        return await client.post(path, json=body or None, headers=headers)


async def test_who_guesses_passwords_of_one_person_waits_wherever_he_comes_from(
    database_url: str, tmp_path: Path
) -> None:
    door = a_door(
        "/login", [], LOGIN_PER_ADDRESS, LOGIN, takes=SignIn, examples=(Example("one", takes=SignIn(email="a")),)
    )
    victim, other = f"Ana-{uuid7()}@example.org", f"rui-{uuid7()}@example.org"
    async with served(database_url, tmp_path, door) as edge:
        for _ in range(5):
            assert (await post(edge, "/login", an_address(), email=victim)).status_code == 204
        for _ in range(3):
            refused = await post(edge, "/login", an_address(), email=victim.lower())
            assert refused.status_code == 429
            assert 840 <= int(refused.headers["retry-after"]) <= 900, "a quarter of an hour, and no longer by knocking"
            assert refused.json()["retryable"] is True
        assert (await post(edge, "/login", an_address(), email=other)).status_code == 204


async def test_who_tries_many_persons_from_one_address_waits_too(database_url: str, tmp_path: Path) -> None:
    door = a_door(
        "/login", [], LOGIN_PER_ADDRESS, LOGIN, takes=SignIn, examples=(Example("one", takes=SignIn(email="a")),)
    )
    here = an_address()
    async with served(database_url, tmp_path, door) as edge:
        answers = [await post(edge, "/login", here, email=f"{uuid7()}@example.org") for _ in range(11)]
    assert [answer.status_code for answer in answers] == [204] * 10 + [429]


async def test_a_buyer_is_limited_per_thing_and_an_address_in_all(
    database: Database, database_url: str, superuser: asyncpg.Connection, tmp_path: Path
) -> None:
    """The figures of createCheckout: 10 of one person for one source, 30 from one address."""
    door = a_door(
        "/checkout", [], CHECKOUT, CHECKOUT_PER_ADDRESS, takes=Purchase, audience=Audience.PERSON,
        examples=(Example("one", takes=Purchase(source="a")),),
    )  # fmt: skip
    scope, here = await an_organization(database), an_address()
    ana, rui = [(await a_credential(superuser, scope)).text for _ in range(2)]
    async with served(database_url, tmp_path, door, authority=ToyAuthority()) as edge:

        async def tries(key: str, source: str, times: int) -> list[int]:
            answers = [await post(edge, "/checkout", here, key, source=source) for _ in range(times)]
            return [answer.status_code for answer in answers]

        assert await tries(ana, "concert", 11) == [204] * 10 + [429]
        assert await tries(rui, "concert", 10) == [204] * 10
        assert await tries(ana, "match", 10) == [204] * 9 + [429], "the eleventh at the concert counted for the address"


async def test_who_is_banned_is_told_no_and_nothing_more(
    database: Database, database_url: str, batcher: Batcher, superuser: asyncpg.Connection, tmp_path: Path
) -> None:
    entered: list[str] = []
    door = a_door("/mine", entered, audience=Audience.PERSON)
    scope = await an_organization(database)
    ana = await a_credential(superuser, scope)
    until = datetime.now(UTC) + timedelta(hours=1)
    await batcher.submit(bans.ban, bans.SCOPE, Ban(a_caller(), by_identity(ana.identity), "FRAUD_BOT", until))
    async with served(database_url, tmp_path, door, authority=ToyAuthority()) as edge:
        refused = await post(edge, "/mine", key=ana.text)
    assert refused.status_code == 403
    assert refused.json().keys() == {"errorCode", "message", "retryable", "correlationId"}
    assert refused.json()["errorCode"] == "SUBJECT_BANNED"
    assert "retry-after" not in refused.headers
    assert entered == []


@pytest.mark.covers("IDN-023")
async def test_when_the_counters_are_gone_whatever_is_counted_is_closed(database_url: str, tmp_path: Path) -> None:
    entered: list[str] = []
    async with (
        a_wire(database_url) as (wire, through),
        served(through, tmp_path, a_door("/counted", entered, PLENTY), a_door("/uncounted", entered)) as edge,
    ):
        assert (await post(edge, "/counted")).status_code == 204
        wire.refuse = True
        await wire.close()
        refused = await post(edge, "/counted")
        assert refused.status_code == 503
        assert refused.json()["retryable"] is True
        assert int(refused.headers["retry-after"]) >= 1
        assert (await post(edge, "/uncounted")).status_code == 204
        wire.refuse = False
        assert (await post(edge, "/counted")).status_code == 204
    assert entered == ["/counted", "/uncounted", "/counted"]


@pytest.mark.covers("IDN-023")
async def test_everybody_who_asks_a_database_that_is_away_is_refused() -> None:
    async with Database("postgresql://nobody@/nothing?host=/nowhere") as away:
        batcher = Batcher(away)
        reader = AuthorityReader(batcher, NobodyKnown())
        mark = Mark(FREE_CHECKOUT_FAILURES, "somebody")
        knock = Ask(Audience.PUBLIC, None, None, None, None, Caller(address="203.0.113.1"), (LOGIN_PER_ADDRESS,))
        answers = await asyncio.gather(
            *(reader.ask(knock) for _ in range(20)),
            batcher.submit(streaks.check, streaks.SCOPE, (mark,)),
            batcher.submit(streaks.record, streaks.SCOPE, (Outcome(mark, Result.FAILED),)),
            return_exceptions=True,
        )
    assert {type(answer) for answer in answers} == {DatabaseUnavailable}


async def test_counters_that_somebody_else_holds_refuse_and_do_not_hang(
    batcher: Batcher, superuser: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("admitone.kernel.db.PATIENT_LOCK_TIMEOUT_MS", 100)
    reader = AuthorityReader(batcher, NobodyKnown())
    knock = Ask(Audience.PUBLIC, None, None, None, None, Caller(address="203.0.113.2"), (PLENTY,))
    async with superuser.transaction():
        await superuser.execute("LOCK TABLE kernel.limit_counter IN EXCLUSIVE MODE")
        with pytest.raises(RowBusy) as refused:
            await reader.ask(knock)
    assert isinstance(refused.value, Unavailable)
    await reader.ask(knock)

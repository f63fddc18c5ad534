"""What cannot be counted is not let through: without its counters, whatever carries a limit is closed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import httpx
import pytest

from admitone.entrypoints.http import assemble
from admitone.kernel import streaks
from admitone.kernel.authority import Ask, AuthorityReader, NobodyKnown
from admitone.kernel.batch import Batcher
from admitone.kernel.config import Config
from admitone.kernel.contracts import Audience, Call, Contract
from admitone.kernel.db import Database, RowBusy
from admitone.kernel.driver import DatabaseUnavailable
from admitone.kernel.errors import Unavailable
from admitone.kernel.figures import FREE_CHECKOUT_FAILURES, LOGIN_PER_ADDRESS
from admitone.kernel.limits import Limit, Per
from admitone.kernel.manifest import Module
from admitone.kernel.scope import Caller
from admitone.kernel.streaks import Mark, Outcome, Result
from tests.conftest import INTERNAL_SECRET
from tests.proxy import a_wire

PLENTY = Limit("test.plenty", count=10**6, seconds=60, per=Per.ADDRESS)


def contracts_with(entered: list[str]) -> tuple[Contract, ...]:
    """One that counts its callers and one that does not; neither needs the database for anything else."""
    doors = []
    for name, path, limits in (("DOOR.01", "/counted", (PLENTY,)), ("DOOR.02", "/uncounted", ())):
        door = Contract(
            id=name, version="1.0.0", owner="door", consumers=("tests",), summary="Come in.", post=path,
            audience=Audience.PUBLIC, limits=limits, repeats="none (no side effects)", order_key="none",
        )  # fmt: skip

        async def enter(call: Call) -> None:
            entered.append(call.contract.id)

        door.serves(enter)
        doors.append(door)
    return tuple(doors)


@asynccontextmanager
async def served(url: str, home: Path, contracts: tuple[Contract, ...]) -> AsyncIterator[httpx.AsyncClient]:
    surroundings = {"DATABASE_URL": url, "ADMITONE_DATA": str(home), "ORYA_CRON_SECRET": INTERNAL_SECRET}
    module = Module(name="door", contracts=contracts, limits=(PLENTY,))
    application = assemble(Config.load(surroundings), [module], NobodyKnown(), strict=True)
    await application.start()
    transport = httpx.ASGITransport(application.edge, client=("203.0.113.9", 4711))
    async with httpx.AsyncClient(transport=transport, base_url="http://admitone.test") as client:
        yield client
    await application.close()


@pytest.mark.covers("IDN-023")
async def test_when_the_counters_are_gone_whatever_is_counted_is_closed(database_url: str, tmp_path: Path) -> None:
    entered: list[str] = []
    async with (
        a_wire(database_url) as (wire, through),
        served(through, tmp_path, contracts_with(entered)) as http,
    ):
        assert (await http.post("/counted")).status_code == 204
        wire.refuse = True
        await wire.close()
        refused = await http.post("/counted")
        assert refused.status_code == 503
        assert refused.json()["retryable"] is True
        assert int(refused.headers["retry-after"]) >= 1
        assert (await http.post("/uncounted")).status_code == 204
        wire.refuse = False
        assert (await http.post("/counted")).status_code == 204
    assert entered == ["DOOR.01", "DOOR.02", "DOOR.01"]


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

"""Letters go in groups, and what becomes of one is its own affair."""

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import asyncpg
import pytest

from admitone.foundation.mail import postman as mail_postman
from admitone.foundation.mail.handlers import deliver, deliver_at_leisure
from admitone.foundation.mail.model import Fate, LetterId, Opened, Template
from admitone.foundation.mail.postman import NotTaken, Postman
from admitone.foundation.mail.writing import Mail
from admitone.kernel.batch import Batcher
from admitone.kernel.breaker import DependencyUnavailable
from admitone.kernel.db import Database
from admitone.kernel.words import Language
from tests.builders import an_organization
from tests.conftest import Clone
from tests.jobs import DEADLINE_SECONDS, dead, until
from tests.mails import (
    SENDER,
    SITE,
    a_letter,
    a_mail_worker,
    a_postman,
    a_receipt,
    an_address,
    letters_of,
    posted,
    until_settled,
)
from tests.smtp import MailServer, a_mail_server
from tests.toy.process import ToyProcess

BOTH = (deliver, deliver_at_leisure)
MANY = 24


@pytest.fixture
async def server():
    async with a_mail_server() as server:
        yield server


def opened(to: str = "") -> Opened:
    now = datetime.now(UTC)
    return Opened(LetterId.new(), Template.PASSWORD_CHANGED, Language.ENGLISH, to or an_address(), {}, now)


# -- One of many


@pytest.mark.covers("INV-I06", "FUN-018")
async def test_of_a_group_one_is_refused_one_is_not_taken_one_cannot_be_read_and_all_others_are_sent(
    database: Database, batcher: Batcher, superuser: asyncpg.Connection, server: MailServer
):
    scope, addresses = await an_organization(database), [an_address() for _ in range(MANY)]
    await posted(database, scope, *map(a_receipt, addresses))
    torn, gone = (await letters_of(superuser, scope))[5], addresses[9]
    await superuser.execute("UPDATE mail.letter SET sealed = 'x' WHERE id = $1", torn["id"])
    server.nobody.add(gone)
    server.answers["DATA"] = ["451 4.3.0 Come back later"]
    async with a_mail_worker(database, batcher, superuser, scope, server, BOTH):
        await until_settled(superuser, scope)

    others = [each for each in addresses if each not in (gone, addresses[5])]
    assert {each: len(server.sent_to(each)) for each in others} == dict.fromkeys(others, 1)
    letters = {LetterId(row["id"]): row for row in await letters_of(superuser, scope)}
    assert Counter((bool(row["sent_at"]), bool(row["refused_at"])) for row in letters.values()) == {
        (True, False): MANY - 2,
        (False, True): 1,
        (False, False): 1,
    }
    [buried] = await dead(superuser, scope)
    assert str(LetterId(torn["id"])) in buried["key"]
    attempts = await superuser.fetch(
        "SELECT key, error FROM kernel.job_attempt WHERE organization_id = $1", scope.organization.uuid
    )
    assert len({row["key"] for row in attempts}) == 2, "nobody else spent an attempt"
    assert [row["error"] for row in attempts if row["key"] != buried["key"]] == ["NotTaken: 451 4.3.0"]


async def test_a_group_is_one_connection_and_ends_in_one_transaction(
    database: Database, batcher: Batcher, superuser: asyncpg.Connection, server: MailServer
):
    scope = await an_organization(database)
    await posted(database, scope, *(a_receipt(an_address()) for _ in range(MANY)))
    async with a_mail_worker(database, batcher, superuser, scope, server, BOTH):
        await until_settled(superuser, scope)
    assert (len(server.received), server.calls) == (MANY, 1)
    ends = "SELECT count(DISTINCT xmin::text) FROM mail.letter WHERE organization_id = $1"
    assert await superuser.fetchval(ends, scope.organization.uuid) == 1


async def test_whoever_waits_for_a_letter_goes_behind_nobody_while_there_are_places(
    database: Database, batcher: Batcher, superuser: asyncpg.Connection, server: MailServer
):
    scope = await an_organization(database)
    await posted(database, scope, *(a_letter(an_address()) for _ in range(deliver.lane.places)))
    async with a_mail_worker(database, batcher, superuser, scope, server, BOTH):
        await until_settled(superuser, scope)
    assert (len(server.received), server.calls) == (deliver.lane.places, deliver.lane.places)


# -- The way there


async def test_a_server_that_has_enough_of_a_connection_gets_the_rest_on_another(batcher: Batcher, server: MailServer):
    server.most_at_once = 2
    came = await a_postman(server, batcher).deliver([opened() for _ in range(5)])
    assert (came, server.calls, len(server.received)) == ([Fate.SENT] * 5, 3, 5)


async def test_who_was_not_taken_does_not_spoil_the_way_for_the_next(batcher: Batcher, server: MailServer):
    server.answers["DATA"] = ["554 5.6.0 Not liked"]
    gone = an_address()
    server.nobody.add(gone)
    first, *others = await a_postman(server, batcher).deliver([opened(), opened(), opened(gone), opened()])
    assert isinstance(first, NotTaken)
    assert others == [Fate.SENT, Fate.REFUSED, Fate.SENT]
    assert [len(each.recipients) for each in server.received] == [1, 1]
    assert server.calls == 3, "who did not take one is not asked on the same connection for another"


async def test_a_server_that_is_away_is_asked_once_for_a_group(
    batcher: Batcher, server: MailServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(mail_postman, "CONNECT_SECONDS", 0.5)
    server.silent_at = "CONNECT"
    came = await a_postman(server, batcher).deliver([opened() for _ in range(4)])
    assert {type(each) for each in came} == {DependencyUnavailable}
    assert server.calls == 1


async def test_what_a_slow_server_leaves_of_a_group_waits_without_spending_anything(
    batcher: Batcher, server: MailServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(mail_postman, "ROUND_SECONDS", -1)
    first, *others = await a_postman(server, batcher).deliver([opened() for _ in range(3)])
    assert first is Fate.SENT
    assert {type(each) for each in others} == {DependencyUnavailable}


# -- Who waits for whom


class Crowded:
    """Takes sign-in codes at once, and nothing else until it is told to."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.waiting = 0
        self.code = asyncio.Event()

    @asynccontextmanager
    async def set_out(self) -> AsyncIterator["Crowded"]:
        yield self

    async def carry(self, mail: Mail) -> Fate:
        if b"sign-in code" in mail.content:
            self.code.set()
        else:
            self.waiting += 1
            await self.open.wait()
        return Fate.SENT


async def test_a_lone_sign_in_code_is_not_held_up_by_groups_of_receipts(
    database: Database, batcher: Batcher, superuser: asyncpg.Connection
):
    scope, carrier = await an_organization(database), Crowded()
    places = deliver_at_leisure.lane.places
    receipts = [a_receipt(an_address()) for _ in range(places * deliver_at_leisure.group + MANY)]
    await posted(database, scope, *receipts)
    postman = Postman(carrier, SENDER, SITE)
    async with a_mail_worker(database, batcher, superuser, scope, postman, BOTH), asyncio.timeout(DEADLINE_SECONDS):
        try:
            while carrier.waiting < places:  # noqa: ASYNC110  Every place that they have is taken.
                await asyncio.sleep(0.02)
            await posted(database, scope, a_letter(an_address()))
            await carrier.code.wait()
        finally:
            carrier.open.set()
        await until_settled(superuser, scope)
    assert carrier.waiting == len(receipts)


# -- A worker that really dies


@pytest.mark.covers("INV-I06")
@pytest.mark.skipif(sys.platform != "linux", reason="children die with their parent only here")
async def test_a_worker_killed_within_a_group_loses_no_letter_and_sends_none_a_third_time(
    clone: Clone, server: MailServer, tmp_path: Path
):
    addresses = [an_address() for _ in range(MANY)]
    books = await asyncpg.connect(clone.superuser_url)
    async with Database(clone.url) as database:
        scope = await an_organization(database)
        await posted(database, scope, *map(a_receipt, addresses))
        worker = ToyProcess(clone.url, tmp_path, "carrying", "tests.foundation.mail.worker", SMTP_URL=server.url)
        try:
            worker.launch(ADMITONE_FAILPOINTS="mail.carried=kill@7")
            async with asyncio.timeout(DEADLINE_SECONDS):
                while worker.lives:  # noqa: ASYNC110  Another process tells nobody.
                    await asyncio.sleep(0.05)
            assert worker.was_killed, worker.said.read_text()[-2000:]
            assert len(server.received) == 7
            worker.launch()
            await until(books, "SELECT count(*) FROM kernel.job WHERE organization_id = $1", scope)
        finally:
            if worker.lives:
                worker.kill()
        times = [len(server.sent_to(each)) for each in addresses]
        assert Counter(times) == {1: MANY - 7, 2: 7}
        assert len({each.mail["Message-ID"] for each in server.received}) == MANY
        assert all(row["sent_at"] for row in await letters_of(books, scope))
        assert await dead(books, scope) == []
    await books.close()

"""A letter goes out once its transaction has committed, whatever the mail server says first, and nobody else hears of it."""

import asyncio
import re
from collections.abc import Sequence
from datetime import UTC, datetime

import asyncpg
import pytest

from admitone.foundation.mail import postman as mail_postman
from admitone.foundation.mail.handlers import deliver
from admitone.foundation.mail.model import Fate, LetterId, Opened, Template
from admitone.foundation.mail.postman import NotTaken, Postman
from admitone.kernel.batch import Batcher
from admitone.kernel.breaker import DependencyUnavailable
from admitone.kernel.db import Database, Tx
from admitone.kernel.ids import PLATFORM_ORGANIZATION, uuid7
from admitone.kernel.jobs.dead import DeadLetterId, Replay, replay
from admitone.kernel.jobs.worker import Rhythm
from admitone.kernel.scope import Caller, PeopleScope, Scope
from admitone.kernel.words import Language
from tests.builders import an_organization, at_the_same_time
from tests.jobs import DEADLINE_SECONDS, dead
from tests.mails import (
    CODE,
    a_letter,
    a_mail_worker,
    a_postman,
    an_address,
    delivered,
    letters_of,
    post,
    posted,
    send_all,
    until_settled,
)
from tests.smtp import MailServer, a_mail_server


@pytest.fixture
async def server():
    async with a_mail_server() as server:
        yield server


def opened(to: str, **values) -> Opened:
    values = values or {"code": CODE, "minutes": 10}
    return Opened(LetterId.new(), Template.SIGN_IN_CODE, Language.ENGLISH, to, values, datetime.now(UTC))


@pytest.mark.covers("INV-I06", "PLT-021")
async def test_a_letter_is_sent_once_and_then_forgotten(
    database: Database, batcher: Batcher, superuser: asyncpg.Connection, server: MailServer
):
    scope, address = await an_organization(database), an_address()
    await posted(database, scope, a_letter(address))
    [waiting] = await letters_of(superuser, scope)
    assert address.encode() not in waiting["sealed"] and CODE.encode() not in waiting["sealed"]
    assert server.received == [], "nothing is sent by who posts"

    await send_all(database, batcher, superuser, scope, server)
    [mail] = server.sent_to(address)
    assert mail["Subject"] == f"{CODE} is your sign-in code"
    assert (mail["From"], mail["To"]) == ("Tickets <no-reply@tickets.example>", address)
    assert mail["Message-ID"] == f"<{LetterId(waiting['id'])}@tickets.example>"
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["Date"].datetime == waiting["created_at"].replace(microsecond=0)
    assert CODE in server.received[-1].part("plain") and CODE in server.received[-1].part("html")
    assert server.received[-1].sender == "no-reply@tickets.example"
    [sent] = await letters_of(superuser, scope)
    assert sent["sent_at"] and sent["sealed"] is None


@pytest.mark.covers("INV-I06")
async def test_a_letter_of_a_transaction_that_rolls_back_is_never_sent(
    database: Database, batcher: Batcher, superuser: asyncpg.Connection, server: MailServer
):
    scope, lost, kept = await an_organization(database), an_address(), an_address()

    async def post_and_fail(tx: Tx) -> None:
        await post(tx, [a_letter(lost)])
        raise RuntimeError("the sale fell through")

    with pytest.raises(RuntimeError):
        await database.run(scope, post_and_fail)
    await posted(database, scope, a_letter(kept))
    await send_all(database, batcher, superuser, scope, server)
    assert len(server.sent_to(kept)) == 1 and server.sent_to(lost) == []


@pytest.mark.covers("INV-I06")
async def test_a_letter_with_a_key_is_posted_once_by_however_many(
    database: Database, batcher: Batcher, superuser: asyncpg.Connection, server: MailServer
):
    scope, address = await an_organization(database), an_address()
    letters = [a_letter(address, key="order 7: tickets"), a_letter(address, key="order 8: tickets")]
    counts = await at_the_same_time(4, lambda tx: post(tx, [*letters, *letters]), database, scope)
    assert sorted(counts) == [0, 0, 0, 2]
    assert await posted(database, scope, *letters) == 0
    await send_all(database, batcher, superuser, scope, server)
    assert len(server.sent_to(address)) == 2
    elsewhere = await an_organization(database)
    assert await posted(database, elsewhere, letters[0]) == 1, "a key is an organisation's own"
    assert len(await letters_of(superuser, scope)) == 2, "what was posted before is not written down again"


async def test_a_transaction_of_people_posts_for_the_platform(
    database: Database, batcher: Batcher, superuser: asyncpg.Connection, server: MailServer
):
    address, platform = an_address(), Scope(PLATFORM_ORGANIZATION, "test")
    letter = a_letter(address, key=f"sign-in {uuid7()}")
    for new in (1, 0):
        assert await database.run(PeopleScope("sign in"), lambda tx: post(tx.platform, [letter])) == new
    async with a_mail_worker(database, batcher, superuser, platform, server), asyncio.timeout(DEADLINE_SECONDS):
        while not server.sent_to(address):  # noqa: ASYNC110  The server tells nobody.
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("stage", ["MAIL", "RCPT", "DATA"])
async def test_a_server_that_is_busy_gets_the_letter_later(
    database: Database, batcher: Batcher, superuser: asyncpg.Connection, server: MailServer, stage: str
):
    scope, address = await an_organization(database), an_address()
    server.answers[stage] = ["451 4.3.0 Come back later"]
    await posted(database, scope, a_letter(address))
    await send_all(database, batcher, superuser, scope, server)
    assert len(server.sent_to(address)) == 1
    attempts = await superuser.fetch(
        "SELECT error FROM kernel.job_attempt WHERE organization_id = $1", scope.organization.uuid
    )
    assert [attempt["error"] for attempt in attempts] == ["NotTaken: 451 4.3.0"]


async def test_a_recipient_who_does_not_exist_is_written_down_and_wakes_nobody(
    database: Database, batcher: Batcher, superuser: asyncpg.Connection, server: MailServer
):
    scope, address = await an_organization(database), an_address()
    server.nobody.add(address)
    await posted(database, scope, a_letter(address))
    await send_all(database, batcher, superuser, scope, server)
    [letter] = await letters_of(superuser, scope)
    assert letter["refused_at"] and letter["sealed"] is None and letter["sent_at"] is None
    assert server.calls == 1, "it is asked once"
    assert await dead(superuser, scope) == []


@pytest.mark.covers("FUN-018")
async def test_a_letter_that_is_not_liked_is_a_dead_letter_after_three_times_and_can_be_sent_again(
    database: Database, batcher: Batcher, superuser: asyncpg.Connection, server: MailServer
):
    scope, address = await an_organization(database), an_address()
    server.answers["RCPT"] = ["550 5.7.1 Relaying denied"] * 3
    await posted(database, scope, a_letter(address))
    async with a_mail_worker(database, batcher, superuser, scope, server):
        await until_settled(superuser, scope)
        [letter] = await dead(superuser, scope)
        assert (letter["reason"], letter["error"]) == ("RETRIES_EXHAUSTED", "NotTaken: 550 5.7.1")
        assert server.calls == 3
        [kept] = await letters_of(superuser, scope)
        assert kept["sealed"], "so that it can be replayed"
        replayed = Replay(Caller(), DeadLetterId(letter["id"]), "operations", "the server knows us now")
        await batcher.submit(replay, scope, replayed)
        await until_settled(superuser, scope)
    assert len(server.sent_to(address)) == 1


@pytest.mark.covers("FUN-046")
async def test_while_the_server_is_away_letters_wait_and_spend_nothing(
    database: Database, batcher: Batcher, superuser: asyncpg.Connection, server: MailServer
):
    scope, address = await an_organization(database), an_address()
    await server.stop()
    await posted(database, scope, a_letter(address))
    async with a_mail_worker(database, batcher, superuser, scope, server):
        async with asyncio.timeout(DEADLINE_SECONDS):
            deferred = (
                "SELECT attempts FROM kernel.job WHERE organization_id = $1 AND worker IS NULL AND run_at > now()"
            )
            while await superuser.fetchval(deferred, scope.organization.uuid) is None:  # noqa: ASYNC110  Told by nobody.
                await asyncio.sleep(0.02)
        assert await superuser.fetchval(deferred, scope.organization.uuid) == 0
        await server.start()
        await until_settled(superuser, scope)
    assert len(server.sent_to(address)) == 1
    assert not await superuser.fetchval(
        "SELECT count(*) FROM kernel.job_attempt WHERE organization_id = $1", scope.organization.uuid
    )


@pytest.mark.covers("FUN-046")
async def test_a_server_that_stays_away_is_left_alone_by_all(batcher: Batcher, server: MailServer):
    postman = a_postman(server, batcher)
    await server.stop()
    for _ in range(5):
        with pytest.raises(DependencyUnavailable):
            await delivered(postman, opened(an_address()))
    await server.start()
    with pytest.raises(DependencyUnavailable) as told:
        await delivered(postman, opened(an_address()))
    assert server.calls == 0, "nobody even knocks"
    assert told.value.retry_after_seconds > mail_postman.AGAIN_SECONDS


@pytest.mark.covers("FUN-046")
async def test_strangers_with_bad_addresses_cannot_stop_the_mail_of_others(batcher: Batcher, server: MailServer):
    postman = a_postman(server, batcher)
    server.answers["RCPT"] = ["450 4.2.1 Mailbox busy"] * 10
    for _ in range(10):
        with pytest.raises(NotTaken):
            await delivered(postman, opened(an_address()))
    gone = an_address()
    server.nobody.add(gone)
    assert [await delivered(postman, opened(gone)) for _ in range(6)] == [Fate.REFUSED] * 6
    assert await delivered(postman, opened(an_address())) is Fate.SENT


@pytest.mark.parametrize(
    ("answer", "is_nobody"),
    [
        ("550 5.1.1 User unknown", True),
        ("550 5.2.1 Mailbox disabled", True),
        ("553 5.1.3 Bad address", True),
        ("550 No such user", True),
        ("550 5.7.1 Relaying denied", False),
        ("530 5.7.0 Authentication required", False),
        ("554 Go away", False),
        ("450 4.1.1 Unknown, so far", False),
        ("451 Later", False),
    ],
)
async def test_who_is_not_welcome_is_not_mistaken_for_nobody(
    batcher: Batcher, server: MailServer, answer: str, is_nobody: bool
):
    server.answers["RCPT"] = [answer]
    postman = a_postman(server, batcher)
    if is_nobody:
        assert await delivered(postman, opened(an_address())) is Fate.REFUSED
    else:
        with pytest.raises(NotTaken, match=r"^\d{3}( \d\.\d+\.\d+)?$"):
            await delivered(postman, opened(an_address()))


@pytest.mark.parametrize(
    ("stage", "expected"),
    [("CONNECT", DependencyUnavailable), ("MAIL", NotTaken), ("RCPT", NotTaken), ("DATA", NotTaken)],
)
async def test_a_server_that_hangs_is_given_up(
    batcher: Batcher, server: MailServer, monkeypatch, stage: str, expected: type[Exception]
):
    monkeypatch.setattr(mail_postman, "CONNECT_SECONDS", 0.5)
    monkeypatch.setattr(mail_postman, "SEND_SECONDS", 0.5)
    server.silent_at = stage
    with pytest.raises(expected):
        await delivered(a_postman(server, batcher), opened(an_address()))


def test_hanging_ends_before_the_job_and_the_probe_do():
    longest = mail_postman.CONNECT_SECONDS + mail_postman.SEND_SECONDS
    assert longest < mail_postman.MAIL.probe_seconds
    # The last letter of a round may find that the connection of those before it hangs.
    assert mail_postman.ROUND_SECONDS + mail_postman.SEND_SECONDS + longest < deliver.seconds
    assert Rhythm().grace_seconds > mail_postman.ROUND_SECONDS


@pytest.mark.covers("PRV-004")
async def test_nobody_reads_in_jobs_or_logs_who_got_which_mail(
    database: Database, batcher: Batcher, superuser: asyncpg.Connection, server: MailServer, capsysbinary
):
    scope = await an_organization(database)
    sent, gone, unlucky = an_address(), an_address(), an_address()
    server.nobody.add(gone)
    server.answers["RCPT"] = [f"450 4.2.0 <{unlucky}>: greylisted"] * 3
    addresses = (unlucky, sent, gone)
    async with a_mail_worker(database, batcher, superuser, scope, server):
        for address in addresses:
            await posted(database, scope, a_letter(address, key=f"greeting {addresses.index(address)}"))
            kept = await everything_about_jobs(superuser, scope)
            await until_settled(superuser, scope)
            kept += await everything_about_jobs(superuser, scope)
            assert "mail.deliver" in kept
            for secret in (address.partition("@")[0], CODE):
                assert secret not in kept
    assert len(await dead(superuser, scope)) == 1
    said = capsysbinary.readouterr()
    assert b"mail.delivered" in said.out and b"NotTaken: 450 4.2.0" in said.out
    for address in addresses:
        assert address.partition("@")[0].encode() not in said.out + said.err
    assert not re.search(rb"\b%b\b" % CODE.encode(), said.out + said.err)


async def everything_about_jobs(superuser: asyncpg.Connection, scope) -> str:
    tables = ("kernel.job", "kernel.job_key", "kernel.job_attempt", "kernel.dead_letter", "kernel.inbox")
    rows = [
        row
        for table in (*tables, "kernel.event_log")
        for row in await superuser.fetch(
            f"SELECT t::text FROM {table} AS t WHERE organization_id = $1", scope.organization.uuid
        )
    ]
    return "\n".join(row[0] for row in rows)


async def test_a_letter_whose_days_are_over_ends_quietly(
    database: Database, batcher: Batcher, superuser: asyncpg.Connection, server: MailServer
):
    scope, address = await an_organization(database), an_address()
    await posted(database, scope, a_letter(address))
    await superuser.execute("DELETE FROM mail.letter WHERE organization_id = $1", scope.organization.uuid)
    await send_all(database, batcher, superuser, scope, server)
    assert server.sent_to(address) == [] and await dead(superuser, scope) == []


async def test_a_worker_that_dies_after_sending_sends_the_same_mail_again(
    database: Database, batcher: Batcher, superuser: asyncpg.Connection, server: MailServer
):
    """Which a mail program can see by its Message-ID. Never to send it would be worse."""
    scope, address = await an_organization(database), an_address()

    class Forgetful(Exception):
        pass

    class Dying(Postman):
        deaths = 0

        async def deliver(self, letters: Sequence[Opened]) -> list[Fate | Exception]:
            came = await super().deliver(letters)
            Dying.deaths += 1
            if Dying.deaths == 1:
                raise Forgetful
            return came

    inner = a_postman(server, batcher)
    dying = Dying(inner.carrier, inner.sender, inner.site)
    await posted(database, scope, a_letter(address))
    await send_all(database, batcher, superuser, scope, dying)
    first, second = server.sent_to(address)
    assert (first["Message-ID"], first["Date"]) == (second["Message-ID"], second["Date"])

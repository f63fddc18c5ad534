"""A developer runs everything and reads the mail that was not sent."""

import asyncio

import httpx

from admitone.kernel.config import Config
from admitone.kernel.crypto import KEYRING
from admitone.kernel.db import Database
from admitone.kernel.embedded import find_server
from admitone.kernel.ids import PLATFORM_ORGANIZATION
from admitone.kernel.scope import Scope
from tests.desk import Desk, until
from tests.mails import CODE, a_letter, an_address, posted
from tests.stories.test_two_commands import desk  # noqa: F401  A fixture is found by its name.


def test_make_run_shows_a_mail_that_was_posted(desk: Desk):  # noqa: F811
    desk.run()
    mailbox = f"http://127.0.0.1:{desk.port}/dev/mailbox"
    assert mailbox in desk.words
    address = an_address()

    async def somebody_wants_to_sign_in() -> None:
        keys, server = Config.load({"ADMITONE_DATA": str(desk.home)}).keyring, find_server(desk.home)
        assert server
        async with Database(server.url()) as database:
            with KEYRING.wired(keys):
                await posted(database, Scope(PLATFORM_ORGANIZATION, "test"), a_letter(address))

    asyncio.run(somebody_wants_to_sign_in())
    until(lambda: address in httpx.get(mailbox).text, seconds=60)
    assert CODE in httpx.get(mailbox).text, "the subject says it"
    assert desk.ctrl_c() == 0

"""Without a mail server a developer reads letters on a page; in production there is no such page."""

from dataclasses import replace
from pathlib import Path

import asyncpg
import httpx
import pytest

from admitone.entrypoints.http import Application
from admitone.entrypoints.http import assemble as assemble_http
from admitone.entrypoints.http import build as build_http
from admitone.entrypoints.modules import MODULES
from admitone.entrypoints.worker import assemble as assemble_worker
from admitone.entrypoints.worker import build as build_worker
from admitone.foundation.authority.api import TableAuthority
from admitone.foundation.mail.handlers import deliver
from admitone.foundation.mail.mailbox import ROOM, Mailbox
from admitone.foundation.mail.model import LetterId, Template
from admitone.foundation.mail.port import check_way
from admitone.foundation.mail.postman import Postman
from admitone.foundation.mail.settings import KEYS
from admitone.kernel.batch import Batcher
from admitone.kernel.config import Config, ConfigurationProblem
from admitone.kernel.db import Database
from admitone.kernel.manifest import Module
from tests.builders import an_organization
from tests.foundation.mail.test_letters import INVITATION, written
from tests.foundation.mail.test_settings import MAIL
from tests.kernel.test_config import PRODUCTION
from tests.mails import a_letter, an_address, posted, send_all


def client_of(application: Application) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(application.edge), base_url="http://admitone.test")


async def test_a_letter_that_nobody_sends_is_read_on_a_page(
    database: Database, database_url: str, batcher: Batcher, superuser: asyncpg.Connection, tmp_path: Path
):
    config = Config.load({"DATABASE_URL": database_url, "ADMITONE_DATA": str(tmp_path)}, KEYS)
    application = assemble_http(config, MODULES, TableAuthority(), strict=True)
    workshop = assemble_worker(config, [Module("test", jobs=(deliver,))])
    postman = workshop.worker._desk.services[Postman]
    scope, address = await an_organization(database), an_address()
    values = INVITATION | {"organization": "<script>alert(1)</script>"}
    letter = a_letter(address, template=Template.ORGANIZATION_INVITATION, values=values)
    async with client_of(application) as client:
        assert "There is no mail yet" in (await client.get("/dev/mailbox")).text
        await posted(database, scope, letter)
        await send_all(database, batcher, superuser, scope, postman)

        page = await client.get("/dev/mailbox")
        assert page.status_code == 200 and address in page.text and "<script" not in page.text
        [file] = (tmp_path / "mailbox").iterdir()
        assert file.stat().st_mode & 0o077 == 0, "nobody else on this machine reads it"
        shown = await client.get(f"/dev/mailbox/{file.stem}")
        assert '<a href="http://127.0.0.1:8000/invitations/inv_1"' in shown.text
        assert "&lt;!doctype html&gt;" in shown.text and "<script" not in shown.text
        assert "default-src 'self'" in shown.headers["content-security-policy"]
        for nowhere in (str(LetterId.new()), "..%2f..%2fsecrets", "ltr_x", "%2e%2e"):
            assert (await client.get(f"/dev/mailbox/{nowhere}")).status_code in (404, 422)
    await workshop.database.close()
    await application.close()


async def test_production_has_no_mailbox(database_url: str, tmp_path: Path):
    own = {"DATABASE_URL": database_url, "DIRECT_URL": database_url, "ADMITONE_DATA": str(tmp_path)}
    given = PRODUCTION | MAIL | own
    for environ in (given, {**own, "SMTP_URL": MAIL["SMTP_URL"]}):
        config = Config.load(environ, KEYS)
        assert Mailbox.of(config) is None
        application = assemble_http(config, MODULES, TableAuthority())
        assert not [each for each in application.edge.contracts if each.path.startswith("/dev")]
        async with client_of(application) as client:
            assert (await client.get("/dev/mailbox")).status_code == 404
            assert (await client.get(f"/dev/mailbox/{LetterId.new()}")).status_code == 404
        await application.close()
    assert Mailbox.of(Config.load({"ADMITONE_DATA": str(tmp_path)}, KEYS)) is not None


@pytest.mark.parametrize(
    "outside",
    [
        {"ADMITONE_HOST": "0.0.0.0"},
        {"ADMITONE_HOST": "::"},
        {"ADMITONE_HOST": "192.0.2.7"},
        {"ADMITONE_HOST": "tickets.example.org"},
        {"TRUSTED_PROXIES": "127.0.0.1"},
        {"PUBLIC_URL": "https://tickets.example.org"},
    ],
    ids=str,
)
async def test_where_others_could_read_it_there_is_no_mailbox(
    database_url: str, tmp_path: Path, outside: dict[str, str]
):
    config = Config.load({"DATABASE_URL": database_url, "ADMITONE_DATA": str(tmp_path), **outside}, KEYS)
    assert Mailbox.of(config) is None
    for start in (check_way, build_http, build_worker):
        with pytest.raises(ConfigurationProblem, match="SMTP_URL is missing"):
            start(config)
    application = assemble_http(config, MODULES, TableAuthority())
    assert not [each for each in application.edge.contracts if each.path.startswith("/dev")]
    await application.close()


@pytest.mark.parametrize("inside", [{"ADMITONE_HOST": "::1"}, {"PUBLIC_URL": "http://localhost:8000"}], ids=str)
def test_what_stays_within_this_machine_has_a_mailbox(tmp_path: Path, inside: dict[str, str]):
    config = Config.load({"ADMITONE_DATA": str(tmp_path), **inside}, KEYS)
    assert Mailbox.of(config) is not None
    check_way(config)


async def test_a_mailbox_has_room_for_the_newest_and_shows_each_letter_once(tmp_path: Path):
    mailbox, letters = Mailbox(tmp_path / "mailbox"), [LetterId.new() for _ in range(ROOM + 3)]
    for letter in (*letters, letters[-1]):
        await mailbox.carry(replace(written(a_letter("ana@example.org")), letter=letter))
    assert [letter for letter, _ in await mailbox.list_newest()] == letters[:2:-1]
    assert await mailbox.find(letters[0]) is None
    assert len(list(mailbox.folder.iterdir())) == ROOM

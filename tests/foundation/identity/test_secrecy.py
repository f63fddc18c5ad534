"""Nothing that is personal or secret stands where it does not belong: in facts, jobs, the audit trail, logs."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

import asyncpg
import pytest

from admitone.entrypoints.http import assemble
from admitone.entrypoints.modules import MODULES
from admitone.foundation.authority.api import TableAuthority
from admitone.foundation.identity import api
from admitone.foundation.identity.commands import accounts
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from admitone.kernel.ids import PLATFORM_ORGANIZATION
from admitone.kernel.scope import Caller, Scope
from tests.foundation.identity.house import ANOTHER_PASSWORD, PASSWORD, House, Visitor, an_email, tables_of
from tests.mails import send_all
from tests.smtp import MailServer, a_mail_server

OURS = Scope(PLATFORM_ORGANIZATION, "test")
SOMEWHERE = "10.213.77.91"
CODE = re.compile(r"\b\d{6}\b")
LINK = re.compile(r"#([a-z]+_0_[0-9a-f]{40})")


@dataclass
class Post:
    """Carries what was posted, over real SMTP, and remembers the secrets in it."""

    server: MailServer
    database: Database
    batcher: Batcher
    superuser: asyncpg.Connection
    secrets: set[str] = field(default_factory=set)

    async def newest_to(self, email: str, secret: re.Pattern[str]) -> str:
        await send_all(self.database, self.batcher, self.superuser, OURS, self.server)
        bodies = [str(mail.get_body(("plain",)).get_content()) for mail in self.server.sent_to(email)]
        # Letters go several at a time, so the last to arrive need not be the one that was asked for last.
        *_, found = [match for body in bodies for match in dict.fromkeys(secret.findall(body))]
        self.secrets.add(found)
        return str(found)


async def everything_happens(ana: Visitor, post: Post) -> None:
    """To one person: signed up, guessed at, reset, refreshed, changed, signed out."""
    asked = await ana.post("signup", email=ana.email.upper(), password=PASSWORD)
    code = await post.newest_to(ana.email, CODE)
    for _ in range(2):
        assert (await ana.post("verify-otp", challengeId=asked.json()["challengeId"], code="x")).status_code == 401
    answer = await ana.post("verify-otp", challengeId=asked.json()["challengeId"], code=code)
    ana.tokens = answer.json()
    post.secrets |= tokens_of(ana)
    ana.http.cookies.clear()
    await ana.signs_in()
    post.secrets |= tokens_of(ana) | {ana.http.cookies["device"]}
    assert (await ana.login("a wrong password of ana")).status_code == 401
    await ana.post("password/reset-request", email=ana.email)
    link = await post.newest_to(ana.email, LINK)
    assert (await ana.post("password/reset", token=link, newPassword=ANOTHER_PASSWORD)).status_code == 200
    ana.password = ANOTHER_PASSWORD
    await ana.signs_in()
    post.secrets |= tokens_of(ana)
    spent = ana.tokens["refreshToken"]
    refreshed = await ana.post("refresh", refreshToken=spent)
    assert refreshed.status_code == 200
    post.secrets |= {ana.http.cookies["session"], ana.http.cookies["refresh"]}
    assert (await ana.send("GET", "me")).status_code == 200
    await post.superuser.execute("UPDATE authority.spent_token SET spent_at = spent_at - interval '1 minute'")
    assert (await ana.post("refresh", refreshToken=spent)).status_code == 401
    ana.http.cookies.clear()
    await ana.signs_in()
    post.secrets |= tokens_of(ana)
    change = {"currentPassword": ANOTHER_PASSWORD, "newPassword": PASSWORD}
    assert (await ana.post("password/change", ana.bearer, **change)).status_code == 200
    assert (await ana.post("logout", ana.bearer, everywhere=True)).status_code == 200


def tokens_of(ana: Visitor) -> set[str]:
    return {ana.tokens["accessToken"], ana.tokens["refreshToken"]}


async def places_of(superuser: asyncpg.Connection, words: Iterable[str]) -> set[tuple[str, str]]:
    """In which tables a word stands, in clear or as bytes."""
    found = set()
    for table in await tables_of(superuser):
        for word in words:
            for spelling in (word, word.encode().hex()):
                here = f"SELECT count(*) FROM {table} AS t WHERE position($1 IN lower(t::text)) > 0"
                if await superuser.fetchval(here, spelling.lower()):
                    found.add((table, word))
    return found


@pytest.mark.covers("IDN-018")
async def test_no_secret_and_nothing_personal_is_left_anywhere(
    house: House,
    database: Database,
    batcher: Batcher,
    superuser: asyncpg.Connection,
    capfd: pytest.CaptureFixture[str],
):
    # Built here, so that what it logs goes where we read it.
    application = assemble(house.application.config, MODULES, TableAuthority(), strict=True)
    house = House(application, superuser)
    await superuser.execute("DELETE FROM kernel.job WHERE organization_id = $1", PLATFORM_ORGANIZATION.uuid)
    ana = house.a_visitor(email=an_email(), address=SOMEWHERE)
    await house.people(lambda tx: api.guests(tx, [ana.email]))
    async with a_mail_server() as server:
        post = Post(server, database, batcher, superuser)
        await everything_happens(ana, post)
        identity = ana.identity
        await send_all(database, batcher, superuser, OURS, server)
        assert {"NEW_DEVICE", "PASSWORD_CHANGED", "TOKEN_REUSED"} <= set(await house.alarms_of(identity))
        await house.people(lambda tx: accounts.erase(tx, [(Caller(), identity)]))
    codes = {secret for secret in post.secrets if secret.isdigit()}
    words = {ana.email, ana.email.partition("@")[0], SOMEWHERE, PASSWORD, ANOTHER_PASSWORD, "a wrong password of ana"}
    assert await places_of(superuser, words | (post.secrets - codes)) == set()
    texts = await superuser.fetch(
        "SELECT payload::text AS text FROM kernel.event_log WHERE subject_id = $1"
        " UNION ALL SELECT concat_ws(' ', action, before, after) FROM kernel.audit_entry WHERE subject = $1"
        " UNION ALL SELECT payload::text FROM kernel.job WHERE organization_id = $2"
        " UNION ALL SELECT payload::text FROM kernel.dead_letter WHERE organization_id = $2",
        str(identity),
        PLATFORM_ORGANIZATION.uuid,
    )
    assert texts
    assert not [row["text"] for row in texts for code in codes if code in row["text"].split('"')]

    await application.close()
    logged = "".join(capfd.readouterr())
    assert '"contract":"CAUTH.02.LOGIN"' in logged, "this is where the logs are"
    assert [word for word in words | post.secrets - codes if word.lower() in logged.lower()] == []
    assert not [code for code in codes if f'"{code}"' in logged]


@pytest.mark.covers("IDN-018")
async def test_what_is_suspicious_is_told_without_saying_whose_address_it_is(house: House):
    ana = await house.a_user()
    asked = (await ana.post("send-otp", email=ana.email)).json()["challengeId"]
    for _ in range(7):
        await ana.post("verify-otp", challengeId=asked, code="wrong")
    assert await house.alarms_of(ana.identity) == ["CODE_GUESSED"], "once for a challenge"
    await ana.signs_in()
    assert await house.alarms_of(ana.identity) == ["CODE_GUESSED", "NEW_DEVICE"]
    await ana.signs_in()
    assert len(await house.alarms_of(ana.identity)) == 2, "the device is known now"
    told = [said for name, said in await house.facts_of(ana.identity) if name == "security.alert"]
    assert [set(said) for said in told] == [{"identityId", "alarm", "sessionId"}] * 2

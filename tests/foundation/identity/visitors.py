"""Somebody with an account, signed in on a device with an address of its own, and what was written to them.

ana = await an_account(application, password=PASSWORD)
answer = await ana.post("step-up", password=PASSWORD)
[(template, values)] = await letters_to(superuser, ana.email)
"""

import itertools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import asyncpg
import httpx
import pyotp

from admitone.entrypoints.http import Application
from admitone.foundation.authority import api as authority
from admitone.foundation.identity import passwords
from admitone.foundation.identity.commands import accounts
from admitone.foundation.identity.commands.accounts import NewAccount
from admitone.foundation.identity.handlers import rotate_page
from admitone.foundation.identity.model import Profile
from admitone.kernel.clock import Clock
from admitone.kernel.db import PeopleTx
from admitone.kernel.ids import PLATFORM_ORGANIZATION, IdentityId
from admitone.kernel.scope import Caller
from admitone.kernel.words import Language
from tests.foundation.identity.house import PASSWORD, PEOPLE, an_email, contents_of_letter

_numbers = itertools.count(1)


@dataclass
class Visitor:
    application: Application
    email: str = ""
    identity: IdentityId | None = None
    token: str = ""
    session: Any = None
    address: str = field(default_factory=lambda: f"10.9.{(n := next(_numbers)) // 250}.{n % 250 + 1}")

    def __post_init__(self) -> None:
        transport = httpx.ASGITransport(self.application.edge, client=(self.address, 4711))
        self.http = httpx.AsyncClient(transport=transport, base_url="https://admitone.test")

    async def post(self, path: str, **body: Any) -> httpx.Response:
        """As who they are, if they are signed in."""
        headers = {"authorization": f"Bearer {self.token}"} if self.token else {}
        answer = await self.http.post(f"/api/auth/{path}", json=body, headers=headers)
        self.http.cookies.clear()
        return answer

    async def get(self, path: str) -> httpx.Response:
        return await self.http.get(path, headers={"authorization": f"Bearer {self.token}"})

    async def login(self, password: str = PASSWORD, **more: Any) -> httpx.Response:
        """From somewhere else, so that nothing but the account is counted."""
        stranger = Visitor(self.application)
        return await stranger.post("login", email=self.email, password=password, **more)


async def an_account(
    application: Application, email: str = "", *, password: str | None = None, verified: bool = True
) -> Visitor:
    """Somebody who has just signed in."""
    email = email or an_email()
    hashed = await passwords.hash_of(password) if password else None
    new = NewAccount(Caller(), Profile(email, None, Language.ENGLISH), hashed, is_verified=verified)
    [identity] = await application.database.run(PEOPLE, lambda tx: accounts.create(tx, [new]))
    assert isinstance(identity, IdentityId)
    return await signed_in(application, Visitor(application, email, identity))


async def signed_in(application: Application, visitor: Visitor) -> Visitor:
    """The same person in another session."""

    async def sign_in(tx: PeopleTx) -> authority.Opened:
        known = await tx.fetch("SELECT email_verified_at FROM identity.identity WHERE id = $1", visitor.identity.uuid)
        opening = authority.Opening(visitor.identity, authority.Method.PASSWORD, known[0]["email_verified_at"])
        [opened] = await authority.open_sessions(tx, [opening])
        return opened

    opened = await application.database.run(PEOPLE, sign_in)
    return Visitor(application, visitor.email, visitor.identity, opened.access_token, opened.session)


async def an_authenticator(visitor: Visitor) -> tuple[pyotp.TOTP, list[str]]:
    """Enrolled and confirmed with the code of the step before this one, so that this one's is still good."""
    begun = await visitor.post("totp/enrol")
    assert begun.status_code == 200, begun.text
    totp = pyotp.TOTP(begun.json()["secret"])
    confirmed = await visitor.post("totp/confirm", code=totp.at(await now_of(visitor), -1))
    assert confirmed.status_code == 200, confirmed.text
    return totp, confirmed.json()["recoveryCodes"]


async def now_of(visitor: Visitor) -> Any:
    async def now(tx: PeopleTx) -> Any:
        return tx.now

    return await visitor.application.database.read(PEOPLE, now)


async def letters_to(superuser: asyncpg.Connection, email: str) -> list[tuple[str, dict[str, Any]]]:
    """Template and values of what was posted, in order."""
    rows = await superuser.fetch(
        "SELECT id, template, sealed FROM mail.letter WHERE organization_id = $1 AND sealed IS NOT NULL ORDER BY id",
        PLATFORM_ORGANIZATION.uuid,
    )
    read = [(row["template"], contents) for row in rows if (contents := contents_of_letter(row))]
    return [(template, dict(contents.values)) for template, contents in read if contents.to == email]


async def code_to(superuser: asyncpg.Connection, email: str) -> str:
    return str([values["code"] for _, values in await letters_to(superuser, email) if "code" in values][-1])


async def alarms_of(superuser: asyncpg.Connection, identity: IdentityId | None) -> list[str]:
    rows = await superuser.fetch(
        "SELECT payload::text AS payload FROM kernel.event_log"
        " WHERE subject_id = $1 AND type = 'security.alert' ORDER BY id",
        str(identity),
    )
    return [json.loads(row["payload"])["alarm"] for row in rows]


async def trail_of(superuser: asyncpg.Connection, identity: IdentityId | None) -> list[asyncpg.Record]:
    """What the audit trail says about somebody."""
    return await superuser.fetch(
        "SELECT action, reason_code, before, after FROM kernel.audit_entry WHERE subject = $1 ORDER BY id",
        str(identity),
    )


@contextmanager
def later(application: Application, by: timedelta) -> Iterator[None]:
    """The application's clock goes ahead of the database's."""
    before, application.database._clock = application.database._clock, Clock(by)
    try:
        yield
    finally:
        application.database._clock = before


async def count_of(superuser: asyncpg.Connection, table: str, identity: IdentityId | None) -> int:
    found: int = await superuser.fetchval(f"SELECT count(*) FROM {table} WHERE identity_id = $1", identity.uuid)
    return found


async def rotate_everything(application: Application) -> int:
    """What the nightly errand does; how many addresses and authenticators it wrote anew."""
    after, changed = UUID(int=0), 0
    while (page := await application.database.run(PEOPLE, partial(rotate_page, after=after), patient=True)).last:
        after, changed = page.last, changed + page.changed
    return changed

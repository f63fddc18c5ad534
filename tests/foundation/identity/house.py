"""Who comes to the auth API, as tests need them: from an address of their own, with cookies as a browser keeps them.

ana = await house.a_user()                   has signed up with a code, and is signed in
answer = await ana.post("login", email=ana.email, password=PASSWORD)
[letter] = await house.letters_to(ana.email)
"""

import itertools
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import asyncpg
import httpx

from admitone.entrypoints.http import Application
from admitone.foundation.mail.model import Content, LetterId
from admitone.foundation.mail.sealing import opened
from admitone.kernel.clock import Clock
from admitone.kernel.crypto import CannotOpen
from admitone.kernel.db import Database
from admitone.kernel.ids import PLATFORM_ORGANIZATION, IdentityId, uuid7
from admitone.kernel.scope import PeopleScope
from admitone.kernel.transactions import Transaction

PASSWORD = "seven quiet herons"
ANOTHER_PASSWORD = "eight loud herons"
OUR_ORIGIN = "https://admitone.test"
PROXY = "127.0.0.1"
PEOPLE = PeopleScope("test")

_numbers = itertools.count(1)


def an_email() -> str:
    """That nobody else has."""
    return f"ana.{uuid7().hex}@example.org"


def an_address() -> str:
    """From which nobody came before, in this process."""
    number = next(_numbers)
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


@dataclass
class Visitor:
    """A browser on our own pages; without an `origin`, an app."""

    edge: Any
    address: str = field(default_factory=an_address)
    origin: str | None = OUR_ORIGIN
    peer: str = PROXY
    email: str = ""
    password: str = PASSWORD
    tokens: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        transport = httpx.ASGITransport(self.edge, client=(self.peer, 4711))
        self.http = httpx.AsyncClient(transport=transport, base_url=OUR_ORIGIN)

    @property
    def identity(self) -> IdentityId:
        return IdentityId.parse(self.tokens["identityId"])

    @property
    def bearer(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.tokens['accessToken']}"}

    async def post(self, path: str, headers: dict[str, str] | None = None, /, **body: Any) -> httpx.Response:
        return await self.send("POST", path, headers, json=body)

    async def send(self, method: str, path: str, headers: dict[str, str] | None = None, **said: Any) -> httpx.Response:
        own = {"x-forwarded-for": self.address} | ({"origin": self.origin} if self.origin else {})
        return await self.http.request(method, f"/api/auth/{path}", headers=own | (headers or {}), **said)

    async def me(self, tokens: dict[str, Any] | None = None) -> httpx.Response:
        token = (tokens or self.tokens)["accessToken"]
        return await self.send("GET", "me", {"authorization": f"Bearer {token}"})

    async def login(self, password: str | None = None, **more: Any) -> httpx.Response:
        return await self.post("login", email=self.email, password=password or self.password, **more)

    async def signs_in(self) -> dict[str, Any]:
        """By the password; the tokens."""
        answer = await self.login()
        assert answer.status_code == 200, answer.text
        self.tokens = answer.json()
        return self.tokens


@dataclass(frozen=True)
class Standing:
    """A clock that shows one instant."""

    instant: datetime

    def at(self, _database_time: datetime) -> datetime:
        return self.instant


@dataclass
class House:
    """The application and what was posted by it."""

    application: Application
    superuser: asyncpg.Connection

    @property
    def database(self) -> Database:
        return self.application.database

    def a_visitor(self, **said: Any) -> Visitor:
        return Visitor(self.application.edge, **said)

    async def a_user(self, email: str | None = None, **said: Any) -> Visitor:
        """Somebody who signed up with a password and proved the address."""
        visitor = self.a_visitor(email=email or an_email(), **said)
        asked = await visitor.post("signup", email=visitor.email, password=visitor.password)
        assert asked.status_code == 202, asked.text
        answer = await self.verifies(visitor, asked)
        assert answer.status_code == 200, answer.text
        visitor.tokens = answer.json()
        visitor.http.cookies.clear()
        return visitor

    async def verifies(self, visitor: Visitor, asked: httpx.Response) -> httpx.Response:
        """With the code that was sent last."""
        code = await self.code_to(visitor.email)
        return await visitor.post("verify-otp", challengeId=asked.json()["challengeId"], code=code)

    async def letters_to(self, email: str) -> list[tuple[str, dict[str, Any]]]:
        """Template and values of what was posted and not sent yet, in order."""
        rows = await self.superuser.fetch(
            "SELECT id, template, sealed FROM mail.letter WHERE organization_id = $1 AND sealed IS NOT NULL"
            " ORDER BY id DESC LIMIT 500",
            PLATFORM_ORGANIZATION.uuid,
        )
        read = [(row["template"], contents) for row in rows if (contents := contents_of_letter(row))]
        return [(template, dict(contents.values)) for template, contents in reversed(read) if contents.to == email]

    async def code_to(self, email: str) -> str:
        codes = [values["code"] for _, values in await self.letters_to(email) if "code" in values]
        return str(codes[-1])

    async def token_to(self, email: str) -> str:
        """What stands behind the # of the last link."""
        links = [values["link"] for _, values in await self.letters_to(email) if "link" in values]
        return str(links[-1]).partition("#")[2]

    async def facts_of(self, identity: IdentityId) -> list[tuple[str, dict[str, Any]]]:
        rows = await self.superuser.fetch(
            "SELECT type, payload::text AS payload FROM kernel.event_log WHERE subject_id = $1 ORDER BY id",
            str(identity),
        )
        return [(row["type"], json.loads(row["payload"])) for row in rows]

    async def alarms_of(self, identity: IdentityId) -> list[str]:
        return [said["alarm"] for name, said in await self.facts_of(identity) if name == "security.alert"]

    async def now(self) -> datetime:
        instant: datetime = await self.superuser.fetchval("SELECT now()")
        return instant

    def later(self, by: timedelta) -> AbstractContextManager[None]:
        """The application's clock goes ahead of the database's."""
        return self._by(Clock(by))

    def at(self, instant: datetime) -> AbstractContextManager[None]:
        """The application's clock stands still."""
        return self._by(Standing(instant))

    @contextmanager
    def _by(self, clock: Any) -> Iterator[None]:
        before, self.database._clock = self.database._clock, clock
        try:
            yield
        finally:
            self.database._clock = before

    async def people(self, work: Any) -> Any:
        return await self.database.run(PEOPLE, work)


def contents_of_letter(letter: asyncpg.Record) -> Content | None:
    """Unless another test sealed it with keys of its own."""
    try:
        return opened(letter["sealed"], PLATFORM_ORGANIZATION, LetterId(letter["id"]))
    except CannotOpen:
        return None


async def tables_of(superuser: asyncpg.Connection) -> list[str]:
    """Every table that we have."""
    rows = await superuser.fetch(
        "SELECT c.oid::regclass::text AS name FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace"
        " WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition"
        " AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'"
    )
    return [row["name"] for row in rows]


async def contents_of(superuser: asyncpg.Connection) -> dict[str, str]:
    """A digest of every row of every table."""
    digest = "SELECT md5(COALESCE(string_agg(md5(t::text), '' ORDER BY md5(t::text)), '')) FROM {} AS t"
    return {table: await superuser.fetchval(digest.format(table)) for table in await tables_of(superuser)}


@asynccontextmanager
async def statements_of(monkeypatch: Any) -> AsyncIterator[list[str]]:
    """Whatever is sent to the database meanwhile, in order."""
    said: list[str] = []
    with monkeypatch.context() as patch:
        for name in ("fetch", "find", "execute"):
            original = getattr(Transaction, name)

            async def recording(self: Transaction, sql: str, *values: Any, _original: Any = original) -> Any:
                said.append(" ".join(sql.split()))
                return await _original(self, sql, *values)

            patch.setattr(Transaction, name, recording)
        yield said

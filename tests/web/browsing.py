"""A browser without a screen: it keeps cookies, says where its forms stand, and reads letters.

async with a_browser(application) as browser:
    answer = await browser.send("/sign-in", email=…, password=…)
"""

import html
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import asyncpg
import httpx

from admitone.entrypoints.http import Application
from tests.foundation.identity.house import PASSWORD, House, an_email
from tests.people import CLIENTS, Person

OURS = "https://admitone.test"
ELSEWHERE = {"origin": "https://elsewhere.example", "sec-fetch-site": "cross-site"}


@dataclass
class Browser:
    http: httpx.AsyncClient

    async def open(self, path: str, **headers: str) -> httpx.Response:
        return await self.http.get(path, headers=headers)

    async def send(self, path: str, /, headers: dict[str, str] | None = None, **fields: Any) -> httpx.Response:
        """A form of ours, or of whoever the headers say."""
        return await self.http.post(path, data=fields, headers={"origin": OURS} | (headers or {}))

    async def follow(self, answer: httpx.Response) -> httpx.Response:
        """Where a deed leads, in the end."""
        while answer.status_code == 303:
            answer = await self.open(answer.headers["location"])
        return answer

    def be(self, person: Person) -> None:
        self.http.cookies.set("session", person.access_token)


@asynccontextmanager
async def a_browser(application: Application) -> AsyncIterator[Browser]:
    number = next(CLIENTS)
    transport = httpx.ASGITransport(application.edge, client=(f"100.65.{number // 250}.{number % 250 + 1}", 4711))
    async with httpx.AsyncClient(transport=transport, base_url=OURS) as client:
        yield Browser(client)


async def sign_up(browser: Browser, house: House, **said: str) -> str:
    """Somebody new, who is signed in then; their address."""
    email = said.pop("email", an_email())
    sent = await browser.send("/sign-up", email=email, password=PASSWORD, **said)
    assert sent.status_code == 303, sent.text
    entered = await browser.send(sent.headers["location"].partition("?")[0], code=await house.code_to(email))
    assert entered.status_code == 303, entered.text
    return email


def words_of(answer: httpx.Response) -> str:
    """What somebody reads, without the marks around it."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())


def a_house(application: Application, superuser: asyncpg.Connection) -> House:
    return House(application, superuser)

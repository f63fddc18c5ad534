"""Clients who send one thing at a time, judge what they are told, and write it down.

Promise: a client sends what its seed says. What never reached the server failed; what got no answer is unknown.
"""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Protocol

import httpx

from bench.faults.journal import Journal, Outcome, Request, Told

CLIENTS = 6
AFTER_TROUBLE_SECONDS = 0.02


class Load(Protocol):
    """What a package's clients send, and what they make of the answer."""

    def request(self, number: int, chance: random.Random) -> Request:
        """The request of this number; no two numbers are the same."""
        ...

    def judge(self, response: httpx.Response) -> Outcome: ...


def judge_as_the_edge_speaks(response: httpx.Response, *refusals: str) -> Outcome:
    """A refusal of ours says what happened; whatever else is said is wrong."""
    if response.status_code == 200:
        return Outcome.OK
    try:
        said = response.json()["errorCode"]
    except (ValueError, LookupError, TypeError):
        return Outcome.WRONG
    if said == "OUTCOME_UNKNOWN":
        return Outcome.UNKNOWN
    return Outcome.FAILED if response.status_code == 503 or said in refusals else Outcome.WRONG


class Crowd:
    def __init__(self, load: Load, base_url: str, journal: Journal, seed: int) -> None:
        self.load = load
        self.journal = journal
        self._base_url = base_url
        self._chances = [random.Random(f"client {client} of {seed}") for client in range(CLIENTS)]
        self._numbers = [count(client + 1, CLIENTS) for client in range(CLIENTS)]

    async def send(self, http: httpx.AsyncClient, request: Request) -> Told:
        self.journal.sent(request)
        told = await self._ask(http, request)
        self.journal.told(request, told)
        return told

    async def _ask(self, http: httpx.AsyncClient, request: Request) -> Told:
        try:
            url = f"{self._base_url}{request.path}"
            response = await http.post(url, json=request.body, headers=request.headers)
        except (httpx.ConnectError, httpx.ConnectTimeout):
            return Told(Outcome.FAILED)
        except httpx.TransportError:
            return Told(Outcome.UNKNOWN)
        outcome = self.load.judge(response)
        return Told(outcome, response.status_code, response.json() if outcome is Outcome.OK else response.text)

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """From the start of the block to its end."""
        over = asyncio.Event()
        clients = [asyncio.create_task(self._work(number, over)) for number in range(CLIENTS)]
        try:
            yield
        finally:
            over.set()
            await asyncio.gather(*clients)

    async def _work(self, client: int, over: asyncio.Event) -> None:
        # Half of the clients do not wait for long, and leave without an answer.
        async with httpx.AsyncClient(timeout=1 if client % 2 else 20) as http:
            while not over.is_set():
                request = self.load.request(next(self._numbers[client]), self._chances[client])
                told = await self.send(http, request)
                if told.outcome is not Outcome.OK:
                    await asyncio.sleep(AFTER_TROUBLE_SECONDS)

    async def until_done(self, more: int, seconds: float = 60) -> None:
        """Until so many more were acknowledged."""
        wanted = self.journal.done + more
        async with asyncio.timeout(seconds):
            while self.journal.done < wanted:
                await asyncio.sleep(0.02)

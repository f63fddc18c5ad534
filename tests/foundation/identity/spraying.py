"""Somebody who guesses passwords as fast as they can, and says of each try that it comes from somewhere else."""

import asyncio
import random
from collections import Counter
from typing import Any

import httpx

from tests.foundation.identity.house import OUR_ORIGIN, an_email


async def spray(edge: Any, tries: int, *, peer: str, email: str | None = None, at_once: int = 50) -> Counter[int]:
    """The statuses of so many sign-ins, of one address or of many, from a peer that is no proxy of ours."""
    transport = httpx.ASGITransport(edge, client=(peer, 4711))
    statuses: Counter[int] = Counter()
    left = iter(range(tries))

    async def guess(http: httpx.AsyncClient) -> None:
        for number in left:
            headers = {"x-forwarded-for": ".".join(str(random.randrange(1, 255)) for _ in range(4))}
            headers["cookie"] = f"device={random.getrandbits(128):032x}.1.{random.getrandbits(256):064x}"
            body = {"email": email or an_email(), "password": f"a guess {number}"}
            answer = await http.post("/api/auth/login", json=body, headers={**headers, "origin": OUR_ORIGIN})
            statuses[answer.status_code] += 1

    async with httpx.AsyncClient(transport=transport, base_url=OUR_ORIGIN) as http:
        await asyncio.gather(*(guess(http) for _ in range(at_once)))
    return statuses

"""Limits: how often somebody may come, counted in the database, across all processes.

Promise: one sorted upsert counts all hits of all callers that arrived together, in a transaction of its own that is
committed without waiting for the disk. A subject is stored as a digest. The period opens with the first hit and ends
by the database's clock. Inside one batch hits are counted in order, so the last one allowed is the last one allowed.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from ipaddress import ip_network
from typing import Any

import msgspec

from admitone.kernel.db import PlatformTx
from admitone.kernel.errors import Throttled
from admitone.kernel.statements import columns


class Per(StrEnum):
    """Whose hits are counted together."""

    ADDRESS = "address"
    DEVICE = "device"
    IDENTITY = "identity"
    ORGANIZATION = "organization"
    REQUEST = "request"
    """Something in the request itself, which the contract points at."""


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `count` hits of one subject within `seconds`."""

    name: str
    count: int
    seconds: int
    per: Per
    subject: Callable[[Any], str] | None = None

    def __post_init__(self) -> None:
        if (self.per is Per.REQUEST) != (self.subject is not None):
            raise TypeError(f"limit {self.name}: a subject is what Per.REQUEST needs, and nothing else takes")


class Hit(msgspec.Struct, frozen=True):
    """One hit on one limit."""

    limit: Limit
    subject: str

    @property
    def key(self) -> bytes:
        return hashlib.blake2b(f"{self.limit.name}\0{self.subject}".encode(), digest_size=16).digest()


def by_address(address: str | None) -> str:
    """An address as a subject. One customer of a provider has 2^64 of version 6: they are one."""
    if address and ":" in address:
        address = str(ip_network((address.partition("%")[0], 64), strict=False))
    return f"{Per.ADDRESS}:{address}"


class Period(msgspec.Struct, frozen=True):
    key: bytes
    hits: int
    ends_at: datetime


COUNT_HITS = """
    INSERT INTO kernel.limit_counter AS c (key, hits, ends_at)
    SELECT v.key, v.hits, v.ends_at
      FROM unnest($1::bytea[], $2::bigint[], $3::timestamptz[]) AS v(key, hits, ends_at)
        ON CONFLICT (key) DO UPDATE
       SET hits = CASE WHEN c.ends_at > $4 THEN c.hits + EXCLUDED.hits ELSE EXCLUDED.hits END,
           ends_at = CASE WHEN c.ends_at > $4 THEN c.ends_at ELSE EXCLUDED.ends_at END
    RETURNING c.key, c.hits, c.ends_at
"""


async def count(tx: PlatformTx, hits: Sequence[Hit]) -> list[Throttled | None]:
    """Count the hits; for each, `None` if it is within its limit."""
    if not hits:
        return []
    keys = [hit.key for hit in hits]
    seconds = {key: hit.limit.seconds for key, hit in zip(keys, hits, strict=True)}
    # Sorted, so that two processes that count the same subjects cannot deadlock; summed, because one statement
    # cannot touch a row twice.
    rows = [
        Period(key, number, tx.now + timedelta(seconds=seconds[key])) for key, number in sorted(Counter(keys).items())
    ]
    counted = await tx.fetch(COUNT_HITS, *columns(rows, "key", "hits", "ends_at"), tx.now)
    periods = {row["key"]: Period(**row) for row in counted}
    so_far = {row.key: periods[row.key].hits - row.hits for row in rows}
    verdicts: list[Throttled | None] = []
    for key, hit in zip(keys, hits, strict=True):
        so_far[key] += 1
        within = so_far[key] <= hit.limit.count
        verdicts.append(None if within else _throttled(periods[key], tx.now))
    return verdicts


def _throttled(period: Period, now: datetime) -> Throttled:
    return Throttled(retry_after_seconds=max(1, int((period.ends_at - now).total_seconds())))

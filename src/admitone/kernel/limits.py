"""Limits: how often somebody may come, counted in the database, across all processes.

Promise: one sorted upsert counts all hits of all callers that arrived together, in a transaction of its own that is
committed without waiting for the disk; the same statement says who of them is banned. A subject is stored as a digest.
The period opens with the first hit and ends by the database's clock. Inside one batch hits are counted in order, so
the last one allowed is the last one allowed.

A limit with a cooldown closes the door when it is exceeded: for the first step, then for the next, and for the last
ever after, until it was not exceeded for `COOLDOWN_MEMORY`. A closed door is a period that was made longer: knocking
changes nothing, and it opens for everybody at the same instant. Only the hit that closes the door costs more than the
upsert. How often a door was closed stands in a row like any other, under a key of its own.

What cannot be counted is not let through: whatever keeps the database from answering refuses the call (IDN-023).
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from ipaddress import ip_network
from math import ceil
from typing import Any, Final

import msgspec

from admitone.kernel.db import PlatformTx
from admitone.kernel.errors import Throttled
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.statements import columns

COOLDOWN_MEMORY: Final = timedelta(hours=24)
"""How long a closed door is remembered, from the moment it was closed."""


class Per(StrEnum):
    """Whose hits are counted together."""

    ADDRESS = "address"
    DEVICE = "device"
    IDENTITY = "identity"
    ORGANIZATION = "organization"
    REQUEST = "request"
    """Something in the request itself, which the contract points at."""
    IDENTITY_AND_REQUEST = "identity and request"
    """A person together with something in the request: what one does to one thing."""

    @property
    def is_in_request(self) -> bool:
        return self in (Per.REQUEST, Per.IDENTITY_AND_REQUEST)


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `count` hits of one subject within `seconds`; beyond, closed for the steps of the cooldown in turn."""

    name: str
    count: int
    seconds: int
    per: Per
    subject: Callable[[Any], str] | None = None
    """Where it stands in the request. A figure that many contracts share leaves it open until `on`."""
    cooldown: tuple[timedelta, ...] = ()

    def __post_init__(self) -> None:
        if self.count < 1 or self.seconds < 1:
            raise TypeError(f"limit {self.name}: lets nobody through, or never ends")
        if self.subject is not None and not self.per.is_in_request:
            raise TypeError(f"limit {self.name}: per {self.per} has no subject in the request")
        if any(not timedelta(seconds=self.seconds) <= step <= COOLDOWN_MEMORY for step in self.cooldown):
            raise TypeError(f"limit {self.name}: a step is as long as the period at least, and no longer than memory")

    def on(self, subject: Callable[[Any], str]) -> "Limit":
        """The same limit for requests in which the subject stands there."""
        return replace(self, subject=subject)

    @property
    def period(self) -> timedelta:
        return timedelta(seconds=self.seconds)


class Hit(msgspec.Struct, frozen=True):
    """One hit on one limit."""

    limit: Limit
    subject: str

    @property
    def key(self) -> bytes:
        return key_of(self.limit.name, self.subject)

    @property
    def key_of_closures(self) -> bytes:
        """Under which the times are counted that this door was closed."""
        return key_of(f"{self.limit.name}\0closures", self.subject)


@lru_cache(maxsize=16_384)
def key_of(name: str, subject: str) -> bytes:
    """A subject as it is stored: whoever reads the table learns no address, no e-mail, no person."""
    # Whoever comes once comes again: half of what a ban check costs in Python is this.
    return hashlib.blake2b(f"{name}\0{subject}".encode(), digest_size=16).digest()


def key_of_ban(subject: str) -> bytes:
    return key_of("kernel.ban", subject)


def by_address(address: str | None) -> str:
    """An address as a subject. One customer of a provider has 2^64 of version 6: they are one."""
    if address and ":" in address:
        address = str(ip_network((address.partition("%")[0], 64), strict=False))
    return f"address:{address}"


def by_identity(identity: IdentityId) -> str:
    return f"identity:{identity}"


def by_organization(organization: OrganizationId) -> str:
    return f"organization:{organization}"


def by_device(owner: OrganizationId | IdentityId | str, device: str) -> str:
    """A device is one of its organisation, or of its person: devices of the same name elsewhere are others."""
    return f"device:{owner}:{device}"


class Period(msgspec.Struct, frozen=True):
    key: bytes
    hits: int
    ends_at: datetime


COUNT_HITS = """
    WITH counted AS (
        INSERT INTO kernel.limit_counter AS c (key, hits, ends_at)
        SELECT v.key, v.hits, v.ends_at
          FROM unnest($1::bytea[], $2::bigint[], $3::timestamptz[]) AS v(key, hits, ends_at)
            ON CONFLICT (key) DO UPDATE
           SET hits = CASE WHEN c.ends_at > $4 THEN c.hits + EXCLUDED.hits ELSE EXCLUDED.hits END,
               ends_at = CASE WHEN c.ends_at > $4 THEN c.ends_at ELSE EXCLUDED.ends_at END
        RETURNING c.key, c.hits, c.ends_at
    )
    SELECT key, hits, ends_at FROM counted
     UNION ALL
    SELECT b.key, 0, b.ends_at FROM kernel.ban AS b WHERE b.key = ANY($5::bytea[]) AND b.ends_at > $4
"""

FIND_BANS = """
    SELECT b.key, 0 AS hits, b.ends_at FROM kernel.ban AS b WHERE b.key = ANY($1::bytea[]) AND b.ends_at > $2
"""
"""Where nothing is counted: a third less than the whole."""

COUNT_CLOSURES = """
    INSERT INTO kernel.limit_counter AS c (key, hits, ends_at)
    SELECT v.key, 1, $2
      FROM unnest($1::bytea[]) AS v(key)
        ON CONFLICT (key) DO UPDATE
       SET hits = CASE WHEN c.ends_at > $3 THEN c.hits + 1 ELSE 1 END, ends_at = EXCLUDED.ends_at
    RETURNING c.key, c.hits
"""

CLOSE_DOORS = """
    UPDATE kernel.limit_counter AS c
       SET ends_at = v.ends_at
      FROM unnest($1::bytea[], $2::timestamptz[]) AS v(key, ends_at)
     WHERE c.key = v.key
"""


async def count(tx: PlatformTx, hits: Sequence[Hit]) -> list[Throttled | None]:
    """Count the hits; for each, `None` if it is within its limit."""
    verdicts, _ = await weigh(tx, hits, ())
    return verdicts


async def weigh(
    tx: PlatformTx, hits: Sequence[Hit], subjects: Collection[str]
) -> tuple[list[Throttled | None], set[str]]:
    """Count the hits, and say which of the subjects are banned."""
    if not hits and not subjects:
        return [], set()
    keys = [hit.key for hit in hits]
    by_key = dict(zip(keys, hits, strict=True))
    # Sorted, so that two processes that count the same subjects cannot deadlock; summed, because one statement
    # cannot touch a row twice.
    rows = [Period(key, number, tx.now + by_key[key].limit.period) for key, number in sorted(Counter(keys).items())]
    bans = {key_of_ban(subject): subject for subject in subjects}
    if rows:
        found = await tx.fetch(COUNT_HITS, *columns(rows, "key", "hits", "ends_at"), tx.now, list(bans))
    else:
        found = await tx.fetch(FIND_BANS, list(bans), tx.now)
    periods = {row["key"]: Period(**row) for row in found}
    before = {row.key: periods[row.key].hits - row.hits for row in rows}
    crossed = [key for key in before if _closes(by_key[key].limit, before[key], periods[key].hits)]
    if crossed:
        periods.update(await _close(tx, [by_key[key] for key in crossed]))
    banned = {subject for key, subject in bans.items() if key in periods}
    return _in_order(keys, hits, before, periods, tx.now), banned


def _closes(limit: Limit, before: int, after: int) -> bool:
    """Whether this is the hit that closes the door: the first above the limit, and no later one."""
    return bool(limit.cooldown) and before <= limit.count < after


async def _close(tx: PlatformTx, crossed: Iterable[Hit]) -> dict[bytes, Period]:
    """Make the periods as long as the step that it is their turn for. The upsert holds their rows."""
    by_key = {hit.key_of_closures: hit for hit in crossed}
    closures = await tx.fetch(COUNT_CLOSURES, sorted(by_key), tx.now + COOLDOWN_MEMORY, tx.now)
    doors = []
    for row in closures:
        hit = by_key[row["key"]]
        step = hit.limit.cooldown[min(row["hits"], len(hit.limit.cooldown)) - 1]
        doors.append(Period(hit.key, hit.limit.count + 1, tx.now + step))
    await tx.execute_exactly(len(doors), CLOSE_DOORS, *columns(doors, "key", "ends_at"))
    return {door.key: door for door in doors}


def _in_order(
    keys: Sequence[bytes], hits: Sequence[Hit], before: dict[bytes, int], periods: dict[bytes, Period], now: datetime
) -> list[Throttled | None]:
    so_far = dict(before)
    verdicts: list[Throttled | None] = []
    for key, hit in zip(keys, hits, strict=True):
        so_far[key] += 1
        within = so_far[key] <= hit.limit.count
        verdicts.append(None if within else throttled(until=periods[key].ends_at, now=now))
    return verdicts


def throttled(*, until: datetime, now: datetime) -> Throttled:
    """Rounded up: whoever comes back when told to is not too early."""
    return Throttled(retry_after_seconds=max(1, ceil((until - now).total_seconds())))

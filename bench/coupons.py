"""Coupons: validations at 500 a second with a million tokens, fifty who take one token at once, guesses.

usage: python -m bench.coupons [TOKENS]          measure, with so many tokens; left out, a million

A merchant validates sixty times a minute, so 1,200 merchants share the load and every limit stays on. Each request is
from an address of its own, as behind a proxy.
"""

import asyncio
import itertools
import random
import secrets
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Final
from uuid import UUID

import asyncpg

from admitone.foundation.authority import api as authority
from admitone.foundation.authority.api import Level, MemberRole, Membership, OrganizationModule
from admitone.foundation.organizations.commands.founding import found
from admitone.foundation.organizations.model import Founding, Settings
from admitone.kernel.crypto import KEYRING, KeyRing
from admitone.kernel.crypto import digest_of as session_digest
from admitone.kernel.db import Database
from admitone.kernel.embedded import SUPERUSER
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.scope import Caller, Scope
from admitone.verticals.coupons.codes import digest_of
from admitone.verticals.coupons.commands.redeeming import Showing, redeem
from bench.calibration import at_speed
from bench.figures import ROUNDS, Figures
from bench.ground import Ground, a_cluster, a_ground
from bench.identity import KEY, KEYS, NOWHERE, seed_people
from bench.load import Connection, Report, drive_at
from bench.processor import spending
from bench.server import a_server

PATH: Final = "/validate"
TOKENS: Final = 1_000_000
MERCHANTS: Final = 1_200
RATE: Final = 500
SECONDS: Final = 20
VALIDATORS: Final = 50
RACING: Final = 20
"""Merchants that the steady load leaves alone."""
GUESSES: Final = 100_000
AT_ONCE: Final = 250
SERVER: Final = "bench.serve_people"
PAGE: Final = 200_000

SEED_CAMPAIGNS = """
    INSERT INTO coupons.campaign
           (organization_id, id, name, days, weeks, weekly_fee_minor, cost_minor, currency, redemption_limit, state,
            identity_id, key, request_hash, payment_id, created_at, activated_at, ends_at, due_at, watched_until)
    SELECT own, own, 'Two for one', 15, 3, 4900, 14700, 'EUR', 10000000, 'ACTIVE', own, 'bench', sha256('bench'), own,
           now(), now(), now() + interval '360 hours', now() + interval '168 hours', now() + interval '100 days'
      FROM unnest($1::uuid[]) AS own
"""
# The n-th is of the n-th merchant, counted round and round; who has it is nobody twice.
SEED_TOKENS = """
    INSERT INTO coupons.token
           (organization_id, id, campaign_id, identity_id, digest, key_version, status, created_at, expires_at)
    SELECT own, md5('token' || n)::uuid, own, md5('person' || n)::uuid, sha256(('token' || n)::bytea), 1, 'GENERATED',
           now() - interval '1 hour', now() - interval '1 hour' + interval '300 seconds'
      FROM generate_series($2::bigint, $3::bigint) AS n
     CROSS JOIN LATERAL (SELECT ($1::uuid[])[n % array_length($1::uuid[], 1) + 1] AS own) AS m
"""
SEED_KNOWN = """
    INSERT INTO coupons.known_token (digest, merchant_id, expires_at)
    SELECT digest, organization_id, expires_at FROM coupons.token
"""
FRESHEN = """
    UPDATE coupons.token
       SET created_at = now(), expires_at = now() + interval '300 seconds'
     WHERE id = ANY($1::uuid[])
"""
TOKEN_ID = "SELECT md5('token' || n)::uuid AS id FROM unnest($1::bigint[]) AS n"
LIMIT = "UPDATE coupons.campaign SET redemption_limit = redeemed + 1 WHERE id = $1"
STANDS = "SELECT state, redeemed, redemption_limit FROM coupons.campaign WHERE id = $1"
REDEEMED = "SELECT count(*) FROM coupons.token WHERE status = 'REDEEMED'"
COUNTED = "SELECT sum(redeemed) FROM coupons.campaign"


@dataclass
class Market:
    ground: Ground
    merchants: list[tuple[OrganizationId, str]]
    """Each with the session of somebody who takes coupons there."""
    staff: list[str]
    """Fifty more, of the first."""
    tokens: int
    used: int = 0
    hits: int = 0
    addresses: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def next_of(self, merchant: int) -> int:
        """A token of it that nobody has shown."""
        self.used += 1
        return merchant + len(self.merchants) * (self.tokens // len(self.merchants) - self.used)

    def some(self, count: int) -> list[int]:
        """Tokens all over the market, each once, merchant after merchant; not of those who are kept for races."""
        chosen: list[int] = []
        while len(chosen) < count:
            self.hits += 1
            if self.hits % len(self.merchants) > RACING:
                chosen.append(self.hits)
        return chosen

    def request(self, token: str, merchant: int, session: str | None = None) -> bytes:
        organization, own = self.merchants[merchant % len(self.merchants)]
        number, body = next(self.addresses), f'{{"token":"{token}"}}'
        return (
            f"POST {PATH} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
            f"authorization: Bearer {session or own}\r\nx-orya-org-id: {organization}\r\n"
            f"x-forwarded-for: 10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}\r\n"
            f"content-length: {len(body)}\r\n\r\n{body}"
        ).encode()


def measure(figures: Figures, tokens: int = TOKENS) -> None:
    with a_cluster() as cluster:
        ground = a_ground(cluster, organizations=1, name="bench_coupons")
        print(f"\nCoupons, {tokens:,} tokens of {MERCHANTS:,} merchants")
        market = asyncio.run(_furnish(ground, tokens))
        surroundings = {"ADMITONE_KEYS": KEYS, "SMTP_URL": NOWHERE, "TRUSTED_PROXIES": "127.0.0.1"}
        with a_server(ground, module=SERVER, **surroundings) as port:
            _validate(figures, market, port, RATE / 5)  # Whatever begins cold.
            reports, s = at_speed(ground, lambda: [_validate(figures, market, port, RATE) for _ in range(ROUNDS)])
            race(figures, market, port)
            last_one(figures, market, port)
        guesses(figures, market)
        redeemed, counted = (asyncio.run(_ask(ground, sql)) for sql in (REDEEMED, COUNTED))
    p95 = median(each.p95_ms for each in reports)
    figures.must(f"validations a second, of {RATE} asked for", median(each.rate for each in reports), 0.98 * RATE, "/s")
    figures.must_not_exceed(f"p95 of validations at {RATE} a second", p95, 50 / s, "ms")
    figures.note(f"aim: 20 ms; {'reached' if p95 <= 20 / s else 'missed'}")
    figures.must_not_exceed("redemptions that their campaigns did not count", abs(redeemed - counted), 0, "redemptions")


def _validate(figures: Figures, market: Market, port: int, rate: float) -> Report:
    chosen = market.some(int(rate * SECONDS))
    asyncio.run(_freshen(market, chosen))
    requests = (market.request(f"token{number}", number) for number in chosen)
    report, spent = spending(market.ground, lambda: drive_at(port, rate, requests, SECONDS))
    if report.refused:
        raise RuntimeError(f"{report.refused} validations were refused")
    figures.note(f"{rate:.0f}/s asked for {report}  processor time each {spent.each(len(chosen))}")
    return report


def race(figures: Figures, market: Market, port: int) -> None:
    """Fifty of the staff, fifty addresses, one token; then a token for each of them."""
    one, *own = [market.next_of(0) for _ in range(VALIDATORS + 1)]
    asyncio.run(_freshen(market, [one, *own[:9]]))
    said = _at_once(port, [market.request(f"token{one}", 0, each) for each in market.staff])
    figures.must("who take one token at once and do", said.count(200), 1, "of 50")
    figures.must_not_exceed("who take one token at once and do", said.count(200), 1, "of 50")
    figures.must("who are told that it was redeemed", said.count(409), VALIDATORS - 1, "of 50")
    again = _at_once(
        port, [market.request(f"token{token}", 0, each) for token, each in zip(own[:9], market.staff, strict=False)]
    )
    figures.must("of nine who lost, those who validate next", again.count(200), 9, "of 9")


def last_one(figures: Figures, market: Market, port: int) -> None:
    """Two tokens, one redemption left: both at once, again and again."""
    taken = ended = 0
    merchants = range(1, RACING + 1)
    for merchant in merchants:
        pair = [market.next_of(merchant), market.next_of(merchant)]
        own = market.merchants[merchant][0].uuid
        asyncio.run(_freshen(market, pair))
        asyncio.run(_run(market.ground, LIMIT, own))
        said = _at_once(port, [market.request(f"token{token}", merchant) for token in pair])
        taken += sorted(said) == [200, 402]
        ended += asyncio.run(_ask(market.ground, STANDS, own)) == "ENDED"
    figures.must("last redemptions that one of two took", taken, len(merchants), "of 20")
    figures.must("campaigns that ended by it", ended, len(merchants), "of 20")


def guesses(figures: Figures, market: Market) -> None:
    """In the command itself: at the edge five in a row are all that anybody has."""
    found_any, ratios = asyncio.run(_guess(market))
    figures.must_not_exceed(f"of {GUESSES:,} guesses, found", found_any, 0, "tokens")
    figures.must("time of a guess over time of a stranger's token, median", median(ratios), 0.8)
    figures.must_not_exceed("time of a guess over time of a stranger's token, median", median(ratios), 1.25, "x")


async def _guess(market: Market) -> tuple[int, list[float]]:
    scope = Scope(market.merchants[0][0], "bench")
    foreign = [digest_of(f"token{number}") for number in range(1, 5_001) if number % len(market.merchants) != 0]
    found_any, ratios = 0, list[float]()
    async with Database(market.ground.url) as database:

        async def ask(digests: Sequence[bytes]) -> tuple[float, int]:
            shown = [Showing(Caller(), each) for each in digests]
            began = time.perf_counter()
            verdicts = await database.run(scope, lambda tx: redeem(tx, shown))
            return time.perf_counter() - began, sum(each.refusal is None for each in verdicts)

        for _ in range(GUESSES // AT_ONCE):
            guessed, hits = await ask([secrets.token_bytes(32) for _ in range(AT_ONCE)])
            strange, _ = await ask(random.sample(foreign, AT_ONCE))
            found_any += hits
            ratios.append(guessed / strange)
    return found_any, ratios


def _at_once(port: int, requests: Sequence[bytes]) -> list[int]:
    connections = [Connection(port) for _ in requests]
    for connection, request in zip(connections, requests, strict=True):
        connection.send(request)
    said = []
    for connection in connections:
        while (status := connection.status()) is None:
            pass
        said.append(status)
        connection.socket.close()
    return said


# -- The ground


async def _furnish(ground: Ground, tokens: int) -> Market:
    sessions = await seed_people(ground.url)
    superuser = await asyncpg.connect(ground.cluster.url(SUPERUSER, ground.database))
    whose = await _whose(superuser, sessions[: MERCHANTS + VALIDATORS])
    merchants: list[tuple[OrganizationId, str]] = []
    with KEYRING.wired(KeyRing({1: KEY})):
        async with Database(ground.url) as database:
            for session in sessions[:MERCHANTS]:
                own = OrganizationId.new()
                founder = Founding(
                    Caller(IdentityId(whose[session])), own, Settings("Bench"), frozenset(OrganizationModule)
                )
                await database.run(Scope(own, "bench"), lambda tx, founder=founder: found(tx, [founder]))
                merchants.append((own, session))
            staff = Membership(MemberRole.STAFF, None, ("SHOP_COUPONS_RW",), Level.GROUP, None)
            first, others = merchants[0][0], sessions[MERCHANTS : MERCHANTS + VALIDATORS]
            await database.run(
                Scope(first, "bench"),
                lambda tx: authority.put_members(tx, {whose[each]: staff for each in others}),
            )
    ids = [own.uuid for own, _ in merchants]
    await superuser.execute(SEED_CAMPAIGNS, ids)
    for start in range(1, tokens + 1, PAGE):
        await superuser.execute(SEED_TOKENS, ids, start, min(start + PAGE - 1, tokens), timeout=600)
    await superuser.execute(SEED_KNOWN, timeout=600)
    await superuser.execute("VACUUM ANALYZE coupons.token, coupons.known_token, coupons.campaign", timeout=600)
    await superuser.close()
    return Market(ground, merchants, others, tokens)


async def _whose(superuser: asyncpg.Connection, sessions: Sequence[str]) -> dict[str, UUID]:
    rows = await superuser.fetch("SELECT access_digest, identity_id FROM authority.session")
    by_digest = {row["access_digest"]: row["identity_id"] for row in rows}
    return {each: by_digest[session_digest(each)] for each in sessions}


async def _freshen(market: Market, numbers: Sequence[int]) -> None:
    """They were made this instant: seeding takes longer than a token lives."""
    connection = await asyncpg.connect(market.ground.cluster.url(SUPERUSER, market.ground.database))
    try:
        ids = [row["id"] for row in await connection.fetch(TOKEN_ID, list(numbers))]
        await connection.execute(FRESHEN, ids, timeout=120)
    finally:
        await connection.close()


async def _run(ground: Ground, sql: str, *values: object) -> None:
    connection = await asyncpg.connect(ground.cluster.url(SUPERUSER, ground.database))
    try:
        await connection.execute(sql, *values)
    finally:
        await connection.close()


async def _ask(ground: Ground, sql: str, *values: object) -> Any:
    connection = await asyncpg.connect(ground.cluster.url(SUPERUSER, ground.database))
    try:
        return await connection.fetchval(sql, *values, timeout=120)
    finally:
        await connection.close()


if __name__ == "__main__":
    measure(Figures(), *map(int, sys.argv[1:]))

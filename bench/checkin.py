"""The door: how many codes a second are asked about and let in, against pgbench doing the same one by one (figure 1).

usage: python -m bench.checkin [RIGHTS ...]          measure, with so many rights; left out, 400,000

Every code is shown once, by one of 20,000 devices, so that every limit stays on. One organisation, one event. pgbench
takes rights of the second half, and nobody else does.
"""

import asyncio
import itertools
import json
import random
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median
from typing import Final

import asyncpg

from admitone.foundation.authority import api as authority
from admitone.foundation.authority.api import Level, MemberRole, Membership, OrganizationModule
from admitone.foundation.organizations.commands.founding import found
from admitone.foundation.organizations.model import Founding, Settings
from admitone.kernel.crypto import KEYRING, KeyRing, digest_of
from admitone.kernel.db import Database
from admitone.kernel.embedded import SUPERUSER
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.scope import Caller, Scope
from bench.calibration import calibrate
from bench.figures import ROUNDS, Figures, side_by_side
from bench.ground import HERE, RUN_LOGIN, Ground, a_cluster, a_ground, a_script
from bench.identity import KEY, KEYS, NOWHERE, seed_people
from bench.load import DEVICES, Connection, Report, drive
from bench.server import a_server

PATH: Final = "/api/internal/checkin/consume"
RIGHTS: Final = 400_000
MANY: Final = 10_000_000
EVENT: Final = "evt-bench"
SECONDS: Final = 5
STAFF: Final = 50
STEP: Final = 48_271
"""Prime, and no part of any number of rights: so many steps on, everybody has come once."""
AT_ONCE: Final = 200
AT_MOST_A_SECOND: Final = 4_000
SERVER: Final = "bench.serve_people"

STAFF_OF = "SELECT i.id FROM identity.identity AS i ORDER BY i.id LIMIT $1"
RIGHT = "(lpad(to_hex(1760000000000 + n), 12, '0') || '70008000000000000000')::uuid"
"""Of the n-th: as time goes by, like ours."""
SEED = f"""
    INSERT INTO entitlements.entitlement
           (organization_id, id, emission_key, source_type, source_id, line_key, event_id, label, identity_id, kind,
            offline_allowed, status, held_for, valid_from, valid_until, policy_version, methods, max_entries,
            reentry_minutes, undo_minutes, entries, entered, duplicates, epoch, coded_until, version, created_at,
            changed_at)
    SELECT $1, {RIGHT}, 'order-' || n, 'TICKET_ORDER', 'order-' || n, 'line', 'evt-bench', 'Standing',
           md5('person' || n % 100000)::uuid, 'ticket', true, 'ACTIVE', '{{}}', now() - interval '1 hour',
           now() + interval '6 hours', 1, '{{QR_TICKET}}', 1, 15, 10, 0, 0, 0, 1, now() + interval '1 day', 1, now(),
           now()
      FROM generate_series($2::bigint, $3::bigint) AS n
"""
SEED_CODES = f"""
    INSERT INTO entitlements.token
           (organization_id, digest, entitlement_id, epoch, key_version, valid_from, valid_until)
    SELECT $1, substring(sha256(('CODE' || n)::bytea) FOR 16), {RIGHT}, 1, 1, now(),
           now() + interval '1 day'
      FROM generate_series($2::bigint, $3::bigint) AS n
"""
PAGE: Final = 500_000
VACUUM = "VACUUM ANALYZE entitlements.entitlement, entitlements.token"
REFUSED = "SELECT coalesce(sum(denied + duplicate), 0) AS refused FROM entitlements.tally"
TWICE = """
    SELECT count(*) AS twice
      FROM (SELECT entitlement_id
              FROM entitlements.checkin
             WHERE admitted AND correlation_id <> organization_id
             GROUP BY entitlement_id
            HAVING count(*) > 1) AS t
"""


@dataclass
class Hall:
    ground: Ground
    organization: OrganizationId
    tokens: list[str]
    rights: int
    shown: int = 0

    def codes(self) -> Iterator[bytes]:
        """Each of the first half once, in no order that they were granted in, at doors all over the hall."""
        run = random.randrange(10**9)
        for number in itertools.count(self.shown + 1):
            self.shown = number
            yield self.request(self.code(number), device=random.randint(1, DEVICES), key=f"{run}-{number}")

    def code(self, number: int) -> int:
        return number * STEP % (self.rights // 2) + 1

    def request(self, code: int, device: int, key: str) -> bytes:
        body = f'{{"qrPayload":"CODE{code}","eventId":"{EVENT}","idempotencyKey":"{key}"}}'
        return (
            f"POST {PATH} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
            f"authorization: Bearer {self.tokens[device % len(self.tokens)]}\r\n"
            f"x-orya-org-id: {self.organization}\r\nx-device-id: device{device}\r\n"
            f"content-length: {len(body)}\r\n\r\n{body}"
        ).encode()

    def surroundings(self) -> dict[str, str]:
        return {"ADMITONE_KEYS": KEYS, "SMTP_URL": NOWHERE, "TRUSTED_PROXIES": "127.0.0.1"}


def measure(figures: Figures, *sizes: int) -> None:
    small, *large = sizes or (RIGHTS,)
    with a_cluster() as cluster:
        ground = a_ground(cluster, organizations=1, name="bench_door")
        calibration = calibrate(ground)
        print(f"\nThe door, {small:,} rights. {calibration}")
        rate = doors(figures, a_hall(ground, small))
        for size in large:
            bigger = a_ground(cluster, organizations=1, name=f"bench_door_{size}")
            print(f"\nThe door, {size:,} rights")
            hall = a_hall(bigger, size)
            with a_server(bigger, module=SERVER, **hall.surroundings()) as port:
                many = median(_scan(figures, hall, port).rate for _ in range(ROUNDS))
            figures.must(f"with {size:,} rights over with {small:,}", many / rate, 0.8)


def a_hall(ground: Ground, rights: int) -> Hall:
    organization, tokens = asyncio.run(_furnish(ground, rights))
    return Hall(ground, organization, tokens, rights)


async def _furnish(ground: Ground, rights: int) -> tuple[OrganizationId, list[str]]:
    tokens = (await seed_people(ground.url))[:STAFF]
    organization = OrganizationId.new()
    superuser = await asyncpg.connect(ground.cluster.url(SUPERUSER, ground.database))
    with KEYRING.wired(KeyRing({1: KEY})):
        async with Database(ground.url) as database:
            founder = Founding(Caller(IdentityId.new()), organization, Settings("Bench"), frozenset(OrganizationModule))
            await database.run(Scope(organization, "bench"), lambda tx: found(tx, [founder]))
            everybody = [
                row["identity_id"] for row in await superuser.fetch("SELECT identity_id FROM authority.session")
            ]
            staff = Membership(MemberRole.STAFF, None, (), Level.GROUP, None)
            await database.run(
                Scope(organization, "bench"), lambda tx: authority.put_members(tx, dict.fromkeys(everybody, staff))
            )
    await superuser.execute("SET session_replication_role = replica")  # What codes refer to is there.
    for first in range(1, rights + 1, PAGE):
        last = min(first + PAGE - 1, rights)
        await superuser.execute(SEED, organization.uuid, first, last, timeout=600)
        await superuser.execute(SEED_CODES, organization.uuid, first, last, timeout=600)
    await superuser.execute(VACUUM, timeout=600)
    await superuser.close()
    return organization, tokens


def doors(figures: Figures, hall: Hall) -> float:
    with ExitStack() as stack:
        together = stack.enter_context(a_server(hall.ground, module=SERVER, **hall.surroundings()))
        apart = stack.enter_context(a_server(hall.ground, "--one-by-one", module=SERVER, **hall.surroundings()))
        reports: list[Report] = []

        def coalesced() -> float:
            reports.append(_scan(figures, hall, together))
            return reports[-1].rate

        rate, alone, raw = side_by_side(
            coalesced, lambda: _scan(figures, hall, apart).rate, lambda: one_by_one(figures, hall)
        )
        wide = _scan(figures, hall, together, connections=256)
        refused = asyncio.run(_ask(hall.ground, REFUSED))
        admitted = _rush(hall, together)
    figures.must("coalesced over pgbench", rate / raw, 1.5)
    figures.must("coalesced over one by one", rate / alone, 3)
    figures.must_not_exceed("p99 at 64 connections", min(each.p99_ms for each in reports), 100, "ms")
    figures.note(f"256 connections over pgbench {wide.rate / raw:.2f} x")
    figures.must_not_exceed("scans that let nobody in", refused, 0, "scans")
    figures.must(f"admissions of one code at {AT_ONCE} devices at once", admitted, 1, "admission")
    figures.must_not_exceed(f"admissions of one code at {AT_ONCE} devices at once", admitted, 1, "admission")
    figures.must_not_exceed("rights that let in twice", asyncio.run(_ask(hall.ground, TWICE)), 0, "rights")
    return rate


def _scan(figures: Figures, hall: Hall, port: int, connections: int = 64) -> Report:
    report = drive(port, connections, hall.codes(), SECONDS, AT_MOST_A_SECOND)
    if report.refused:
        raise RuntimeError(f"{report.refused} scans were refused")
    figures.note(f"{connections} connections {report}  [{report.tool}]")
    return report


def _rush(hall: Hall, port: int) -> int:
    """How many of those who show the same code at the same time come in."""
    hall.shown += 1
    connections = [Connection(port) for _ in range(AT_ONCE)]
    for number, connection in enumerate(connections):
        connection.send(hall.request(hall.code(hall.shown), device=number + 1, key=f"rush-{number}-{hall.shown}"))
    admitted = 0
    for connection in connections:
        while (status := connection.status()) is None:
            pass
        admitted += status == 200 and json.loads(connection.body)["allow"]
        connection.socket.close()
    return admitted


def one_by_one(figures: Figures, hall: Hall) -> float:
    """pgbench doing what one request does, authority, limits and streaks included, one transaction after another."""
    text = (HERE / "one_scan.pgb").read_text()
    blanks = {
        "organization": f"'{hall.organization.uuid}'",
        "credential": f"'\\x{digest_of(hall.tokens[0]).hex()}'",
        "first": str(hall.rights // 2 + 1),
        "last": str(hall.rights),
    }
    for name, value in blanks.items():
        text = text.replace(f":{name}", value)
    with a_script(text) as script:
        rate = hall.ground.pgbench(script, login=RUN_LOGIN, seconds=SECONDS)
    figures.note(f"pgbench, one by one {rate:8,.0f}/s")
    return rate


async def _ask(ground: Ground, sql: str) -> int:
    connection = await asyncpg.connect(ground.cluster.url(SUPERUSER, ground.database))
    try:
        return int(await connection.fetchval(sql, timeout=120))
    finally:
        await connection.close()


if __name__ == "__main__":
    measure(Figures(), *map(int, sys.argv[1:]))

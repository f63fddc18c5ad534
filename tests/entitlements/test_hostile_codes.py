"""What an attacker may have: the database, the logs, old pictures, many guesses. None of it is a code."""

import base64
import hashlib
import hmac
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.entitlements import errands
from admitone.entitlements.codes import CODE, code_of, digest_of
from admitone.entitlements.commands.changing import Suspension, Transfer, suspend, transfer
from admitone.entitlements.model import CheckinPolicy, Entitlement, EntitlementId, Hold, Reason
from admitone.entitlements.port import KINDS
from admitone.kernel.crypto import KEYRING, KeyRing
from tests.entitlements.rights import EVENT, Hall
from tests.entitlements.wallets import fires, later
from tests.people import a_person

TABLES = """
    SELECT c.oid::regclass::text
      FROM pg_class AS c
     WHERE c.relkind = 'r' AND c.relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
"""


async def where_stands(superuser: asyncpg.Connection, secrets: list[str]) -> dict[str, int]:
    """In how many rows of which tables, also as bytes, also half of it."""
    halves = [half for each in secrets for half in (each[: len(each) // 2], each[len(each) // 2 :])]
    wanted = [*halves, *(each.encode().hex() for each in halves)]
    found = {}
    for [table] in await superuser.fetch(TABLES):
        sql = f"SELECT count(*) FROM {table} AS t WHERE t::text ILIKE ANY ($1::text[])"
        found[table] = await superuser.fetchval(sql, [f"%{each}%" for each in wanted])
    assert len(found) > 50
    return {table: rows for table, rows in found.items() if rows}


@pytest.mark.covers("ENT-009", "ENT-010")
async def test_no_code_stands_in_any_table_or_log(
    hall: Hall, site: httpx.AsyncClient, superuser: asyncpg.Connection, database_url: str, capsysbinary: Any
):
    async with later(hall, database_url, hours=-23, minutes=-45) as yesterday:
        ticket = await yesterday.grant(
            valid_until=datetime.now(UTC) + timedelta(hours=9), policy=CheckinPolicy(allow_reentry=True, max_entries=3)
        )
        codes = [await yesterday.code(ticket)]
    with KINDS.wired({}), pytest.raises(ExceptionGroup):  # Also what fails is logged without it.
        await fires(hall, errands.renew_codes)
    await fires(hall, errands.renew_codes)
    for form in ("/code", "/code.svg", "/code.png"):
        shown = await site.get(f"/api/me/entitlements/{ticket.id}{form}", headers=hall.guest.headers)
        assert shown.status_code == 200
        codes += [shown.json()["payload"]] if form == "/code" else []
    for number, shown_code in enumerate([*codes, *codes, "A1:" + "A" * 32]):
        await scans(site, hall, shown_code, f"scan-{number}")
    await hall.submit(suspend, Suspension(hall.staff.caller, ticket.id, Hold.DISPUTE))
    await scans(site, hall, codes[1], "late")
    missing = await site.get(f"/api/me/entitlements/{ticket.id}/code", headers=hall.guest.headers)
    assert missing.status_code == 409
    assert all(CODE.fullmatch(each) for each in codes)
    assert await where_stands(superuser, [each.removeprefix("A1:") for each in codes]) == {}
    assert "entitlements.entitlement" in await where_stands(superuser, [str(ticket.id.uuid)]), "and it would be found"
    logged = b"".join(capsysbinary.readouterr()).upper()
    assert b"ENTITLEMENTS.NOT_SEEN_TO" in logged
    assert not [each for each in codes if each.removeprefix("A1:").encode() in logged]


async def scans(site: httpx.AsyncClient, hall: Hall, code: str, key: str) -> dict[str, Any]:
    answer = await site.post(
        "/api/internal/checkin/consume",
        headers=hall.staff.headers | {"x-orya-org-id": str(hall.organization)},
        json={"qrPayload": code, "eventId": EVENT, "idempotencyKey": key, "deviceId": "north"},
    )
    assert answer.status_code == 200, answer.text
    assert code.removeprefix("A1:") not in answer.text
    said: dict[str, Any] = answer.json()
    return said


@pytest.mark.covers("ENT-009", "ENT-014")
async def test_whoever_has_the_database_or_guesses_has_no_code(hall: Hall, superuser: asyncpg.Connection):
    ticket = await hall.grant()
    good = await hall.code(ticket)
    row = await superuser.fetchrow("SELECT * FROM entitlements.token WHERE entitlement_id = $1", ticket.id.uuid)
    text = f"{ticket.id.uuid.hex}:1"
    with KEYRING.wired(KeyRing({1: b"another key of another installation"})):
        elsewhere = code_of(ticket.id, 1, 1)
        assert elsewhere is not None
    body = good.removeprefix("A1:")
    forged = {
        "the digest as a code": "A1:" + base64.b32encode(row["digest"] + bytes(4)).decode(),
        "the digest as it is": row["digest"].hex(),
        "without a key": "A1:" + base64.b32encode(hashlib.sha256(text.encode()).digest()[:20]).decode(),
        "with a key of one's own": "A1:"
        + base64.b32encode(hmac.digest(b"k" * 32, text.encode(), "sha256")[:20]).decode(),
        "of another installation": elsewhere,
        "of an epoch that was not made": code_of(ticket.id, 2, 1),
        "of epoch nought": code_of(ticket.id, 0, 1),
        "cut off": good[:-1],
        "one letter more": good + "A",
        "one letter another": good[:-1] + ("A" if good[-1] != "A" else "B"),
        "without its prefix": body,
        "the other way round": "A1:" + body[::-1],
        "the right itself": str(ticket.id),
        "a link": f"https://example.org/{good}",
        "with a quotation mark": good + "'",
    }
    for how, code in forged.items():
        assert code is not None
        verdict = await hall.scan(code)
        assert (verdict.allow, verdict.reason, verdict.entitlement) == (False, Reason.INVALID_TOKEN, None), how
    assert (await hall.scan(f" {good.lower()}\n")).allow, "typed by hand"


@pytest.mark.covers("ENT-009", "ENT-002")
async def test_old_pictures_of_what_became_anothers_or_is_held_open_nothing(hall: Hall, database_url: str):
    """Whoever photographs every code that there was."""
    now, pictures = datetime.now(UTC), dict[str, str]()
    ticket: Entitlement = await hall.grant(valid_until=now + timedelta(days=9))
    for day in range(3):
        async with later(hall, database_url, days=day) as then:
            await fires(then, errands.renew_codes)
            pictures[f"day {day}"] = await then.code(ticket)
    friend = await a_person(hall.database)
    async with later(hall, database_url, days=2) as then:
        await then.submit(transfer, Transfer(hall.staff.caller, ticket.id, friend.identity))
        for when, code in pictures.items():
            assert (await then.scan(code)).reason is Reason.TOKEN_EXPIRED, when
        pictures["the friend's"] = await then.code(ticket)
        await then.submit(suspend, Suspension(hall.staff.caller, ticket.id, Hold.FRAUD))
        for when, code in pictures.items():
            assert (await then.scan(code)).reason is Reason.ENTITLEMENT_NOT_ACTIVE, when


@pytest.mark.covers("ENT-009")
def test_two_rights_two_epochs_and_two_keys_never_share_a_code():
    with KEYRING.wired(KeyRing({1: b"o" * 32, 2: b"n" * 32})):
        rights = [EntitlementId.new() for _ in range(50)]
        codes = [code_of(own, epoch, key) for own in rights for epoch in range(1, 21) for key in (1, 2)]
    assert all(code is not None and CODE.fullmatch(code) for code in codes)
    assert len({*codes}) == len({digest_of(code or "") for code in codes}) == 2_000

"""The official e-mail is named by those who may, proved by the link, and asked for by what is sensitive."""

import json
from datetime import timedelta

import asyncpg
import httpx
import pytest

from admitone.foundation.organizations.commands.official_email import verify_official_email
from admitone.foundation.organizations.errors import OfficialLinkInvalid
from admitone.foundation.organizations.model import OFFICIAL_LINK_LASTS, OfficialEmailProof
from admitone.kernel.clock import Clock
from admitone.kernel.crypto import digest_of, new_secret
from admitone.kernel.db import Database
from admitone.kernel.ids import OrganizationId, uuid7
from admitone.kernel.scope import Caller, Scope
from tests.foundation.organizations.clubs import OFFICIAL, a_club, facts_of, mailed, prove_official_email, trail_of
from tests.people import Person, a_person, an_organization_of


async def named(site: httpx.AsyncClient, club: OrganizationId, person: Person, email: str = OFFICIAL) -> httpx.Response:
    return await site.put(
        f"/api/org/{club}/official-email", json={"email": email, "reasonCode": "NEW_OFFICE"}, headers=person.headers
    )


async def asked(site: httpx.AsyncClient, club: OrganizationId, person: Person, **headers: str) -> httpx.Response:
    gate = f"/api/org/{club}/official-email/gate"
    return await site.post(gate, json={"reasonCode": "PAYOUTS_SETTINGS"}, headers={**person.headers, **headers})


async def sent_back(site: httpx.AsyncClient, token: str) -> httpx.Response:
    return await site.post("/api/organizations/official-email/verify", json={"token": token})


@pytest.mark.covers("ORG-017", "ORG-018")
async def test_the_gate_answers_exactly_what_its_contract_says(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    correlation = str(uuid7())
    url = f"/org/{club}/settings?tab=official-email"
    refused = await asked(site, club, ana, **{"x-correlation-id": correlation, "accept-language": "pt-PT"})
    assert refused.status_code == 403
    assert refused.json() == {
        "ok": False,
        "requestId": correlation,
        "correlationId": correlation,
        "errorCode": "OFFICIAL_EMAIL_REQUIRED",
        "message": "Isto exige um e-mail oficial da organização.",
        "email": None,
        "verifyUrl": url,
        "nextStepUrl": url,
        "reasonCode": "PAYOUTS_SETTINGS",
        "retryable": False,
    }

    await named(site, club, ana)
    refused = await asked(site, club, ana, **{"x-correlation-id": correlation, "accept-language": "pt-PT"})
    assert refused.status_code == 403
    assert refused.json() == {
        "ok": False,
        "requestId": correlation,
        "correlationId": correlation,
        "errorCode": "OFFICIAL_EMAIL_NOT_VERIFIED",
        "message": "Email oficial por verificar para esta ação.",
        "email": OFFICIAL,
        "verifyUrl": url,
        "nextStepUrl": url,
        "reasonCode": "PAYOUTS_SETTINGS",
        "retryable": False,
    }

    await prove_official_email(superuser, club)
    passed = await asked(site, club, ana)
    assert (passed.status_code, passed.json()) == (200, {"ok": True})


@pytest.mark.covers("ORG-018")
async def test_the_gate_leaves_its_ids_in_the_log_and_no_address(
    site: httpx.AsyncClient, database: Database, capsysbinary: pytest.CaptureFixture[bytes]
):
    ana, club = await a_club(database)
    await named(site, club, ana)
    correlation = str(uuid7())
    capsysbinary.readouterr()
    await asked(site, club, ana, **{"x-correlation-id": correlation})
    lines = [json.loads(line) for line in capsysbinary.readouterr().out.splitlines() if line.startswith(b"{")]
    [line] = [line for line in lines if line["event"] == "official_email.gate"]
    said = {name: line[name] for name in ("requestId", "correlationId", "organizationId", "reasonCode", "errorCode")}
    assert said == {
        "requestId": correlation,
        "correlationId": correlation,
        "organizationId": str(club),
        "reasonCode": "PAYOUTS_SETTINGS",
        "errorCode": "OFFICIAL_EMAIL_NOT_VERIFIED",
    }
    assert not any(OFFICIAL in str(line) for line in lines)


@pytest.mark.covers("ORG-017")
async def test_the_address_is_kept_normalised_and_counts_once_its_link_came_back(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    answer = await named(site, club, ana, "  Gera\uff4c@Clube.EXAMPLE ")
    assert answer.json() == {"email": OFFICIAL, "verifiedAt": None}
    [letter] = await mailed(superuser, club)
    assert (letter.to, letter.template) == (OFFICIAL, "verify_official_email")
    assert letter.values["organization"] == "Clube do Porto"
    assert letter.values["link"] == f"/org/{club}/settings?tab=official-email#{letter.token}"

    proved = await sent_back(site, letter.token)
    assert proved.json() == {"organization": str(club)}
    shown = (await site.get(f"/api/org/{club}", headers=ana.headers)).json()
    assert shown["officialEmail"] == OFFICIAL and shown["officialEmailVerifiedAt"] is not None
    assert len(await facts_of(superuser, club, "organization.official_email_verified")) == 1
    assert (await sent_back(site, letter.token)).json()["errorCode"] == "OFFICIAL_LINK_INVALID"


@pytest.mark.covers("ORG-017")
async def test_another_address_must_be_proved_again_and_the_same_one_not(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    await prove_official_email(superuser, club)
    assert (await named(site, club, ana, OFFICIAL.upper())).json()["verifiedAt"] is not None
    assert await mailed(superuser, club) == []
    changed = await named(site, club, ana, "outro@clube.example")
    assert changed.json() == {"email": "outro@clube.example", "verifiedAt": None}
    assert (await asked(site, club, ana)).json()["errorCode"] == "OFFICIAL_EMAIL_NOT_VERIFIED"
    entries = await trail_of(superuser, club, "organization.set_official_email")
    assert len(entries) == 1 and "clube.example" not in str(dict(entries[0]))
    assert entries[0]["reason_code"] == "NEW_OFFICE"


async def test_whoever_reads_the_former_address_is_told_if_it_was_ever_theirs(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    await named(site, club, ana, "typing.error@clube.example")
    await prove_official_email(superuser, club)
    await named(site, club, ana, "outro@clube.example")
    letters = [(letter.to, letter.template) for letter in await mailed(superuser, club)]
    assert letters == [
        ("typing.error@clube.example", "verify_official_email"),
        ("outro@clube.example", "verify_official_email"),
        (OFFICIAL, "official_email_changed"),
    ]
    await named(site, club, ana, "third@clube.example")
    assert len(await mailed(superuser, club)) == 4


async def test_naming_an_address_needs_a_recent_proof_and_a_reason(
    site: httpx.AsyncClient, database: Database, database_url: str
):
    async with Database(database_url, clock=Clock(timedelta(minutes=-11))) as earlier:
        stale = await a_person(earlier)
    club = await an_organization_of(database, stale)
    refused = await named(site, club, stale)
    assert (refused.status_code, refused.json()["errorCode"]) == (403, "STEP_UP_REQUIRED")
    ana, club = await a_club(database)
    url = f"/api/org/{club}/official-email"
    assert (await site.put(url, json={"email": OFFICIAL}, headers=ana.headers)).status_code == 422


async def test_a_link_proves_only_the_address_to_which_it_was_sent(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    await named(site, club, ana, "first@clube.example")
    await named(site, club, ana, "second@clube.example")
    first, second = await mailed(superuser, club)
    assert (await sent_back(site, first.token)).status_code == 403
    assert (await sent_back(site, second.token)).status_code == 200


@pytest.mark.parametrize("kind", ["official", "invite"])
async def test_a_link_that_was_made_up_proves_nothing(site: httpx.AsyncClient, database: Database, kind: str):
    ana, club = await a_club(database)
    await named(site, club, ana)
    for token in (
        new_secret(kind, club).text,
        new_secret(kind, OrganizationId.new()).text,
        f"{kind}_0_{'0' * 40}",
        "x" * 30,
    ):
        refused = await sent_back(site, token)
        assert (refused.status_code, refused.json()["errorCode"]) == (403, "OFFICIAL_LINK_INVALID")


async def test_a_link_is_too_old_after_a_week(
    site: httpx.AsyncClient, database: Database, database_url: str, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    await named(site, club, ana)
    [letter] = await mailed(superuser, club)
    proof = OfficialEmailProof(Caller(), digest_of(letter.token))
    async with Database(database_url, clock=Clock(OFFICIAL_LINK_LASTS + timedelta(seconds=1))) as later:
        assert await later.run(Scope(club), lambda tx: verify_official_email(tx, [proof])) == [OfficialLinkInvalid()]
    assert await database.run(Scope(club), lambda tx: verify_official_email(tx, [proof])) == [club]


async def test_what_is_no_address_is_refused(site: httpx.AsyncClient, database: Database):
    ana, club = await a_club(database)
    refused = await named(site, club, ana, "not an address")
    assert (refused.status_code, refused.json()["errorCode"]) == (422, "INVALID_EMAIL")

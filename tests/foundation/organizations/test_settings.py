"""What organisations say of themselves, have switched on and agreed to, through the real edge and authority."""

import asyncio
import json

import asyncpg
import httpx
import pytest

from admitone.foundation.authority.api import MemberRole, RolePack
from admitone.kernel.db import Database
from admitone.kernel.ids import OrganizationId
from tests.foundation.organizations.clubs import a_club, facts_of, prove_official_email, trail_of
from tests.people import Person, a_member, a_person, a_platform_admin, an_organization_of

LEGAL = {
    "legalName": "Clube do Porto, Lda.",
    "taxId": "501234567",
    "taxCountry": "PT",
    "invoicePrefix": "CP26",
    "invoiceAddress": ["Rua das Flores 1", "4050-262 Porto"],
    "invoiceEmail": " Contas@Clube.Example ",
}
SECRETS = ("Lda", "501234567", "Flores", "ontas@")


async def changed(
    site: httpx.AsyncClient, club: OrganizationId, person: Person, version: int, **settings: object
) -> httpx.Response:
    wanted = {"settings": {"displayName": "Clube do Porto", **settings}, "version": version}
    return await site.put(f"/api/org/{club}/settings", json=wanted, headers=person.headers)


async def some_cities(superuser: asyncpg.Connection) -> None:
    await superuser.execute(
        "INSERT INTO kernel.city (code, name, time_zone, created_at)"
        " SELECT code, code, 'Europe/Lisbon', now() FROM unnest(ARRAY['PORTO', 'LISBOA', 'FARO']) AS code"
        " ON CONFLICT DO NOTHING"
    )


async def test_settings_are_changed_and_seen(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    await some_cities(superuser)
    ana, club = await a_club(database)
    answer = await changed(site, club, ana, 1, homeCity="PORTO", language="en", timeZone="Europe/Paris")
    assert answer.status_code == 200, answer.text
    assert answer.json() == (await site.get(f"/api/org/{club}", headers=ana.headers)).json()
    assert (answer.json()["version"], answer.json()["settings"]["homeCity"]) == (2, "PORTO")
    [entry] = await trail_of(superuser, club, "organization.change_settings")
    before, after = json.loads(entry["before"]), json.loads(entry["after"])
    assert before == {"version": 1, "language": "pt_PT", "home_city": "GLOBAL", "time_zone": "Europe/Lisbon"}
    assert after == {
        "version": 2,
        "language": "en",
        "home_city": "PORTO",
        "time_zone": "Europe/Paris",
        "changed": ["time_zone", "language", "home_city"],
    }
    assert len(await facts_of(superuser, club, "organization.settings_changed")) == 1


async def test_nobody_is_at_home_in_a_city_that_there_is_not(site: httpx.AsyncClient, database: Database):
    ana, club = await a_club(database)
    refused = await changed(site, club, ana, 1, homeCity="NOWHERE")
    assert (refused.status_code, refused.json()["errorCode"]) == (422, "CITY_NOT_FOUND")
    assert (await changed(site, club, ana, 1, homeCity="GLOBAL", language="en")).status_code == 200


@pytest.mark.parametrize(
    "wrong",
    [
        {"homeCity": "GLOBAL\n"},
        {"defaultCurrency": "EUR\n"},
        {"invoicePrefix": "CP26\n"},
        {"taxId": "501234567\n", "taxCountry": "PT"},
        {"taxId": "501234567", "taxCountry": "PT\n"},
    ],
)
async def test_a_line_break_at_the_end_is_part_of_no_code(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection, wrong: dict[str, str]
):
    ana, club = await a_club(database)
    await prove_official_email(superuser, club)
    refused = await changed(site, club, ana, 1, **wrong)
    assert (refused.status_code, refused.json()["errorCode"]) == (422, "VALIDATION_FAILED")


async def test_of_two_who_saw_the_same_settings_one_changes_them(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    await some_cities(superuser)
    ana, club = await a_club(database)
    answers = await asyncio.gather(
        *(changed(site, club, ana, 1, homeCity=city) for city in ("PORTO", "LISBOA", "FARO"))
    )
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409]
    lost = next(answer.json() for answer in answers if answer.status_code == 409)
    assert (lost["errorCode"], lost["version"]) == ("SETTINGS_OVERTAKEN", 2)


@pytest.mark.covers("ORG-017")
async def test_legal_identity_and_invoicing_wait_for_the_official_e_mail(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    for name, value in LEGAL.items():
        alone = {name: value} if not name.startswith("tax") else {"taxId": "501234567", "taxCountry": "PT"}
        refused = await changed(site, club, ana, 1, **alone)
        assert (refused.status_code, refused.json()["errorCode"]) == (403, "OFFICIAL_EMAIL_REQUIRED")
    assert (await site.get(f"/api/org/{club}", headers=ana.headers)).json()["version"] == 1
    assert await trail_of(superuser, club, "organization.change_settings") == []

    await prove_official_email(superuser, club)
    made = await changed(site, club, ana, 1, **LEGAL)
    assert made.status_code == 200, made.text
    assert made.json()["settings"]["invoiceEmail"] == "contas@clube.example"


@pytest.mark.covers("ORG-025")
async def test_the_trail_and_the_facts_tell_that_it_changed_and_not_to_what(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    await prove_official_email(superuser, club)
    await changed(site, club, ana, 1, **LEGAL)
    [entry] = await trail_of(superuser, club, "organization.change_settings")
    [fact] = await facts_of(superuser, club, "organization.settings_changed")
    assert all(name in str(entry["after"]) for name in ("legal_name", "tax_id", "invoice_email"))
    written = str(dict(entry)) + str(dict(fact))
    assert not any(secret in written for secret in SECRETS)


async def test_a_number_of_a_taxpayer_needs_its_country(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    await prove_official_email(superuser, club)
    refused = await changed(site, club, ana, 1, taxId="501234567")
    assert (refused.status_code, refused.json()["errorCode"]) == (422, "TAX_ID_INCOMPLETE")


# -- The accent


NO_COLORS = (
    "red",
    "red;}body{",
    "#abc",
    "#8A1C4A",
    "8a1c4a",
    "#8a1c4a\n",
    "#8a1c4\x00",
    "#8a1c4a00",
    "#8a1c4g",
    "#٨a1c4a",
    " #8a1c4a",
    "",
    "#" + "a" * 5000,
)


async def test_an_accent_is_set_seen_and_cleared(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    made = await changed(site, club, ana, 1, accentColor="#8a1c4a")
    assert made.status_code == 200, made.text
    assert (await site.get(f"/api/org/{club}", headers=ana.headers)).json()["settings"]["accentColor"] == "#8a1c4a"
    cleared = await changed(site, club, ana, 2, accentColor=None)
    assert cleared.json()["settings"]["accentColor"] is None
    trail = await trail_of(superuser, club, "organization.change_settings")
    assert [json.loads(each["after"])["accent_color"] for each in trail] == ["#8a1c4a", None]


@pytest.mark.parametrize("wrong", NO_COLORS)
async def test_what_is_no_colour_is_no_accent(site: httpx.AsyncClient, database: Database, wrong: str):
    ana, club = await a_club(database)
    refused = await changed(site, club, ana, 1, accentColor=wrong)
    assert (refused.status_code, refused.json()["errorCode"]) == (422, "VALIDATION_FAILED")


async def test_the_table_takes_no_other_accent_either(database: Database, superuser: asyncpg.Connection):
    _, club = await a_club(database)
    put = "UPDATE organizations.organization SET accent_color = $2 WHERE organization_id = $1"
    for wrong in (each for each in NO_COLORS if "\x00" not in each):  # What no text of PostgreSQL's can have.
        with pytest.raises(asyncpg.CheckViolationError):
            await superuser.execute(put, club.uuid, wrong)
    await superuser.execute(put, club.uuid, "#8a1c4a")


async def test_only_those_who_change_settings_change_the_accent(site: httpx.AsyncClient, database: Database):
    ana, club = await a_club(database)
    manager = await a_member(database, club, MemberRole.ADMIN, RolePack.CLUB_MANAGER)
    refused = await changed(site, club, manager, 1, accentColor="#8a1c4a")
    assert (refused.status_code, refused.json()["errorCode"]) == (403, "PERMISSION_DENIED")
    assert (await changed(site, club, ana, 1, accentColor="#8a1c4a")).status_code == 200


# -- Modules


@pytest.mark.covers("ORG-012", "ORG-013")
async def test_a_module_that_is_off_refuses_also_its_owner_and_also_by_a_direct_address(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    """Both the role and the module must say yes: all four cases."""
    ana, club = await a_club(database)
    desk = await a_member(database, club, MemberRole.STAFF, RolePack.FRONT_DESK)
    members = f"/api/org/{club}/members"
    assert (await site.get(members, headers=ana.headers)).status_code == 200
    assert (await site.get(members, headers=desk.headers)).json()["errorCode"] == "PERMISSION_DENIED"

    off = await site.put(f"/api/org/{club}/modules/STAFF", json={"enabled": False}, headers=ana.headers)
    assert off.json() == {"module": "STAFF", "enabled": False}
    refused = await site.get(members, headers=ana.headers)
    assert (refused.status_code, refused.json()["errorCode"], refused.json()["module"]) == (
        403,
        "MODULE_DISABLED",
        "STAFF",
    )
    assert (await site.get(members, headers=desk.headers)).json()["errorCode"] == "PERMISSION_DENIED"

    await site.put(f"/api/org/{club}/modules/STAFF", json={"enabled": True}, headers=ana.headers)
    assert (await site.get(members, headers=ana.headers)).status_code == 200
    assert len(await facts_of(superuser, club, "organization.module_switched")) == 2
    assert len(await trail_of(superuser, club, "organization.switch_module")) == 2


async def test_what_is_on_already_is_not_told_again(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    await site.put(f"/api/org/{club}/modules/CRM", json={"enabled": True}, headers=ana.headers)
    assert await facts_of(superuser, club, "organization.module_switched") == []


async def test_the_settings_cannot_be_switched_off(site: httpx.AsyncClient, database: Database):
    ana, club = await a_club(database)
    refused = await site.put(f"/api/org/{club}/modules/DEFINICOES", json={"enabled": False}, headers=ana.headers)
    assert (refused.status_code, refused.json()["errorCode"]) == (409, "MODULE_NEEDED")
    assert (await site.get(f"/api/org/{club}", headers=ana.headers)).status_code == 200


# -- Legal documents


async def test_a_version_of_a_document_is_agreed_to_once(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    admin = await a_member(database, club, MemberRole.ADMIN)
    terms = {"document": "PAYMENT_TERMS", "version": "2026-01"}
    first = (await site.post(f"/api/org/{club}/acceptances", json=terms, headers=ana.headers)).json()
    again = (await site.post(f"/api/org/{club}/acceptances", json=terms, headers=admin.headers)).json()
    assert first == again and first["acceptedBy"] == str(ana.identity)
    other = {**terms, "document": "DATA_PROCESSING"}
    newer = await site.post(f"/api/org/{club}/acceptances", json=other, headers=admin.headers)
    assert newer.json()["acceptedBy"] == str(admin.identity)
    listed = (await site.get(f"/api/org/{club}/acceptances", headers=ana.headers)).json()
    assert [each["document"] for each in listed] == ["DATA_PROCESSING", "PAYMENT_TERMS"]
    assert len(await trail_of(superuser, club, "organization.accept_document")) == 2
    assert len(await facts_of(superuser, club, "organization.document_accepted")) == 2


@pytest.mark.parametrize(
    ("version", "code"), [("2099-12", "DOCUMENT_NOT_ON_OFFER"), ("2026-01\n", "VALIDATION_FAILED")]
)
async def test_nobody_agrees_to_what_was_never_on_offer(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection, version: str, code: str
):
    ana, club = await a_club(database)
    terms = {"document": "PAYMENT_TERMS", "version": version}
    refused = await site.post(f"/api/org/{club}/acceptances", json=terms, headers=ana.headers)
    assert (refused.status_code, refused.json()["errorCode"]) == (422, code)
    assert await trail_of(superuser, club, "organization.accept_document") == []


async def test_whoever_agreed_to_very_much_can_still_agree(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    await superuser.execute(
        "INSERT INTO organizations.acceptance SELECT $1, 'DATA_PROCESSING', lpad(i::text, 4, '0'), $2, now()"
        " FROM generate_series(1, 200) AS i",
        club.uuid,
        ana.identity.uuid,
    )
    terms = {"document": "TERMS_OF_SERVICE", "version": "2026-01"}
    agreed = await site.post(f"/api/org/{club}/acceptances", json=terms, headers=ana.headers)
    assert (agreed.status_code, agreed.json()["acceptedBy"]) == (200, str(ana.identity))


# -- The audit trail


async def test_an_organization_reads_its_own_trail_newest_first_and_no_other(
    site: httpx.AsyncClient, database: Database
):
    ana, club = await a_club(database)
    rui, _ = await a_club(database)
    for module in ("CRM", "LOJA", "EVENTOS"):
        await site.put(f"/api/org/{club}/modules/{module}", json={"enabled": False}, headers=ana.headers)
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = (await site.get(f"/api/org/{club}/audit", params={"limit": "2", **cursor}, headers=ana.headers)).json()
        seen += [
            next(iter(entry["after"])) if entry["action"].endswith("module") else entry["action"]
            for entry in page["items"]
        ]
        if page["nextCursor"] is None:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert seen == ["EVENTOS", "LOJA", "CRM", "organization.found"]
    assert (await site.get(f"/api/org/{club}/audit", headers=rui.headers)).status_code == 403


@pytest.mark.covers("ORG-031")
async def test_those_who_run_the_platform_read_its_own_trail_and_nobody_else_does(
    site: httpx.AsyncClient, database: Database
):
    owner, stranger = await a_person(database), await a_person(database)
    club = await an_organization_of(database, owner)
    assert (await site.get(f"/api/org/{club}/audit", headers=stranger.headers)).status_code == 403
    reader = await a_platform_admin(database, MemberRole.STAFF)
    page = (await site.get("/api/admin/audit", params={"limit": 50}, headers=reader.headers)).json()
    assert (str(stranger.identity), "refused") in {(each["actor"], each["action"]) for each in page["items"]}
    for somebody in (owner, stranger):
        assert (await site.get("/api/admin/audit", headers=somebody.headers)).status_code == 403

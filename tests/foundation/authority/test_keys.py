"""Keys of programs and scanners: good in one organisation, for what they were given, until they are revoked."""

import json
from base64 import b64decode
from datetime import timedelta
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.foundation.authority.api import (
    KeyPurpose,
    MemberRole,
    OrganizationModule,
    TableAuthority,
    put_modules,
)
from admitone.foundation.authority.commands import keys
from admitone.foundation.authority.commands.keys import Create, Revoke
from admitone.foundation.authority.errors import ScopeNotForPurpose, ScopeNotHeld
from admitone.foundation.authority.model import ServiceKeyId
from admitone.kernel.authority import Audience, AuthorityReader, Granted, PermissionDenied
from admitone.kernel.batch import Batcher
from admitone.kernel.clock import Clock
from admitone.kernel.crypto import KEYRING, KeyRing, digest_of
from admitone.kernel.db import Database
from admitone.kernel.errors import Throttled, Unauthenticated
from admitone.kernel.ids import PLATFORM_ORGANIZATION, OrganizationId, uuid7
from admitone.kernel.limits import Limit, Per
from admitone.kernel.scope import Caller, Scope
from tests.foundation.authority.shop import DONE, an_ask, ask_at, code_of, soon, visit
from tests.people import Person, a_member, a_person, an_organization_of
from tests.toy.wiring import TOY_KEY

KEYS, DEVICES = "service-keys", "devices"
DENIED, UNKNOWN = (403, "PERMISSION_DENIED"), (401, "UNAUTHENTICATED")


@pytest.fixture
async def owner(database: Database) -> Person:
    return await a_person(database)


@pytest.fixture
async def club(database: Database, owner: Person) -> OrganizationId:
    return await an_organization_of(database, owner)


async def make(
    street: httpx.AsyncClient, maker: Person | str, club: OrganizationId, kind: str = KEYS, **said: Any
) -> httpx.Response:
    body = (
        {"label": "till", "reasonCode": "TEST", "idempotencyKey": str(uuid7())}
        | ({"scopes": ["EVENTS_R"]} if kind == KEYS else {})
        | said
    )
    token = maker.access_token if isinstance(maker, Person) else maker
    headers = {"authorization": f"Bearer {token}"}
    return await street.post(f"/api/org/{club}/{kind}", json=body, headers=headers)


async def a_key(
    street: httpx.AsyncClient, maker: Person, club: OrganizationId, kind: str = KEYS, **said: Any
) -> tuple[str, str]:
    """Its id and its secret."""
    answer = await make(street, maker, club, kind, **said)
    assert answer.status_code == 200, answer.text
    return answer.json()["id"], answer.json()["secret"]


async def revoke(
    street: httpx.AsyncClient, who: Person, club: OrganizationId, key: str, kind: str = KEYS
) -> httpx.Response:
    return await street.delete(f"/api/org/{club}/{kind}/{key}", headers=who.headers)


async def rows_of(superuser: asyncpg.Connection, club: OrganizationId) -> list[asyncpg.Record]:
    return await superuser.fetch("SELECT * FROM authority.service_key WHERE organization_id = $1", club.uuid)


# -- What a key is good for


@pytest.mark.covers("TEN-T06", "TEN-T07", "TEN-T08", "ORG-023")
async def test_a_key_is_good_in_its_organisation_for_its_scopes_and_nowhere_else(
    street: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection, owner: Person, club: OrganizationId
):
    theirs = await an_organization_of(database, owner)
    key, secret = await a_key(street, owner, club)
    served = await visit(street, "events", secret, at=club)
    assert code_of(served) == DONE
    assert served.json() == {"identity": key.replace("key_", "idn_"), "organization": str(club), "device": None}

    assert code_of(await visit(street, "events", secret, at=theirs)) == DENIED
    assert code_of(await visit(street, "events", secret, at=OrganizationId.new())) == DENIED
    for name in ("publish", "refund", "checkin"):
        assert code_of(await visit(street, name, secret, at=club)) == DENIED
    assert code_of(await visit(street, "me", secret)) == UNKNOWN
    assert code_of(await visit(street, "transfer", secret)) == UNKNOWN
    assert code_of(await visit(street, "operate", secret)) == DENIED
    assert code_of(await visit(street, "browse", secret)) == UNKNOWN, "where people are recognised it is nobody"

    tried = "SELECT DISTINCT organization_id FROM kernel.audit_entry WHERE actor_id = $1 AND action = 'refused'"
    where = {row["organization_id"] for row in await superuser.fetch(tried, ServiceKeyId.parse(key).uuid)}
    assert where == {club.uuid, PLATFORM_ORGANIZATION.uuid}, "who tried stands in no stranger's trail"


@pytest.mark.covers("TEN-T07")
async def test_a_key_must_say_for_which_organisation_it_acts(
    street: httpx.AsyncClient, owner: Person, club: OrganizationId
):
    _, secret = await a_key(street, owner, club, scopes=["EVENTS_*"])
    headers = {"authorization": f"Bearer {secret}", "x-orya-org-id": str(OrganizationId.new())}
    answer = await street.post(f"/api/org/{club}/shop/events", json={}, headers=headers)
    assert code_of(answer) == (403, "ORG_CONTEXT_REQUIRED")


@pytest.mark.covers("ORG-012")
async def test_a_key_needs_the_module_too(
    street: httpx.AsyncClient, database: Database, owner: Person, club: OrganizationId
):
    _, secret = await a_key(street, owner, club)
    scope = Scope(club, "test")
    await database.run(scope, lambda tx: put_modules(tx, {OrganizationModule.EVENTOS: False}))
    assert code_of(await visit(street, "events", secret, at=club)) == (403, "MODULE_DISABLED")
    await database.run(scope, lambda tx: put_modules(tx, {OrganizationModule.EVENTOS: True}))
    assert code_of(await visit(street, "events", secret, at=club)) == DONE


@pytest.mark.covers("TEN-T08")
async def test_a_revoked_key_is_dead_on_the_very_next_call_in_every_process(
    street: httpx.AsyncClient, database: Database, database_url: str, owner: Person, club: OrganizationId
):
    key, secret = await a_key(street, owner, club)
    ask = an_ask(Audience.ORGANIZATION, secret, organization=club, permission="EVENTS_R")
    async with Database(database_url) as elsewhere:
        readers = [AuthorityReader(Batcher(each), TableAuthority()) for each in (database, elsewhere)]
        for reader in readers:
            assert isinstance(await reader.ask(ask), Granted)
        assert (await revoke(street, owner, club, key)).status_code == 204
        for reader in readers:
            with pytest.raises(Unauthenticated):
                await reader.ask(ask)
    assert code_of(await visit(street, "events", secret, at=club)) == UNKNOWN


async def test_a_key_ends_at_the_very_instant(
    street: httpx.AsyncClient, database_url: str, owner: Person, club: OrganizationId
):
    ends_at = soon(minutes=5)
    _, secret = await a_key(street, owner, club, expiresAt=ends_at.isoformat())
    ask = an_ask(Audience.ORGANIZATION, secret, organization=club, permission="EVENTS_R")
    assert isinstance(await ask_at(database_url, ends_at - timedelta(microseconds=1), ask), Granted)
    with pytest.raises(Unauthenticated):
        await ask_at(database_url, ends_at, ask)


# -- Scanners


async def test_a_scanner_checks_in_under_its_own_name(street: httpx.AsyncClient, owner: Person, club: OrganizationId):
    device, secret = await a_key(street, owner, club, DEVICES)
    served = await visit(street, "checkin", secret, at=club)
    assert (code_of(served), served.json()["device"]) == (DONE, device)
    assert code_of(await visit(street, "events", secret, at=club)) == DENIED


async def test_a_scanner_is_no_more_than_one_whatever_its_row_says(
    street: httpx.AsyncClient, superuser: asyncpg.Connection, owner: Person, club: OrganizationId
):
    device, secret = await a_key(street, owner, club, DEVICES)
    await superuser.execute(
        "UPDATE authority.service_key SET scopes = $2 WHERE id = $1",
        ServiceKeyId.parse(device).uuid,
        ["CHECKIN_*", "CHECKIN_RW", "EVENTS_*", "FINANCE_*", "PLATFORM_*"],
    )
    assert code_of(await visit(street, "checkin", secret, at=club)) == DONE
    for name in ("events", "publish", "refund"):
        assert code_of(await visit(street, name, secret, at=club)) == DENIED
    assert code_of(await visit(street, "operate", secret)) == DENIED


async def test_nobody_else_calls_itself_by_the_name_of_a_scanner(
    street: httpx.AsyncClient, owner: Person, club: OrganizationId
):
    device, secret = await a_key(street, owner, club, DEVICES)
    for token in (owner.access_token, secret):
        headers = {"authorization": f"Bearer {token}", "x-device-id": device}
        answer = await street.post(f"/api/org/{club}/shop/checkin", json={}, headers=headers)
        assert code_of(answer) == (400, "MALFORMED_DEVICE")
    headers = {"authorization": f"Bearer {secret}", "x-device-id": "another"}
    answer = await street.post(f"/api/org/{club}/shop/checkin", json={}, headers=headers)
    assert answer.json()["device"] == device, "what it proved counts, not what it says"


async def test_a_scanner_is_counted_as_itself_whatever_it_says(
    street: httpx.AsyncClient, batcher: Batcher, owner: Person, club: OrganizationId
):
    reader = AuthorityReader(batcher, TableAuthority())
    limit = Limit(f"test.scans.{uuid7()}", count=2, seconds=60, per=Per.DEVICE)
    secrets = [(await a_key(street, owner, club, DEVICES))[1] for _ in range(2)]

    async def scan(secret: str, said: str) -> None:
        scanner = {"organization": club, "permission": "CHECKIN_RW", "limits": (limit,)}
        await reader.ask(an_ask(Audience.ORGANIZATION, secret, **scanner, caller=Caller(device=said)))

    await scan(secrets[0], "one")
    await scan(secrets[0], "two")
    with pytest.raises(Throttled):
        await scan(secrets[0], "three")
    await scan(secrets[1], "three")


# -- Who makes keys


@pytest.mark.covers("ORG-023")
@pytest.mark.parametrize(
    ("scopes", "code"),
    [
        (["FINANCE_R", "EVENTS_RW", "PADEL_MATCHES_R"], 200),
        (["FINANCE_RW"], 403),
        (["EVENTS_R", "FINANCE_*"], 403),
        (["EVENTS_*"], 403),
        (["PLATFORM_R"], 422),
        (["NOTHING_R"], 422),
        (["EVENTS"], 422),
        (["EVENTS__RW"], 422),
        (["events_r"], 422),
        (["EVENTS_R\n"], 422),
        (["*"], 422),
        ([], 422),
        (["EVENTS_R"] * 41, 422),
    ],
)
async def test_nobody_gives_a_key_what_they_do_not_have(
    street: httpx.AsyncClient,
    database: Database,
    superuser: asyncpg.Connection,
    club: OrganizationId,
    scopes: list[str],
    code: int,
):
    administrator = await a_member(database, club, MemberRole.ADMIN)
    answer = await make(street, administrator, club, scopes=scopes)
    assert answer.status_code == code, answer.text
    assert len(await rows_of(superuser, club)) == (code == 200)


@pytest.mark.covers("TEN-T06")
async def test_who_may_not_change_settings_makes_no_key(
    street: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection, owner: Person, club: OrganizationId
):
    staff = await a_member(database, club, MemberRole.STAFF)
    stranger = await a_person(database)
    unconfirmed = await a_member(database, club, MemberRole.ADMIN, person=await a_person(database, confirmed=False))
    for kind in (KEYS, DEVICES):
        assert code_of(await make(street, staff, club, kind)) == DENIED
        assert code_of(await make(street, stranger, club, kind)) == DENIED
        assert code_of(await make(street, unconfirmed, club, kind)) == (403, "EMAIL_NOT_CONFIRMED")
        assert code_of(await make(street, "key_nobody", club, kind)) == UNKNOWN
    assert await rows_of(superuser, club) == []
    _, powerful = await a_key(street, owner, club, scopes=["SETTINGS_R", "EVENTS_*", "CHECKIN_*"])
    for kind in (KEYS, DEVICES):
        assert code_of(await make(street, powerful, club, kind)) == DENIED, "keys make no keys"
    assert len(await rows_of(superuser, club)) == 1


async def test_whoever_makes_a_key_has_just_proved_who_they_are_and_says_why(
    street: httpx.AsyncClient,
    database: Database,
    database_url: str,
    superuser: asyncpg.Connection,
    club: OrganizationId,
):
    async with Database(database_url, clock=Clock(timedelta(minutes=-11))) as a_while_ago:
        stale = await a_member(database, club, MemberRole.ADMIN, person=await a_person(a_while_ago))
    for kind in (KEYS, DEVICES):
        assert code_of(await make(street, stale, club, kind)) == (403, "STEP_UP_REQUIRED")
        fresh = await a_member(database, club, MemberRole.ADMIN)
        assert (await make(street, fresh, club, kind, reasonCode=None)).status_code == 422
    assert await rows_of(superuser, club) == []


@pytest.mark.parametrize("scope", ["TEAM_R", "TEAM_RW", "TEAM_*", "SETTINGS_RW", "SETTINGS_*"])
async def test_who_is_here_and_what_the_house_is_people_decide_and_no_key(
    street: httpx.AsyncClient,
    superuser: asyncpg.Connection,
    batcher: Batcher,
    owner: Person,
    club: OrganizationId,
    scope: str,
):
    answer = await make(street, owner, club, KEYS, scopes=[scope])
    assert answer.json()["errorCode"] == "SCOPE_NOT_FOR_PURPOSE"
    _, secret = await a_key(street, owner, club)
    await superuser.execute(
        "UPDATE authority.service_key SET scopes = $2 WHERE organization_id = $1", club.uuid, [scope]
    )
    reader = AuthorityReader(batcher, TableAuthority())
    needed = scope.replace("*", "RW")
    with pytest.raises(PermissionDenied):
        await reader.ask(an_ask(Audience.ORGANIZATION, secret, organization=club, permission=needed))


async def test_a_scanner_gets_check_in_and_nothing_else(
    street: httpx.AsyncClient, database: Database, owner: Person, club: OrganizationId
):
    for scopes in (["EVENTS_R"], ["CHECKIN_*"], ["CHECKIN_RW", "FINANCE_R"], []):
        assert (await make(street, owner, club, DEVICES, scopes=scopes)).status_code == 422
    everything = frozenset({"CHECKIN_*", "EVENTS_*"})
    wanted = [
        Create(owner.caller, KeyPurpose.SCANNER, "gate", scopes, everything, None, "TEST")
        for scopes in (("EVENTS_R",), ("CHECKIN_*",), ("CHECKIN_R", "CHECKIN_RW"))
    ]
    outcomes = await database.run(Scope(club, "test"), lambda tx: keys.create(tx, wanted))
    assert [type(each).__name__ for each in outcomes] == ["ScopeNotForPurpose", "ScopeNotForPurpose", "Created"]


async def test_of_several_in_one_batch_only_the_refused_are_refused(
    database: Database, superuser: asyncpg.Connection, owner: Person, club: OrganizationId
):
    held = frozenset({"EVENTS_RW"})
    wanted = [
        Create(owner.caller, KeyPurpose.API, "one", ("EVENTS_R",), held, None, "TEST"),
        Create(owner.caller, KeyPurpose.API, "two", ("FINANCE_R",), held, None, "TEST"),
        Create(owner.caller, KeyPurpose.API, "three", ("EVENTS_R",), held, soon(hours=-1), "TEST"),
        Create(owner.caller, KeyPurpose.API, "four", ("events",), held, None, "TEST"),
    ]
    outcomes = await database.run(Scope(club, "test"), lambda tx: keys.create(tx, wanted))
    assert outcomes[1] == ScopeNotHeld(scope="FINANCE_R") and outcomes[3] == ScopeNotForPurpose(scope="events")
    assert [row["label"] for row in await rows_of(superuser, club)] == ["one"]
    trail = await superuser.fetch(
        "SELECT actor_id, after::text FROM kernel.audit_entry"
        " WHERE organization_id = $1 AND action <> 'organization.found'",
        club.uuid,
    )
    assert [row["actor_id"] for row in trail] == [owner.identity.uuid]
    assert "one" not in trail[0]["after"], "a label may be somebody's name"


# -- The secret


async def test_the_secret_stands_nowhere_and_a_repeated_request_gets_it_again(
    street: httpx.AsyncClient, superuser: asyncpg.Connection, owner: Person, club: OrganizationId
):
    said = {"idempotencyKey": "till-1", "label": "the till"}
    first = await make(street, owner, club, **said)
    secret = first.json()["secret"]
    assert secret.startswith(f"key_{club.uuid.hex}_")
    [row] = await rows_of(superuser, club)
    assert row["digest"] == digest_of(secret)
    answers = await superuser.fetch("SELECT answer FROM kernel.idempotency_key WHERE organization_id = $1", club.uuid)
    assert len(answers) == 1
    kept = answers[0]["answer"]
    everything = kept + b64decode(json.loads(kept)["sealed"]) + str([*row.values()]).encode()
    for part in (secret, secret.rpartition("_")[2], secret.encode().hex()):
        assert part.encode() not in everything

    again = await make(street, owner, club, **said)
    assert again.json() == first.json()
    assert again.headers["idempotency-replayed"] == "true"
    assert code_of(await make(street, owner, club, **said | {"label": "other"})) == (409, "IDEMPOTENCY_KEY_REUSED")
    assert len(await rows_of(superuser, club)) == 1
    assert code_of(await visit(street, "events", secret, at=club)) == DONE


async def test_an_answer_is_told_under_new_keys_of_the_installation_and_not_after_the_old_are_gone(
    street: httpx.AsyncClient, superuser: asyncpg.Connection, owner: Person, club: OrganizationId
):
    said = {"idempotencyKey": "till-1"}
    first = await make(street, owner, club, **said)
    newer = b"the next key of the installation!"
    with KEYRING.wired(KeyRing({1: TOY_KEY, 2: newer})):
        assert (await make(street, owner, club, **said)).json() == first.json()
    with KEYRING.wired(KeyRing({2: newer})):
        assert code_of(await make(street, owner, club, **said)) == (409, "IDEMPOTENCY_ANSWER_OUTDATED")
    assert len(await rows_of(superuser, club)) == 1


# -- Revoking and listing


async def test_revoking_is_written_down_once_and_touches_nobody_elses_keys(
    street: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection, owner: Person, club: OrganizationId
):
    stranger = await a_person(database)
    theirs = await an_organization_of(database, stranger)
    key, secret = await a_key(street, owner, club)
    device, _ = await a_key(street, owner, club, DEVICES)
    missing = (404, "SERVICE_KEY_NOT_FOUND")
    assert code_of(await revoke(street, stranger, theirs, key)) == missing
    assert code_of(await revoke(street, stranger, club, key)) == DENIED
    assert code_of(await revoke(street, owner, club, device)) == missing, "a scanner is no program"
    assert code_of(await revoke(street, owner, club, key, DEVICES)) == missing
    assert code_of(await revoke(street, owner, club, str(ServiceKeyId.new()))) == missing
    assert code_of(await visit(street, "events", secret, at=club)) == DONE

    both = [Revoke(owner.caller, KeyPurpose.API, ServiceKeyId.parse(key)) for _ in range(2)]
    assert await database.run(Scope(club, "test"), lambda tx: keys.revoke(tx, both)) == [True, False]
    assert (await revoke(street, owner, club, key)).status_code == 204
    actions = "SELECT action FROM kernel.audit_entry WHERE organization_id = $1 AND subject = $2 ORDER BY at, id"
    trail = await superuser.fetch(actions, club.uuid, key)
    assert [row["action"] for row in trail] == ["create_service_key", "revoke_service_key"]


@pytest.mark.covers("TEN-T08")
async def test_the_list_shows_ones_own_keys_without_their_secrets(
    street: httpx.AsyncClient, database: Database, owner: Person, club: OrganizationId
):
    theirs = await an_organization_of(database, owner)
    await a_key(street, owner, theirs)
    made = [await a_key(street, owner, club, label=f"till {n}") for n in range(3)]
    device, _ = await a_key(street, owner, club, DEVICES)
    await revoke(street, owner, club, made[0][0])
    listed, cursor = [], ""
    while True:
        parameters = {"limit": 2, "cursor": cursor}
        page = await street.get(f"/api/org/{club}/{KEYS}", params=parameters, headers=owner.headers)
        assert not [secret for _, secret in made if secret.rpartition("_")[2] in page.text]
        listed += page.json()["items"]
        cursor = page.json()["nextCursor"]
        if not cursor:
            break
    assert [each["id"] for each in listed] == [key for key, _ in made]
    assert [bool(each["revokedAt"]) for each in listed] == [True, False, False]
    assert {each["createdBy"] for each in listed} == {str(owner.identity)}
    devices = (await street.get(f"/api/org/{club}/{DEVICES}", headers=owner.headers)).json()
    assert [each["id"] for each in devices["items"]] == [device]
    viewer = await a_member(database, club, MemberRole.VIEWER)
    assert code_of(await street.get(f"/api/org/{club}/{KEYS}", headers=viewer.headers)) == DENIED


@pytest.mark.covers("TEN-T08")
@pytest.mark.parametrize("kind", KeyPurpose)
async def test_no_key_of_one_organisation_opens_any_contract_of_another(
    street: httpx.AsyncClient, database: Database, batcher: Batcher, owner: Person, kind: KeyPurpose
):
    ours, theirs = await an_organization_of(database, owner), await an_organization_of(database, owner)
    reader = AuthorityReader(batcher, TableAuthority())
    scopes = {"scopes": ["EVENTS_*", "FINANCE_*", "CHECKIN_*", "SETTINGS_R"]} if kind is KeyPurpose.API else {}
    _, secret = await a_key(street, owner, ours, KEYS if kind is KeyPurpose.API else DEVICES, **scopes)
    for area in ("EVENTS", "FINANCE", "CHECKIN", "SETTINGS", "TEAM", "PLATFORM", "NONSENSE"):
        for level in ("R", "RW", "*", ""):
            ask = an_ask(Audience.ORGANIZATION, secret, organization=theirs, permission=f"{area}_{level}")
            with pytest.raises(PermissionDenied):
                await reader.ask(ask)

"""Every operation, by everybody who may not, in every organisation that is not theirs: refused, and nothing written.

The attempts are made from the contracts themselves, so an operation that is added is attacked from its first day.
"""

import asyncio
import itertools
import random
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import asyncpg
import httpx
import msgspec
import pytest
from msgspec import inspect

from admitone.entrypoints.http import Application
from admitone.foundation.authority.api import ROLE_SCOPES, MemberRole, Membership, RolePack, covers, scopes_of
from admitone.kernel.authority import Audience
from admitone.kernel.clock import Clock
from admitone.kernel.contracts import Contract, Reads, Writes
from admitone.kernel.contracts.wire import to_json
from admitone.kernel.crypto import new_secret
from admitone.kernel.db import Database
from admitone.kernel.ids import Id, OrganizationId, uuid7
from tests.people import (
    Person,
    a_member,
    a_person,
    a_platform_admin,
    an_organization_of,
)

EVERYTHING = ROLE_SCOPES[MemberRole.OWNER] - {"TEAM_*", "SETTINGS_*"} | {"SETTINGS_R"}
CROWD = 64
UNWATCHED = {"kernel.limit_counter", "kernel.audit_entry"}
"""What a refusal may write: that somebody came too often, and that somebody was refused."""

TABLES = """
    SELECT format('%I.%I', n.nspname, c.relname)
      FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname NOT IN ('pg_catalog', 'information_schema')
     ORDER BY 1
"""

VERBS = ("GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "PROPFIND", "get", "Post", "X")


@dataclass(frozen=True)
class Attempt:
    contract: Contract
    method: str
    path: str
    content: bytes | None
    headers: dict[str, str]


def example_of(contract: Contract) -> dict[str, Any]:
    """What the contract itself shows as a request."""
    assert contract.examples or contract.reading is not Reads.JSON, f"{contract.id} shows no request to attack with"
    takes = next((each.takes for each in contract.examples if each.takes is not None), None)
    return {} if takes is None else msgspec.json.decode(to_json(takes))


def attempt(contract: Contract, organization: OrganizationId | None, headers: dict[str, str]) -> Attempt:
    fields = example_of(contract)
    values = {**fields, "organizationId": str(organization)}
    path = contract.path
    for name in contract.path_names:
        path = path.replace(f"{{{name}}}", str(values.get(name) or a_value_of(contract, name)))
    said = dict(headers)
    if contract.needs_organization and "organizationId" not in contract.path_names:
        said["x-orya-org-id"] = str(organization)
    body = {name: value for name, value in fields.items() if name not in contract.path_names}
    content = None
    if contract.reading is Reads.JSON:
        content, said["content-type"] = msgspec.json.encode(body), "application/json"
    elif contract.reading is Reads.FORM:
        content, said["content-type"] = form_of(contract), Reads.FORM.value
    elif body:
        asked = {name: value for name, value in body.items() if value is not None and value != []}
        path += "?" + str(httpx.QueryParams(asked)) if asked else ""
    return Attempt(contract, contract.method, path, content, said)


def a_value_of(contract: Contract, name: str) -> str:
    """Something of the form that a field takes, where no example shows it."""
    if name not in contract.fields:
        return "x"
    kind = contract.fields[name].type
    match inspect.type_info(kind):
        case inspect.CustomType(cls=cls) if issubclass(cls, Id):
            return str(cls.new())
        case inspect.EnumType(cls=cls):
            return str(next(iter(cls)).value)
        case inspect.IntType():
            return "1"
        case inspect.UUIDType():
            return str(uuid7())
        case _:
            return "x"


def form_of(contract: Contract) -> bytes:
    """What must be in a form, each of the form that it takes."""
    needed = [name for name, each in contract.fields.items() if each.required and name not in contract.path_names]
    return str(httpx.QueryParams({name: a_value_of(contract, name) for name in needed})).encode()


def an_address() -> str:
    return str(httpx.URL(f"http://10.{random.randrange(256)}.{random.randrange(256)}.{random.randrange(1, 255)}").host)


async def carried_out(application: Application, each: Attempt) -> httpx.Response:
    transport = httpx.ASGITransport(application.edge, client=(an_address(), 4711))
    async with httpx.AsyncClient(transport=transport, base_url="http://admitone.test") as client:
        return await client.request(each.method, each.path, content=each.content, headers=each.headers)


async def all_carried_out(
    application: Application, attempts: Iterable[Attempt]
) -> list[tuple[Attempt, httpx.Response]]:
    """Many at once, as they would come: whoever arrives together is judged together."""
    made: list[tuple[Attempt, httpx.Response]] = []
    for crowd in batched(list(attempts), CROWD):
        answers = await asyncio.gather(*(carried_out(application, each) for each in crowd))
        made += zip(crowd, answers, strict=True)
    return made


def batched(attempts: list[Attempt], size: int) -> Iterator[list[Attempt]]:
    return (attempts[start : start + size] for start in range(0, len(attempts), size))


async def state_of(superuser: asyncpg.Connection) -> dict[str, Any]:
    """Every row of every table that a refusal must leave alone."""
    tables = [row[0] for row in await superuser.fetch(TABLES)]
    return {
        table: await superuser.fetchval(f"SELECT md5(string_agg(t::text, '|' ORDER BY t::text)) FROM {table} AS t")
        for table in tables
        if table not in UNWATCHED
    }


@pytest.fixture
async def untouched(superuser: asyncpg.Connection) -> AsyncIterator[list[str]]:
    """Hand over the list when all is set up and the attack begins; afterwards the database must be as it was."""
    before: dict[str, Any] = {}

    class Watch(list[str]):
        async def begin(self) -> None:
            before.update(await state_of(superuser))

    yield Watch()
    assert before, "nobody began to watch"
    assert {table: state for table, state in (await state_of(superuser)).items() if before.get(table) != state} == {}


def of(application: Application, *audiences: Audience) -> list[Contract]:
    return [contract for contract in application.edge.contracts if contract.audience in audiences]


def sends_to_sign_in(answer: httpx.Response) -> bool:
    return answer.status_code == 303 and answer.headers["location"].startswith("/sign-in?next=")


def turned_away(answer: httpx.Response) -> bool:
    return 400 <= answer.status_code < 500 or sends_to_sign_in(answer)


def refused(answer: httpx.Response, each: Attempt, status: int, *codes: str) -> str | None:
    """What is wrong with the answer, if anything."""
    is_page = each.contract.writes is Writes.PAGE
    code = answer.json().get("errorCode") if "json" in answer.headers.get("content-type", "") else answer.text[:80]
    # A page says it in words, and has no code; whoever must sign in is sent to where they can.
    if is_page and status == 401 and sends_to_sign_in(answer):
        return None
    if answer.status_code == status and (is_page or code in codes):
        return None
    return f"{each.method} {each.path} ({each.contract.id}): {answer.status_code} {code}"


async def a_key(
    application: Application, maker: Person, organization: OrganizationId, kind: str, **said: Any
) -> dict[str, str]:
    """A key of a program or a scanner that may do there whatever can be given."""
    content = msgspec.json.encode({"label": "any", "reasonCode": "TEST", "idempotencyKey": kind, **said})
    headers = {**maker.headers, "content-type": "application/json"}
    made = await carried_out(
        application, Attempt(application.edge.contracts[0], "POST", f"/api/org/{organization}/{kind}", content, headers)
    )
    return {"authorization": f"Bearer {made.json()['secret']}"}


STANDINGS = [(role, None) for role in MemberRole] + [
    (role, pack) for pack, role in zip(RolePack, itertools.repeat(MemberRole.STAFF), strict=False)
]


@pytest.mark.covers("TEN-T06", "TEN-T08", "ORG-023", "INV-011")
async def test_members_of_other_organisations_are_refused_everywhere(
    application: Application,
    database: Database,
    untouched: Any,
) -> None:
    owners = [await a_person(database) for _ in range(8)]
    home, *foreign = [await an_organization_of(database, owner) for owner in owners]
    attackers = [await a_member(database, home, role, pack) for role, pack in STANDINGS]
    headers = [attacker.headers for attacker in [*attackers, await a_person(database)]]
    headers += [await a_key(application, owners[0], home, "service-keys", scopes=sorted(EVERYTHING))]
    headers += [await a_key(application, owners[0], home, "devices")]
    await untouched.begin()
    attempts = [
        attempt(contract, target, by)
        for contract, by, target in itertools.product(of(application, Audience.ORGANIZATION), headers, foreign)
    ]
    assert len(attempts) >= 2000
    made = await all_carried_out(application, attempts)
    wrong = [refused(answer, each, 403, "PERMISSION_DENIED") for each, answer in made]
    assert [each for each in wrong if each] == []


@pytest.mark.covers("ORG-020", "ORG-022", "ORG-023", "TEN-T06")
async def test_at_home_a_role_opens_what_its_scopes_cover_and_nothing_else(
    application: Application,
    database: Database,
    untouched: Any,
) -> None:
    owner = await a_person(database)
    home = await an_organization_of(database, owner)
    members = [
        (await a_member(database, home, role, pack), scopes_of(Membership(role, pack))) for role, pack in STANDINGS
    ]
    await untouched.begin()
    wrong = []
    for contract, (member, scopes) in itertools.product(of(application, Audience.ORGANIZATION), members):
        assert contract.permission
        if not covers(scopes, contract.permission):
            each = attempt(contract, home, member.headers)
            wrong.append(refused(await carried_out(application, each), each, 403, "PERMISSION_DENIED"))
    assert wrong, "nobody was to be refused"
    assert [each for each in wrong if each] == []


@pytest.mark.covers("ORG-012", "ORG-013", "ORG-021")
async def test_a_module_that_is_off_is_off_for_the_owner_too(
    application: Application,
    database: Database,
    untouched: Any,
) -> None:
    owner = await a_person(database)
    home = await an_organization_of(database, owner, modules=())
    await untouched.begin()
    wrong = []
    for contract in of(application, Audience.ORGANIZATION):
        each = attempt(contract, home, owner.headers)
        wrong.append(refused(await carried_out(application, each), each, 403, "MODULE_DISABLED", "FEATURE_DISABLED"))
    assert [each for each in wrong if each] == []


@pytest.mark.covers("TEN-T06")
async def test_a_scanner_opens_nothing_but_the_door(
    application: Application, database: Database, untouched: Any
) -> None:
    owner = await a_person(database)
    home = await an_organization_of(database, owner)
    scanner = await a_key(application, owner, home, "devices")
    await untouched.begin()
    wrong = []
    for contract in of(application, Audience.ORGANIZATION, Audience.ADMIN, Audience.PERSON):
        if not (contract.permission or "").startswith("CHECKIN"):
            each = attempt(contract, home, scanner)
            # What is put off is off for everybody, also for who is nobody there.
            status = 401 if contract.audience is Audience.PERSON and not contract.gate else 403
            codes = ("UNAUTHENTICATED",) if status == 401 else ("PERMISSION_DENIED", "FEATURE_DISABLED")
            wrong.append(refused(await carried_out(application, each), each, status, *codes))
    assert [each for each in wrong if each] == []


@pytest.mark.covers("ORG-031", "TEN-T06")
async def test_only_those_who_run_the_platform_enter_its_own_rooms(
    application: Application,
    database: Database,
    untouched: Any,
) -> None:
    owner = await a_person(database)
    home = await an_organization_of(database, owner)
    outsiders = [owner, await a_person(database), *[await a_member(database, home, role) for role in MemberRole]]
    outsiders += [await a_platform_admin(database, role) for role in (MemberRole.VIEWER, MemberRole.PROMOTER)]
    await untouched.begin()
    wrong = []
    for contract, outsider in itertools.product(of(application, Audience.ADMIN), outsiders):
        each = attempt(contract, None, outsider.headers)
        wrong.append(refused(await carried_out(application, each), each, 403, "PERMISSION_DENIED", "FEATURE_DISABLED"))
    assert [each for each in wrong if each] == []


def bad_credentials(person: Person, past: Person) -> Iterator[dict[str, str]]:
    yield {}
    yield past.headers
    token = person.access_token
    for text in (
        token[:-1],
        token + "0",
        token.upper(),
        token.replace("access", "refresh"),
        token.replace("access", "key"),
        new_secret("access", None).text,
        new_secret("key", OrganizationId.new()).text,
        "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.",
        "eyJhbGciOiJIUzI1NiIsImtpZCI6Ii4uLy4uL2V0Yy9wYXNzd2QifQ.eyJyb2xlIjoiT1dORVIifQ.c2lnbmVk",
        "null",
    ):
        yield {"authorization": f"Bearer {text}"}
    yield {"authorization": f"Basic {token}"}
    yield {"authorization": token}
    yield {"x-org-id": str(OrganizationId.new())}


@pytest.mark.covers("TEN-T08", "IDN-010")
async def test_without_a_live_credential_nothing_that_needs_one_opens(
    application: Application,
    database: Database,
    database_url: str,
    untouched: Any,
) -> None:
    person = await a_person(database)
    home = await an_organization_of(database, person)
    async with Database(database_url, clock=Clock(timedelta(days=-100))) as long_ago:
        past = await a_person(long_ago)
    await untouched.begin()
    needing = of(application, Audience.ORGANIZATION, Audience.ADMIN, Audience.PERSON)
    attempts = [
        attempt(contract, home, headers)
        for contract, headers in itertools.product(needing, bad_credentials(person, past))
    ]
    made = await all_carried_out(application, attempts)
    wrong = [refused(answer, each, 401, "UNAUTHENTICATED") for each, answer in made]
    assert [each for each in wrong if each] == []


def spellings(path: str) -> Iterator[str]:
    """Other ways to write an address, which must not be it."""
    yield from (path + trick for trick in ("/", ";x=1", "%00", "%20", ".json", "/.", "/%2e%2e/x", "X"))
    yield path.replace("/api/", "/API/")
    yield path.replace("/api/", "/api//")
    yield path.replace("/api/", "/x/../api/")
    yield path.replace("/api/", "/api%2f")


@pytest.mark.covers("TEN-T08")
async def test_no_other_verb_and_no_spelling_of_a_path_opens_an_operation(
    application: Application, database: Database, untouched: Any
) -> None:
    owner = await a_person(database)
    home = await an_organization_of(database, owner)
    served = {(contract.method, contract.path) for contract in application.edge.contracts}
    await untouched.begin()
    attempts = []
    for contract in of(application, Audience.ORGANIZATION, Audience.ADMIN, Audience.PERSON, Audience.INTERNAL):
        each = attempt(contract, home, {})
        bare = each.path.partition("?")[0]
        tricks = [(verb, bare) for verb in VERBS if (verb.upper(), contract.path) not in served]
        tricks += [(contract.method, spelling) for spelling in spellings(bare) if spelling != bare]
        attempts += [Attempt(contract, method, path, each.content, each.headers) for method, path in tricks]
    assert len(attempts) > 900
    made = await all_carried_out(application, attempts)
    assert [
        f"{each.method} {each.path}: {answer.status_code}" for each, answer in made if not turned_away(answer)
    ] == []

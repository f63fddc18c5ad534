"""Every operation that is not for everybody, asked by everybody who may not: nobody, strangers, others' keys.

Whatever package adds a contract, it is in this table without a line of its own.
"""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import msgspec
import pytest

from admitone.entrypoints.http import Application
from admitone.foundation.authority.api import MemberRole
from admitone.kernel.authority import Audience
from admitone.kernel.contracts import Contract, Reads
from admitone.kernel.contracts.wire import to_wire
from admitone.kernel.db import Database
from admitone.kernel.ids import OrganizationId
from tests.people import a_member, a_person, a_platform_admin, an_organization_of

CLOSED = (Audience.PERSON, Audience.ORGANIZATION, Audience.ADMIN)
VERBS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "TRACE", "CONNECT", "PROPFIND", "get", "Post", "X")


def closed(application: Application) -> list[Contract]:
    """Those that the authority alone guards, as JSON."""
    contracts = [each for each in application.edge.contracts if each.audience in CLOSED]
    return [each for each in contracts if each.reading in (Reads.JSON, Reads.NOTHING)]


def example_of(contract: Contract) -> dict[str, Any]:
    example = next((each for each in contract.examples if each.refuses is None), None)
    taken = example.takes if example else None
    return msgspec.to_builtins(taken, enc_hook=to_wire) if taken is not None else {}


def path_of(contract: Contract, organization: OrganizationId) -> str:
    values = {"organizationId": str(organization), **example_of(contract)}
    return re.sub(r"\{(\w+)\}", lambda found: quote(str(values[found[1]]), safe=""), contract.path)


class Visitors:
    """Each call from another address, so that no limit on addresses answers in the authority's place."""

    def __init__(self, application: Application) -> None:
        self._edge = application.edge
        self._count = 0

    async def ask(self, method: str, path: str, **said: Any) -> httpx.Response:
        self._count += 1
        address = f"10.{self._count >> 16 & 255}.{self._count >> 8 & 255}.{self._count & 255}"
        transport = httpx.ASGITransport(self._edge, client=(address, 4711))
        async with httpx.AsyncClient(transport=transport, base_url="http://admitone.test") as client:
            return await client.send(client.build_request(method, path, **said))

    async def call(self, contract: Contract, organization: OrganizationId, token: str | None) -> httpx.Response:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        if contract.needs_organization:
            headers["x-orya-org-id"] = str(organization)
        in_body = {key: value for key, value in example_of(contract).items() if key not in contract.path_names}
        said: dict[str, Any] = {"json": in_body} if contract.reading is Reads.JSON else {"params": in_body}
        return await self.ask(contract.method, path_of(contract, organization), headers=headers, **said)


async def a_key_of(visitors: Visitors, token: str, club: OrganizationId, kind: str, **said: Any) -> str:
    body = {"label": "any", "idempotencyKey": kind, **said}
    made = await visitors.ask(
        "POST", f"/api/org/{club}/{kind}", json=body, headers={"authorization": f"Bearer {token}"}
    )
    secret: str = made.json()["secret"]
    return secret


@pytest.mark.covers("TEN-T06", "TEN-T08", "ORG-023")
async def test_no_operation_opens_to_nobody_to_strangers_or_to_keys_of_others(
    application: Application, database: Database
):
    visitors = Visitors(application)
    owner, stranger = await a_person(database), await a_person(database)
    ours, theirs = await an_organization_of(database, owner), await an_organization_of(database, stranger)
    everything = [
        f"{area}_*" for area in ("EVENTS", "FINANCE", "CRM", "SHOP", "TEAM", "SETTINGS", "CHECKIN", "RESERVAS")
    ]
    key = await a_key_of(visitors, stranger.access_token, theirs, "service-keys", scopes=everything)
    scanner = await a_key_of(visitors, stranger.access_token, theirs, "devices")
    own_scanner = await a_key_of(visitors, owner.access_token, ours, "devices")
    contracts = closed(application)
    assert len(contracts) >= 12
    wrong = []
    for contract in contracts:
        person = contract.audience is Audience.PERSON
        attempts = {
            "nobody": (None, {401}),
            "an unknown token": ("access_0_" + "0" * 40, {401}),
            "a stranger": (None if person else stranger.access_token, {401} if person else {403}),
            "a key of another organisation": (key, {401} if person else {403}),
            "a scanner of another organisation": (scanner, {401} if person else {403}),
        }
        if not (contract.permission or "").startswith("CHECKIN"):
            attempts["a scanner of this one"] = (own_scanner, {401} if person else {403})
        for who, (token, expected) in attempts.items():
            answer = await visitors.call(contract, ours, token)
            if answer.status_code not in expected:
                wrong.append((contract.id, who, answer.status_code, answer.text[:200]))
    assert wrong == []


@pytest.mark.covers("ORG-023", "ORG-031")
async def test_what_runs_the_installation_is_closed_to_every_role_of_an_organisation(
    application: Application, database: Database
):
    visitors = Visitors(application)
    club = await an_organization_of(database, await a_person(database))
    members = {role: await a_member(database, club, role) for role in MemberRole}
    guests = {role: await a_platform_admin(database, role) for role in (MemberRole.TRAINER, MemberRole.VIEWER)}
    ours = [contract for contract in closed(application) if contract.audience is Audience.ADMIN]
    assert ours
    for contract in ours:
        for role, member in (*members.items(), *guests.items()):
            answer = await visitors.call(contract, club, member.access_token)
            assert answer.json()["errorCode"] == "PERMISSION_DENIED", (contract.id, role, answer.text)


def tricks(path: str) -> Iterator[str]:
    """Other spellings of an address, which must not be it."""
    yield f"{path}/"
    yield f"/{path}"
    yield f"{path};x=1"
    yield f"{path}%00"
    yield f"{path}%20"
    yield f"{path}.json"
    yield f"{path}/."
    yield f"{path}/%2e%2e/x"
    yield path.replace("/api/", "/API/")
    yield path.replace("/api/", "/api//")
    yield path.replace("/api/", "/api/./")
    yield path.replace("/api/", "/x/../api/")
    yield path.replace("/api/", "/api%2f")


@pytest.mark.covers("TEN-T06")
async def test_no_other_verb_or_spelling_opens_what_is_closed(application: Application, database: Database):
    visitors = Visitors(application)
    club = await an_organization_of(database, await a_person(database))
    opened = []
    asked = 0
    for contract in closed(application):
        path = path_of(contract, club)
        for verb, spelling in [*((verb, path) for verb in VERBS), *((contract.method, each) for each in tricks(path))]:
            asked += 1
            answer = await visitors.ask(verb, spelling, json={})
            if answer.status_code < 400 or answer.status_code >= 500:
                opened.append((contract.id, verb, spelling, answer.status_code))
    assert opened == []
    assert asked >= 300

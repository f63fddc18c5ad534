"""The cut-line: what was put off is off, for everybody, until somebody says why it is on."""

import asyncio
import re
from datetime import timedelta
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.entrypoints.modules import MODULES
from admitone.foundation.authority.api import MemberRole, TableAuthority
from admitone.foundation.authority.commands import switches
from admitone.foundation.authority.commands.switches import SCOPE, Stop, SwitchOn
from admitone.foundation.authority.errors import EventStopped, IdentityStopped, OrganizationStopped
from admitone.foundation.authority.features import FEATURES, KNOWN, NO_FEATURE
from admitone.foundation.authority.model import StopKind, Target
from admitone.kernel.authority import Audience, AuthorityReader, FeatureDisabled, Granted
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.manifest import Module, check_contracts
from admitone.kernel.scope import Caller, Scope
from tests.architecture.source_tree import REPOSITORY
from tests.foundation.authority.shop import (
    DONE,
    GATE,
    PERSON,
    SHOP,
    an_ask,
    an_event,
    ask_at,
    code_of,
    sells,
    soon,
    turn,
    visit,
)
from tests.people import Person, a_person, a_platform_admin, an_organization_of

DISABLED = (403, "FEATURE_DISABLED")


@pytest.fixture
async def admin(database: Database) -> Person:
    return await a_platform_admin(database, MemberRole.OWNER)


@pytest.mark.covers("OPS-031")
@pytest.mark.parametrize("feature", sorted(KNOWN))
async def test_a_feature_is_off_for_everybody_even_for_owners(batcher: Batcher, database: Database, feature: str):
    reader = AuthorityReader(batcher, TableAuthority())
    owner, operator = await a_person(database), await a_platform_admin(database, MemberRole.OWNER)
    club = await an_organization_of(database, owner)
    asks = [
        an_ask(Audience.PUBLIC, gate=feature),
        an_ask(Audience.PERSON, owner.access_token, gate=feature),
        an_ask(Audience.ORGANIZATION, owner.access_token, organization=club, permission="EVENTS_R", gate=feature),
        an_ask(Audience.ADMIN, operator.access_token, permission="PLATFORM_RW", gate=feature),
    ]
    for ask in asks:
        with pytest.raises(FeatureDisabled):
            await reader.ask(ask)


def test_everything_that_the_requirements_put_off_stands_in_the_list():
    pages = (REPOSITORY / "docs" / "requirements").glob("[0-9]*.md")
    lines = [line for page in pages for line in page.read_text(encoding="utf-8").splitlines()]
    put_off = {found[1] for line in lines if "**later**" in line and (found := re.match(r"\*\*([A-Z]+-\d+)\*\*", line))}
    listed = {feature.requirement for feature in FEATURES} | set(NO_FEATURE)
    assert len(put_off) > 20
    assert put_off - listed == set()
    assert len(KNOWN) == len(FEATURES), "no name stands twice"
    assert all(re.fullmatch(r"[a-z0-9_.]+", name) for name in KNOWN)


def test_a_gate_that_is_no_feature_stops_the_start():
    misspelt = Module("shop", contracts=(sells("typo", PERSON, gate="wallet.pases"),))
    with pytest.raises(TypeError, match=r"SHOP\.TYPO: gate wallet\.pases is no feature of any manifest"):
        check_contracts([*MODULES, misspelt])
    check_contracts([*MODULES, SHOP])


@pytest.mark.covers("SAF-025")
async def test_a_feature_is_switched_on_for_one_organisation_and_off_again(
    street: httpx.AsyncClient, database: Database, admin: Person, superuser: asyncpg.Connection
):
    owner = await a_person(database)
    club, other = await an_organization_of(database, owner), await an_organization_of(database, owner)
    here = {"organization": str(club)}
    assert code_of(await visit(street, "passes", owner, at=club)) == DISABLED

    on = await turn(street, admin, f"features/{GATE}/on", **here, reasonCode="PILOT_APPROVED", caseReference="a-1")
    assert code_of(on) == DONE
    assert on.json()["organization"] == str(club)
    assert code_of(await visit(street, "passes", owner, at=club)) == DONE
    assert code_of(await visit(street, "passes", owner, at=other)) == DISABLED
    assert code_of(await visit(street, "pass", owner)) == DISABLED, "of no organisation"
    assert code_of(await visit(street, "secret", admin)) == DISABLED

    assert (await turn(street, admin, f"features/{GATE}/off", **here, reasonCode="PILOT_ENDED")).status_code == 204
    assert code_of(await visit(street, "passes", owner, at=club)) == DISABLED
    assert code_of(await turn(street, admin, f"features/{GATE}/off", **here)) == (404, "FEATURE_NOT_ON")

    trail = await superuser.fetch(
        "SELECT action, actor_id, reason_code, before, after FROM kernel.audit_entry"
        " WHERE organization_id = $1 AND subject = $2 ORDER BY at, id",
        club.uuid,
        f"feature:{GATE}",
    )
    assert [(row["action"], row["reason_code"]) for row in trail] == [
        ("switch_feature_on", "PILOT_APPROVED"),
        ("switch_feature_off", "PILOT_ENDED"),
    ]
    assert trail[0]["before"] is None and trail[1]["before"] == trail[0]["after"]
    assert {row["actor_id"] for row in trail} == {admin.identity.uuid}
    told = await superuser.fetch(
        "SELECT payload->>'turned' AS turned, payload->>'feature' AS feature FROM kernel.event_log"
        " WHERE organization_id = $1 AND type = 'feature.switched' ORDER BY id",
        club.uuid,
    )
    assert [(row["feature"], row["turned"]) for row in told] == [(GATE, "ON"), (GATE, "OFF")]


@pytest.mark.covers("SAF-025", "ORG-031")
async def test_a_feature_is_switched_on_for_everybody(street: httpx.AsyncClient, database: Database, admin: Person):
    owner = await a_person(database)
    club = await an_organization_of(database, owner)
    assert code_of(await turn(street, admin, f"features/{GATE}/on")) == DONE
    try:
        assert await switched_on(street, admin) == {GATE}
        for name, who, at in (("passes", owner, club), ("pass", owner, None), ("secret", admin, None)):
            assert code_of(await visit(street, name, who, at=at)) == DONE
    finally:
        assert (await turn(street, admin, f"features/{GATE}/off")).status_code == 204
    assert await switched_on(street, admin) == set()
    assert code_of(await visit(street, "pass", owner)) == DISABLED


async def switched_on(street: httpx.AsyncClient, admin: Person) -> set[str]:
    listed = (await street.get("/api/admin/features", headers=admin.headers)).json()
    assert {each["name"] for each in listed} == KNOWN
    return {each["name"] for each in listed if each["on"]}


@pytest.mark.covers("SAF-025")
@pytest.mark.parametrize(
    ("name", "said", "expected"),
    [
        ("wallet.pases", {}, (404, "UNKNOWN_FEATURE")),
        (GATE, {"organization": str(OrganizationId.new())}, (404, "UNKNOWN_ORGANIZATION")),
        (GATE, {"expiresAt": "2001-01-01T00:00:00Z"}, (422, "EXPIRY_OUT_OF_RANGE")),
        (GATE, {"caseReference": ""}, (422, "VALIDATION_FAILED")),
        (GATE, {"reasonCode": ""}, (422, "VALIDATION_FAILED")),
        ("Wallet.passes", {}, (422, "VALIDATION_FAILED")),
    ],
)
async def test_what_cannot_be_switched_on_is_refused(
    street: httpx.AsyncClient, admin: Person, name: str, said: dict[str, Any], expected: tuple[int, str]
):
    assert code_of(await turn(street, admin, f"features/{name}/on", **said)) == expected


async def test_a_feature_that_is_on_until_then_is_off_then(database: Database, database_url: str):
    owner = await a_person(database)
    club = await an_organization_of(database, owner)
    ends_at = soon(minutes=5)
    order = SwitchOn(
        caller=Caller(IdentityId.new()),
        feature=GATE,
        reason_code="PILOT_APPROVED",
        case_reference="a-1",
        expires_at=ends_at,
    )
    await database.run(Scope(club, "test"), lambda tx: switches.switch_on(tx, [order]))
    ask = an_ask(Audience.ORGANIZATION, owner.access_token, organization=club, permission="EVENTS_R", gate=GATE)
    assert isinstance(await ask_at(database_url, ends_at - timedelta(microseconds=1), ask), Granted)
    with pytest.raises(FeatureDisabled):
        await ask_at(database_url, ends_at, ask)


@pytest.mark.covers("TEN-T06")
async def test_those_who_come_together_each_hear_their_own_answer(batcher: Batcher, database: Database):
    """One read answers them all, and must not mix them up."""
    reader = AuthorityReader(batcher, TableAuthority())
    owner, suspended = await a_person(database), await a_person(database)
    on, off, stopped = [await an_organization_of(database, owner) for _ in range(3)]
    await an_organization_of(database, suspended)
    event, other = an_event(), an_event()
    said = {"caller": Caller(IdentityId.new()), "reason_code": "TEST_ONLY", "case_reference": "case-1"}
    for club in (on, stopped):
        order = SwitchOn(**said, feature=GATE)
        await database.run(Scope(club, "test"), lambda tx, order=order: switches.switch_on(tx, [order]))
    targets = [
        Target(StopKind.ORGANIZATION, str(stopped)),
        Target(StopKind.EVENT, event),
        Target(StopKind.IDENTITY, str(suspended.identity)),
    ]
    stops = [Stop(**said, target=target, expires_at=soon()) for target in targets]
    await database.run(SCOPE, lambda tx: switches.stop(tx, stops))

    def ask(club: OrganizationId, sold: str, who: Person = owner) -> Any:
        here = {"organization": club, "permission": "EVENTS_R", "gate": GATE, "stoppable": True}
        return an_ask(Audience.ORGANIZATION, who.access_token, **here, guards=(f"event:{sold}",))

    asks = [ask(on, other), ask(off, other), ask(stopped, other), ask(on, event), ask(on, other, suspended)]
    expected = [Granted, FeatureDisabled, OrganizationStopped, EventStopped, IdentityStopped]
    answers = await asyncio.gather(*(reader.ask(each) for each in asks * 8), return_exceptions=True)
    assert [type(each) for each in answers] == expected * 8

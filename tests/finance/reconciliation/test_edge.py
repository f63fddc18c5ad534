"""Reconciliation as people and operators meet it: over HTTP, by a worker, from the command line."""

import asyncio
from datetime import timedelta
from typing import Any

import asyncpg
import httpx
import pytest
from click.testing import Result
from typer.testing import CliRunner

from admitone.entrypoints.cli import app
from admitone.entrypoints.duties import duties_of
from admitone.entrypoints.modules import MODULES
from admitone.finance.ledger.api import Event
from admitone.finance.reconciliation.module import MODULE
from admitone.foundation.authority.api import MemberRole, RolePack
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database
from admitone.kernel.ids import OrganizationId
from admitone.kernel.manifest import Module
from tests.conftest import INTERNAL_SECRET
from tests.finance.ledger.books import a_posting, an_organization, booked
from tests.finance.reconciliation.books import AN_HOUR, Sides
from tests.finance.world import World
from tests.jobs import a_worker
from tests.people import Person, a_member, a_person, a_platform_admin

OPERATOR = {"x-orya-internal-secret": INTERNAL_SECRET}
OTHER_FACTS = Module("all", facts=tuple(fact for module in MODULES if module is not MODULE for fact in module.facts))


@pytest.fixture
async def owner(sides: Sides) -> Person:
    """Who signed in a moment ago."""
    return await a_person(sides.database, identity=sides.world.owner.identity)


async def wanted(http: httpx.AsyncClient, organization: OrganizationId | None, key: str = "k1") -> httpx.Response:
    body = {"idempotencyKey": key, "organization": str(organization) if organization else None}
    return await http.post("/api/internal/reconcile", json=body, headers=OPERATOR)


async def runs_of(site: httpx.AsyncClient, world: World, owner: Person) -> list[Any]:
    answer = await site.get(f"/api/org/{world.organization}/finance/reconciliation/runs", headers=owner.headers)
    assert answer.status_code == 200, answer.text
    found: list[Any] = answer.json()["items"]
    return found


async def issues_of(site: httpx.AsyncClient, world: World, owner: Person, state: str = "OPEN") -> list[Any]:
    path = f"/api/org/{world.organization}/finance/reconciliation/issues"
    answer = await site.get(path, params={"state": state}, headers=owner.headers)
    assert answer.status_code == 200, answer.text
    found: list[Any] = answer.json()["items"]
    return found


@pytest.mark.covers("FIN-043", "FIN-003")
async def test_a_seeded_mismatch_is_detected_by_internal_reconcile(
    http: httpx.AsyncClient, site: httpx.AsyncClient, sides: Sides, owner: Person, superuser: asyncpg.Connection
):
    sides.moved(777, "ch_nobody")
    first = await wanted(http, sides.world.organization)
    again = await wanted(http, sides.world.organization)
    assert (first.status_code, again.json()) == (200, first.json())
    [queued] = await runs_of(site, sides.world, owner)
    assert (queued["runId"], queued["state"]) == (first.json()["runId"], "QUEUED")
    async with a_worker(sides.database, duties_of([OTHER_FACTS, MODULE])), asyncio.timeout(60):
        while (await runs_of(site, sides.world, owner))[0]["state"] != "DONE":  # noqa: ASYNC110  A worker tells nobody.
            await asyncio.sleep(0.05)
    [issue] = await issues_of(site, sides.world, owner)
    assert (issue["difference"], issue["reference"], issue["hereMinor"], issue["thereMinor"]) == (
        "MISSING_HERE",
        "ch_nobody",
        0,
        777,
    )
    assert (issue["responsible"], issue["state"]) == ("finance operations", "OPEN")
    assert "reconciliation.divergence" in await sides.alerts(superuser)
    [run] = await runs_of(site, sides.world, owner)
    assert run["openIssues"] == [
        {
            "difference": "MISSING_HERE",
            "currency": "EUR",
            "issues": 1,
            "apartMinor": 777,
            "oldestAt": run["until"],
        }
    ]


async def test_only_operators_have_it_compared(http: httpx.AsyncClient):
    answer = await http.post("/api/internal/reconcile", json={"idempotencyKey": "k"})
    assert answer.status_code == 403
    assert (await wanted(http, OrganizationId.new())).status_code == 404
    assert (await http.post("/api/internal/reconcile", json={}, headers=OPERATOR)).status_code == 422
    assert (await http.get("/api/internal/reconciliation")).status_code == 403
    figures = (await http.get("/api/internal/reconciliation", headers=OPERATOR)).json()
    assert {*figures} >= {"lagSeconds", "lateOrganizations", "waitingSeconds", "openIssues", "oldestIssueAt"}


@pytest.mark.covers("FIN-043")
async def test_whoever_closes_an_issue_proves_who_they_are_and_says_why(
    site: httpx.AsyncClient, sides: Sides, owner: Person, superuser: asyncpg.Connection
):
    sides.moved(777, "ch_nobody")
    await sides.run()
    whose = {"organization": str(sides.world.organization)}
    admin = await a_platform_admin(sides.database)
    listed = await site.get("/api/admin/reconciliation/issues", params=whose, headers=admin.headers)
    [issue] = listed.json()["items"]
    path, why = f"/api/admin/reconciliation/issues/{issue['issueId']}", whose | {"reasonCode": "SEEN"}
    async with Database(sides.url, clock=Clock(-timedelta(minutes=11))) as before:
        tired = await a_person(before, identity=admin.identity)
    late = await site.post(f"{path}/close", json=why, headers=tired.headers)
    assert (late.status_code, late.json()["errorCode"]) == (403, "STEP_UP_REQUIRED")
    assert (await site.post(f"{path}/close", json=whose, headers=admin.headers)).status_code == 422
    taken = await site.post(f"{path}/take", json=whose, headers=admin.headers)
    assert taken.json()["takenBy"] == str(admin.identity)
    closed = await site.post(f"{path}/close", json=why, headers=admin.headers)
    assert (closed.status_code, closed.json()["closedHow"]) == (200, "BY_HAND"), closed.text
    assert (closed.json()["closedReason"], closed.json()["closedBy"]) == ("SEEN", str(admin.identity))
    assert await issues_of(site, sides.world, owner) == []
    assert "reconciliation.divergence" not in await sides.alerts(superuser), "it ends with the last open issue"


@pytest.mark.covers("TEN-T01")
async def test_who_does_not_see_money_does_not_see_what_differs(site: httpx.AsyncClient, sides: Sides, owner: Person):
    sides.moved(777, "ch_nobody")
    await sides.run()
    assert len(await issues_of(site, sides.world, owner)) == 1
    path = f"/api/org/{sides.world.organization}/finance/reconciliation"
    desk = await a_member(sides.database, sides.world.organization, MemberRole.STAFF, RolePack.FRONT_DESK)
    assert (await site.get(f"{path}/issues", headers=desk.headers)).status_code == 403
    assert (await site.get(f"{path}/runs", headers=desk.headers)).status_code == 403
    stranger = await a_person(sides.database)
    assert (await site.get(f"{path}/issues", headers=stranger.headers)).status_code == 403


@pytest.mark.covers("FIN-043")
async def test_whose_books_are_in_question_does_not_say_that_they_are_right(
    site: httpx.AsyncClient, sides: Sides, owner: Person, superuser: asyncpg.Connection
):
    sides.moved(777, "ch_nobody")
    await sides.run()
    [issue] = await issues_of(site, sides.world, owner)
    why = {"organization": str(sides.world.organization), "reasonCode": "NOTHING_TO_SEE"}
    ours = f"/api/org/{sides.world.organization}/finance/reconciliation/issues/{issue['issueId']}/close"
    theirs = f"/api/admin/reconciliation/issues/{issue['issueId']}/close"
    assert (await site.post(ours, json=why, headers=owner.headers)).status_code == 404
    assert (await site.post(theirs, json=why, headers=owner.headers)).status_code == 403
    assert len(await issues_of(site, sides.world, owner)) == 1
    assert "reconciliation.divergence" in await sides.alerts(superuser)


async def test_issues_come_in_pages(site: httpx.AsyncClient, sides: Sides, owner: Person):
    for number in range(3):
        sides.moved(777, f"ch_{number}")
    await sides.run()
    path, seen = f"/api/org/{sides.world.organization}/finance/reconciliation/issues", []
    query: dict[str, Any] = {"limit": 2}
    while True:
        page = (await site.get(path, params=query, headers=owner.headers)).json()
        seen += [each["reference"] for each in page["items"]]
        if not page["nextCursor"]:
            break
        query["cursor"] = page["nextCursor"]
    assert sorted(seen) == ["ch_0", "ch_1", "ch_2"]


async def admitone(database_url: str, *words: str) -> Result:
    env = {"DATABASE_URL": database_url, "ADMITONE_GATEWAYS": "none"}
    return await asyncio.to_thread(CliRunner().invoke, app, [*words], env=env)


async def test_an_operator_reconciles_from_the_command_line(database: Database, database_url: str):
    scope = await an_organization(database)
    words = ("reconcile", "--organization", str(scope.organization))
    empty = await admitone(database_url, *words)
    assert (empty.exit_code, "DONE: nothing moved" in empty.output) == (0, True), empty.output
    async with Database(database_url, clock=Clock(-AN_HOUR)) as old:
        await booked(old, scope, a_posting(Event.CAPTURED, gross=500, fee=0, transfer=0, reference="ch_1"))
    found = await admitone(database_url, *words)
    assert found.exit_code == 1, found.output
    assert "MISSING_THERE: 1 open, -500 EUR apart" in found.output
    assert "rows 0:00" in found.output
    since = await admitone(database_url, *words, "--since", "2020-01-01")
    assert since.exit_code == 1

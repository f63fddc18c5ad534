"""The room of those who run the platform, over HTTP: what they see and do there, and that nobody else does."""

import re
from datetime import timedelta
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.entrypoints.modules import MODULES
from admitone.foundation.authority.api import STEP_UP_LASTS, MemberRole
from admitone.kernel.alerts.runbooks import RUNBOOKS
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database
from admitone.kernel.ids import uuid7
from admitone.kernel.scope import Scope
from tests.builders import an_organization
from tests.finance.webhooks.conftest import Door, door, gateway
from tests.finance.webhooks.test_operating import an_unresolved
from tests.kernel.test_dead_letters import a_dead_letter, mend
from tests.people import Person, a_person, a_platform_admin, an_organization_of
from tests.web.test_office import text_of

__all__ = ("door", "gateway")

NOBODYS = "0198c9a40000700080000000000000aa"
PAGES = (
    "/ops",
    "/ops/dead-letters",
    "/ops/alerts",
    "/ops/runbooks/jobs.dead",
    "/ops/issues",
    "/ops/gates",
    "/ops/webhooks",
)
AN_ISSUE = """
    INSERT INTO reconciliation.issue (organization_id, id, class, kind, reference, currency, here_minor, there_minor,
                                      responsible, state, moved_at, first_seen_at, last_seen_at, run_id, correlation_id)
    VALUES ($1, $2, 'AMOUNT', 'REFUND', $3, 'EUR', 1500, 1000, 'finance', 'OPEN', now(), now(), now(), $2, $2)
"""


class Operator:
    """One of the platform's people at its pages."""

    def __init__(self, site: httpx.AsyncClient, person: Person) -> None:
        self.site = site
        self.person = person

    async def look(self, path: str, status: int = 200, **query: Any) -> httpx.Response:
        answer = await self.site.get(path, params=query or None, headers=self.person.headers)
        assert answer.status_code == status, (path, answer.status_code, text_of(answer)[:400])
        return answer

    async def send(self, path: str, status: int = 303, **fields: Any) -> httpx.Response:
        answer = await self.site.post(path, data=fields, headers=self.person.headers)
        assert answer.status_code == status, (path, answer.status_code, text_of(answer)[:400])
        return answer


@pytest.fixture
async def operator(site: httpx.AsyncClient, database: Database) -> Operator:
    return Operator(site, await a_platform_admin(database))


@pytest.mark.covers("ORG-031")
async def test_only_the_platforms_people_come_in(site: httpx.AsyncClient, database: Database):
    owner = await a_person(database)
    await an_organization_of(database, owner)
    for path in PAGES:
        nobody = await site.get(path)
        assert (nobody.status_code, nobody.headers["location"].partition("?")[0]) == (303, "/sign-in")
    for role, status in ((MemberRole.OWNER, 200), (MemberRole.ADMIN, 200), (MemberRole.STAFF, 200)):
        person = await a_platform_admin(database, role)
        for path in PAGES:
            await Operator(site, person).look(path, status)
    for person in (owner, await a_platform_admin(database, MemberRole.VIEWER)):
        for path in PAGES:
            await Operator(site, person).look(path, 403)


@pytest.mark.covers("ORG-031", "PLT-022")
async def test_a_dead_letter_is_read_and_run_again_once(
    operator: Operator, database: Database, superuser: asyncpg.Connection
):
    scope = await an_organization(database)
    letter = await a_dead_letter(database, superuser, scope, key=f"<b>{uuid7().hex}</b>")
    listed = await operator.look("/ops/dead-letters", organization=str(scope.organization))
    assert f"/ops/dead-letters/{letter}" in listed.text
    story = await operator.look(f"/ops/dead-letters/{letter}")
    assert "<b>" not in story.text
    replay, because = f"/ops/dead-letters/{letter}/replay", {"reason": "the host is back", "reasonCode": "HOST_IS_BACK"}
    empty = await operator.send(replay, 422, **because | {"reason": ""})
    assert "Something is missing" in text_of(empty)
    assert 'value="HOST_IS_BACK"' in empty.text, "what was typed is kept"
    await operator.send(replay, 422, **because | {"reasonCode": ""})
    await mend(superuser, scope)
    done = await operator.send(replay, **because)
    assert "It runs again." in text_of(await operator.look(done.headers["location"]))
    twice = await operator.send(replay, **because | {"reason": "again"})
    assert "already been replayed" in text_of(await operator.look(twice.headers["location"]))
    entry = await superuser.fetchrow(
        "SELECT actor_id, reason_code, after::text AS after FROM kernel.audit_entry WHERE subject = $1", str(letter)
    )
    assert (entry["actor_id"], entry["reason_code"]) == (operator.person.identity.uuid, "HOST_IS_BACK")
    assert "the host is back" in entry["after"]
    assert "the host is back" in text_of(await operator.look(f"/ops/dead-letters/{letter}"))
    helper = Operator(operator.site, await a_platform_admin(database, MemberRole.STAFF))
    await helper.send(replay, 403, **because)
    tried = "SELECT subject, reason_code FROM kernel.audit_entry WHERE actor_id = $1 AND action = 'refused'"
    [remembered] = await superuser.fetch(tried, helper.person.identity.uuid)
    assert tuple(remembered) == ("KERNEL.REPLAY.ADMIN", "PERMISSION_DENIED"), (
        "under what was refused, not under the page"
    )


@pytest.mark.covers("ORG-031")
@pytest.mark.parametrize(
    ("page", "replay"),
    [
        (f"dead-letters/dead_{NOBODYS}/replay", "/api/admin/outbox/replay"),
        (f"webhooks/whr_{NOBODYS}/replay", "/api/admin/webhooks/replay"),
    ],
)
async def test_whoever_runs_something_again_proves_who_they_are(
    operator: Operator, database_url: str, page: str, replay: str
):
    async with Database(database_url, clock=Clock(-STEP_UP_LASTS - timedelta(minutes=1))) as earlier:
        tired = Operator(operator.site, await a_person(earlier, identity=operator.person.identity))
    because = {"reason": "the host is back", "reasonCode": "HOST_IS_BACK"}
    led = await tired.send(f"/ops/{page}", **because)
    assert led.headers["location"].partition("?")[0] == "/step-up"
    asked = {"ids": [page.split("/")[1]], **because}
    refused = await tired.site.post(replay, json=asked, headers=tired.person.headers)
    assert (refused.status_code, refused.json()["errorCode"]) == (403, "STEP_UP_REQUIRED")
    assert (await operator.site.post(replay, json=asked, headers=operator.person.headers)).status_code == 200


@pytest.mark.covers("ORG-031")
async def test_what_is_stopped_is_lifted_with_its_case(operator: Operator, database: Database):
    whose = await an_organization_of(database, await a_person(database))
    said = {"kind": "ORGANIZATION", "id": str(whose), "reasonCode": "FRAUD_SUSPECTED", "caseReference": "case-1"}
    wrong = await operator.send("/ops/gates/stop", 422, **{**said, "reasonCode": "because"}, hours="24")
    assert 'value="case-1"' in wrong.text, "what was typed is kept"
    await operator.send("/ops/gates/stop", **said, hours="24")
    assert str(whose) in (await operator.look("/ops/gates")).text
    await operator.send("/ops/gates/lift", **said)
    again = await operator.send("/ops/gates/lift", 404, **said)
    assert "stopped" in text_of(again)


@pytest.mark.covers("ORG-031")
async def test_a_feature_is_switched_for_one_organisation(operator: Operator, database: Database):
    whose = await an_organization_of(database, await a_person(database))
    page = await operator.look("/ops/gates")
    feature = re.search(r"/ops/gates/features/([a-z0-9_.]+)/on", page.text)[1]
    said = {"organization": str(whose), "reasonCode": "PILOT_APPROVED", "caseReference": "approval-12"}
    await operator.send(f"/ops/gates/features/{feature}/on", **said)
    assert str(whose) in (await operator.look("/ops/gates")).text
    await operator.send(f"/ops/gates/features/{feature}/off", **said)
    await operator.send(f"/ops/gates/features/{feature}/off", 404, **said)


@pytest.mark.covers("ORG-031")
async def test_an_issue_is_taken_and_closed(operator: Operator, database: Database, superuser: asyncpg.Connection):
    scope: Scope = await an_organization(database)
    own, whose = uuid7(), str(scope.organization)
    await superuser.execute(AN_ISSUE, scope.organization.uuid, own, f"re_{own.hex}")
    assert whose in (await operator.look("/ops/issues")).text
    page = await operator.look("/ops/issues", organization=whose)
    assert "The amounts differ" in text_of(page)
    issue = f"/ops/issues/rci_{own.hex}"
    await operator.send(f"{issue}/take", organization=whose)
    assert str(operator.person.identity) in (await operator.look("/ops/issues", organization=whose)).text
    await operator.send(f"{issue}/close", 422, organization=whose, reasonCode="no reason")
    await operator.send(f"{issue}/close", organization=whose, reasonCode="CORRECTED")
    closed = await operator.look("/ops/issues", organization=whose, state="CLOSED")
    assert "CORRECTED" in closed.text
    elsewhere = await an_organization(database)
    await operator.send(f"{issue}/close", 404, organization=str(elsewhere.organization), reasonCode="CORRECTED")


@pytest.mark.covers("ORG-031")
async def test_an_event_of_a_provider_is_looked_at_again(
    operator: Operator, database: Database, superuser: asyncpg.Connection, door: Door
):
    await superuser.execute("DELETE FROM kernel.job WHERE kind LIKE 'webhooks.%'")
    _, receipt = await an_unresolved(database, superuser, door, f"pi_{uuid7().hex}")
    page = await operator.look("/ops/webhooks")
    while str(receipt) not in page.text:
        page = await operator.look(re.search(r'rel="next" href="([^"]+)"', page.text)[1].replace("&amp;", "&"))
    said = {"state": "ORG_UNRESOLVED", "reason": "it is connected", "reasonCode": "ACCOUNT_CONNECTED"}
    done = await operator.send(f"/ops/webhooks/{receipt}/replay", **said)
    assert done.headers["location"].endswith("said=done")
    code = "SELECT reason_code FROM kernel.audit_entry WHERE subject = $1"
    assert await superuser.fetchval(code, str(receipt)) == "ACCOUNT_CONNECTED"
    await superuser.execute("DELETE FROM kernel.job WHERE kind LIKE 'webhooks.%'")


async def test_another_site_cannot_send_these_forms(operator: Operator):
    headers = {
        "origin": "https://evil.example",
        "sec-fetch-site": "cross-site",
        "cookie": f"session={operator.person.access_token}",
    }
    said = {"kind": "PLATFORM", "reasonCode": "INCIDENT", "caseReference": "c-1", "hours": "1"}
    answer = await operator.site.post("/ops/gates/stop", data=said, headers=headers)
    assert answer.status_code == 403


@pytest.mark.covers("OPS-006")
async def test_an_alert_leads_to_the_runbook_of_its_own_rule(operator: Operator):
    rules = [rule for module in MODULES for rule in module.alerts]
    for rule in rules:
        answer = await operator.look(f"/api/admin/runbooks/{rule.name}")
        assert answer.json()["text"] == (RUNBOOKS / f"{rule.runbook}.md").read_text(encoding="utf-8"), rule.name


async def test_a_runbook_that_is_not_there_is_not_found(operator: Operator):
    assert "What to do" in text_of(await operator.look("/ops/runbooks/jobs.dead"))
    await operator.look("/ops/runbooks/no.such", 404)
    await operator.look("/ops/runbooks/..%2f..%2fREADME", 404)

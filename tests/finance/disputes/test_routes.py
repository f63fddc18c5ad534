"""Disputes at the edge: who may see them, who may answer, and how."""

from datetime import timedelta
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.finance.disputes.model import Case, DisputeId
from admitone.foundation.authority.api import STEP_UP_LASTS, MemberRole, RolePack
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database
from tests.finance.disputes.cases import a_read_case, filed, heard, says, the_case
from tests.finance.world import World
from tests.people import Person, a_member, a_person, a_platform_admin, an_organization_of

TEXTS = {"access_activity_log": "Came in at 20:14."}


def a_body(**more: Any) -> dict[str, Any]:
    return {"reasonCode": "CAME_AND_STAYED", "idempotencyKey": "one", "texts": TEXTS} | more


class Desk:
    def __init__(self, site: httpx.AsyncClient, world: World, who: Person | None = None) -> None:
        self.site = site
        self.home = f"/api/org/{world.organization}/finance/disputes"
        self.who = who or world.owner

    async def get(self, path: str = "", **query: Any) -> httpx.Response:
        return await self.site.get(f"{self.home}{path}", params=query, headers=self.who.headers)

    async def post(self, path: str, **body: Any) -> httpx.Response:
        return await self.site.post(f"{self.home}{path}", json=body, headers=self.who.headers)

    async def says(self, case: Case, **more: Any) -> httpx.Response:
        return await self.post(f"/{case.id}/evidence", **a_body(**more))


@pytest.fixture
def desk(site: httpx.AsyncClient, world: World) -> Desk:
    return Desk(site, world)


async def test_an_organisation_lists_its_disputes_by_state(desk: Desk, world: World):
    first, second = await a_read_case(world), await a_read_case(world)
    world.simulator.act("lose", first.charge)
    await heard(world, first.payment)
    everything = (await desk.get()).json()["items"]
    assert [each["disputeId"] for each in everything] == [str(second.case.id), str(first.case.id)]
    [lost] = (await desk.get(state="LOST")).json()["items"]
    assert (lost["disputeId"], lost["amountMinor"], lost["feeMinor"]) == (str(first.case.id), 5000, 1500)
    assert (await desk.get(state="WON")).json()["items"] == []
    page = (await desk.get(limit=1)).json()
    assert [each["disputeId"] for each in page["items"]] == [str(second.case.id)]
    rest = (await desk.get(limit=1, cursor=page["nextCursor"])).json()
    assert [each["disputeId"] for each in rest["items"]] == [str(first.case.id)]
    assert rest["nextCursor"] is None


@pytest.mark.covers("FIN-075")
async def test_one_dispute_is_shown_with_its_date_and_its_trail(desk: Desk, world: World):
    case = (await a_read_case(world)).case
    said = await desk.says(case, submit=True)
    assert said.status_code == 200, said.text
    assert (said.json()["state"], said.json()["beingSubmitted"]) == ("OPEN", True)
    await filed(world, await the_case(world, case))
    shown = (await desk.get(f"/{case.id}")).json()
    dispute = shown["dispute"]
    assert (dispute["state"], dispute["beingSubmitted"], dispute["dueKnown"]) == ("EVIDENCE_SUBMITTED", False, True)
    assert dispute["assigneeId"] == str(world.owner.identity)
    assert [step["kind"] for step in shown["trail"]] == ["OPENED", "FILE_READ", "SUBMISSION_ORDERED", "SUBMITTED"]
    ordered = shown["trail"][2]
    assert (ordered["actorId"], ordered["reasonCode"], ordered["evidence"]) == (
        str(world.owner.identity),
        "CAME_AND_STAYED",
        1,
    )
    assert ordered["detail"] == "access_activity_log"
    assert "20:14" not in str(shown)


async def test_the_draft_and_what_was_said_last_are_for_those_who_may_answer(desk: Desk, world: World):
    case = (await a_read_case(world)).case
    empty = (await desk.get(f"/{case.id}/evidence")).json()
    assert empty["last"] is None
    assert set(empty["draft"]) == {"product_description", "uncategorized_text"}
    await desk.says(case)
    assert (await desk.get(f"/{case.id}/evidence")).json()["last"] == TEXTS


async def test_the_same_key_says_it_once_and_another_again(desk: Desk, world: World):
    case = (await a_read_case(world)).case
    first = await desk.says(case)
    assert (await desk.says(case)).json() == first.json()
    assert (await the_case(world, case)).evidence == 1
    assert (await desk.says(case, idempotencyKey="one", texts={"refund_policy": "None."})).status_code == 409
    assert (await desk.says(case, idempotencyKey="two", texts={"refund_policy": "None."})).json()["evidence"] == 2


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"texts": {}}, 422),
        ({"texts": {"Not A Name": "x"}}, 422),
        ({"texts": {"refund_policy": ""}}, 422),
        ({"texts": {"refund_policy": "x" * 10_001}}, 422),
        ({"texts": {f"text_{number}": "x" for number in range(21)}}, 422),
        ({"texts": {"refund_policy": "a\x00b"}}, 422),
        ({"reasonCode": "because"}, 422),
        ({"texts": None}, 409),
        ({"texts": None, "submit": True}, 409),
    ],
)
async def test_what_cannot_be_evidence_is_refused(desk: Desk, world: World, body: dict[str, Any], status: int):
    case = (await a_read_case(world)).case
    answer = await desk.says(case, **body)
    assert answer.status_code == status, answer.text
    assert (await the_case(world, case)).evidence == 0


async def test_refusals_say_what_is_so(desk: Desk, world: World):
    late = (await a_read_case(world, due_in=0)).case
    answer = await desk.says(late)
    assert (answer.status_code, answer.json()["errorCode"]) == (409, "EVIDENCE_TOO_LATE")
    assert answer.json()["dueAt"]
    case = (await a_read_case(world)).case
    await says(world, case, submit=True)
    assert (await desk.says(case)).json()["errorCode"] == "EVIDENCE_ALREADY_SUBMITTED"
    nowhere = await desk.post(f"/{DisputeId.new()}/evidence", **a_body())
    assert (nowhere.status_code, nowhere.json()["errorCode"]) == (404, "DISPUTE_NOT_FOUND")
    assert (await desk.get(f"/{DisputeId.new()}")).status_code == 404
    assert (await desk.get(f"/{DisputeId.new()}/evidence")).status_code == 404
    assert (await desk.post(f"/{DisputeId.new()}/take", reasonCode="ON_DUTY")).status_code == 404


@pytest.mark.covers("FIN-075")
async def test_who_proved_it_a_while_ago_proves_it_again(site: httpx.AsyncClient, world: World, database_url: str):
    case = (await a_read_case(world)).case
    async with Database(database_url, clock=Clock(-STEP_UP_LASTS - timedelta(seconds=30))) as earlier:
        stale = await a_person(earlier, identity=world.owner.identity)
    answer = await Desk(site, world, stale).says(case)
    assert (answer.status_code, answer.json()["errorCode"]) == (403, "STEP_UP_REQUIRED")
    assert (await the_case(world, case)).evidence == 0


@pytest.mark.parametrize(
    ("role", "pack", "reads", "writes"),
    [
        (MemberRole.CO_OWNER, None, 200, 200),
        (MemberRole.ADMIN, None, 200, 403),
        (MemberRole.STAFF, RolePack.FRONT_DESK, 403, 403),
    ],
)
async def test_finance_people_answer_and_others_do_not(
    site: httpx.AsyncClient, world: World, database: Database, role: MemberRole, pack: RolePack, reads: int, writes: int
):
    case = (await a_read_case(world)).case
    desk = Desk(site, world, await a_member(database, world.organization, role, pack))
    assert (await desk.get(f"/{case.id}")).status_code == reads
    assert (await desk.get(f"/{case.id}/evidence")).status_code == writes
    assert (await desk.says(case)).status_code == writes
    assert (await desk.post(f"/{case.id}/take", reasonCode="ON_DUTY")).status_code == writes


async def test_who_may_only_read_sees_no_words(site: httpx.AsyncClient, world: World, database: Database):
    case = (await a_read_case(world)).case
    reader = await a_member(
        database, world.organization, MemberRole.STAFF, RolePack.FRONT_DESK, scopes=("FINANCE_DISPUTES_R",)
    )
    desk = Desk(site, world, reader)
    assert (await desk.get(f"/{case.id}")).status_code == 200
    assert (await desk.get(f"/{case.id}/evidence")).status_code == 403
    assert (await desk.says(case)).status_code == 403


async def test_another_organisation_sees_and_says_nothing(site: httpx.AsyncClient, world: World, database: Database):
    case = (await a_read_case(world)).case
    stranger = await a_person(database)
    theirs = await an_organization_of(database, stranger)
    home = f"/api/org/{theirs}/finance/disputes"
    assert (await site.get(home, headers=stranger.headers)).json()["items"] == []
    assert (await site.get(f"{home}/{case.id}", headers=stranger.headers)).status_code == 404
    said = await site.post(f"{home}/{case.id}/evidence", json=a_body(), headers=stranger.headers)
    assert said.status_code == 404
    assert (await Desk(site, world, stranger).get(f"/{case.id}")).status_code == 403


async def test_somebody_takes_a_dispute(desk: Desk, world: World):
    case = (await a_read_case(world)).case
    taken = await desk.post(f"/{case.id}/take", reasonCode="ON_DUTY")
    assert (taken.status_code, taken.json()["assigneeId"]) == (200, str(world.owner.identity))


# -- For the platform's own people


async def test_the_platform_sees_all_and_answers_for_whoever_does_not(
    site: httpx.AsyncClient, world: World, database: Database, superuser: asyncpg.Connection
):
    admin = await a_platform_admin(database)
    case = await says(world, (await a_read_case(world)).case, "What the organisation wrote.")
    seen: set[str] = set()
    cursor: dict[str, str] = {}
    while True:
        page = (await site.get("/api/admin/disputes", params=cursor, headers=admin.headers)).json()
        seen |= {each["disputeId"] for each in page["items"]}
        assert {each["state"] for each in page["items"]} <= {"OPEN"}
        if page["nextCursor"] is None:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert str(case.id) in seen
    body = {"organization": str(world.organization), "disputeId": str(case.id), "reasonCode": "DUE_TODAY"}
    said = await site.post(
        "/api/admin/payments/dispute",
        json=body | {"idempotencyKey": "one", "submit": True},
        headers=admin.headers,
    )
    assert said.status_code == 200, said.text
    assert said.json()["beingSubmitted"] is True
    done = await filed(world, await the_case(world, case))
    assert done.assignee == world.owner.identity
    row = await superuser.fetchrow(
        "SELECT actor_id, organization_id FROM kernel.audit_entry WHERE subject = $1 AND action = $2",
        str(case.id),
        "disputes.submit_evidence",
    )
    assert (row["actor_id"], row["organization_id"]) == (admin.identity.uuid, world.organization.uuid)


async def test_nobody_else_answers_for_another(site: httpx.AsyncClient, world: World, database: Database):
    case = (await a_read_case(world)).case
    body = a_body(organization=str(world.organization), disputeId=str(case.id))
    for who in (world.owner, await a_person(database)):
        assert (await site.post("/api/admin/payments/dispute", json=body, headers=who.headers)).status_code == 403
        assert (await site.get("/api/admin/disputes", headers=who.headers)).status_code == 403
    admin = await a_platform_admin(database)
    elsewhere = body | {"organization": str(await an_organization_of(database, world.owner))}
    answer = await site.post("/api/admin/payments/dispute", json=elsewhere, headers=admin.headers)
    assert (answer.status_code, answer.json()["errorCode"]) == (404, "DISPUTE_NOT_FOUND")
    assert (await the_case(world, case)).evidence == 0

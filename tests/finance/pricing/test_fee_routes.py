"""Fee policies over HTTP: who sees them, who sets them, who chooses."""

from typing import Any

import httpx
import pytest

from admitone.finance.pricing.api import FeeMode
from admitone.foundation.authority.api import MemberRole
from admitone.kernel.db import Database
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Scope
from tests.finance.pricing.offers import an_offer, price_of
from tests.people import Person, a_member, a_person, a_platform_admin, an_organization_of

ADMIN = "/api/admin/finance/fee-policies"
FIVE = {"feeBps": 500}


@pytest.fixture
async def owner(database: Database) -> Person:
    return await a_person(database)


@pytest.fixture
async def club(database: Database, owner: Person) -> OrganizationId:
    return await an_organization_of(database, owner)


@pytest.fixture
async def admin(database: Database) -> Person:
    return await a_platform_admin(database)


def at(club: OrganizationId, more: str = "") -> str:
    return f"/api/org/{club}/finance/fee-policies{more}"


def a_setting(club: OrganizationId, terms: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    return {"organization": str(club), "terms": terms, "reasonCode": "CONTRACT_RENEWED", **more}


@pytest.mark.covers("FIN-032", "FIN-033")
async def test_the_platform_sets_a_fee_and_the_organisation_sees_it(
    site: httpx.AsyncClient, database: Database, club: OrganizationId, owner: Person, admin: Person
):
    wanted = a_setting(club, {"feeBps": 700, "absorbedAllowed": True}, sourceType="TICKET_ORDER")
    answer = await site.post(ADMIN, json=wanted, headers=admin.headers)
    assert answer.status_code == 200, answer.text
    version = answer.json()
    assert (version["version"], version["terms"]["feeBps"], version["retired"]) == (1, 700, False)
    again = await site.post(ADMIN, json=wanted, headers=admin.headers)
    assert again.json() == version

    rules = {rule["sourceType"]: rule for rule in (await site.get(at(club), headers=owner.headers)).json()}
    assert (rules["TICKET_ORDER"]["feePolicyVersion"], rules["TICKET_ORDER"]["terms"]["feeBps"]) == (version["id"], 700)
    assert rules["BOOKING"]["terms"]["feeBps"] == 500
    assert rules["STAY_RESERVATION"]["terms"] == {
        "feeBps": 1500,
        "feeFixedMinor": 0,
        "minMinor": None,
        "maxMinor": None,
        "feeMode": "INCLUDED",
        "base": "SUBTOTAL_PLUS_TAXES",
        "absorbedAllowed": False,
    }
    priced = await price_of(database, Scope(club, "test"), an_offer(1000))
    assert (priced.snapshot.platform_fee, priced.snapshot.fee_policy_version) == (70, version["id"])


async def test_versions_are_listed_page_by_page(
    site: httpx.AsyncClient, club: OrganizationId, owner: Person, admin: Person
):
    for bps in (100, 200, 300):
        await site.post(ADMIN, json=a_setting(club, {"feeBps": bps}), headers=admin.headers)
    retired = await site.post(ADMIN, json=a_setting(club, None), headers=admin.headers)
    assert retired.json()["retired"] is True
    page = (await site.get(at(club, "/versions?limit=2"), headers=owner.headers)).json()
    rest = (await site.get(at(club, f"/versions?limit=2&cursor={page['nextCursor']}"), headers=owner.headers)).json()
    assert [each["version"] for each in page["items"] + rest["items"]] == [4, 3, 2, 1]
    assert rest["nextCursor"] is None
    seen = (await site.get(f"{ADMIN}?organization={club}&limit=4", headers=admin.headers)).json()
    assert [each["version"] for each in seen["items"]] == [4, 3, 2, 1]
    platforms = (await site.get(f"{ADMIN}?limit=100", headers=admin.headers)).json()["items"]
    assert [each["terms"]["feeBps"] for each in platforms][-3:] == [0, 1500, 500]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"terms": {"feeBps": 500, "feeFixedMinor": 10}}, "FEE_POLICY_INVALID"),
        ({"terms": FIVE, "sourceId": "order-1"}, "FEE_POLICY_INVALID"),
        ({"terms": FIVE, "currency": "XXX"}, "CURRENCY_UNKNOWN"),
        ({"terms": {"feeBps": 499}, "sourceType": "STAY_RESERVATION"}, "COMMISSION_OUT_OF_RANGE"),
        ({"terms": {"feeBps": 500, "feeMode": "ABSORBED"}}, "ABSORBED_NOT_ALLOWED"),
        ({"terms": None}, "FEE_POLICY_NOT_FOUND"),
        ({"terms": {"feeBps": 500.5}}, "VALIDATION_FAILED"),
        ({"terms": {"feeBps": 10_001}}, "VALIDATION_FAILED"),
        ({"terms": {"feeBps": True}}, "VALIDATION_FAILED"),
        ({"terms": FIVE, "organization": "org_0198c9a40000700080000000000000ac"}, "ORGANIZATION_NOT_FOUND"),
    ],
    ids=str,
)
async def test_what_is_no_rule_is_refused_to_the_platform_too(
    site: httpx.AsyncClient, club: OrganizationId, admin: Person, change: dict[str, Any], code: str
):
    answer = await site.post(ADMIN, json={**a_setting(club, FIVE), **change}, headers=admin.headers)
    assert (answer.status_code >= 400, answer.json()["errorCode"]) == (True, code)


async def test_no_organisation_sets_its_own_fee(
    site: httpx.AsyncClient, database: Database, club: OrganizationId, owner: Person
):
    answer = await site.post(ADMIN, json=a_setting(club, {"feeBps": 0}), headers=owner.headers)
    assert answer.status_code == 403
    with_more = {"feeMode": "INCLUDED", "feeBps": 0, "terms": {"feeBps": 0}}
    assert (await site.post(at(club), json=with_more, headers=owner.headers)).status_code == 200
    looks_only = await a_platform_admin(database, MemberRole.STAFF)
    answer = await site.post(ADMIN, json=a_setting(club, {"feeBps": 0}), headers=looks_only.headers)
    assert answer.status_code == 403
    priced = await price_of(database, Scope(club, "test"), an_offer(1000))
    assert priced.snapshot.platform_fee == 50


async def test_an_owner_chooses_the_mode_and_others_only_look(
    site: httpx.AsyncClient, database: Database, club: OrganizationId, owner: Person
):
    clerk = await a_member(database, club, MemberRole.ADMIN)
    stranger = await a_person(database)
    on_top = {"sourceType": "TICKET_ORDER", "feeMode": "ADDED"}
    assert (await site.post(at(club), json=on_top, headers=clerk.headers)).status_code == 403
    assert (await site.get(at(club), headers=clerk.headers)).status_code == 200
    assert (await site.get(at(club), headers=stranger.headers)).status_code == 403
    answer = await site.post(at(club), json=on_top, headers=owner.headers)
    assert (answer.status_code, answer.json()["feeMode"]) == (200, "ADDED")
    priced = await price_of(database, Scope(club, "test"), an_offer(1000))
    assert (priced.snapshot.total, priced.snapshot.fee_mode) == (1050, FeeMode.ADDED)
    for wanted, code in (
        ({"feeMode": "ABSORBED"}, "ABSORBED_NOT_ALLOWED"),
        ({"sourceType": "STAY_RESERVATION", "feeMode": "ADDED"}, "FEE_MODE_FIXED"),
    ):
        answer = await site.post(at(club), json=wanted, headers=owner.headers)
        assert (answer.status_code, answer.json()["errorCode"]) == (409, code)


async def test_a_change_of_a_fee_is_shown_and_made_as_it_was_shown_or_not_at_all(
    site: httpx.AsyncClient, database: Database
):
    admin = await a_platform_admin(database)
    club = await an_organization_of(database, await a_person(database))
    wanted = {"organization": str(club), "terms": {"feeBps": 700}, "reasonCode": "CONTRACT_RENEWED"}
    shown = await site.post(f"{ADMIN}/plan", json=wanted, headers=admin.headers)
    assert shown.status_code == 200, shown.text
    [step] = shown.json()["steps"]
    assert step["before"] is None
    assert {each["priceMinor"]: each["afterMinor"] for each in step["fees"]}[5000] == 350
    assert (await site.get(f"{ADMIN}?organization={club}", headers=admin.headers)).json()["items"] == []

    order = {"organization": str(club), "reasonCode": "CONTRACT_RENEWED"}
    path = f"{ADMIN}/plans/{shown.json()['planId']}/apply"
    for already in (False, True):
        done = await site.post(path, json=order, headers=admin.headers)
        assert (done.status_code, done.json().get("already")) == (200, already), done.text
    [version] = (await site.get(f"{ADMIN}?organization={club}", headers=admin.headers)).json()["items"]
    assert version["terms"]["feeBps"] == 700

    late = await site.post(f"{ADMIN}/plan", json={**wanted, "terms": {"feeBps": 900}}, headers=admin.headers)
    assert [each["beforeMinor"] for each in late.json()["steps"][0]["fees"]][2] == 350
    await site.post(ADMIN, json={**wanted, "terms": {"feeBps": 800}}, headers=admin.headers)
    overtaken = await site.post(f"{ADMIN}/plans/{late.json()['planId']}/apply", json=order, headers=admin.headers)
    assert (overtaken.status_code, overtaken.json()["errorCode"]) == (409, "PLAN_OVERTAKEN")
    refused = await site.post(
        f"{ADMIN}/plan", json={**wanted, "terms": {"feeBps": 1, "minMinor": 5}}, headers=admin.headers
    )
    assert refused.json()["errorCode"] == "FEE_POLICY_INVALID"

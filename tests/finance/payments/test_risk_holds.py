"""Holds, as those who run the installation place and lift them."""

import asyncpg
import httpx
import pytest

from admitone.finance.payments.commands.holds import Held, HoldOrder, lift_holds, place_holds
from admitone.finance.payments.errors import AlreadyOnHold, NotOnHold
from admitone.kernel.db import Database
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Scope
from tests.builders import a_caller, at_the_same_time
from tests.foundation.organizations.clubs import a_club, facts_of, trail_of
from tests.people import Person, a_platform_admin


async def ask(
    site: httpx.AsyncClient, admin: Person, club: OrganizationId, reason: str, lift: str = ""
) -> httpx.Response:
    url = f"/api/admin/organizations/{club}/risk-hold{lift}"
    return await site.post(url, json={"reasonCode": reason}, headers=admin.headers)


@pytest.mark.covers("FIN-018")
async def test_a_hold_is_placed_and_lifted_with_a_reason_and_written_down(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    admin = await a_platform_admin(database)
    place = await ask(site, admin, club, "DISPUTES_RISING")
    assert (place.status_code, place.json()) == (200, {"organization": str(club), "onHold": True})
    again = await ask(site, admin, club, "DISPUTES_RISING")
    assert (again.status_code, again.json()["errorCode"]) == (409, "ALREADY_ON_HOLD")
    shown = await site.get(f"/api/org/{club}/finance/onboarding", headers=ana.headers)
    assert shown.json()["onHold"] is True
    assert (await ask(site, admin, club, "NO_FRAUD_FOUND", "/lift")).json()["onHold"] is False
    assert (await ask(site, admin, club, "NO_FRAUD_FOUND", "/lift")).json()["errorCode"] == "NOT_ON_HOLD"

    entries = await trail_of(superuser, club, "payments.%_risk_hold")
    assert [(entry["action"], entry["reason_code"], entry["actor_id"]) for entry in entries] == [
        ("payments.place_risk_hold", "DISPUTES_RISING", admin.identity.uuid),
        ("payments.lift_risk_hold", "NO_FRAUD_FOUND", admin.identity.uuid),
    ]
    assert len(await facts_of(superuser, club, "risk.hold_changed")) == 2


async def test_holds_are_for_those_who_run_the_installation(site: httpx.AsyncClient, database: Database):
    ana, club = await a_club(database)
    refused = await ask(site, ana, club, "DISPUTES_RISING")
    assert (refused.status_code, refused.json()["errorCode"]) == (403, "PERMISSION_DENIED")
    admin = await a_platform_admin(database)
    without_reason = await site.post(f"/api/admin/organizations/{club}/risk-hold", json={}, headers=admin.headers)
    assert without_reason.status_code == 422
    missing = await ask(site, admin, OrganizationId.new(), "DISPUTES_RISING")
    assert (missing.status_code, missing.json()["errorCode"]) == (404, "ORGANIZATION_NOT_FOUND")


async def test_of_many_who_place_and_lift_at_once_one_does(database: Database):
    _, club = await a_club(database)
    scope = Scope(club, "test")
    order = HoldOrder(a_caller(), "DISPUTES_RISING")
    for command, refusal in ((place_holds, AlreadyOnHold()), (lift_holds, NotOnHold())):
        outcomes = await at_the_same_time(4, lambda tx, act=command: act(tx, [order, order]), database, scope)
        said = [each for batch in outcomes if isinstance(batch, list) for each in batch]
        assert len(said) == 8
        assert sum(isinstance(each, Held) for each in said) == 1
        assert said.count(refusal) == 7

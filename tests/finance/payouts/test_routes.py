"""Payouts over HTTP: what an organisation sees and sets, and what those do who run the platform."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.foundation.authority.api import MemberRole
from admitone.kernel.batch import Batcher
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database
from admitone.kernel.ids import uuid7
from tests.finance.payments.telling import published
from tests.finance.payouts.owing import (
    Stay,
    a_stay,
    an_owed_stay,
    at,
    batch,
    decided,
    disputed,
    ends,
    frozen,
    happened,
    obligation,
    owed,
)
from tests.finance.payouts.test_reporting import a_report, heard
from tests.finance.world import World, a_world
from tests.foundation.organizations.clubs import prove_official_email, trail_of
from tests.people import Person, a_member, a_person, a_platform_admin

MONTHLY = {"frequency": "monthly", "dayOfMonth": 31, "minThresholdMinor": 5_000, "holdDays": 2}


@pytest.fixture
async def world(database: Database, batcher: Batcher) -> AsyncIterator[World]:
    async with a_world(database, batcher) as world:
        yield world


class Console:
    """What somebody of the organisation sees, under both addresses."""

    def __init__(self, site: httpx.AsyncClient, world: World) -> None:
        self.site, self.world = site, world

    async def get(self, path: str, by: Person | None = None, **asked: Any) -> dict[str, Any]:
        who = (by or self.world.owner).headers
        answer = await self.site.get(f"/api/org/{self.world.organization}/payouts{path}", params=asked, headers=who)
        assert answer.status_code == 200, answer.text
        legacy = await self.site.get(
            f"/api/organizacao/payouts{path or '/list'}",
            params=asked,
            headers=who | {"x-orya-org-id": str(self.world.organization)},
        )
        assert legacy.json() == answer.json()
        shown: dict[str, Any] = answer.json()
        return shown

    async def set(self, by: Person | None = None, **said: Any) -> httpx.Response:
        url = f"/api/org/{self.world.organization}/payouts/settings"
        body = {"reasonCode": "OWNER_ASKED", "version": 0} | said
        return await self.site.put(url, json=body, headers=(by or self.world.owner).headers)


@pytest.fixture
def console(site: httpx.AsyncClient, world: World) -> Console:
    return Console(site, world)


@pytest.mark.covers("OPS-010")
async def test_what_is_owed_is_summed_up(console: Console, world: World):
    other = uuid7()
    stay, waiting = await an_owed_stay(world), await a_stay(world)
    await owed(world, waiting, left=f"{at('2100-01-01T00:00Z').isoformat()}")
    await frozen(world, await an_owed_stay(world, payee=other))
    [line] = (await console.get("/summary"))["currencies"]
    assert {name: line[name] for name in ("waitingMinor", "eligibleMinor", "frozenMinor", "ledgerMinor")} == {
        "waitingMinor": 85_000, "eligibleMinor": 85_000, "frozenMinor": 85_000, "ledgerMinor": 255_000,
    }  # fmt: skip
    [line] = (await console.get("/summary", owner=str(other)))["currencies"]
    assert (line["eligibleMinor"], line["frozenMinor"], line["ledgerMinor"]) == (0, 85_000, 85_000)
    [payout] = await batch(world)
    [line] = (await console.get("/summary"))["currencies"]
    assert (line["eligibleMinor"], line["inTransitMinor"]) == (0, 85_000)
    await ends(world, payout)
    [line] = (await console.get("/summary"))["currencies"]
    assert (line["inTransitMinor"], line["completedMinor"]) == (0, 85_000)
    await disputed(world, stay)
    await decided(world, stay, "lose")
    [line] = (await console.get("/summary", owner=str(world.organization.uuid)))["currencies"]
    assert line["ledgerMinor"] == 85_000 - 86_500


@pytest.mark.covers("OPS-010")
async def test_payouts_of_ours_and_of_the_provider_are_listed_page_by_page(console: Console, world: World):
    for owner in (uuid7(), uuid7(), uuid7()):
        await an_owed_stay(world, payee=owner)
    await batch(world)
    first = await console.get("", limit=2)
    second = await console.get("", limit=2, cursor=first["nextCursor"])
    assert [len(first["items"]), len(second["items"]), second["nextCursor"]] == [2, 1, None]
    shown = first["items"][0]
    assert (shown["state"], shown["amountMinor"], shown["period"]) == ("transferred", 85_000, "2026-02-16")
    assert (await console.get("", state="failed"))["items"] == []
    assert len((await console.get("", owner=shown["owner"]))["items"]) == 1
    reports = [a_report(f"po_{uuid7().hex}", minutes=number) for number in range(3)]
    await heard(world, *reports)
    theirs = await console.get("", settlementModel="ORG_MOR", limit=2)
    rest = await console.get("", settlementModel="ORG_MOR", limit=2, cursor=theirs["nextCursor"])
    listed = [each["reference"] for each in (*theirs["items"], *rest["items"])]
    assert listed == [each.reference for each in reversed(reports)]


@pytest.mark.covers("FIN-091")
async def test_the_status_says_whether_and_when_one_is_paid(
    console: Console, world: World, superuser: asyncpg.Connection
):
    shown = await console.get("/status")
    assert (shown["payoutsBlocked"], shown["canBePaid"]) == (False, True)
    assert shown["schedule"] == {"frequency": "weekly", "dayOfWeek": 0, "dayOfMonth": None} | {
        "minThresholdMinor": 0, "holdDays": 0
    }  # fmt: skip
    assert at(shown["nextPayoutAt"]).weekday() == 0
    payment, charge = await world.opened(world.shop.sells(world.buyer.identity, 5000))
    world.simulator.act("pay", charge)
    world.simulator.act("dispute", charge)
    await world.clerk.ask(world.organization, payment, world.buyer.caller)
    await happened(world, Stay(payment, charge))
    blocked = await console.get("/status")
    assert blocked["payoutsBlocked"] and blocked["blockedSince"] is not None
    await superuser.execute(
        "UPDATE payments.account SET payouts_enabled = false WHERE organization_id = $1", world.organization.uuid
    )
    assert (await console.get("/status"))["canBePaid"] is False


@pytest.mark.covers("MOR-031", "ORG-017", "OPS-010")
async def test_an_owner_says_when_to_be_paid_once_the_organisation_can_be_reached(
    console: Console, world: World, superuser: asyncpg.Connection
):
    refused = await console.set(schedule=MONTHLY)
    assert (refused.status_code, refused.json()["errorCode"]) == (403, "OFFICIAL_EMAIL_REQUIRED")
    await prove_official_email(superuser, world.organization)
    answer = await console.set(schedule=MONTHLY)
    assert answer.status_code == 200, answer.text
    assert answer.json()["version"] == 1
    shown = await console.get("/settings")
    assert shown["effective"] == MONTHLY | {"dayOfWeek": None}
    villa = {"frequency": "on_checkout"}
    assert (await console.set(propertyKey="villa:1", schedule=villa)).status_code == 200
    assert [each["propertyKey"] for each in (await console.get("/settings"))["said"]] == ["", "villa:1"]
    again = await console.set(schedule=villa)
    assert (again.status_code, again.json()["errorCode"], again.json()["version"]) == (
        409,
        "PAYOUT_SCHEDULE_CHANGED",
        1,
    )
    forgotten = await console.set(version=1)
    assert forgotten.json() == {"schedule": None, "version": 0}
    assert (await console.get("/settings"))["effective"]["frequency"] == "weekly"
    trail = await trail_of(superuser, world.organization, "payouts.set_schedule")
    assert [each["reason_code"] for each in trail] == ["OWNER_ASKED"] * 3


@pytest.mark.covers("MOR-031")
@pytest.mark.parametrize(
    "schedule",
    [
        {"frequency": "weekly"},
        {"frequency": "weekly", "dayOfWeek": 7},
        {"frequency": "biweekly", "dayOfWeek": 1, "dayOfMonth": 1},
        {"frequency": "monthly", "dayOfMonth": 0},
        {"frequency": "monthly", "dayOfMonth": 32},
        {"frequency": "monthly", "dayOfWeek": 1},
        {"frequency": "on_checkout", "dayOfWeek": 1},
        {"frequency": "on_checkout", "minThresholdMinor": -1},
        {"frequency": "on_checkout", "holdDays": -1},
        {"frequency": "on_checkout", "holdDays": 366},
        {"frequency": "daily"},
    ],
)
async def test_a_schedule_that_says_no_day_or_the_wrong_one_is_refused(
    console: Console, world: World, superuser: asyncpg.Connection, schedule: dict[str, Any]
):
    await prove_official_email(superuser, world.organization)
    answer = await console.set(schedule=schedule)
    assert answer.status_code == 422, answer.text
    assert (await console.get("/settings"))["said"] == []


async def test_whoever_may_only_read_or_has_not_proved_themselves_changes_nothing(
    console: Console, world: World, superuser: asyncpg.Connection, database: Database, database_url: str
):
    await prove_official_email(superuser, world.organization)
    reader = await a_member(database, world.organization, MemberRole.ADMIN)
    assert (await console.get("/status", by=reader))["canBePaid"]
    assert (await console.set(by=reader, schedule=MONTHLY)).status_code == 403
    async with Database(database_url, clock=Clock(-timedelta(minutes=11))) as earlier:
        tired = await a_person(earlier, identity=world.owner.identity, email=world.owner.email)
    answer = await console.set(by=tired, schedule=MONTHLY)
    assert answer.status_code == 403 and "STEP_UP" in answer.json()["errorCode"], answer.text
    stranger = await a_person(database)
    url = f"/api/org/{world.organization}/payouts/summary"
    assert (await console.site.get(url, headers=stranger.headers)).status_code == 403


async def test_an_administrator_plans_and_applies_what_was_shown(
    site: httpx.AsyncClient, world: World, database: Database
):
    admin = await a_platform_admin(database)
    stay = await an_owed_stay(world)
    asked = {"organization": str(world.organization)}
    answer = await site.post("/api/admin/payouts/plan", json=asked, headers=admin.headers)
    assert answer.status_code == 200, answer.text
    [planned] = answer.json()["payouts"]
    assert (planned["amountMinor"], planned["calls"][0]["action"]) == (85_000, "pay_out")
    url = f"/api/admin/payouts/plan/{answer.json()['plan']}/apply"
    order = asked | {"reasonCode": "BATCH_WAS_MISSED"}
    done = await site.post(url, json=order, headers=admin.headers)
    assert (done.status_code, done.json()["payouts"], done.json()["already"]) == (200, 1, False), done.text
    assert (await site.post(url, json=order, headers=admin.headers)).json()["already"]
    listed = await site.get("/api/admin/payouts", params=asked, headers=admin.headers)
    assert [each["state"] for each in listed.json()["items"]] == ["payout_pending"]
    assert (await obligation(world, stay)).payout is not None
    for path in ("/api/admin/payouts/plan", url):
        assert (await site.post(path, json=order, headers=world.owner.headers)).status_code == 403


async def test_an_administrator_freezes_and_releases(site: httpx.AsyncClient, world: World, database: Database):
    admin = await a_platform_admin(database)
    stay = await an_owed_stay(world)
    body = {"organization": str(world.organization), "paymentId": str(stay.payment), "reasonCode": "FRAUD_SUSPECTED"}
    frozen_ = await site.post("/api/admin/payouts/freeze", json=body, headers=admin.headers)
    assert frozen_.json()["reasons"] == ["OPERATOR"], frozen_.text
    assert await batch(world) == []
    released = await site.post("/api/admin/payouts/unfreeze", json=body, headers=admin.headers)
    assert released.json()["reasons"] == []
    again = await site.post("/api/admin/payouts/unfreeze", json=body, headers=admin.headers)
    assert (again.status_code, again.json()["errorCode"]) == (409, "NOTHING_FROZEN")
    assert await published(world, "payout.obligation_frozen") == 1
    await happened(world, stay)
    assert len(await batch(world)) == 1


async def test_a_statement_is_downloaded_as_a_table_or_a_page(site: httpx.AsyncClient, world: World):
    url = f"/api/org/{world.organization}/payouts/statement"
    asked = {"week": "2026-02-16", "currency": "EUR"}
    headers = world.owner.headers
    table = await site.get(url, params=asked | {"form": "csv"}, headers=headers)
    assert table.status_code == 200 and table.text.startswith("posted_at,type,amount_minor"), table.text
    page = await site.get(url, params=asked, headers=headers | {"accept-language": "pt-PT"})
    assert page.headers["content-type"] == "application/pdf" and page.content.startswith(b"%PDF-")
    assert "statement-2026-02-16-EUR.pdf" in page.headers["content-disposition"]
    tuesday = await site.get(url, params=asked | {"week": "2026-02-17"}, headers=headers)
    assert (tuesday.status_code, tuesday.json()["errorCode"]) == (409, "STATEMENT_WEEK_NOT_OVER")


@pytest.mark.covers("OPS-010")
async def test_connecting_is_onboarding_by_its_older_name(site: httpx.AsyncClient, world: World):
    headers = world.owner.headers | {"x-orya-org-id": str(world.organization)}
    body = {"returnUrl": "https://clube.example/finance"}
    answer = await site.post("/api/organizacao/payouts/connect", json=body, headers=headers)
    assert (answer.status_code, answer.json()["errorCode"]) == (403, "OFFICIAL_EMAIL_REQUIRED"), answer.text

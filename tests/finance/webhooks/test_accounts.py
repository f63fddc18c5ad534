"""`account.updated` is acknowledged only when it is clear whose the account is (FIN-022)."""

import asyncio
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.kernel.db import Database
from admitone.kernel.ids import OrganizationId, uuid7
from tests.alerts import alerts_about
from tests.finance.payments.accounts import an_account_of
from tests.finance.webhooks.conftest import Door, kept_of
from tests.finance.webhooks.ground import an_organization, at_work, settled
from tests.finance.webhooks.provider import CONNECT, an_event

SOURCE = "sandbox_connect"


def updated(account: str, organization: OrganizationId | None = None, **said: Any) -> dict[str, Any]:
    metadata = {"metadata": {"orgId": str(organization)}} if organization else {}
    return an_event("account.updated", account=account, object={"id": account, **metadata, **said})


async def knock(door: Door, event: dict[str, Any]) -> httpx.Response:
    return await door.knock(event, CONNECT, SOURCE)


async def payouts_of(superuser: asyncpg.Connection, account: str) -> bool:
    return await superuser.fetchval("SELECT payouts_enabled FROM payments.account WHERE account = $1", account)


@pytest.mark.covers("FIN-022", "FIN-023")
@pytest.mark.parametrize("confirmed", [True, False])
async def test_what_is_told_of_an_account_changes_it_in_its_own_organisation(
    database: Database, superuser: asyncpg.Connection, door: Door, confirmed: bool
):
    scope = await an_organization(database)
    account = (await an_account_of(database, scope)).account
    event = updated(account, scope.organization if confirmed else None, payouts=False)
    assert (await knock(door, event)).status_code == 200
    async with at_work(database):
        receipt = await settled(superuser, event, SOURCE)
    assert (receipt["state"], receipt["organization_id"]) == ("PROCESSED", scope.organization.uuid)
    assert await payouts_of(superuser, account) is False


async def assert_kept_and_told(superuser: asyncpg.Connection, event: dict[str, Any], answer: httpx.Response) -> None:
    assert (answer.status_code, answer.json()["errorCode"]) == (503, "ORG_UNRESOLVED")
    assert answer.json()["retryable"] and int(answer.headers["retry-after"]) > 0
    kept = await kept_of(superuser, event)
    assert [(row["state"], kept.payloads) for row in kept.receipts] == [("ORG_UNRESOLVED", 1)]
    assert (kept.jobs, kept.keys) == ([], [])
    [alert] = await alerts_about(superuser, f"{SOURCE}:{event['account']}", "webhooks.org_unresolved")
    assert alert["resolved_at"] is None


@pytest.mark.covers("FIN-022")
async def test_an_account_that_nobody_has_is_not_acknowledged_until_somebody_has(
    database: Database, superuser: asyncpg.Connection, door: Door
):
    account = f"acct_{uuid7().hex}"
    event = updated(account, payouts=False)
    for _ in range(2):
        await assert_kept_and_told(superuser, event, await knock(door, event))
    scope = await an_organization(database)
    await an_account_of(database, scope, own=account)
    assert (await knock(door, event)).json() == {
        "status": "ACK", "stripeEventId": event["id"], "idempotency_hit": True
    }  # fmt: skip
    async with at_work(database):
        receipt = await settled(superuser, event, SOURCE)
    assert (receipt["state"], receipt["reason"]) == ("PROCESSED", None)
    assert await payouts_of(superuser, account) is False
    assert (await knock(door, event)).status_code == 200
    assert (await kept_of(superuser, event)).jobs == []


@pytest.mark.covers("FIN-022")
async def test_an_account_whose_metadata_name_another_organisation_is_not_acknowledged(
    database: Database, superuser: asyncpg.Connection, door: Door
):
    scope, other = await an_organization(database), await an_organization(database)
    account = (await an_account_of(database, scope)).account
    event = updated(account, other.organization, payouts=False)
    await assert_kept_and_told(superuser, event, await knock(door, event))
    assert await payouts_of(superuser, account) is True


@pytest.mark.covers("FIN-022")
async def test_one_that_is_not_clear_keeps_nobody_else_waiting(
    database: Database, superuser: asyncpg.Connection, door: Door
):
    unclear, others = updated(f"acct_{uuid7().hex}"), [an_event() for _ in range(5)]
    answers = await asyncio.gather(knock(door, unclear), knock(door, unclear), *(door.knock(each) for each in others))
    assert [answer.status_code for answer in answers] == [503, 503, *[200] * 5]
    assert [len((await kept_of(superuser, each)).jobs) for each in others] == [1] * 5


@pytest.mark.covers("PAY-061")
async def test_an_account_in_a_state_that_we_have_no_word_for_is_put_before_a_person(
    database: Database, superuser: asyncpg.Connection, door: Door
):
    scope = await an_organization(database)
    account = (await an_account_of(database, scope)).account
    event = updated(account, status="odd", payouts=False)
    assert (await knock(door, event)).status_code == 200
    async with at_work(database):
        receipt = await settled(superuser, event, SOURCE)
    assert receipt["state"] == "DEAD" and receipt["reason"].startswith("NotUnderstood")
    assert await payouts_of(superuser, account) is True

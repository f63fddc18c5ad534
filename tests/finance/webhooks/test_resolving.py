"""Whose an event is: what we wrote down decides, metadata may confirm, and two answers are none."""

import asyncio
from typing import Any

import asyncpg
import pytest

from admitone.finance.gateways.api import ObjectType
from admitone.finance.sources.api import PaymentId
from admitone.kernel.db import Database
from admitone.kernel.ids import OrganizationId, uuid7
from tests.alerts import alerts_about
from tests.finance.payments.accounts import an_account_of
from tests.finance.webhooks.conftest import Door, kept_of
from tests.finance.webhooks.ground import (
    a_payment,
    a_reference,
    an_organization,
    at_work,
    hurry,
    settled,
    status_of,
    the_work,
)
from tests.finance.webhooks.provider import CONNECT, an_event


def an_intent() -> str:
    return f"pi_{uuid7().hex}"


def about(intent: str, **metadata: Any) -> dict[str, Any]:
    return {"id": intent, **({"metadata": {k: str(v) for k, v in metadata.items()}} if metadata else {})}


async def facts_of(superuser: asyncpg.Connection, payment: PaymentId) -> list[str]:
    rows = await superuser.fetch("SELECT kind FROM payments.payment_fact WHERE payment_id = $1", payment.uuid)
    return [row["kind"] for row in rows]


async def dead_of(superuser: asyncpg.Connection, event: dict[str, Any]) -> list[asyncpg.Record]:
    return await superuser.fetch("SELECT * FROM kernel.dead_letter WHERE key LIKE '%' || $1", event["id"])


@pytest.mark.covers("FIN-063", "PAY-020")
async def test_a_reference_decides_without_any_metadata(database: Database, superuser: asyncpg.Connection, door: Door):
    scope, intent = await an_organization(database), an_intent()
    payment = await a_payment(database, scope, intent)
    event = an_event(object=about(intent))
    await door.knock(event)
    [receipt] = await the_work(database, superuser, event)
    assert receipt["state"] == "PROCESSED" and receipt["settled_at"] is not None
    assert (receipt["organization_id"], receipt["payment_id"]) == (scope.organization.uuid, payment.uuid)
    assert await status_of(superuser, payment) == "SUCCEEDED"
    assert await superuser.fetchval("SELECT count(*) FROM ledger.transfer WHERE payment_id = $1", payment.uuid) > 0


@pytest.mark.covers("FIN-063", "PAY-001")
async def test_metadata_decide_alone_where_they_name_a_payment_that_is_there(
    database: Database, superuser: asyncpg.Connection, door: Door
):
    scope, intent = await an_organization(database), an_intent()
    payment = await a_payment(database, scope)
    event = an_event(object=about(intent, orgId=scope.organization, payment_id=payment))
    await door.knock(event)
    [receipt] = await the_work(database, superuser, event)
    assert (receipt["state"], receipt["organization_id"]) == ("PROCESSED", scope.organization.uuid)
    assert await status_of(superuser, payment) == "SUCCEEDED"


UNRESOLVED = ("ORG_UNRESOLVED", "00000000-0000-7000-8000-000000000001")


async def assert_nobodys(superuser: asyncpg.Connection, event: dict[str, Any], receipt: asyncpg.Record) -> None:
    assert (receipt["state"], str(receipt["organization_id"])) == UNRESOLVED
    assert len(await dead_of(superuser, event)) == 1
    subject = f"sandbox:{event['account']}"
    [alert] = await alerts_about(superuser, subject, "webhooks.org_unresolved")
    assert alert["resolved_at"] is None
    assert event["id"] in str(alert["entities"])


@pytest.mark.covers("FIN-063")
async def test_metadata_that_name_nobodys_payment_decide_nothing(
    database: Database, superuser: asyncpg.Connection, door: Door
):
    scope, other = await an_organization(database), await an_organization(database)
    theirs = await a_payment(database, scope)
    claims = {
        "another's payment": about(an_intent(), orgId=other.organization, payment_id=theirs),
        "no payment": about(an_intent(), orgId=other.organization, payment_id=PaymentId.new()),
        "no organisation": about(an_intent(), orgId=OrganizationId.new(), payment_id=theirs),
        "an organisation and no payment": about(an_intent(), orgId=other.organization),
        "nothing": about(an_intent()),
    }
    events = [an_event(object=each) for each in claims.values()]
    await asyncio.gather(*(door.knock(event) for event in events))
    for receipt in await the_work(database, superuser, *events):
        assert (receipt["state"], str(receipt["organization_id"])) == UNRESOLVED
    assert await facts_of(superuser, theirs) == []
    assert await status_of(superuser, theirs) == "CREATED"
    assert [len(await dead_of(superuser, event)) for event in events] == [1] * 5


@pytest.mark.covers("FIN-063")
async def test_two_answers_are_none_and_nothing_happens(database: Database, superuser: asyncpg.Connection, door: Door):
    one, other, intent = await an_organization(database), await an_organization(database), an_intent()
    payment, foreign = await a_payment(database, one, intent), await a_payment(database, other)
    accounts = [f"acct_{uuid7().hex}" for _ in range(3)]
    await a_reference(database, one, ObjectType.ACCOUNT, accounts[0])
    await a_reference(database, other, ObjectType.ACCOUNT, accounts[1])
    await a_reference(database, one, ObjectType.ACCOUNT, accounts[2])
    events = [
        an_event(object=about(intent, orgId=other.organization), account=accounts[0]),
        an_event(object=about(intent, orgId=one.organization, payment_id=payment), account=accounts[1]),
        an_event(object=about(intent, orgId=one.organization, payment_id=foreign), account=accounts[2]),
    ]
    await asyncio.gather(*(door.knock(event) for event in events))
    receipts = await the_work(database, superuser, *events)
    for event, receipt in zip(events, receipts, strict=True):
        await assert_nobodys(superuser, event, receipt)
        assert receipt["reason"].startswith("ClaimedByTwo")
    # At once: to try again would not make them agree.
    assert [letter["attempts"] for event in events for letter in await dead_of(superuser, event)] == [1, 1, 1]
    assert (await facts_of(superuser, payment), await facts_of(superuser, foreign)) == ([], [])


@pytest.mark.covers("FIN-063")
async def test_an_account_that_nobody_has_brings_nothing_about_whatever_its_object_says(
    database: Database, superuser: asyncpg.Connection, door: Door
):
    scope, intent = await an_organization(database), an_intent()
    payment = await a_payment(database, scope, intent)
    said = about(intent, orgId=scope.organization, payment_id=payment)
    event = an_event(object=said, account=f"acct_{uuid7().hex}")
    await door.knock(event)
    [receipt] = await the_work(database, superuser, event)
    await assert_nobodys(superuser, event, receipt)
    assert await facts_of(superuser, payment) == []


async def written(superuser: asyncpg.Connection, payment: PaymentId) -> int:
    """Everything that anybody says of it, besides that it was begun."""
    return await superuser.fetchval(
        """SELECT (SELECT count(*) FROM ledger.transfer WHERE payment_id = $1)
                + (SELECT count(*) FROM payments.payment_fact WHERE payment_id = $1)
                + (SELECT count(*) FROM payments.provider_ref WHERE payment_id = $1)""",
        payment.uuid,
    )


@pytest.mark.covers("FIN-063")
@pytest.mark.parametrize("told", ["payment_intent.succeeded", "charge.refunded", "charge.dispute.created"])
async def test_a_host_cannot_pay_for_anybody_with_a_charge_of_their_own_account(
    database: Database, superuser: asyncpg.Connection, door: Door, told: str
):
    """Owners of accounts make what they like there, and the provider signs it: only its metadata are made up."""
    host = await an_organization(database)
    account = (await an_account_of(database, host)).account
    payment = await a_payment(database, host, minor=5000)
    made_up = about(an_intent(), orgId=host.organization, payment_id=payment)
    event = an_event(told, object=made_up | {"amount": 5000}, account=account)
    assert (await door.knock(event, CONNECT, "sandbox_connect")).status_code == 200
    async with at_work(database):
        receipt = await settled(superuser, event, "sandbox_connect")
    assert (receipt["state"], str(receipt["organization_id"]), receipt["payment_id"]) == (*UNRESOLVED, None)
    assert (await status_of(superuser, payment), await written(superuser, payment)) == ("CREATED", 0)


@pytest.mark.covers("FIN-063")
async def test_what_an_account_tells_of_a_charge_that_we_wrote_down_counts(
    database: Database, superuser: asyncpg.Connection, door: Door
):
    host, intent = await an_organization(database), an_intent()
    account = (await an_account_of(database, host)).account
    payment = await a_payment(database, host, intent)
    event = an_event(object=about(intent, orgId=host.organization, payment_id=payment), account=account)
    await door.knock(event, CONNECT, "sandbox_connect")
    async with at_work(database):
        assert (await settled(superuser, event, "sandbox_connect"))["state"] == "PROCESSED"
    assert await status_of(superuser, payment) == "SUCCEEDED"


@pytest.mark.covers("FIN-063", "FUN-032")
async def test_an_event_that_is_faster_than_our_own_note_of_its_object_is_tried_again(
    database: Database, superuser: asyncpg.Connection, door: Door
):
    scope, intent = await an_organization(database), an_intent()
    payment = await a_payment(database, scope)
    event = an_event(object=about(intent))
    await door.knock(event)
    async with at_work(database):
        async with asyncio.timeout(30):
            while not (jobs := (await kept_of(superuser, event)).jobs) or jobs[0]["attempts"] < 2:
                await hurry(superuser)
                await asyncio.sleep(0.02)
        await a_reference(database, scope, ObjectType.INTENT, intent, payment)
        receipt = await settled(superuser, event)
    assert receipt["state"] == "PROCESSED"
    assert await status_of(superuser, payment) == "SUCCEEDED"
    assert await dead_of(superuser, event) == []


@pytest.mark.covers("FUN-032")
async def test_what_stays_nobodys_is_tried_five_times(database: Database, superuser: asyncpg.Connection, door: Door):
    event = an_event(account=f"acct_{uuid7().hex}")
    await door.knock(event)
    [receipt] = await the_work(database, superuser, event)
    await assert_nobodys(superuser, event, receipt)
    [letter] = await dead_of(superuser, event)
    assert (letter["attempts"], letter["reason"]) == (5, "RETRIES_EXHAUSTED")


@pytest.mark.covers("PAY-018")
async def test_a_type_that_we_do_not_deal_with_is_kept_and_ignored(
    database: Database, superuser: asyncpg.Connection, door: Door
):
    event = an_event("customer.subscription.trial_will_end", account=f"acct_{uuid7().hex}")
    assert (await door.knock(event)).status_code == 200
    [receipt] = await the_work(database, superuser, event)
    assert receipt["state"] == "IGNORED"
    assert (await door.knock(event)).json()["idempotency_hit"]
    assert (await kept_of(superuser, event)).jobs == []

"""What an event does, once, in the organisation whose it is; and what happens when it cannot."""

import asyncio
from collections.abc import Callable
from typing import Any

import asyncpg
import pytest

from admitone.finance.gateways.api import ObjectType
from admitone.finance.sources.api import PaymentId
from admitone.finance.webhooks.handlers.applying import apply
from admitone.finance.webhooks.handlers.resolving import resolve
from admitone.kernel import failpoints
from admitone.kernel.db import Database
from admitone.kernel.ids import PLATFORM_ORGANIZATION, uuid7
from admitone.kernel.jobs import WEBHOOKS
from tests.alerts import alerts_about
from tests.finance.payments.accounts import an_account_of
from tests.finance.webhooks.conftest import Door
from tests.finance.webhooks.ground import (
    a_payment,
    a_reference,
    an_organization,
    at_work,
    settled,
    status_of,
    the_work,
)
from tests.finance.webhooks.provider import CONNECT, an_event


def an_intent() -> str:
    return f"pi_{uuid7().hex}"


async def grosses(superuser: asyncpg.Connection, payment: PaymentId) -> int:
    return await superuser.fetchval(
        "SELECT count(*) FROM ledger.transfer WHERE payment_id = $1 AND entry_type = 'GROSS'", payment.uuid
    )


@pytest.mark.covers("FIN-064")
@pytest.mark.parametrize(
    ("told", "status"),
    [
        ("payment_intent.succeeded", "SUCCEEDED"),
        ("payment_intent.processing", "PROCESSING"),
        ("payment_intent.payment_failed", "FAILED"),
        ("payment_intent.canceled", "CANCELLED"),
    ],
)
async def test_what_is_told_of_a_charge_stands_on_its_payment(
    database: Database, superuser: asyncpg.Connection, door: Door, told: str, status: str
):
    scope, intent = await an_organization(database), an_intent()
    payment = await a_payment(database, scope, intent)
    event = an_event(told, object={"id": intent})
    await door.knock(event)
    [receipt] = await the_work(database, superuser, event)
    assert (receipt["state"], await status_of(superuser, payment)) == ("PROCESSED", status)


@pytest.mark.covers("PAY-023", "FIN-062")
async def test_two_events_of_one_capture_are_one_effect(database: Database, superuser: asyncpg.Connection, door: Door):
    scope, intent = await an_organization(database), an_intent()
    payment = await a_payment(database, scope, intent)
    events = [an_event(object={"id": intent}) for _ in range(6)]
    await asyncio.gather(*(door.knock(event) for event in events))
    receipts = await the_work(database, superuser, *events)
    assert {receipt["state"] for receipt in receipts} == {"PROCESSED"}
    assert await grosses(superuser, payment) == 1


@pytest.mark.covers("FIN-064")
async def test_a_payout_is_reported_where_it_belongs(database: Database, superuser: asyncpg.Connection, door: Door):
    scope = await an_organization(database)
    account = (await an_account_of(database, scope)).account
    theirs = an_event("payout.paid", account=account, object={"id": f"po_{uuid7().hex}"})
    ours = an_event("payout.paid", object={"id": f"po_{uuid7().hex}"})
    await door.knock(theirs, CONNECT, "sandbox_connect")
    await door.knock(ours)
    async with at_work(database):
        assert (await settled(superuser, theirs, "sandbox_connect"))["state"] == "PROCESSED"
        assert (await settled(superuser, ours))["state"] == "PROCESSED"
    for event, whose in ((theirs, scope.organization), (ours, PLATFORM_ORGANIZATION)):
        [fact] = await superuser.fetch(
            "SELECT organization_id FROM kernel.event_log WHERE type = 'payout.reported' AND subject_id = $1",
            event["data"]["object"]["id"],
        )
        assert fact["organization_id"] == whose.uuid


@pytest.mark.covers("FIN-064")
async def test_a_balance_asks_for_fees(database: Database, superuser: asyncpg.Connection, door: Door):
    scope = await an_organization(database)
    account = (await an_account_of(database, scope)).account
    event = an_event("balance.available", account=account)
    await door.knock(event, CONNECT, "sandbox_connect")
    async with at_work(database):
        assert (await settled(superuser, event, "sandbox_connect"))["state"] == "PROCESSED"
    keys = await superuser.fetch("SELECT key FROM kernel.job_key WHERE organization_id = $1", scope.organization.uuid)
    assert [row["key"] for row in keys if "fees" in row["key"]] == [
        f"payments.fees:apply:sandbox_connect:{event['id']}"
    ]


# -- Whatever is killed in between


def once(action: Callable[[], None]) -> Callable[[], None]:
    left = [action]

    def act() -> None:
        if left:
            left.pop()()

    return act


@pytest.mark.parametrize(
    "point", ["webhooks.before_hand_on", "webhooks.before_settling", "job.before_end", "job.claimed"]
)
@pytest.mark.parametrize("break_", [failpoints.cut, lambda: (_ for _ in ()).throw(RuntimeError("a bug"))], ids=["cut", "bug"])  # fmt: skip
async def test_what_is_cut_off_between_receipt_and_effect_goes_on_and_has_it_once(
    database: Database, superuser: asyncpg.Connection, door: Door, point: str, break_: Callable[[], Any]
):
    scope, intent = await an_organization(database), an_intent()
    payment = await a_payment(database, scope, intent)
    event = an_event(object={"id": intent})
    await door.knock(event)
    with failpoints.armed(point, once(break_)):
        [receipt] = await the_work(database, superuser, event)
    assert (receipt["state"], await status_of(superuser, payment)) == ("PROCESSED", "SUCCEEDED")
    assert await grosses(superuser, payment) == 1


# -- What cannot be done


@pytest.mark.covers("FIN-063", "FUN-032")
async def test_what_payments_refuse_is_dead_at_once_and_somebody_is_told(
    database: Database, superuser: asyncpg.Connection, door: Door
):
    scope, intent = await an_organization(database), an_intent()
    account = (await an_account_of(database, scope)).account
    await a_reference(database, scope, ObjectType.INTENT, intent, PaymentId.new())
    event = an_event(object={"id": intent}, account=account)
    await door.knock(event)
    [receipt] = await the_work(database, superuser, event)
    assert (receipt["state"], receipt["organization_id"]) == ("DEAD", scope.organization.uuid)
    assert receipt["reason"].startswith("PaymentNotFound")
    [letter] = await superuser.fetch("SELECT * FROM kernel.dead_letter WHERE key = $1", f"apply:sandbox:{event['id']}")
    assert (letter["reason"], letter["organization_id"]) == ("NOT_RETRYABLE", scope.organization.uuid)
    [alert] = await alerts_about(superuser, f"sandbox:{account}", "webhooks.dead")
    assert alert["concerns"] == scope.organization.uuid


async def test_a_word_that_we_do_not_know_is_put_before_a_person(
    database: Database, superuser: asyncpg.Connection, door: Door
):
    event = an_event("payment_intent.odd")
    await door.knock(event)
    [receipt] = await the_work(database, superuser, event)
    assert receipt["state"] == "DEAD" and receipt["reason"].startswith("NotUnderstood")


@pytest.mark.covers("FUN-032", "FUN-008", "PAY-043")
async def test_a_bug_is_tried_five_times_and_then_dead(database: Database, superuser: asyncpg.Connection, door: Door):
    assert resolve.retry is apply.retry is WEBHOOKS, "five times, each after twice as long"
    scope, intent = await an_organization(database), an_intent()
    payment = await a_payment(database, scope, intent)
    event = an_event(object={"id": intent})
    await door.knock(event)

    def fail() -> None:
        raise RuntimeError("a bug")

    with failpoints.armed("webhooks.before_settling", fail):
        [receipt] = await the_work(database, superuser, event)
    assert (receipt["state"], receipt["reason"]) == ("DEAD", "RuntimeError: a bug")
    [letter] = await superuser.fetch("SELECT * FROM kernel.dead_letter WHERE key = $1", f"apply:sandbox:{event['id']}")
    assert (letter["attempts"], letter["reason"]) == (5, "RETRIES_EXHAUSTED")
    assert await status_of(superuser, payment) == "CREATED"

"""Operators see what could not be done, mend what was in its way, and have it looked at again, once."""

import asyncio
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.entrypoints.http import Application
from admitone.finance.gateways.api import ObjectType
from admitone.finance.sources.api import PaymentId
from admitone.finance.webhooks.handlers.mourning import look_after
from admitone.finance.webhooks.model import PLATFORM, ReceiptId
from admitone.finance.webhooks.module import MODULE
from admitone.kernel import config as settings
from admitone.kernel.db import Database, Tx
from admitone.kernel.ids import uuid7
from admitone.kernel.jobs import Delivered
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.retention import enforce
from admitone.kernel.scope import Caller
from tests.alerts import alerts_about
from tests.entrypoints.operator import Operator
from tests.finance.payments.accounts import an_account_of
from tests.finance.webhooks.conftest import Door, kept_of
from tests.finance.webhooks.ground import a_payment, a_reference, an_organization, at_work, settled, status_of, the_work
from tests.finance.webhooks.provider import CONNECT, an_event


@pytest.fixture
def secret(application: Application) -> dict[str, str]:
    return {"x-orya-internal-secret": application.config.get(settings.CRON_SECRET)}


async def an_unresolved(
    database: Database, superuser: asyncpg.Connection, door: Door, intent: str, **said: Any
) -> tuple[dict[str, Any], ReceiptId]:
    event = an_event(object={"id": intent}, **said)
    await door.knock(event)
    [receipt] = await the_work(database, superuser, event)
    assert receipt["state"] == "ORG_UNRESOLVED"
    return event, ReceiptId(receipt["id"])


async def replayed(site: httpx.AsyncClient, secret: dict[str, str], *receipts: ReceiptId) -> list[str | None]:
    request = {"ids": [str(each) for each in receipts], "by": "ana", "reason": "the reference is there now"}
    answer = await site.post("/api/internal/webhooks/replay", json=request, headers=secret)
    assert answer.status_code == 200, answer.text
    return [outcome["errorCode"] for outcome in answer.json()["outcomes"]]


@pytest.mark.covers("FIN-063")
async def test_what_was_mended_is_looked_at_again_once_with_who_and_why(
    database: Database, superuser: asyncpg.Connection, door: Door, secret: dict[str, str]
):
    scope, intent = await an_organization(database), f"pi_{uuid7().hex}"
    event, receipt = await an_unresolved(database, superuser, door, intent)
    payment = await a_payment(database, scope, intent)
    outcomes = await asyncio.gather(*(replayed(door.site, secret, receipt) for _ in range(4)))
    assert sorted(map(str, (outcome for [outcome] in outcomes))) == ["None", *["WEBHOOK_NOTHING_TO_REPLAY"] * 3]
    [again] = await the_work(database, superuser, event)
    assert (again["state"], again["reason"], again["round"]) == ("PROCESSED", None, 1)
    assert await status_of(superuser, payment) == "SUCCEEDED"
    [entry] = await superuser.fetch("SELECT * FROM kernel.audit_entry WHERE subject = $1", str(receipt))
    assert entry["action"] == "webhooks.replay" and "the reference is there now" in entry["after"]
    [letter] = await superuser.fetch("SELECT * FROM kernel.dead_letter WHERE key = $1", f"sandbox:{event['id']}")
    assert (letter["replayed_by"], letter["replay_reason"]) == ("ana", "the reference is there now")
    assert await replayed(door.site, secret, receipt) == ["WEBHOOK_NOTHING_TO_REPLAY"]
    assert await replayed(door.site, secret, ReceiptId.new()) == ["WEBHOOK_RECEIPT_NOT_FOUND"]


async def test_what_was_not_mended_ends_as_before_and_may_be_tried_again(
    database: Database, superuser: asyncpg.Connection, door: Door, secret: dict[str, str]
):
    event, receipt = await an_unresolved(database, superuser, door, f"pi_{uuid7().hex}")
    for turn in (1, 2):
        assert await replayed(door.site, secret, receipt) == [None]
        [again] = await the_work(database, superuser, event)
        assert (again["state"], again["round"]) == ("ORG_UNRESOLVED", turn)


async def test_what_died_in_its_organisation_begins_anew_when_it_is_replayed(
    database: Database, superuser: asyncpg.Connection, door: Door, secret: dict[str, str]
):
    scope, intent, own = await an_organization(database), f"pi_{uuid7().hex}", PaymentId.new()
    await a_reference(database, scope, ObjectType.INTENT, intent, own)
    event = an_event(object={"id": intent})
    await door.knock(event)
    [receipt] = await the_work(database, superuser, event)
    assert receipt["state"] == "DEAD"
    await superuser.execute("DELETE FROM payments.provider_ref WHERE object_id = $1", intent)
    payment = await a_payment(database, scope, intent)
    assert await replayed(door.site, secret, ReceiptId(receipt["id"])) == [None]
    [again] = await the_work(database, superuser, event)
    assert (again["state"], again["payment_id"]) == ("PROCESSED", payment.uuid)
    letters = await superuser.fetch("SELECT * FROM kernel.dead_letter WHERE key LIKE '%' || $1", event["id"])
    assert [letter["replayed_by"] for letter in letters] == ["ana"]


async def test_a_dead_letter_that_is_replayed_itself_settles_its_receipt(
    database: Database, superuser: asyncpg.Connection, door: Door, secret: dict[str, str]
):
    scope, intent = await an_organization(database), f"pi_{uuid7().hex}"
    event, _ = await an_unresolved(database, superuser, door, intent)
    await a_payment(database, scope, intent)
    [letter] = await superuser.fetch("SELECT id FROM kernel.dead_letter WHERE key = $1", f"sandbox:{event['id']}")
    request = {"ids": [f"dead_{letter['id'].hex}"], "by": "ana", "reason": "mended"}
    assert (await door.site.post("/api/internal/outbox/replay", json=request, headers=secret)).status_code == 200
    async with at_work(database), asyncio.timeout(30):
        while (await settled(superuser, event))["state"] != "PROCESSED":  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_receipts_are_listed_by_state_page_by_page_and_only_to_our_own(
    database: Database, superuser: asyncpg.Connection, door: Door, secret: dict[str, str]
):
    made = [await an_unresolved(database, superuser, door, f"pi_{uuid7().hex}") for _ in range(3)]
    assert (await door.site.get("/api/internal/webhooks")).status_code == 403
    seen: list[dict[str, Any]] = []
    cursor = ""
    while cursor is not None:
        asked = {"state": "ORG_UNRESOLVED", "limit": "2"} | ({"cursor": cursor} if cursor else {})
        page = (await door.site.get("/api/internal/webhooks", params=asked, headers=secret)).json()
        assert len(page["items"]) <= 2
        seen, cursor = seen + page["items"], page["nextCursor"]
    ids = [item["id"] for item in seen]
    assert ids == sorted(set(ids)) and {str(receipt) for _, receipt in made} <= set(ids)
    [item] = [item for item in seen if item["id"] == str(made[0][1])]
    assert (item["stripeEventId"], item["organizationId"], item["state"]) == (made[0][0]["id"], None, "ORG_UNRESOLVED")
    dead = (await door.site.get("/api/internal/webhooks", params={"state": "DEAD"}, headers=secret)).json()
    assert {each["state"] for each in dead["items"]} <= {"DEAD"}


async def test_the_command_line_lists_and_replays(
    database: Database, superuser: asyncpg.Connection, door: Door, database_url: str, tmp_path: Any
):
    scope, intent = await an_organization(database), f"pi_{uuid7().hex}"
    event, receipt = await an_unresolved(database, superuser, door, intent)
    await a_payment(database, scope, intent)
    operator = Operator(database_url, tmp_path)
    status, said = await operator.types("webhooks", "list", "--most", "10000")
    assert status == 0 and str(receipt) in said and event["id"] in said
    status, said = await operator.types("webhooks", "replay", str(receipt), "--reason", "mended", "--by", "ana")
    assert status == 0 and str(receipt) in said
    status, said = await operator.types("webhooks", "replay", str(receipt), "--reason", "mended", "--by", "ana")
    assert status == 1 and "WEBHOOK_NOTHING_TO_REPLAY" in said
    status, said = await operator.types("webhooks", "replay", "--reason", "none named")
    assert status == 1 and said.count("\n") == 1
    [again] = await the_work(database, superuser, event)
    assert again["state"] == "PROCESSED"


async def test_an_alert_is_over_when_everything_of_its_account_is_mended(
    database: Database, superuser: asyncpg.Connection, door: Door
):
    account = f"acct_{uuid7().hex}"
    event = an_event("account.updated", account=account, object={"id": account})
    await door.knock(event, CONNECT, "sandbox_connect")
    subject = f"sandbox_connect:{account}"

    async def look(minutes: int) -> asyncpg.Record:
        age = f"- '{minutes} min'::interval"
        await superuser.execute(
            f"UPDATE kernel.alert SET first_seen_at = first_seen_at {age}, last_seen_at = last_seen_at {age} WHERE subject = $1",
            subject,
        )

        async def work(tx: Tx) -> None:
            firing = Firing("webhooks.look_after", tx.now)
            await look_after.work(
                tx, [Delivered(uuid7(), PLATFORM.organization, firing, Caller(), "k", None, 1, tx.now)]
            )

        await database.run(PLATFORM, work)
        [alert] = await alerts_about(superuser, subject, "webhooks.org_unresolved")
        return alert

    assert (await look(10))["resolved_at"] is None
    scope = await an_organization(database)
    await an_account_of(database, scope, own=account)
    await door.knock(event, CONNECT, "sandbox_connect")
    assert (await look(10))["resolved_at"] is not None


# -- After ninety days


async def grown_old(superuser: asyncpg.Connection, event: dict[str, Any], days: int) -> None:
    ids = "SELECT id FROM webhooks.receipt WHERE external_id = $2"
    age = "now() - make_interval(days => $1)"
    await superuser.execute(
        f"UPDATE webhooks.payload SET created_at = {age} WHERE receipt_id IN ({ids})", days, event["id"]
    )
    await superuser.execute(
        f"UPDATE webhooks.receipt SET received_at = {age} WHERE external_id = $2", days, event["id"]
    )
    await superuser.execute("DELETE FROM kernel.job_key WHERE key LIKE '%' || $1", event["id"])


@pytest.mark.covers("PAY-073")
async def test_after_ninety_days_what_was_said_is_gone_and_a_redelivery_is_still_one(
    database: Database, superuser: asyncpg.Connection, door: Door, secret: dict[str, str]
):
    scope, intent = await an_organization(database), f"pi_{uuid7().hex}"
    payment = await a_payment(database, scope, intent)
    paid, younger = an_event(object={"id": intent}), an_event("charge.unheard_of")
    unresolved, receipt = await an_unresolved(database, superuser, door, f"pi_{uuid7().hex}")
    await door.knock(paid)
    await door.knock(younger)
    await the_work(database, superuser, paid, younger)
    for event, days in ((paid, 91), (unresolved, 91), (younger, 89)):
        await grown_old(superuser, event, days)
    await enforce(database, [MODULE])
    assert [(await kept_of(superuser, event)).payloads for event in (paid, unresolved, younger)] == [0, 0, 1]

    assert (await door.knock(paid)).json()["idempotency_hit"]
    kept = await kept_of(superuser, paid)
    assert [len(kept.receipts), kept.payloads, len(kept.jobs), kept.facts] == [1, 0, 0, 1]
    assert kept.receipts[0]["state"] == "PROCESSED"

    # With the row gone, too, the fact's own key stops a second effect.
    await superuser.execute("DELETE FROM webhooks.receipt WHERE external_id = $1", paid["id"])
    await superuser.execute("DELETE FROM kernel.inbox WHERE key LIKE '%' || $1", paid["id"])
    assert "idempotency_hit" not in (await door.knock(paid)).json()
    await the_work(database, superuser, paid)
    gross = "SELECT count(*) FROM ledger.transfer WHERE payment_id = $1 AND entry_type = 'GROSS'"
    assert await superuser.fetchval(gross, payment.uuid) == 1

    assert await replayed(door.site, secret, receipt) == [None]
    [gone] = await the_work(database, superuser, unresolved)
    assert gone["state"] == "DEAD" and gone["reason"].startswith("PayloadGone")

"""At the door: what is signed is kept once and acknowledged after it is; what is not leaves no trace."""

import asyncio
from datetime import UTC, datetime, timedelta

import asyncpg
import httpx
import pytest

from admitone.finance.gateways.api import Envelope, Provider
from admitone.finance.webhooks import store
from admitone.finance.webhooks.arriving import LARGEST_EVENT_BYTES
from admitone.finance.webhooks.commands.receiving import receive
from admitone.finance.webhooks.model import Arrival
from admitone.finance.webhooks.routes.door import PATHS
from admitone.kernel import failpoints
from admitone.kernel.crypto import KEYRING
from admitone.kernel.db import Database
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Caller, Scope
from tests.finance.webhooks.conftest import DOOR, Door, kept_of
from tests.finance.webhooks.provider import CONNECT, an_event, as_sent


def nothing(kept) -> bool:
    return (kept.receipts, kept.payloads, kept.jobs, kept.keys, kept.facts) == ([], 0, [], [], 0)


@pytest.mark.covers("FIN-060", "FIN-062", "FIN-023", "PAY-010", "PAY-012", "PAY-017", "PAY-019")
@pytest.mark.parametrize("path", PATHS.values())
async def test_every_address_keeps_the_event_with_its_job_and_acknowledges_it(
    door: Door, superuser: asyncpg.Connection, path: str
):
    event = an_event(account="acct_1", request={"id": "req_1"})
    source = "sandbox_connect" if path == CONNECT else "sandbox"
    answer = await door.knock(event, path, source)
    assert (answer.status_code, answer.json()) == (200, {"status": "ACK", "stripeEventId": event["id"]})
    kept = await kept_of(superuser, event)
    [receipt], [job] = kept.receipts, kept.jobs
    assert (receipt["source"], receipt["type"], receipt["state"]) == (source, event["type"], "RECEIVED")
    assert (receipt["account"], receipt["request_id"], receipt["livemode"]) == ("acct_1", "req_1", False)
    assert receipt["provider_created_at"].timestamp() == event["created"]
    assert str(receipt["correlation_id"]) == answer.headers["x-correlation-id"]
    assert job["correlation_id"] == receipt["correlation_id"] and job["kind"] == "webhooks.resolve"
    assert kept.keys == [f"{source}:{event['id']}"]
    assert (kept.payloads, kept.facts) == (1, 1)


@pytest.mark.covers("PAY-012", "PAY-017", "FIN-062")
async def test_a_redelivery_is_acknowledged_and_keeps_nothing_more(door: Door, superuser: asyncpg.Connection):
    event = an_event()
    await door.knock(event)
    again = await door.knock(event, "/webhooks/stripe")
    assert again.status_code == 200
    assert again.json() == {"status": "ACK", "stripeEventId": event["id"], "idempotency_hit": True}
    kept = await kept_of(superuser, event)
    assert [len(kept.receipts), kept.payloads, len(kept.jobs), len(kept.keys), kept.facts] == [1] * 5


@pytest.mark.covers("PAY-012", "FIN-060")
async def test_what_is_not_kept_is_not_acknowledged(database: Database, superuser: asyncpg.Connection):
    """Receipts are the platform's to write: in another scope nothing is kept, and it must not look like a redelivery."""
    event = an_event()
    envelope = Envelope("sandbox", event["id"], event["type"], datetime.now(UTC), livemode=False)
    arrival = Arrival(Caller(), Provider.SANDBOX, envelope, b"{}")
    with pytest.raises(TypeError, match="only the platform's own organisation"):
        await database.run(Scope(OrganizationId.new()), lambda tx: receive(tx, [arrival]))
    assert nothing(await kept_of(superuser, event))


@pytest.mark.covers("PAY-012", "PAY-013", "PAY-017")
async def test_twenty_at_once_are_one_receipt_and_one_job(door: Door, superuser: asyncpg.Connection):
    event, others = an_event(), [an_event() for _ in range(10)]
    answers = await asyncio.gather(*(door.knock(each) for each in [event] * 20 + others))
    assert {answer.status_code for answer in answers} == {200}
    assert sum("idempotency_hit" not in answer.json() for answer in answers[:20]) == 1
    for each in (event, *others):
        kept = await kept_of(superuser, each)
        assert [len(kept.receipts), kept.payloads, len(kept.jobs), len(kept.keys), kept.facts] == [1] * 5


async def test_the_same_id_from_another_source_is_another_event(door: Door, superuser: asyncpg.Connection):
    event = an_event()
    await door.knock(event)
    answer = await door.knock(event, CONNECT, "sandbox_connect")
    assert "idempotency_hit" not in answer.json()
    assert len((await kept_of(superuser, event)).receipts) == 2


@pytest.mark.covers("PAY-013", "PAY-015", "PAY-016")
@pytest.mark.parametrize("point", ["webhooks.before_enqueue", "commit.before"])
async def test_when_it_cannot_be_enqueued_it_is_not_acknowledged_and_nothing_is_kept(
    door: Door, superuser: asyncpg.Connection, point: str
):
    event = an_event()

    def fail() -> None:
        raise RuntimeError("there is no room for jobs")

    with failpoints.armed(point, fail):
        answer = await door.knock(event)
    assert answer.status_code == 500
    assert answer.json()["errorCode"] == "SERVER_ERROR"
    assert nothing(await kept_of(superuser, event))
    assert (await door.knock(event)).json() == {"status": "ACK", "stripeEventId": event["id"]}


@pytest.mark.covers("PAY-013")
async def test_a_receipt_that_lost_its_job_gets_one_before_it_is_acknowledged(
    door: Door, superuser: asyncpg.Connection
):
    event = an_event()
    await door.knock(event)
    [job] = (await kept_of(superuser, event)).jobs
    await superuser.execute("DELETE FROM kernel.job WHERE id = $1", job["id"])
    await superuser.execute("DELETE FROM kernel.job_key WHERE key = $1", job["key"])
    assert (await door.knock(event)).json()["idempotency_hit"]
    [anew] = (await kept_of(superuser, event)).jobs
    assert anew["key"] == job["key"] and anew["payload"] == job["payload"]


# -- What is not believed


def altered(body: bytes) -> bytes:
    return body.replace(b"5000", b"9000")


FORGERIES = {
    "altered": lambda gateway, body: (altered(body), gateway.sign(body)),
    "truncated": lambda gateway, body: (body[:-9], gateway.sign(body)),
    "extended": lambda gateway, body: (body + b" ", gateway.sign(body)),
    "unsigned": lambda gateway, body: (body, {}),
    "the other secret": lambda gateway, body: (body, gateway.sign(body, "sandbox_connect")),
    "too old": lambda gateway, body: (body, gateway.sign(body, at=datetime.now(UTC) - timedelta(seconds=301))),
    "from the future": lambda gateway, body: (body, gateway.sign(body, at=datetime.now(UTC) + timedelta(seconds=330))),
    "no number": lambda gateway, body: (body, {"stripe-signature": "t=,v1="}),
}


@pytest.mark.covers("FIN-061", "PAY-011", "PAY-014")
@pytest.mark.parametrize("path", [DOOR, "/webhooks/pix", "/webhooks/sandbox"])
@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=FORGERIES)
async def test_what_is_forged_is_refused_and_leaves_no_trace(
    door: Door, superuser: asyncpg.Connection, forgery, path: str
):
    event = an_event()
    body, headers = forgery(door.gateway, as_sent(event))
    answer = await door.site.post(path, content=body, headers=headers)
    assert (answer.status_code, answer.json()["errorCode"]) == (400, "INVALID_SIGNATURE")
    assert answer.json().keys() >= {"errorCode", "message", "retryable", "correlationId"}
    assert nothing(await kept_of(superuser, event))


@pytest.mark.covers("FIN-061", "FIN-023")
async def test_the_connect_route_takes_its_own_secret_only(door: Door, superuser: asyncpg.Connection):
    event = an_event()
    assert (await door.knock(event, CONNECT, "sandbox")).json()["errorCode"] == "INVALID_SIGNATURE"
    assert (await door.knock(event, DOOR, "sandbox_connect")).json()["errorCode"] == "INVALID_SIGNATURE"
    assert nothing(await kept_of(superuser, event))


@pytest.mark.covers("FIN-061")
async def test_an_event_of_the_other_mode_is_refused_and_leaves_no_trace(door: Door, superuser: asyncpg.Connection):
    event = an_event(livemode=True)
    answer = await door.knock(event)
    assert (answer.status_code, answer.json()["errorCode"]) == (400, "LIVEMODE_MISMATCH")
    assert nothing(await kept_of(superuser, event))


@pytest.mark.covers("PAY-014")
@pytest.mark.parametrize(
    "body",
    [b"not json", b"[]", b'{"id": 7}', as_sent(an_event(id="")), as_sent(an_event(id="evt_\n")), as_sent(an_event(type="x" * 201))],
    ids=["text", "list", "half", "no id", "line break", "long type"],
)  # fmt: skip
async def test_what_is_signed_and_cannot_be_understood_is_refused(
    door: Door, superuser: asyncpg.Connection, body: bytes
):
    before = await superuser.fetchval("SELECT count(*) FROM webhooks.receipt")
    answer = await door.site.post(DOOR, content=body, headers=door.gateway.sign(body))
    assert (answer.status_code, answer.json()["errorCode"]) == (400, "MALFORMED_REQUEST")
    assert await superuser.fetchval("SELECT count(*) FROM webhooks.receipt") == before


async def test_more_bytes_than_any_event_has_are_not_read(door: Door):
    body = as_sent(an_event(object={"description": "x" * LARGEST_EVENT_BYTES}))
    answer = await door.site.post(DOOR, content=body, headers=door.gateway.sign(body))
    assert (answer.status_code, answer.json()["errorCode"]) == (413, "REQUEST_TOO_LARGE")


@pytest.mark.covers("PAY-073")
async def test_what_was_said_is_readable_in_its_own_row_only(door: Door, superuser: asyncpg.Connection):
    event, other = an_event(object={"description": "for Ana"}), an_event()
    await asyncio.gather(door.knock(event), door.knock(other))
    [receipt], [elsewhere] = (await kept_of(superuser, event)).receipts, (await kept_of(superuser, other)).receipts
    sealed = await superuser.fetchval("SELECT sealed FROM webhooks.payload WHERE receipt_id = $1", receipt["id"])
    assert b"Ana" not in sealed
    assert KEYRING().open(sealed, store.place_of(receipt["id"])) == as_sent(event)
    with pytest.raises(Exception, match="not written for"):
        KEYRING().open(sealed, store.place_of(elsewhere["id"]))


async def test_a_get_is_no_webhook(site: httpx.AsyncClient):
    assert (await site.get(DOOR)).status_code == 405

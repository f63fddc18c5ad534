"""Nothing of what an event said leaves through a log, a job, a dead letter, a fact or the trail (PAY-071, PAY-072)."""

import json
from typing import Any

import asyncpg
import pytest

from admitone.finance.gateways.api import ObjectType
from admitone.finance.sources.api import PaymentId
from admitone.finance.webhooks.model import ReceiptId
from admitone.finance.webhooks.telling import ALLOWED, say
from admitone.kernel import failpoints
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from admitone.kernel.ids import uuid7
from tests.finance.webhooks.conftest import DOOR, Door
from tests.finance.webhooks.ground import a_payment, a_reference, an_organization, the_work
from tests.finance.webhooks.provider import CONNECT, an_event, as_sent
from tests.finance.webhooks.test_operating import replayed, secret  # noqa: F401  A fixture.
from tests.finance.webhooks.test_polling import a_run

CANARIES = {
    "number": "4242424242424242",
    "cvc": "canary-cvc-737",
    "name": "Canária Amarela dos Reis",
    "email": "canary.bird@example.org",
    "phone": "+351912345678",
    "address": "Rua do Canário 17, 4000-123 Porto",
    "token": "tok_canary_9f8e7d6c",
    "nif": "NIF canary 123456789",
}
WORDS = [value.encode() for value in CANARIES.values()] + [b"canary", "Canária".encode(), b"Can\\u00e1ria"]

WRITTEN = (
    *(
        "webhooks.receipt",
        "webhooks.cursor",
        "kernel.job",
        "kernel.job_key",
        "kernel.job_attempt",
        "kernel.dead_letter",
    ),
    *("kernel.event_log", "kernel.audit_entry", "kernel.alert", "kernel.inbox", "kernel.idempotency_key"),
    *("payments.payment_fact", "payments.payment", "payments.provider_ref", "ledger.transfer"),
)


def a_talkative(type: str = "payment_intent.succeeded", **said: Any) -> dict[str, Any]:  # noqa: A002
    """With people in every place that a provider has for them."""
    about = {
        "description": CANARIES["name"],
        "receipt_email": CANARIES["email"],
        "billing_details": CANARIES,
        "payment_method_details": {"card": CANARIES},
        "last_payment_error": {"message": f"{CANARIES['name']} has {CANARIES['number']}"},
        **said.pop("object", {}),
    }
    about["metadata"] = {**CANARIES, **about.get("metadata", {})}
    return an_event(type, object=about, **said)


@pytest.mark.covers("PAY-071", "PAY-072", "FIN-065")
async def test_nothing_that_an_event_says_about_people_is_written_anywhere(
    database: Database,
    batcher: Batcher,
    superuser: asyncpg.Connection,
    door: Door,
    secret: dict[str, str],  # noqa: F811
    capsysbinary: pytest.CaptureFixture[bytes],
):
    scope, intent, unknown = await an_organization(database), f"pi_{uuid7().hex}", f"pi_{uuid7().hex}"
    payment = await a_payment(database, scope, intent)
    await a_reference(database, scope, ObjectType.INTENT, unknown, PaymentId.new())
    paid = a_talkative(object={"id": intent}, account=None)
    nobodys, odd, refused = a_talkative(), a_talkative("payment_intent.odd"), a_talkative(object={"id": unknown})
    listed, broken = a_talkative(), a_talkative(object={"id": f"pi_{uuid7().hex}"})
    account = a_talkative("account.updated", account=f"acct_{uuid7().hex}")

    # The ways that fail at the door.
    body = as_sent(a_talkative())
    for content, headers in (
        (body + b" ", door.gateway.sign(body)),
        (body[:-7], door.gateway.sign(body[:-7])),
        (as_sent(a_talkative(id=CANARIES["email"])), {}),
    ):
        assert (await door.site.post(DOOR, content=content, headers=headers)).status_code == 400
    for odd_one in (a_talkative(id=CANARIES["email"]), a_talkative(CANARIES["name"]), a_talkative(livemode=True)):
        assert (await door.knock(odd_one)).status_code == 400
    assert (await door.knock(account, CONNECT, "sandbox_connect")).status_code == 503

    def fail() -> None:
        raise RuntimeError("a bug in the middle")

    with failpoints.armed("webhooks.before_enqueue", fail):
        assert (await door.knock(broken)).status_code == 500

    # Those that go on, well and badly, and again.
    for event in (paid, nobodys, odd, refused):
        assert (await door.knock(event)).status_code == 200
    door.gateway.events = [as_sent(listed), as_sent(a_talkative(id="canary bird"))]
    await a_run(database, batcher)
    receipts = await the_work(database, superuser, paid, nobodys, odd, refused, listed)
    assert [row["state"] for row in receipts] == ["PROCESSED", "ORG_UNRESOLVED", "DEAD", "DEAD", "ORG_UNRESOLVED"]
    await replayed(door.site, secret, *(ReceiptId(row["id"]) for row in receipts[1:4]))
    await the_work(database, superuser, nobodys, odd, refused)

    logged = capsysbinary.readouterr()
    written = {"standard output": logged.out, "standard error": logged.err}
    for table in WRITTEN:
        rows = await superuser.fetch(f"SELECT t::text AS row FROM {table} AS t")
        written[table] = "\n".join(row["row"] for row in rows).encode()
    assert len(logged.out) > 1000 and all(written[table] for table in ("webhooks.receipt", "kernel.dead_letter"))
    assert {place: word for place, text in written.items() for word in WORDS if word in text} == {}
    _assert_told(logged.out, paid, payment, str(scope.organization))


def _assert_told(logged: bytes, event: dict[str, Any], payment: PaymentId, organization: str) -> None:
    lines = [json.loads(line) for line in logged.splitlines() if line.startswith(b"{")]
    [line] = [each for each in lines if each["event"] == "webhook.processed" and each["stripeEventId"] == event["id"]]
    assert (line["orgId"], line["paymentId"]) == (organization, str(payment))
    assert {"correlationId", "eventType", "status", "attempts"} <= line.keys()
    for each in lines:
        if each["event"].startswith("webhook."):
            assert each.keys() <= ALLOWED | {"at", "level", "event", "job", "jobId"}, each


@pytest.mark.covers("PAY-071")
def test_a_field_that_is_not_on_the_list_is_dropped(capsysbinary: pytest.CaptureFixture[bytes]):
    say("webhook.tested", stripeEventId="evt_1", payload={"name": "Ana"}, object="x")
    [line] = [json.loads(each) for each in capsysbinary.readouterr().out.splitlines() if b"webhook.tested" in each]
    assert line["stripeEventId"] == "evt_1" and not {"payload", "object"} & line.keys()

"""`emulate`: intents, and a hosted page of its own, with signed webhooks. Its events carry no id, and every card is good."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import msgspec
import pytest

from admitone.finance.gateways import signature
from admitone.finance.gateways.api import Charge, FactKind, ObjectType, Refused
from admitone.finance.gateways.stripe.gateway import StripeGateway
from admitone.finance.gateways.stripe.keys import Keys
from admitone.kernel.errors import Malformed
from admitone.kernel.outbound import Outbound
from admitone.kernel.scope import Caller
from tests.finance.gateways.builders import a_charge_order, kinds, sure
from tests.finance.gateways.stage import Webhook
from tests.finance.gateways.stages import a_listener
from tests.jobs import DEADLINE_SECONDS
from tests.peers.node import HOME, a_server, find_node

KEYS = Keys("sk_test_of_emulate", "whsec_of_emulate", "whsec_of_nobody")
BACK = "http://127.0.0.1:8000/back"
Emulate = tuple[httpx.AsyncClient, list[Webhook]]


@pytest.fixture(scope="module")
async def emulate(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Emulate]:
    node = find_node(22)
    seed = tmp_path_factory.mktemp("emulate") / "seed.json"
    async with a_listener() as (listener, sent):
        hook = {"url": f"http://127.0.0.1:{listener}/", "events": ["*"], "secret": KEYS.account}
        seed.write_bytes(msgspec.json.encode({"stripe": {"webhooks": [hook]}}))
        program = str(HOME / "node_modules" / "emulate" / "dist" / "index.js")
        command = (node, program, "start", "--service", "stripe", "--port", "{port}", "--seed", str(seed))
        async with (
            a_server(*command, health="/") as url,
            httpx.AsyncClient(base_url=url, headers={"authorization": f"Bearer {KEYS.api}"}) as client,
        ):
            yield client, sent


@pytest.fixture
def gateway(emulate: Emulate, outbound: Outbound) -> StripeGateway:
    return StripeGateway(KEYS, str(emulate[0].base_url), outbound)


async def told(sent: list[Webhook], kind: str, about: str) -> Webhook:
    async with asyncio.timeout(DEADLINE_SECONDS):
        while True:
            found = [each for each in sent if kind.encode() in each.body and about.encode() in each.body]
            if found:
                return found[0]
            await asyncio.sleep(0.05)


async def test_an_intent_is_opened_paid_and_found(gateway: StripeGateway, emulate: Emulate):
    client, sent = emulate
    order = a_charge_order()
    charge = sure(Charge, await gateway.open_charge(order))
    assert kinds(charge) == [FactKind.PENDING]
    assert (await client.post(f"/v1/payment_intents/{charge.id}/confirm", data={})).status_code == 200
    paid = sure(Charge, await gateway.find_charge(Caller(), charge.id))
    assert kinds(paid) == [FactKind.PENDING, FactKind.CAPTURED]
    assert paid.facts[-1].amount_minor == 5_000
    assert kinds(await gateway.cancel_charge(Caller(), charge.id)) == [FactKind.PENDING, FactKind.CAPTURED]
    webhook = await told(sent, "payment_intent.succeeded", charge.id)
    header = next(value for name, value in webhook.headers.items() if name.lower() == signature.HEADER)
    assert signature.verify(webhook.body, header, KEYS.account, datetime.now(UTC))
    with pytest.raises(Malformed):
        gateway.verify(webhook.body, webhook.headers, "/api/stripe/webhook", datetime.now(UTC))


async def test_an_intent_is_cancelled_and_stays_so(gateway: StripeGateway):
    charge = sure(Charge, await gateway.open_charge(a_charge_order()))
    assert kinds(await gateway.cancel_charge(Caller(), charge.id)) == [FactKind.PENDING, FactKind.CANCELLED]
    assert kinds(await gateway.cancel_charge(Caller(), charge.id)) == [FactKind.PENDING, FactKind.CANCELLED]
    sure(Refused, await gateway.cancel_charge(Caller(), "pi_0000000000000000"))
    assert await gateway.find_charge(Caller(), "pi_0000000000000000") is None


async def test_a_page_that_was_made_there_is_found_and_closed(gateway: StripeGateway, emulate: Emulate):
    """It sells only what it has prices for, so it refuses ours; one without lines it makes."""
    client, sent = emulate
    refused = sure(Refused, await gateway.open_charge(a_charge_order(return_url=BACK)))
    assert refused.message == "line_items[0][price]"
    made = (await client.post("/v1/checkout/sessions", data={"mode": "payment", "success_url": BACK})).json()
    open_one = sure(Charge, await gateway.find_charge(Caller(), made["id"]))
    assert ([ref.type for ref in open_one.refs], kinds(open_one)) == ([ObjectType.SESSION], [FactKind.PENDING])
    assert open_one.redirect_url == made["url"]
    closed = sure(Charge, await gateway.cancel_charge(Caller(), made["id"]))
    assert kinds(closed) == [FactKind.PENDING, FactKind.EXPIRED]
    await told(sent, "checkout.session.expired", made["id"])
    assert kinds(await gateway.cancel_charge(Caller(), made["id"])) == [FactKind.PENDING, FactKind.EXPIRED]


def test_the_peers_are_pinned():
    pins = msgspec.json.decode(Path(__file__).with_name("package.json").read_bytes())["dependencies"]
    assert pins == {"emulate": "0.12.2", "stripe-stateful-mock": "0.0.16"}

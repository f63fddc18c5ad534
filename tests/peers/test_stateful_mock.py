"""`stripe-stateful-mock`: strict about keys, with declines, 429 and 500 to order, accounts and disputes.

It has charges and no intents, so charges are asked for by the adapter's own way, and the rest by the adapter.
"""

from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import msgspec
import pytest

from admitone.finance.gateways.api import Account, Dispute, DisputeStatus, NotSent, Refused, Trouble, Unknown
from admitone.finance.gateways.stripe.gateway import StripeGateway
from admitone.finance.gateways.stripe.keys import Keys
from admitone.finance.gateways.stripe.objects import Attempt
from admitone.finance.gateways.stripe.way import Seen, Way
from admitone.kernel.outbound import Outbound
from admitone.kernel.scope import Caller
from tests.finance.gateways.builders import an_account_order, sure
from tests.peers.node import a_server, find_node

KEYS = Keys("sk_test_of_the_stateful_mock", "whsec_a", "whsec_b")
SERVE = "require('stripe-stateful-mock').createExpressApp().listen({port}, '127.0.0.1')"


@pytest.fixture(scope="module")
async def url() -> AsyncIterator[str]:
    async with a_server(find_node(18), "-e", SERVE, health="/") as url:
        yield url


@pytest.fixture
def gateway(url: str, outbound: Outbound) -> StripeGateway:
    return StripeGateway(KEYS, url, outbound)


class Charging:
    def __init__(self, way: Way) -> None:
        self._way = way

    async def charge(self, source: str, key: Any = None, amount: int = 5_000) -> Seen[Attempt] | Trouble:
        given: Any = {"amount": amount, "currency": "eur", "source": source}
        call = self._way.v1.charges.create_async(given, {"idempotency_key": str(key or uuid4())})
        return await self._way.hear(Caller(), call, Attempt)


@pytest.fixture
def charging(url: str, outbound: Outbound) -> Charging:
    return Charging(Way(KEYS, url, outbound))


async def test_a_key_gives_the_same_answer_and_refuses_other_words(charging: Charging):
    key = uuid4()
    first = sure(Seen, await charging.charge("tok_visa", key))
    assert sure(Seen, await charging.charge("tok_visa", key)).it == first.it
    assert sure(Refused, await charging.charge("tok_visa", key, amount=6_000)).code == "idempotency_error"
    assert sure(Seen, await charging.charge("tok_visa")).it.id != first.it.id


async def test_which_trouble_it_is(charging: Charging):
    assert sure(Refused, await charging.charge("tok_chargeDeclinedInsufficientFunds")).code == "card_declined"
    sure(NotSent, await charging.charge("tok_429"))
    sure(Unknown, await charging.charge("tok_500"))
    assert sure(Refused, await charging.charge("tok_visa", amount=0)).code


async def test_what_broke_before_is_repeated_under_its_key(charging: Charging):
    """As Stripe does, it keeps a 500 under the key: unknown it stays until somebody finds out."""
    key, chain = uuid4(), f"tok_500|tok_visa|{uuid4()}"
    sure(Unknown, await charging.charge(chain, key))
    sure(Unknown, await charging.charge(chain, key))
    sure(Seen, await charging.charge(chain, uuid4()))
    busy, chain = uuid4(), f"tok_429|tok_visa|{uuid4()}"
    sure(NotSent, await charging.charge(chain, busy))
    assert sure(Seen, await charging.charge(chain, busy)).it.amount == 5_000, "turned away, it may come again"


async def test_an_account_is_opened_once_and_found(gateway: StripeGateway):
    order = an_account_order()
    account = sure(Account, await gateway.open_account(order))
    assert (account.type, account.organization) == ("standard", order.organization)
    assert await gateway.open_account(order) == account
    other = msgspec.structs.replace(order, country="ES")
    assert sure(Refused, await gateway.open_account(other)).code == "idempotency_error"
    assert await gateway.find_account(Caller(), account.id) == account
    assert await gateway.find_account(Caller(), "acct_0000000000000000") is None


@pytest.mark.parametrize(
    ("source", "reason"),
    [("tok_createDispute", "fraudulent"), ("tok_createDisputeProductNotReceived", "product_not_received")],
)
async def test_a_dispute_is_found_with_its_file(
    gateway: StripeGateway, charging: Charging, url: str, outbound: Outbound, source: str, reason: str
):
    charge = sure(Seen, await charging.charge(source)).it
    shown = await Way(KEYS, url, outbound).hear(
        Caller(), Way(KEYS, url, outbound).v1.charges.retrieve_async(charge.id), dict[str, Any]
    )
    dispute = sure(Dispute, await gateway.find_dispute(Caller(), sure(Seen, shown).it["dispute"]))
    assert (dispute.charge, dispute.amount_minor, dispute.reason) == (charge.id, 5_000, reason)
    assert dispute.status is DisputeStatus.NEEDS_RESPONSE
    assert dispute.due_at
    assert await gateway.find_dispute(Caller(), "dp_0") is None

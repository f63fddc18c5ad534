"""The sandbox's page: what a person can do there, and what nobody else can."""

import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from admitone.finance.gateways.api import Account, AccountLink, Charge, Payout
from admitone.finance.gateways.sandbox.faults import CallFault, Faults
from admitone.finance.gateways.sandbox.gateway import SandboxGateway
from admitone.finance.gateways.sandbox.simulator import Simulator
from admitone.finance.gateways.sandbox.site import Site
from admitone.kernel.scope import Caller
from tests.finance.gateways.builders import (
    KEYS,
    a_charge_order,
    a_payout_order,
    a_pix_order,
    an_account_order,
    an_evidence_order,
    kinds,
    sure,
)

LISTENER = "http://shop.test:8000"
HOME = "http://127.0.0.1:8001"


class Visitor:
    """Somebody with a browser, and the provider behind the page."""

    def __init__(self, client: httpx.AsyncClient, simulator: Simulator) -> None:
        self.client = client
        self.simulator = simulator
        self.gateway = SandboxGateway.in_process(simulator)

    async def charge(self, **changes: Any) -> Charge:
        return sure(Charge, await self.gateway.open_charge(a_charge_order(**changes)))

    async def buttons(self, path: str) -> dict[str, tuple[str, dict[str, str]]]:
        """By their label: where they lead and what they send."""
        page = (await self.client.get(path)).text
        found = {}
        for action, inside in re.findall(r'<form method="post" action="([^"]+)">(.*?)</form>', page, re.DOTALL):
            hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', inside))
            [label] = re.findall(r"<button>(.*?)</button>", inside)
            found[label] = (action, hidden)
        return found

    async def press(self, path: str, label: str, **typed: str) -> httpx.Response:
        action, hidden = (await self.buttons(path))[label]
        return await self.client.post(action, data={**hidden, **typed})


@pytest.fixture
async def visitor() -> AsyncIterator[Visitor]:
    simulator = Simulator(KEYS, url=HOME)
    transport = httpx.ASGITransport(Site(simulator, LISTENER).application())
    async with httpx.AsyncClient(transport=transport, base_url=HOME) as client:
        yield Visitor(client, simulator)


async def test_a_person_can_take_a_charge_through_everything(visitor: Visitor):
    charge = await visitor.charge()
    path = f"/charges/{charge.id}"
    for label, typed in (
        ("Pay with a card that is declined", {}),
        ("Pay with a card that asks (3DS)", {}),
        ("Fail to prove it (3DS fails)", {}),
        ("Pay with a slow card", {}),
        ("The bank pays", {}),
        ("Tell the fee", {}),
        ("Change the fee", {"amount": "-3"}),
        ("Refund", {"amount": "500"}),
        ("Refund, slowly", {"amount": "100"}),
        ("The refund comes back", {}),
        ("The refund that had arrived comes back", {}),
        ("Open a dispute", {}),
        ("The organisation submits evidence here", {}),
        ("The organisation wins", {}),
    ):
        answer = await visitor.press(path, label, **typed)
        assert (answer.status_code, answer.headers.get("location")) == (303, path), label
    page = (await visitor.client.get(path)).text
    for told in ("payment_intent.payment_failed", "charge.refunded", "charge.dispute.closed", "balance.available"):
        assert told in page
    assert kinds(await visitor.gateway.find_charge(Caller(), charge.id))[-1] == "DISPUTE_WON"
    assert f'href="{path}"' in (await visitor.client.get("/")).text


async def test_a_dispute_shows_its_time_and_its_evidence_and_takes_it_once(visitor: Visitor):
    charge = await visitor.charge()
    path = f"/charges/{charge.id}"
    await visitor.press(path, "Pay")
    await visitor.press(path, "Open a dispute")
    page = (await visitor.client.get(path)).text
    assert "Evidence until" in page
    assert "needs_response" in page
    [dispute] = re.findall(r"dp_[0-9a-f]{24}", page)[:1]
    order = an_evidence_order(
        a_charge_order(), dispute, texts=(("refund_policy", "<b>None</b> after the doors open."),)
    )
    await visitor.gateway.answer_dispute(order)
    page = (await visitor.client.get(path)).text
    assert "on file, not submitted" in page
    assert "refund_policy: &lt;b&gt;None&lt;/b&gt; after the doors open." in page
    await visitor.press(path, "The organisation submits evidence here")
    page = (await visitor.client.get(path)).text
    assert "under_review" in page
    assert "Written at the provider&#39;s own page." in page
    assert "The organisation submits evidence here" not in await visitor.buttons(path)
    assert "The cardholder wins" in await visitor.buttons(path)


async def test_only_what_is_possible_is_offered(visitor: Visitor):
    charge = await visitor.charge()
    path = f"/charges/{charge.id}"
    assert "Refund" not in await visitor.buttons(path)
    assert "Let it expire" not in await visitor.buttons(path)
    await visitor.press(path, "Cancel")
    assert await visitor.buttons(path) == {}


async def test_pix_is_paid_by_its_code(visitor: Visitor):
    charge = sure(Charge, await visitor.gateway.open_charge(a_pix_order()))
    page = (await visitor.client.get(f"/charges/{charge.id}")).text
    assert "<svg" in page
    assert charge.pix
    assert charge.pix.copy_paste in page
    await visitor.press(f"/charges/{charge.id}", "Pay another amount by PIX", amount="5100")
    found = sure(Charge, await visitor.gateway.find_charge(Caller(), charge.id))
    assert found.facts[-1].amount_minor == 5_100


async def test_who_has_paid_goes_back_to_where_they_came_from(visitor: Visitor):
    charge = await visitor.charge(return_url=f"{LISTENER}/done?order=1")
    assert charge.redirect_url == f"{HOME}/charges/{charge.id}"
    answer = await visitor.press(f"/charges/{charge.id}", "Pay")
    assert answer.headers["location"] == f"{LISTENER}/done?order=1"
    refunded = await visitor.press(f"/charges/{charge.id}", "Refund")
    assert refunded.headers["location"] == f"/charges/{charge.id}"


@pytest.mark.parametrize(
    "elsewhere",
    [
        "https://evil.example/",
        "//evil.example/",
        "javascript:alert(1)",
        "http://127.0.0.1.evil.example/",
        "http://shop.test:8000@evil.example/",
        "http://shop.test:8001/",
        "https://shop.test:8000/",
        "data:text/html,x",
        "http://evil.example\\@127.0.0.1/",
        "http://127.0.0.1\\.evil.example/",
        "http://evil.example@127.0.0.1/",
        "http://evil.example:1@shop.test:8000/",
        "http://127.0.0.1/\r\nset-cookie: a=b",
        "ht\ttp://127.0.0.1/",
        " http://127.0.0.1/",
        "http://[127.0.0.1/",
    ],
)
async def test_nobody_is_sent_anywhere_else(visitor: Visitor, elsewhere: str):
    charge = await visitor.charge(return_url=elsewhere)
    answer = await visitor.press(f"/charges/{charge.id}", "Pay")
    assert answer.headers["location"] == f"/charges/{charge.id}"
    assert f'href="{elsewhere}"' not in (await visitor.client.get(f"/charges/{charge.id}")).text


async def test_an_owner_tells_who_they_are_and_goes_back(visitor: Visitor):
    order = an_account_order()
    account = sure(Account, await visitor.gateway.open_account(order))
    link = sure(AccountLink, await visitor.gateway.link_account(Caller(), account.id, "http://localhost:8000/payouts"))
    answer = await visitor.press(link.url.removeprefix(HOME), "Tell everything (KYC done)")
    assert answer.headers["location"] == "http://localhost:8000/payouts"
    await visitor.press(f"/accounts/{account.id}", "Want to know more (restrict)")
    assert "individual.verification.document" in (await visitor.client.get(f"/accounts/{account.id}")).text
    await visitor.press(f"/accounts/{account.id}", "Tell everything (KYC done)")
    payout = sure(Payout, await visitor.gateway.pay_out(a_payout_order(account.id, order.organization)))
    await visitor.press(f"/payouts/{payout.id}", "It comes back")
    assert "account_closed" in (await visitor.client.get(f"/payouts/{payout.id}")).text
    assert await visitor.buttons(f"/payouts/{payout.id}") == {}


async def test_what_is_not_possible_is_said_and_changes_nothing(visitor: Visitor):
    charge = await visitor.charge()
    await visitor.press(f"/charges/{charge.id}", "Pay")
    for typed in ("9999", "-1", "12x", "1" * 30):
        answer = await visitor.press(f"/charges/{charge.id}", "Refund", amount=typed)
        assert answer.status_code == 400
        assert 'role="alert"' in answer.text
    assert "REFUNDED" not in kinds(await visitor.gateway.find_charge(Caller(), charge.id))
    assert (await visitor.client.post(f"/charges/{charge.id}/fly")).status_code == 400
    assert (await visitor.client.get("/charges/pi_0")).status_code == 404
    assert (await visitor.client.post("/charges/pi_0/pay")).status_code == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
async def test_forms_of_other_sites_are_not_taken(visitor: Visitor, headers: dict[str, str]):
    charge = await visitor.charge()
    answer = await visitor.client.post(f"/charges/{charge.id}/pay", headers=headers)
    assert answer.status_code == 403
    assert kinds(await visitor.gateway.find_charge(Caller(), charge.id)) == ["PENDING"]


async def test_the_sandbox_s_own_forms_are_taken_although_its_pages_tell_nobody_their_address(visitor: Visitor):
    charge = await visitor.charge()
    headers = {"origin": "null", "sec-fetch-site": "same-origin"}  # As browsers send it from a page without referrer.
    answer = await visitor.client.post(f"/charges/{charge.id}/pay", headers=headers)
    assert answer.status_code == 303
    assert "CAPTURED" in kinds(await visitor.gateway.find_charge(Caller(), charge.id))


async def test_a_name_that_was_pointed_at_this_machine_gets_nothing(visitor: Visitor):
    for path in ("/", "/v1/events"):
        assert (await visitor.client.get(path, headers={"host": "evil.example"})).status_code == 400


async def test_what_others_wrote_is_shown_as_text(visitor: Visitor):
    charge = await visitor.charge(description='<script>alert("1")</script>')
    answer = await visitor.client.get(f"/charges/{charge.id}")
    assert "<script" not in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]


async def test_pages_need_nothing_from_elsewhere_and_every_field_has_a_label(visitor: Visitor):
    charge = sure(Charge, await visitor.gateway.open_charge(a_pix_order()))
    for path in ("/", f"/charges/{charge.id}", "/charges/none"):
        page = (await visitor.client.get(path)).text
        assert not re.findall(r'(?:src|href)="(?:https?:)?//', page)
        assert '<html lang="en">' in page
        assert 'name="viewport"' in page
        fields = re.findall(r'<(?:input|textarea) id="([^"]+)"', page)
        assert fields == re.findall(r'<label for="([^"]+)"', page)


async def test_the_api_is_behind_the_same_faults_and_the_same_key():
    simulator = Simulator(KEYS, url=HOME, faults=Faults(script=(CallFault.UNREACHABLE, CallFault.ERROR_AFTER)))
    transport = httpx.ASGITransport(Site(simulator, LISTENER).application())
    async with httpx.AsyncClient(transport=transport, base_url=HOME) as client:
        statuses = [(await client.get("/v1/events")).status_code for _ in range(3)]
        assert statuses == [503, 500, 401]
        assert (await client.post("/v1/payment_intents", content=b"x" * 200_000)).status_code == 413
        assert (await client.get("/health")).text == "ok"


@pytest.mark.parametrize("path", ["/v1/payment_intents", "/charges/pi_0/pay"])
async def test_what_is_too_long_is_not_read_to_its_end(visitor: Visitor, path: str):
    read: list[int] = []

    async def endless() -> AsyncIterator[bytes]:
        for number in range(1_000):
            read.append(number)
            yield b"x" * 10_000

    assert (await visitor.client.post(path, content=endless())).status_code == 413
    assert len(read) < 20

"""`localstripe`, which others wrote, as a stage: real state, real signatures, and none of Connect.

It knows less than Stripe and is older than the version that we speak, so it is taught what it predates: to take a
description, to list the charges of an intent, and the fields that it lacks. It is started on this machine only, and keeps
nothing on disk.
"""

import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
from aiohttp import web

from admitone.finance.gateways.stripe.gateway import StripeGateway
from admitone.finance.gateways.stripe.keys import Keys
from admitone.kernel.outbound import Outbound
from tests.finance.gateways.stage import EVERYTHING, Webhook
from tests.finance.gateways.stages import a_listener

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Its own, of the library below it.
    from localstripe import resources, server

CARDS = {"good": "4242424242424242", "card_declined": "4000000000000341", "asks": "4000002500003155"}
LOCAL_KEYS = Keys("sk_test_of_localstripe", "whsec_of_localstripe", "whsec_of_nobody")


class LocalStage:
    signs = EVERYTHING
    keeps_cancelled = True

    def __init__(self, client: httpx.AsyncClient, outbound: Outbound, sent: list[Webhook]) -> None:
        self.gateway = StripeGateway(LOCAL_KEYS, str(client.base_url), outbound)
        self._client = client
        self.sent = sent

    async def do(self, deed: str, thing: str, card: str = "good") -> None:
        match deed:
            case "pay":
                await self._pay(thing, card)
            case "authenticate" | "fail_authentication":
                secret = (await self._get(f"/v1/payment_intents/{thing}"))["client_secret"]
                said = {"client_secret": secret, "success": str(deed == "authenticate").lower()}
                await self._post(f"/v1/payment_intents/{thing}/_authenticate", **said)
            case _:
                raise NotImplementedError(deed)

    async def webhooks(self) -> list[Webhook]:
        """All on the route of the platform's account: it has no other."""
        return [Webhook("/api/stripe/webhook", each.headers, each.body) for each in self.sent]

    async def _pay(self, intent: str, card: str) -> None:
        number = {"card[number]": CARDS[card], "card[exp_month]": "12", "card[exp_year]": "2040", "card[cvc]": "123"}
        method = await self._post("/v1/payment_methods", type="card", **number)
        await self._post(f"/v1/payment_intents/{intent}", payment_method=method["id"])
        await self._post(f"/v1/payment_intents/{intent}/confirm", may_decline=True)

    async def _post(self, path: str, *, may_decline: bool = False, **form: str) -> Any:
        answer = await self._client.post(path, data=form)
        assert answer.status_code == 200 or (may_decline and answer.status_code == 402), answer.text
        return answer.json()

    async def _get(self, path: str) -> Any:
        return (await self._client.get(path)).json()


def teach() -> None:
    """What it predates."""
    resources.Store.dump_to_disk = lambda self: None
    for kind, lacks in (
        (resources.Charge, {"application_fee": None, "transfer": None, "disputed": False}),
        (resources.Refund, {"failure_balance_transaction": None, "failure_reason": None}),
    ):
        for name, value in lacks.items():
            setattr(kind, name, value)
    _instead(resources.PaymentIntent, "_api_create", lambda before, description="", **data: before(**data))
    _instead(resources.Charge, "_api_list_all", _list_charges)


def _instead(kind: Any, name: str, taught: Callable[..., Any]) -> None:
    before = getattr(kind, name)
    setattr(kind, name, classmethod(lambda _, *given, **more: taught(before, *given, **more)))


def _list_charges(before: Any, url: str, payment_intent: str | None = None, **more: Any) -> Any:
    found = before(url, **more)
    if payment_intent:
        found._list = [each for each in found._list if each.payment_intent == payment_intent]
    return found


@asynccontextmanager
async def a_localstripe(outbound: Outbound) -> AsyncIterator[LocalStage]:
    teach()
    runner = web.AppRunner(server.app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    [(_, port)] = runner.addresses
    headers = {"authorization": f"Bearer {LOCAL_KEYS.api}"}
    try:
        async with (
            a_listener() as (listener, sent),
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=headers) as client,
        ):
            told = {"url": f"http://127.0.0.1:{listener}/", "secret": LOCAL_KEYS.account}
            assert (await client.post("/_config/webhooks/ours", json=told)).status_code == 200
            yield LocalStage(client, outbound, sent)
    finally:
        await runner.cleanup()

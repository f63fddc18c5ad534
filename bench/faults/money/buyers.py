"""Buyers: what each wants, how patient they are, and what they do at the provider's page. All of it from a seed."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import httpx
from tests.people import Person

from admitone.finance.gateways.sandbox.charges import No
from admitone.finance.sources.api import Source, SourceType
from bench.faults.money.market import Market

TYPES = (*(SourceType.TICKET_ORDER,) * 4, SourceType.BOOKING, SourceType.STORE_ORDER, SourceType.STAY_RESERVATION)
MOST_REPEATS = 5
"""Within what one person may ask for one thing in five minutes."""
SETTLED = 409
LOOKS = 20


@dataclass
class Case:
    """One buyer who wants one thing."""

    number: int
    chance: random.Random
    buyer: Person
    source: Source
    price: int
    currency: str
    fate: str
    comes_back: bool
    """Whether the provider's page sends them back to ours."""
    answers: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """What was answered under each key."""
    refused: list[str] = field(default_factory=list)

    @property
    def key(self) -> str:
        return f"case-{self.number}"

    def charge(self, key: str | None = None) -> str | None:
        """The charge that the buyer was sent to, if anybody told them."""
        told = self.answers.get(key or self.key)
        return told[0]["redirectUrl"].rpartition("/")[2] if told else None


def a_case(market: Market, number: int, seed: int) -> Case:
    chance = random.Random(f"buyer {number} of {seed}")
    buyer = chance.choice(market.buyers)
    kind = chance.choice(TYPES)
    is_pix = kind is not SourceType.STAY_RESERVATION and chance.random() < 0.2
    currency = "BRL" if is_pix else "EUR"
    price = chance.choice([1, 99, 100, 2500, 12_345, 999_999])
    source = market.world.shop.sells(buyer.identity, price, type=kind, currency=currency)
    fates = [name for name in FATES if not is_pix or name not in CARD_ONLY]
    fate = chance.choices(fates, [WEIGHTS.get(name, 2) for name in fates])[0]
    return Case(number, chance, buyer, source, price, currency, fate, comes_back=chance.random() < 0.3)


async def buy(market: Market, case: Case) -> None:
    """Everything that one buyer does by themselves."""
    async with market.client(case.number) as http:
        await begin(market, http, case, case.key)
        charge = case.charge()
        if charge is not None:
            await FATES[case.fate](market, http, case, charge)


async def begin(market: Market, http: httpx.AsyncClient, case: Case, key: str) -> None:
    """Press the button, often more than once; some leave after the first answer that says nothing."""
    body = {
        "organizationId": str(market.world.organization),
        "sourceType": case.source.type.value,
        "sourceId": case.source.id,
        "idempotencyKey": key,
        "method": "PIX" if case.currency == "BRL" else "CARD",
    }
    if case.comes_back:
        body["returnUrl"] = "https://shop.example/thanks"
    patience = case.chance.choice([1, 2, MOST_REPEATS])
    while patience > 0:
        at_once = min(case.chance.choice([1, 1, 1, 3]), patience)
        patience -= at_once
        said = await asyncio.gather(
            *(market.post(http, "/api/payments/intent", body, case.buyer) for _ in range(at_once))
        )
        for response in said:
            if response.status_code == 200:
                case.answers.setdefault(key, []).append(response.json())
            elif response.status_code != 503:
                case.refused.append(response.json()["errorCode"])
        if any(response.status_code in (200, SETTLED) for response in said):
            return


# -- What they do at the provider's page


async def pays(market: Market, http: httpx.AsyncClient, case: Case, charge: str) -> None:  # noqa: ARG001
    act(market, "pay", charge)


async def pays_and_is_refunded(market: Market, http: httpx.AsyncClient, case: Case, charge: str) -> None:  # noqa: ARG001
    act(market, "pay", charge)
    act(market, "refund", charge, amount=case.chance.randint(1, case.price))


async def pays_with_the_second_card(market: Market, http: httpx.AsyncClient, case: Case, charge: str) -> None:  # noqa: ARG001
    act(market, "pay", charge, card="insufficient_funds")
    await asyncio.sleep(0)
    act(market, "pay", charge)


async def has_no_card_that_works(market: Market, http: httpx.AsyncClient, case: Case, charge: str) -> None:  # noqa: ARG001
    act(market, "pay", charge, card="card_declined")
    act(market, "pay", charge, card="card_declined")


async def proves_who_they_are(market: Market, http: httpx.AsyncClient, case: Case, charge: str) -> None:
    act(market, "pay", charge, card="asks")
    await _see(http, case, "REQUIRES_ACTION")
    act(market, case.chance.choice(["authenticate", "fail_authentication"]), charge)


async def pays_slowly(market: Market, http: httpx.AsyncClient, case: Case, charge: str) -> None:  # noqa: ARG001
    """The bank answers only when everything else is long over."""
    act(market, "pay", charge, card="slow")


async def looks_and_leaves(market: Market, http: httpx.AsyncClient, case: Case, charge: str) -> None:
    """Nothing is paid."""


async def gives_up(market: Market, http: httpx.AsyncClient, case: Case, charge: str) -> None:  # noqa: ARG001
    await _cancel(market, http, case)


async def gives_up_while_paying(market: Market, http: httpx.AsyncClient, case: Case, charge: str) -> None:
    """In two windows at once."""

    async def pay() -> None:
        for _ in range(case.chance.randrange(12)):
            await asyncio.sleep(0)
        act(market, "pay", charge)

    await asyncio.gather(pay(), _cancel(market, http, case))


async def pays_late(market: Market, http: httpx.AsyncClient, case: Case, charge: str) -> None:
    """Not now: see `come_back`."""


async def begins_again_after_a_decline(market: Market, http: httpx.AsyncClient, case: Case, charge: str) -> None:
    """With a new key, and then pays in one of the two windows, or in both."""
    act(market, "pay", charge, card="card_declined")
    await _see(http, case, "FAILED")
    second = f"{case.key}-again"
    await begin(market, http, case, second)
    for window in case.chance.choice([[charge], [case.charge(second)], [case.charge(second), charge]]):
        if window is not None:
            act(market, "pay", window, card=case.chance.choice(["good", "good", "asks"]))
            await _see(http, case, "REQUIRES_ACTION")
            act(market, "authenticate", window)


async def _see(http: httpx.AsyncClient, case: Case, state: str) -> None:
    """Look at the page until it says so, or not for ever: what the provider told may be lost."""
    payment = case.answers[case.key][0]["paymentId"]
    for _ in range(LOOKS):
        said = await http.get("/api/checkout/status", params={"paymentId": payment}, headers=case.buyer.headers)
        if said.status_code == 200 and said.json()["state"] == state:
            return
        await asyncio.sleep(0.05)


async def _cancel(market: Market, http: httpx.AsyncClient, case: Case) -> None:
    body = {"paymentId": case.answers[case.key][0]["paymentId"]}
    await market.post(http, "/api/checkout/cancel", body, case.buyer)


def act(market: Market, deed: str, charge: str, **options: Any) -> None:
    """What the provider does not allow does not happen."""
    try:
        market.world.simulator.act(deed, charge, **options)
    except No:
        return


def come_back(market: Market, case: Case) -> None:
    """Those who pay when their time is over, at a provider that takes it all the same."""
    charge = case.charge()
    if case.fate == "pays_late" and charge is not None:
        act(market, "pay", charge, late=True)


def let_the_bank_answer(market: Market, case: Case) -> None:
    charge = case.charge()
    if case.fate == "pays_slowly" and charge is not None:
        act(market, case.chance.choice(["clear", "clear", "fail_clearing"]), charge)


Fate = Callable[[Market, httpx.AsyncClient, Case, str], Awaitable[None]]
FATES: dict[str, Fate] = {
    each.__name__: each
    for each in (
        pays,
        pays_and_is_refunded,
        pays_with_the_second_card,
        has_no_card_that_works,
        proves_who_they_are,
        pays_slowly,
        looks_and_leaves,
        gives_up,
        gives_up_while_paying,
        pays_late,
        begins_again_after_a_decline,
    )
}
WEIGHTS = {"pays": 12, "gives_up_while_paying": 3, "pays_late": 3}
CARD_ONLY = frozenset(
    {
        "pays_with_the_second_card",
        "has_no_card_that_works",
        "proves_who_they_are",
        "pays_slowly",
        "begins_again_after_a_decline",
    }
)

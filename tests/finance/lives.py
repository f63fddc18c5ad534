"""What payments live through: each life is what a buyer, a bank and the provider do, and what we then hear of it.

lives = await a_busy_life(world)
"""

from collections.abc import Callable
from typing import Any

from admitone.finance.gateways.api import Method
from admitone.finance.sources.api import PaymentId, SourceType
from tests.finance.world import World

Deed = tuple[str, dict[str, Any]]


def deed(name: str, **options: Any) -> Deed:
    return name, options


PAY, FEES = deed("pay"), deed("tell_fees")
DISPUTE = deed("dispute")

LIVES: dict[str, tuple[Deed, ...]] = {
    "paid": (PAY,),
    "with its fee": (PAY, FEES),
    "with a fee that rose": (PAY, FEES, deed("adjust_fee", amount=7)),
    "with a fee that fell": (PAY, FEES, deed("adjust_fee", amount=-9)),
    "refunded in two parts": (PAY, FEES, deed("refund", amount=1000), deed("refund", amount=500)),
    "refunded": (PAY, deed("refund")),
    "with a refund that came back": (PAY, deed("refund", amount=1000, pending=True), deed("fail_refund")),
    "with a refund that arrived": (PAY, deed("refund", amount=1000, pending=True), deed("settle_refund")),
    "disputed": (PAY, FEES, DISPUTE),
    "won": (PAY, DISPUTE, deed("win")),
    "lost": (PAY, FEES, DISPUTE, deed("lose")),
    "late": (deed("cancel"), deed("pay", late=True)),
    "late and back": (deed("cancel"), deed("pay", late=True), FEES, deed("refund")),
    "too little": (deed("pay", amount=4999), FEES),
}


async def live(world: World, deeds: tuple[Deed, ...], *prices: int, **more: Any) -> PaymentId:
    """A payment to which these things happen, and we hear of each."""
    method = more.pop("method", Method.CARD)
    order = world.shop.sells(world.buyer.identity, *(prices or (5000,)), **more)
    payment, charge = await world.opened(order, method=method)
    for name, options in deeds:
        world.simulator.act(name, charge, **options)
        await hear(world, payment)
    return payment


async def hear(world: World, payment: PaymentId) -> None:
    await world.clerk.ask(world.organization, payment, world.buyer.caller)


async def a_free_one(world: World) -> PaymentId:
    begun = await world.begin(world.shop.sells(world.buyer.identity, 0), counted=True)
    return begun.payment.id


async def a_busy_life(world: World, only: Callable[[str], bool] = lambda _: True) -> dict[str, PaymentId]:
    """One payment of each life, by card and PIX, for things, stays and campaigns, and one for nothing."""
    lives = {name: await live(world, deeds) for name, deeds in LIVES.items() if only(name)}
    lives["by PIX"] = await live(world, (PAY, FEES), currency="BRL", method=Method.PIX)
    lives["a stay"] = await live(world, (PAY, FEES), 100_000, type=SourceType.STAY_RESERVATION)
    campaign = (deed("pay", amount=15_000), FEES)
    lives["a campaign"] = await live(world, campaign, 14_700, type=SourceType.COUPON_CAMPAIGN)
    lives["two things"] = await live(world, (PAY, FEES), 2500, 1500)
    lives["for nothing"] = await a_free_one(world)
    return lives

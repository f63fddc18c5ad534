"""Orders given over a network that loses every third answer, and what became of them. `bench` runs the same for more."""

from dataclasses import dataclass

from admitone.finance.gateways.api import Charge, ChargeOrder, NotSent, Unknown
from admitone.finance.gateways.sandbox.faults import Faults
from admitone.finance.gateways.sandbox.gateway import SandboxGateway
from admitone.finance.gateways.sandbox.objects import Intent
from tests.finance.gateways.builders import a_charge_order, a_sandbox

TROUBLE = Faults(unreachable=1_000, error_before=1_000, error_after=1_500, lost=1_500)


@dataclass
class Outcome:
    orders: int = 0
    charges: int = 0
    unknown: int = 0
    found_late: int = 0
    """By asking for what an unknown call may have made."""


async def open_in_trouble(seed: int, orders: int) -> Outcome:
    simulator, gateway = a_sandbox(seed=seed, faults=TROUBLE)
    outcome = Outcome(orders)
    made = [await _open(gateway, a_charge_order(), outcome) for _ in range(orders)]
    known = {each.id for each in simulator.list_newest(Intent, 2 * orders)}
    assert known == set(made), "every charge that the provider has is one that we know, and each order has its own"
    outcome.charges = len(set(made))
    return outcome


async def _open(gateway: SandboxGateway, order: ChargeOrder, outcome: Outcome) -> str:
    while True:
        answer = await gateway.open_charge(order)
        if isinstance(answer, Unknown):
            outcome.unknown += 1
            answer = await gateway.find_ordered(order)
            outcome.found_late += isinstance(answer, Charge)
        if isinstance(answer, Charge):
            return answer.id
        assert answer is None or isinstance(answer, NotSent | Unknown)

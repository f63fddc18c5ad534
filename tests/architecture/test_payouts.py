"""Nobody holds money that is not the platform's."""

from pathlib import Path

import pytest

from admitone.finance.gateways.port import Gateway
from tests.architecture.payouts import payouts_of_others
from tests.architecture.source_tree import SOURCE, sources
from tests.architecture.test_doors import plant

CONTROLS = ("payout", "pay_out", "transfer", "hold", "pause", "freeze")


@pytest.mark.covers("FIN-006")
def test_nothing_pays_out_or_holds_what_is_the_organisations():
    assert payouts_of_others(sources(SOURCE)) == []


@pytest.mark.covers("FIN-006")
def test_providers_are_asked_to_pay_out_and_never_to_hold():
    controls = {name for name in dir(Gateway) for word in CONTROLS if word in name}
    assert controls == {"pay_out", "find_payout"}


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("async def f(gateway, order):\n    await gateway.pay_out(order)\n", 1),
        ("from admitone.finance.gateways.api import PayoutOrder\n", 1),
        (
            (
                "async def f(gateway, order, model):\n"
                "    if model is SettlementModel.PLATFORM_MOR:\n        await gateway.pay_out(order)\n"
            ),
            0,
        ),
    ],
)
def test_a_payout_of_anothers_money_is_seen(tmp_path: Path, text: str, seen: int):
    root = plant(tmp_path, {"admitone/finance/payouts/commands.py": text})
    assert len(payouts_of_others(sources(root))) == seen

"""No float in money code."""

from pathlib import Path

import pytest

from tests.architecture.exactness import inexact_money
from tests.architecture.source_tree import SOURCE, sources
from tests.architecture.test_doors import plant


@pytest.mark.covers("FIN-030")
def test_no_float_comes_near_money():
    assert inexact_money(sources(SOURCE)) == []


@pytest.mark.covers("FIN-030")
@pytest.mark.parametrize(
    "line", ["fee = 0.029", "fee = float(minor)", "half = minor / 2", "minor /= 2", "x: float = 1"]
)
@pytest.mark.parametrize(
    ("file", "opening"),
    [
        ("admitone/finance/pricing/policy.py", ""),
        ("admitone/kernel/money.py", ""),
        ("admitone/verticals/stays/policy.py", "from admitone.kernel.money import Money\n"),
        ("admitone/verticals/stays/policy.py", "def late():\n    from admitone.kernel import money\n"),
    ],
)
def test_a_float_near_money_is_seen(tmp_path: Path, file: str, opening: str, line: str):
    violations = inexact_money(sources(plant(tmp_path, {file: opening + line})))
    assert violations and violations[0].startswith(file)


def test_others_may_divide(tmp_path: Path):
    assert inexact_money(sources(plant(tmp_path, {"admitone/engagement/search/policy.py": "rank = hits / 2.5"}))) == []

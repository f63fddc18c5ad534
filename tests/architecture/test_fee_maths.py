"""One place computes fees, and no field is a guess."""

from pathlib import Path

import pytest

from tests.architecture.fee_maths import guesses, second_opinions
from tests.architecture.source_tree import REPOSITORY, SOURCE, sources
from tests.architecture.test_doors import plant


@pytest.mark.covers("FIN-033", "FIN-035")
def test_fees_are_computed_in_pricing_only():
    assert second_opinions(sources(SOURCE)) == []


@pytest.mark.covers("FIN-035")
def test_nothing_is_called_an_estimate():
    assert guesses(sources(SOURCE)) == []
    assert "estimate" not in (REPOSITORY / "schema.sql").read_text().lower()


@pytest.mark.covers("FIN-033", "FIN-035")
@pytest.mark.parametrize(
    "line",
    [
        "fee = price.share(500)",
        "fee = price.share(policy.fee_bps)",
        "fee = minor * fee_bps // 10_000",
        "fee = price.part(terms.fee_bps, 10_000)",
        "total += policy.fee_bps",
    ],
)
@pytest.mark.parametrize("file", ["admitone/finance/payments/commands.py", "admitone/verticals/stays/policy.py"])
def test_a_second_opinion_is_seen(tmp_path: Path, file: str, line: str):
    seen = second_opinions(sources(plant(tmp_path, {file: line})))
    assert seen and seen[0].startswith(file)


def test_pricing_computes_and_others_may_tell(tmp_path: Path):
    tree = {
        "admitone/finance/pricing/policy.py": "fee = price.share(fee_bps)",
        "admitone/finance/payments/policy.py": "told = Answer(snapshot.fee_bps)\nhalf = price.part(1, 2)",
    }
    assert second_opinions(sources(plant(tmp_path, tree))) == []


@pytest.mark.covers("FIN-035")
@pytest.mark.parametrize(
    "line", ["net_estimate: int", "x.processorFeesEstimate", "class FeeEstimate: ...", "f(fee_estimate=1)"]
)
def test_an_estimate_is_seen(tmp_path: Path, line: str):
    assert guesses(sources(plant(tmp_path, {"admitone/finance/payments/model.py": line})))

"""Money under faults, a little of what `make soak` runs: every call to the provider may be lost, refused or repeated, and
in the end its books are ours."""

from pathlib import Path

import pytest
from bench.faults.money.game import play

SEED = 1
CASES = 150


@pytest.mark.covers("FIN-014", "FIN-052", "PAY-006", "PAY-042", "PAY-044", "PAY-045", "PAY-054", "PAY-070")
async def test_whatever_is_lost_the_books_agree_and_nobody_pays_twice(
    database_url: str, superuser_url: str, tmp_path: Path
):
    verdict = await play(database_url, superuser_url, tmp_path, cases=CASES, seed=SEED)
    assert not verdict.broken, str(verdict)
    assert verdict.figures["charges at the provider"] > CASES / 3
    assert verdict.figures["  succeeded"] > CASES / 4

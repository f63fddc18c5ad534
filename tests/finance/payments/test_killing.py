"""Killed where it hurts most, over real HTTP, with the provider in a process of its own: nobody pays twice and nothing is
lost. `make soak` springs every trap."""

import sys
from pathlib import Path

import pytest
from bench.faults.money.killing import API, WORKER, spring
from bench.faults.money.traps import Trap

from tests.conftest import Clone

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="children die with their parent only here")

TRAPS = (
    Trap(API, "payments.before_recording", 1),
    Trap(API, "commit.after", 3),
    Trap(WORKER, "webhooks.before_settling", 1),
    Trap(WORKER, "commit.before", 6),
    Trap(WORKER, "payments.before_recording", 1),
)


@pytest.mark.covers("FIN-014", "FIN-070", "FIN-052", "PAY-042", "PAY-044", "PAY-045", "PAY-070")
async def test_whatever_is_killed_between_checkout_and_capture_nobody_pays_twice(clone: Clone, tmp_path: Path):
    home = tmp_path / "home"
    home.mkdir()
    verdict = await spring(*clone, home, TRAPS)
    assert not verdict.broken, str(verdict)
    assert verdict.figures["traps that sprang"] == len(TRAPS)
    assert verdict.figures["paid at the provider"] > 0
    assert verdict.figures["given back"] > 0

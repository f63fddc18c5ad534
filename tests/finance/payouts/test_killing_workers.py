"""A weekly batch while both workers are killed where it hurts most, with the provider in a process of its own: every owner
is paid once. `make soak` springs every trap, over many owners."""

import sys
from pathlib import Path

import pytest
from bench.faults.money.batch import pay_under_fire
from bench.faults.money.traps import Trap

from tests.conftest import Clone

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="children die with their parent only here")

ROUNDS = (
    [Trap("first", "payouts.before_taking", 1)],
    [Trap("first", "payouts.before_recording", 2), Trap("second", "payouts.before_recording", 2)],
)
ORGANIZATIONS, OWNERS = 2, 6


@pytest.mark.covers("MOR-030", "MOR-033", "MOR-034", "MOR-036")
async def test_whichever_worker_is_killed_in_a_weekly_batch_every_owner_is_paid_once(clone: Clone, tmp_path: Path):
    home = tmp_path / "home"
    home.mkdir()
    verdict = await pay_under_fire(*clone, home, ROUNDS, organizations=ORGANIZATIONS, each=OWNERS)
    assert not verdict.broken, str(verdict)
    assert verdict.figures["traps that sprang"] == sum(map(len, ROUNDS))
    assert verdict.figures["payouts that came back"] == ORGANIZATIONS
    assert verdict.figures["payouts that arrived"] == 5 * ORGANIZATIONS

"""A little of every kind of trouble, from one seed each; `make soak` runs them long, and from other seeds.

Nothing that was acknowledged is lost, nothing happens twice, and all settles by itself. The bugs that are planted at
the end must be noticed: a harness that stays green over them would be worth nothing.
"""

import sys
from collections.abc import Iterator

import pytest
from bench.faults.installation import Installation, an_installation
from bench.faults.report import Report
from bench.faults.scenarios import clocks, disk, kills, poison, snapshot, zombies
from bench.faults.scenarios.disk import NoSmallDisk
from bench.faults.scenarios.plants import PLANTS, Plant, planted
from bench.faults.scenarios.points import WORKER, Trap, spring
from bench.faults.trial import SMALL

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")

SEED = 1
TRAPS = [
    Trap(WORKER, "commit.after=kill", 4),
    Trap(WORKER, "job.claimed=cut", 1),
    Trap(WORKER, "job.before_end=kill", 1),
]
CHEAP = ("acknowledge_without_commit", "end_before_work", "publish_without_jobs")
"""Plants that are noticed soon; the rest are run by `make soak`."""


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    with an_installation() as installation:
        yield installation


def must_hold(report: Report) -> None:
    assert report.holds, f"\n{report}"


@pytest.mark.covers("PLT-006", "INV-I07")
async def test_whatever_is_killed_paused_or_cut_under_load_nothing_is_lost(installation: Installation):
    must_hold(await kills(installation, SEED, SMALL))


@pytest.mark.covers("FUN-048", "INV-I07")
async def test_workers_killed_and_paused_past_their_lease_do_every_job_once(installation: Installation):
    must_hold(await zombies(installation, SEED, SMALL))


@pytest.mark.covers("FUN-048", "PLT-006")
async def test_a_process_that_dies_at_a_named_point_neither_loses_nor_repeats(installation: Installation):
    must_hold(await spring(installation, SEED, TRAPS))


@pytest.mark.covers("FUN-048")
async def test_a_job_that_kills_its_worker_is_buried_and_the_innocent_are_not(installation: Installation):
    must_hold(await poison(installation, SEED, SMALL))


async def test_workers_whose_clocks_are_a_day_wrong_take_over_from_one_another(installation: Installation):
    must_hold(await clocks(installation, SEED, SMALL))


async def test_jobs_go_on_while_somebody_holds_a_snapshot(installation: Installation):
    must_hold(await snapshot(installation, SEED, SMALL))


async def test_a_full_disk_is_said_and_survived(installation: Installation):
    try:
        report = await disk(installation, SEED, SMALL)
    except NoSmallDisk as problem:
        pytest.skip(f"no small disk can be mounted here: {problem}")
    must_hold(report)


@pytest.mark.parametrize("plant", [plant for plant in PLANTS if plant.name in CHEAP], ids=lambda plant: plant.name)
async def test_a_planted_bug_is_noticed(installation: Installation, plant: Plant):
    report = await planted(installation, SEED, plant)
    assert plant.noticed_by in report.broken, f"\n{report}"

"""One kind of trouble each, from a seed; `SCENARIOS` knows them by name."""

from collections.abc import Awaitable, Callable

from bench.faults.installation import Installation
from bench.faults.report import Report
from bench.faults.scenarios.clocks import clocks
from bench.faults.scenarios.disk import disk
from bench.faults.scenarios.kills import kills
from bench.faults.scenarios.plants import plants
from bench.faults.scenarios.points import points
from bench.faults.scenarios.poison import poison
from bench.faults.scenarios.snapshot import snapshot
from bench.faults.scenarios.zombies import zombies
from bench.faults.trial import Scale

Scenario = Callable[[Installation, int, Scale], Awaitable[Report]]

SCENARIOS: dict[str, Scenario] = {
    each.__name__: each for each in (kills, zombies, points, poison, clocks, snapshot, disk, plants)
}

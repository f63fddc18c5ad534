"""usage: python -m bench.faults [SCENARIO ...] [--seconds N] [--seed N] [--seeds N] [--small]

Runs the scenarios in turns, each time from the next seed, until the time is over or so many seeds were run. Fails at
the end when something did not hold, and says from which seed it can be seen again.
"""

import argparse
import asyncio
import sys
import time
from itertools import count

from bench.faults.installation import an_installation
from bench.faults.report import Report
from bench.faults.scenarios import SCENARIOS
from bench.faults.trial import LARGE, SMALL, Scale


def main() -> int:
    asked = argparse.ArgumentParser(prog="python -m bench.faults")
    asked.add_argument("scenarios", nargs="*", choices=[*SCENARIOS, []], default=[])
    asked.add_argument("--seconds", type=float, default=None, help="go on for so long")
    asked.add_argument("--seed", type=int, default=1, help="the first seed")
    asked.add_argument("--seeds", type=int, default=None, help="so many seeds; one, where no time is said")
    asked.add_argument("--small", action="store_true", help="as little of everything as `make test` runs")
    chosen = asked.parse_args()
    scale = SMALL if chosen.small else LARGE
    seeds = chosen.seeds or (None if chosen.seconds else 1)
    failed = soak(chosen.scenarios or list(SCENARIOS), scale, chosen.seed, chosen.seconds, seeds)
    print(f"\nFailed: {', '.join(failed)}" if failed else "\nEverything held.")
    return 1 if failed else 0


def soak(names: list[str], scale: Scale, first: int, seconds: float | None, seeds: int | None) -> list[str]:
    until = time.monotonic() + seconds if seconds else float("inf")
    failed = []
    for seed in count(first):
        if seeds is not None and seed >= first + seeds:
            break
        with an_installation() as installation:
            for name in names:
                if time.monotonic() >= until:
                    return failed
                report: Report = asyncio.run(SCENARIOS[name](installation, seed, scale))
                print(report, flush=True)
                if not report.holds:
                    failed.append(f"{name} --seed {seed}")
    return failed


if __name__ == "__main__":
    sys.exit(main())

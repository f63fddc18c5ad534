"""usage: python -m bench.faults.money [--cases N | --kill] [--seed N]

Runs so many buyers through a checkout that loses answers; or kills the API and the worker at every point while people
pay. Prints what became of it and which invariant does not hold, and fails when one does not.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from contextlib import redirect_stdout
from pathlib import Path

from tests.toy import wiring  # noqa: F401  To import it is to wire it.

from admitone.kernel.embedded import SUPERUSER, Cluster
from admitone.kernel.migrate import migrate
from bench.faults.money.books import INVARIANTS
from bench.faults.money.game import play
from bench.faults.money.killing import every_trap, spring


def main() -> int:
    asked = argparse.ArgumentParser(prog="python -m bench.faults.money")
    asked.add_argument("--cases", type=int, default=5_000)
    asked.add_argument("--kill", action="store_true", help="spring every trap instead")
    asked.add_argument("--seed", type=int, default=1)
    chosen = asked.parse_args()
    began = time.monotonic()
    with (
        Cluster.temporary() as cluster,
        tempfile.TemporaryDirectory() as home,
        (Path(home) / "log").open("w") as log,
        redirect_stdout(log),
    ):
        superuser = cluster.url(SUPERUSER)
        asyncio.run(migrate(superuser))
        if chosen.kill:
            traps = every_trap(chosen.seed)
            verdict = asyncio.run(spring(cluster.url(), superuser, Path(home), traps, seed=chosen.seed))
        else:
            verdict = asyncio.run(play(cluster.url(), superuser, Path(home), cases=chosen.cases, seed=chosen.seed))
    print(verdict)
    for name in INVARIANTS:
        print(f"     {'BROKEN' if name in verdict.broken else 'holds '} {name}")
    print(f"     {time.monotonic() - began:.0f} s")
    return 1 if verdict.broken else 0


if __name__ == "__main__":
    sys.exit(main())

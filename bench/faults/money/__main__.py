"""usage: python -m bench.faults.money [--cases N | --kill | --payday] [--seed N]

Runs so many buyers through a checkout that loses answers; or kills the API and the worker at every point while people
pay; or kills two workers at every point of a weekly batch of payouts. Prints what became of it and which invariant does
not hold, and fails when one does not.
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
from bench.faults.money.batch import every_round, pay_under_fire
from bench.faults.money.books import INVARIANTS
from bench.faults.money.game import play
from bench.faults.money.killing import every_trap, spring
from bench.faults.money.payout_books import INVARIANTS as PAYDAY


def main() -> int:
    asked = argparse.ArgumentParser(prog="python -m bench.faults.money")
    asked.add_argument("--cases", type=int, default=5_000)
    asked.add_argument("--kill", action="store_true", help="spring every trap instead")
    asked.add_argument("--payday", action="store_true", help="spring every trap of a weekly batch of payouts instead")
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
        elif chosen.payday:
            rounds = every_round(chosen.seed)
            verdict = asyncio.run(pay_under_fire(cluster.url(), superuser, Path(home), rounds, seed=chosen.seed))
        else:
            verdict = asyncio.run(play(cluster.url(), superuser, Path(home), cases=chosen.cases, seed=chosen.seed))
    print(verdict)
    for name in PAYDAY if chosen.payday else INVARIANTS:
        print(f"     {'BROKEN' if name in verdict.broken else 'holds '} {name}")
    print(f"     {time.monotonic() - began:.0f} s")
    return 1 if verdict.broken else 0


if __name__ == "__main__":
    sys.exit(main())

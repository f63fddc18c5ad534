"""What this machine can do now: C, a transaction by pgbench, and H, a request through our server without a database.

Absolute figures are only comparable through these two: s = min(C / 3,500, H / 10,600), as `goals.md` says.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from bench.ground import HERE, Ground
from bench.load import Plan, load
from bench.server import a_server

C_REFERENCE, H_REFERENCE = 3_500, 10_600
Measured = TypeVar("Measured")


@dataclass(frozen=True)
class Calibration:
    c: float
    h: float

    @property
    def s(self) -> float:
        return min(self.c / C_REFERENCE, self.h / H_REFERENCE)

    def __str__(self) -> str:
        return f"C = {self.c:,.0f}/s (pgbench)   H = {self.h:,.0f}/s (trivial POST)   s = {self.s:.2f}"


def calibrate(ground: Ground) -> Calibration:
    ground.psql("-f", str(HERE / "reference.sql"))
    c = ground.pgbench(HERE / "reference.pgb", login="reference_app", seconds=5)
    with a_server(ground) as port:
        h = load(Plan(port, "/api/toy/trivial", callers(ground), seconds=4)).rate
    return Calibration(c, h)


def at_speed(ground: Ground, work: Callable[[], Measured]) -> tuple[Measured, float]:
    """What was measured, and how quick the machine was meanwhile: it is another one from minute to minute."""
    before, measured, after = calibrate(ground), work(), calibrate(ground)
    s = min(1.0, (before.s + after.s) / 2)
    print(f"       before: {before}\n       after:  {after}")
    return measured, s


def callers(ground: Ground) -> list[tuple[str, str, int]]:
    return [(member.credential, str(member.organization), member.counters) for member in ground.members]

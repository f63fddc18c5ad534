"""What packages look at while the watch watches, and how quick their contracts promise to be."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta

import asyncpg
import pytest

from admitone.kernel.alerts import (
    Above,
    AlertClass,
    AlertRule,
    Gauged,
    Level,
    Pace,
    Reading,
    ShareAbove,
    Sight,
    Sighting,
)
from admitone.kernel.alerts.figures import readings_of_paces
from admitone.kernel.alerts.model import Tally
from admitone.kernel.alerts.policy import breached
from admitone.kernel.alerts.watch import QUIET, Watch
from admitone.kernel.db import Database, PlatformTx
from admitone.kernel.ids import uuid7
from admitone.kernel.telemetry import Metrics, render
from tests.alerts import TOY_RULE, alerts_about

SHELF = Gauged("admitone_toys", "Toys on a shelf.", ("shelf",))


class Shelf:
    """A sight: what is on it, and how often somebody looked."""

    def __init__(self) -> None:
        self.toys: dict[str, float] = {}
        self.times = 0
        self.fails = False

    async def look(self, tx: PlatformTx) -> Sighting:
        self.times += 1
        if self.fails:
            raise ValueError("the lamp is broken")
        readings = [
            Reading(TOY_RULE, name, [Level(tx.now, broken)], f"{broken} broken") for name, broken in self.toys.items()
        ]
        return Sighting(readings, {SHELF: {(name,): broken for name, broken in self.toys.items()}})

    def sight(self, every: float = 0) -> Sight:
        return Sight(f"toy.shelf_{id(self)}", self.look, (TOY_RULE,), (SHELF,), every)


@pytest.fixture
async def travelling(database_url: str) -> AsyncIterator[Database]:
    async with Database(database_url) as database:
        yield database


def turn(database: Database, by: timedelta) -> None:
    database._clock = database._clock.later(by)


async def test_what_a_package_sees_is_raised_shown_and_over_when_it_is_gone(
    travelling: Database, superuser: asyncpg.Connection
):
    shelf, name, metrics = Shelf(), f"bear {uuid7()}", Metrics()
    watch = Watch(travelling, metrics, sights=[shelf.sight()])
    shelf.toys[name] = 2
    await watch.look(uuid7())
    [alert] = await alerts_about(superuser, name)
    assert (alert["resolved_at"], alert["detail"]) == (None, "2 broken")
    assert name.encode() in render(metrics.registry)
    del shelf.toys[name]
    for _ in range(3):
        turn(travelling, QUIET / 2 + timedelta(seconds=1))
        await watch.look(uuid7())
    [alert] = await alerts_about(superuser, name)
    assert alert["resolved_at"] is not None
    assert name.encode() not in render(metrics.registry)


async def test_a_sight_that_fails_blinds_no_other(database: Database, superuser: asyncpg.Connection):
    broken, good, name = Shelf(), Shelf(), f"bear {uuid7()}"
    broken.fails = True
    good.toys[name] = 1
    another = Gauged("admitone_other_toys", "Toys.", ("shelf",))
    lamp = Sight("toy.lamp", broken.look, (TOY_RULE,), (another,), 0)
    await Watch(database, Metrics(), sights=[lamp, good.sight()]).look(uuid7())
    assert len(await alerts_about(superuser, name)) == 1


async def test_a_sight_is_looked_at_so_often_and_no_more(database: Database, superuser: asyncpg.Connection):
    shelf, name, now = Shelf(), f"bear {uuid7()}", [datetime.fromisoformat("2026-03-01T02:00:00Z")]
    shelf.toys[name] = 1
    watch = Watch(database, Metrics(), sights=[shelf.sight(15)], clock=lambda: now[0])
    for seconds in (0, 5, 14.9, 15, 16):
        now[0] = datetime.fromisoformat("2026-03-01T02:00:00Z") + timedelta(seconds=seconds)
        await watch.look(uuid7())
    assert shelf.times == 2
    [alert] = await alerts_about(superuser, name)
    assert alert["times"] == 5, "what was seen a moment ago is still so"


# -- Paces

TENTH = AlertRule("toy.slow", AlertClass.TICKET, ShareAbove(5, 600, beyond=0.3, fewest=20), "toy", "planted", "Slow.")


@pytest.mark.covers("OPS-002")
def test_a_pace_counts_what_took_longer():
    metrics, at = Metrics(), datetime.fromisoformat("2026-03-01T02:00:00Z")
    assert readings_of_paces(metrics, [("C03", 0.3, TENTH)], at) == []
    for seconds in (0.01, 0.3, 0.31, 2):
        metrics.latency.labels("C03").observe(seconds)
    metrics.latency.labels("C02").observe(9)
    [reading] = readings_of_paces(metrics, [("C03", Pace("C03", TENTH).seconds, TENTH)], at)
    assert (reading.subject, [*reading.samples]) == ("C03", [Tally(at, 2, 4)])


@pytest.mark.covers("OPS-002")
@pytest.mark.parametrize(
    ("slow", "answers", "is_slow"), [(1, 1, False), (19, 19, False), (1, 20, False), (2, 20, True)]
)
def test_the_ninety_fifth_of_few_is_nothing(slow: int, answers: int, is_slow: bool):
    began = datetime.fromisoformat("2026-03-01T02:00:00Z")
    series = [Tally(began, 0, 0), Tally(began + timedelta(minutes=5), slow, answers)]
    assert breached(TENTH.threshold, series) is is_slow


def test_a_pace_says_how_many_and_how_long():
    for threshold in (Above(0), ShareAbove(5, 600)):
        with pytest.raises(TypeError, match="neither"):
            Pace("C03", AlertRule("toy.slow", AlertClass.TICKET, threshold, "toy", "planted", "Slow."))

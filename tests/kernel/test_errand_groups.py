"""Errands that go in a group: each has its own end, and nothing outside is asked twice because of another."""

import asyncio
from collections.abc import Sequence
from uuid import UUID

import asyncpg
import pytest

from admitone.kernel.db import Database, Tx
from admitone.kernel.jobs import Delivered, Desk, Kind, Lane, Round, errand, handler, worker
from tests.builders import an_organization
from tests.jobs import a_job, a_worker, dead, duties, heard, until, until_idle
from tests.toy import store
from tests.toy.handlers import QUICK, Deed
from tests.toy.model import Heard

LEFT = "SELECT count(*) FROM kernel.job WHERE organization_id = $1"


class Street:
    """Out there: who was asked for, together with whom."""

    def __init__(self) -> None:
        self.groups: list[list[str]] = []
        self.fails: set[str] = set()
        self.raises: set[str] = set()
        self.unwritable: set[str] = set()

    @property
    def asked(self) -> list[str]:
        return sorted(key for group in self.groups for key in group)

    def kind(self, name: str, group: int = 64, *, gives_way: bool = True, places: int = 2) -> Kind[Deed]:
        @errand(f"toy.{name}", lane=Lane(f"street {name}", places, gives_way), retry=QUICK, group=group)
        async def run(desk: Desk, deeds: Sequence[Delivered[Deed]]) -> Round:
            self.groups.append([each.key for each in deeds])
            if any(each.key in self.raises for each in deeds):
                raise RuntimeError("a stone in the way")
            failed = {each.id: RuntimeError("nobody there") for each in deeds if each.key in self.fails}
            return Round(self._write, failed)

        return run

    async def _write(self, tx: Tx, deeds: Sequence[Delivered[Deed]]) -> None:
        await store.insert_heard(tx, [Heard(each.key, each.payload.number) for each in deeds])
        if any(each.key in self.unwritable for each in deeds):
            raise RuntimeError("it cannot be written down")


GOOD = [f"good {n:02}" for n in range(20)]


async def test_a_group_goes_once_and_ends_in_one_transaction(database: Database, superuser: asyncpg.Connection):
    scope, street = await an_organization(database), Street()
    kind = street.kind("together")
    await a_job(database, scope, *GOOD, kind=kind)
    async with a_worker(database, duties(kind)):
        await until_idle(superuser, scope)
    assert [sorted(group) for group in street.groups] == [GOOD]
    assert await heard(database, scope) == GOOD
    transactions = "SELECT count(DISTINCT xmin::text) FROM toy.heard WHERE organization_id = $1"
    assert await superuser.fetchval(transactions, scope.organization.uuid) == 1


async def test_no_group_is_larger_than_its_kind_says(database: Database, superuser: asyncpg.Connection):
    scope, street = await an_organization(database), Street()
    kind = street.kind("small", group=8)
    await a_job(database, scope, *GOOD, kind=kind)
    async with a_worker(database, duties(kind)):
        await until_idle(superuser, scope)
    assert (max(map(len, street.groups)), street.asked) == (8, GOOD)


async def test_who_failed_is_tried_again_alone_and_nobody_else_with_it(
    database: Database, superuser: asyncpg.Connection
):
    scope, street = await an_organization(database), Street()
    street.fails.add("bad")
    kind = street.kind("failing")
    await a_job(database, scope, *GOOD, "bad", kind=kind)
    async with a_worker(database, duties(kind)):
        await until(superuser, LEFT, scope)
    assert street.asked == sorted([*GOOD, "bad", "bad", "bad"])
    assert street.groups[1:] == [["bad"], ["bad"]]
    assert await heard(database, scope) == GOOD
    assert [(row["key"], row["attempts"]) for row in await dead(superuser, scope)] == [("bad", 3)]


async def test_of_a_group_that_raises_each_goes_alone_the_next_time(database: Database, superuser: asyncpg.Connection):
    """So that whoever's fault it is takes nobody along."""
    scope, street = await an_organization(database), Street()
    street.raises.add("bad")
    kind = street.kind("raising")
    await a_job(database, scope, *GOOD, "bad", kind=kind)
    async with a_worker(database, duties(kind)):
        await until(superuser, LEFT, scope)
    assert {len(group) for group in street.groups[1:]} == {1}
    assert await heard(database, scope) == GOOD
    assert [row["key"] for row in await dead(superuser, scope)] == ["bad"]


async def test_what_cannot_be_written_down_takes_nobody_along_and_asks_nobody_again(
    database: Database, superuser: asyncpg.Connection
):
    scope, street = await an_organization(database), Street()
    street.unwritable.add("bad")
    kind = street.kind("unwritable")
    await a_job(database, scope, *GOOD, "bad", kind=kind)
    async with a_worker(database, duties(kind)):
        await until(superuser, LEFT, scope)
    assert street.asked == sorted([*GOOD, "bad", "bad", "bad"])
    assert await heard(database, scope) == GOOD
    assert [row["key"] for row in await dead(superuser, scope)] == ["bad"]


async def test_whoever_lost_one_of_a_group_ends_the_others(database: Database, superuser: asyncpg.Connection):
    scope = await an_organization(database)
    taken: set[UUID] = set()

    @errand("toy.robbed", lane=Lane("robbed", places=1, gives_way=True), retry=QUICK, group=64)
    async def run(desk: Desk, deeds: Sequence[Delivered[Deed]]) -> Round:
        for each in deeds:
            if each.key == "lost" and not taken:
                taken.add(each.id)
                await superuser.execute("UPDATE kernel.job SET worker = NULL, crashes = 1 WHERE id = $1", each.id)
        return Round(lambda tx, ended: store.insert_heard(tx, [Heard(each.key, 0) for each in ended]))

    await a_job(database, scope, *GOOD, "lost", kind=run)
    async with a_worker(database, duties(run)):
        await until(superuser, LEFT, scope)
    assert await heard(database, scope) == [*GOOD, "lost"]
    assert await dead(superuser, scope) == []


async def test_where_somebody_waits_nobody_goes_behind_another_while_there_are_places(
    database: Database, superuser: asyncpg.Connection
):
    scope, street = await an_organization(database), Street()
    kind = street.kind("awaited", group=8, gives_way=False, places=5)
    await a_job(database, scope, *GOOD[:5], kind=kind)
    async with a_worker(database, duties(kind)):
        await until_idle(superuser, scope)
    assert sorted(street.groups) == [[key] for key in GOOD[:5]]


async def test_a_lane_that_gives_way_begins_only_so_much_at_a_time(
    database: Database, superuser: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
):
    """While handlers are at work; and after its pause all the same."""
    monkeypatch.setattr(worker, "GIVE_WAY_SECONDS", 0.0)
    monkeypatch.setattr(worker, "GIVING_WAY", 4)
    scope, street = await an_organization(database), Street()
    begun, over = asyncio.Event(), asyncio.Event()

    @handler("test.busy_for_long")
    async def busy(tx: Tx, deeds: Sequence[Delivered[Deed]]) -> None:
        begun.set()
        await over.wait()

    kind = street.kind("patient", places=2)
    await a_job(database, scope, "busy", kind=busy)
    async with a_worker(database, duties(busy, kind)):
        await begun.wait()
        await a_job(database, scope, *GOOD, kind=kind)
        await until(superuser, f"{LEFT} AND kind = 'toy.patient'", scope)
        over.set()
        await until_idle(superuser, scope)
    assert max(map(len, street.groups)) <= 4
    assert street.asked == GOOD

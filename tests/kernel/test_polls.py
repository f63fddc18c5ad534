"""What a query says, followed: asked once for all who listen, and not at all when nobody does."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any, cast

import pytest

from admitone.kernel import polls
from admitone.kernel.db import Database, Tx
from admitone.kernel.errors import Unavailable
from admitone.kernel.ids import PLATFORM_ORGANIZATION
from admitone.kernel.polls import Polls
from admitone.kernel.scope import Scope

OURS = Scope(PLATFORM_ORGANIZATION, "test")
PATIENCE = 20


class Asked:
    """A query that says what it is told to, and counts how often it is asked."""

    def __init__(self, *says: Any) -> None:
        self.says, self.times = [*says], 0

    async def __call__(self, tx: Tx, *args: str) -> Any:
        self.times += 1
        said = self.says.pop(0) if len(self.says) > 1 else self.says[0]
        if isinstance(said, BaseException):
            raise said
        return said


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polls, "EVERY_SECONDS", 0.01)
    monkeypatch.setattr(polls, "SHARE", 0)


async def hear(following: AsyncIterator[Any], count: int) -> list[Any]:
    async with asyncio.timeout(PATIENCE), aclosing(cast("Any", following)) as said:
        return [(await anext(said))[0] for _ in range(count)]


async def test_a_listener_hears_what_is_said_and_whatever_is_said_next(database: Database):
    asked = Asked(1, 1, 1, 2, 2, 3)
    assert await hear(Polls(database).follow(OURS, (asked,)), 3) == [1, 2, 3]


async def test_many_listeners_ask_once(database: Database):
    own, asked = Polls(database), Asked("a", "b")
    heard = await asyncio.gather(*(hear(own.follow(OURS, (asked,)), 2) for _ in range(50)))
    assert heard == [["a", "b"]] * 50
    assert asked.times < 50


async def test_who_follows_something_else_is_asked_apart(database: Database):
    own = Polls(database)
    first, second = own.follow(OURS, (Asked(1),)), own.follow(OURS, (Asked(2),))
    assert [await anext(first), await anext(second), len(own)] == [(1,), (2,), 2]
    same, elsewhere = Asked(3), Scope(PLATFORM_ORGANIZATION, "elsewhere")
    follows = [own.follow(OURS, (same, "x")), own.follow(OURS, (same, "y")), own.follow(elsewhere, (same, "x"))]
    for each in follows:
        assert await anext(each) == (3,)
    assert len(own) == 5
    for each in (first, second, *follows):
        await cast("Any", each).aclose()


async def test_when_the_last_one_leaves_nobody_asks(database: Database):
    own, asked = Polls(database), Asked(1)
    first, second = own.follow(OURS, (asked,)), own.follow(OURS, (asked,))
    await anext(first)
    await anext(second)
    await cast("Any", first).aclose()
    assert len(own) == 1
    await cast("Any", second).aclose()
    assert len(own) == 0
    times = asked.times
    await asyncio.sleep(0.1)
    assert asked.times == times


async def test_a_database_that_is_away_for_a_while_ends_nothing(database: Database):
    asked = Asked(1, Unavailable(), Unavailable(), 2)
    assert await hear(Polls(database).follow(OURS, (asked,)), 2) == [1, 2]


async def test_a_bug_is_told_to_whoever_listens_and_the_next_one_begins_anew(database: Database):
    own, asked = Polls(database), Asked(1, ValueError("bug"), 2)
    following = own.follow(OURS, (asked,))
    assert await anext(following) == (1,)
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(ValueError, match="bug"):
            await anext(following)
    assert len(own) == 0
    assert await hear(own.follow(OURS, (asked,)), 1) == [2]


async def test_a_listener_must_come_again_after_a_while(database: Database, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(polls, "FOLLOWED_SECONDS", 0.3)
    own = Polls(database)
    async with asyncio.timeout(PATIENCE):
        assert [said async for said in own.follow(OURS, (Asked(1),))] == [(1,)]
    assert len(own) == 0


async def test_what_takes_long_is_asked_less_often(database: Database, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(polls, "SHARE", 1_000_000)
    own, asked = Polls(database), Asked(1, 2)
    following = own.follow(OURS, (asked,))
    assert await anext(following) == (1,)
    await asyncio.sleep(0.2)
    assert asked.times == 1
    await cast("Any", following).aclose()


async def test_several_are_heard_together_once_all_have_spoken(database: Database):
    own, quick, late = Polls(database), Asked(1, 2, 3), Asked(Unavailable(), Unavailable(), "at last")
    async with asyncio.timeout(PATIENCE), aclosing(cast("Any", own.follow(OURS, (quick,), (late,)))) as said:
        numbers, words = zip(*[await anext(said) for _ in range(1)], strict=True)
        assert words == ("at last",)
        assert numbers[0] in (1, 2, 3)
        assert len(own) == 2
    assert len(own) == 0


async def test_who_follows_a_part_shares_it(database: Database):
    own, part = Polls(database), Asked(1)
    both, one = own.follow(OURS, (part,), (Asked(2),)), own.follow(OURS, (part,))
    assert [await anext(both), await anext(one), len(own)] == [(1, 2), (1,), 2]
    await cast("Any", both).aclose()
    assert len(own) == 1
    await cast("Any", one).aclose()
    assert len(own) == 0


async def test_also_a_listener_who_is_always_behind_must_come_again(
    database: Database, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(polls, "FOLLOWED_SECONDS", 0.3)
    own, heard = Polls(database), 0
    async with asyncio.timeout(PATIENCE):
        async for _ in own.follow(OURS, (Asked(*range(10_000)),)):
            heard += 1
            assert heard < 20, "whoever reads slowly enough is never asked again whether it may"
            await asyncio.sleep(0.1)
    assert len(own) == 0

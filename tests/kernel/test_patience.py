"""Time-outs that share one timer behave as if each had its own."""

import asyncio
import time

import pytest

from admitone.kernel.patience import Patience


async def test_what_takes_too_long_is_cancelled_and_told():
    ended: list[str] = []

    async def slow() -> None:
        try:
            await asyncio.sleep(10)
        finally:
            ended.append("closed")

    began = time.monotonic()
    with pytest.raises(TimeoutError):
        await Patience().within(0.05, slow())
    assert 0.04 < time.monotonic() - began < 9
    assert ended == ["closed"]


async def test_what_ends_in_time_is_given_or_raised_as_it_is():
    async def fails() -> None:
        raise ZeroDivisionError

    patience = Patience()
    assert await patience.within(1, asyncio.sleep(0, "done")) == "done"
    with pytest.raises(ZeroDivisionError):
        await patience.within(1, fails())


async def test_many_waits_each_end_at_their_own_time():
    patience = Patience()

    async def ended_after(seconds: float) -> float:
        began = time.monotonic()
        with pytest.raises(TimeoutError):
            await patience.within(seconds, asyncio.sleep(10))
        return time.monotonic() - began

    wanted = [0.3, 0.1, 0.2, 0.1, 0.25]
    taken = await asyncio.gather(*map(ended_after, wanted))
    assert all(want - 0.01 < took < want + 5 for want, took in zip(wanted, taken, strict=True))


async def test_a_cancellation_from_outside_stays_one():
    patience = Patience()
    task = asyncio.create_task(patience.within(5, asyncio.sleep(10)))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_cancellation_from_outside_at_the_same_moment_goes_on():
    patience = Patience()
    task = asyncio.create_task(patience.within(0.05, asyncio.sleep(10)))
    await asyncio.sleep(0.01)
    asyncio.get_running_loop().call_later(0.04, task.cancel)
    time.sleep(0.1)  # noqa: ASYNC251, both are due when the loop looks again
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_task_may_wait_again_after_a_time_out():
    patience = Patience()
    for _ in range(3):
        with pytest.raises(TimeoutError):
            await patience.within(0.02, asyncio.sleep(10))
    assert await patience.within(0.5, asyncio.sleep(0, "fine")) == "fine"

"""The sandbox's courier: posts what it has to tell to whom it has to be told.

Promise: an event is told until it is heard (2xx), with pauses that double; what is not heard keeps nothing else
waiting. The sandbox is nobody's dependency here: it calls by itself, so no breaker of ours counts its calls.
"""

import asyncio
from datetime import timedelta
from typing import Final

from admitone.finance.gateways.sandbox.simulator import Delivery, Simulator
from admitone.kernel.breaker import Admission, Breakers, Dependency
from admitone.kernel.outbound import Answer, Outbound, Request
from admitone.kernel.scope import Caller
from admitone.kernel.telemetry import Metrics

LISTENER: Final = Dependency("sandbox:listener")
AT_ONCE: Final = 20
PAUSE: Final = timedelta(milliseconds=200)


class _Untroubled(Breakers):
    """Always closed: whoever tells something does not stop because nobody listened."""

    def __init__(self) -> None:
        """It shares nothing with anybody."""

    async def admit(self, dependency: Dependency) -> Admission:
        return Admission(dependency)

    async def report(self, admission: Admission, *, healthy: bool) -> None:
        pass


class Courier:
    """Delivers one sandbox's events to one address."""

    def __init__(self, simulator: Simulator, listener: str) -> None:
        self._simulator = simulator
        self._listener = listener.rstrip("/")

    async def run(self) -> None:
        """For ever. One that is not heard yet takes one place, however often it falls due meanwhile."""
        async with Outbound(_Untroubled(), Metrics()) as outbound, asyncio.TaskGroup() as group:
            under_way: dict[int, asyncio.Task[None]] = {}
            while True:
                under_way = {own: task for own, task in under_way.items() if not task.done()}
                places = AT_ONCE - len(under_way)
                for each in self._simulator.due_deliveries(places) if places else ():
                    if each.id not in under_way:
                        under_way[each.id] = group.create_task(self._deliver(outbound, each))
                if not under_way:
                    await asyncio.sleep(PAUSE.total_seconds())
                else:
                    await asyncio.wait(
                        under_way.values(), timeout=PAUSE.total_seconds(), return_when=asyncio.FIRST_COMPLETED
                    )

    async def _deliver(self, outbound: Outbound, delivery: Delivery) -> None:
        request = Request(
            method="POST",
            url=f"{self._listener}{delivery.path}",
            user_given=False,
            headers=delivery.headers,
            body=delivery.body,
            deadline_seconds=10,
        )
        outcome = await outbound.call(LISTENER, request, Caller())
        if isinstance(outcome, Answer) and outcome.status < 300:
            self._simulator.delivered(delivery)

"""Clocks that leap by a day: workers ahead and behind take over from one another, killed or asked to go (F8)."""

import asyncio
import random

from bench.faults import toy
from bench.faults.installation import Installation
from bench.faults.report import Report
from bench.faults.trial import Scale, a_trial
from bench.faults.world import Shape

DAY_SECONDS = 86_400
WORKER = "worker-1"
LEASE_SECONDS = 0.5


async def clocks(installation: Installation, seed: int, scale: Scale) -> Report:
    chance = random.Random(f"clocks {seed}")
    done = []
    async with a_trial("clocks", installation, seed, Shape(lease_seconds=LEASE_SECONDS)) as trial:
        world = trial.world
        process = world.processes[WORKER]
        async with world.books() as books, trial.crowd.at_work():
            world.down.add(WORKER)
            for number in range(scale.blows // 2):
                await toy.enqueue(books, trial.members, 50, name=f"turn-{number}", lingering=3)
                going, days = chance.choice([process.kill, process.end]), chance.choice([-1, 0, 1])
                done.append(f"{going.__name__}, then a worker that is {days} days ahead")
                await world.by_hand(going)
                await world.launch(WORKER, TOY_CLOCK_SECONDS=str(days * DAY_SECONDS))
                await asyncio.sleep(chance.uniform(1.0, 2.5))
            await world.by_hand(process.kill)
            world.down.discard(WORKER)
        return await trial.verdict(done)

"""What is overdue, over all organisations.

Promise: no hold outlives its time by more than the minute between two sweeps. The relay finds what is overdue, by an
index and without locking anything; each organisation's is then ended in transactions of its own that look again. So
running twice, late or half is harmless, and what one organisation cannot do keeps no other waiting. Whoever wants
something meanwhile does not wait for the sweep: it takes what is overdue itself.
"""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from admitone.kernel.ids import OrganizationId
from admitone.kernel.jobs import Delivered, Desk, Lane, Schedule, errand
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.scope import Scope
from admitone.kernel.telemetry import logger
from admitone.selling.stock.commands.settling import expire
from admitone.selling.stock.model import HoldId
from admitone.selling.stock.store.sweeping import SWEEPING, Overdue, list_overdue

SWEEPS: Final = Lane("stock_sweeps", places=1)
PAGE: Final = 2_000
AT_A_TIME: Final = 500
"""In one transaction: buyers wait for none of them for long."""
LONGEST_RUN: Final = timedelta(seconds=240)
"""How long a sweep begins new pages; the next goes on."""


@errand("stock.sweep", lane=SWEEPS, seconds=300)
async def sweep(desk: Desk, firing: Delivered[Firing]) -> None:  # noqa: ARG001
    """Page after page to the end, or as far as the time of a run goes."""
    clock = asyncio.get_running_loop().time
    ends, after, failed = clock() + LONGEST_RUN.total_seconds(), Overdue(), list[Exception]()
    while clock() < ends and (page := await desk.database.read(SWEEPING, list_overdue, after, PAGE)):
        holds: dict[OrganizationId, dict[HoldId, None]] = {}
        for each in page:
            holds.setdefault(each.organization, {})[each.hold] = None
        for organization, own in holds.items():
            for first in range(0, len(own), AT_A_TIME):
                failed += await _expire(desk, organization, [*own][first : first + AT_A_TIME])
        after = page[-1]
    if failed:
        raise ExceptionGroup(f"{len(failed)} transactions could not be done", failed)


async def _expire(desk: Desk, organization: OrganizationId, holds: Sequence[HoldId]) -> list[Exception]:
    """What became of it, if it failed; it is raised when all had their turn."""
    try:
        await desk.database.run(Scope(organization, SWEEPING.reason), lambda tx: expire(tx, holds), patient=True)
    except Exception as error:  # noqa: BLE001
        logger().exception("stock.not_swept", orgId=str(organization), holds=len(holds))
        return [error]
    return []


JOBS: Final = (sweep,)
SCHEDULES: Final = (Schedule("stock.sweep", "* * * * *", sweep),)

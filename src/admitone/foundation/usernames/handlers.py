"""Forgetting: who once had a name is nobody's business when its hold is over."""

from functools import partial
from typing import Final

from admitone.foundation.usernames import store
from admitone.kernel.jobs.model import Delivered, Desk, Lane, errand
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.scope import PlatformScope, Role

ROWS_PER_BATCH: Final = 1_000
MAINTENANCE: Final = PlatformScope("forget names whose hold is over", Role.MAINTENANCE)


@errand("usernames.forget_held", lane=Lane("maintenance", places=1), seconds=600)
async def forget_held(desk: Desk, firing: Delivered[Firing]) -> None:  # noqa: ARG001
    """By schedule, in small transactions; what one run leaves, the next one takes."""
    forget = partial(store.forget, most=ROWS_PER_BATCH)
    while await desk.database.run(MAINTENANCE, forget) == ROWS_PER_BATCH:
        pass

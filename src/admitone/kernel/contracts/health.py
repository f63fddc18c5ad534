"""Whether the process lives, and whether it can do its work.

Promise: `/health/live` asks nobody, so it tells only whether the process answers; `/health/ready` asks what it was
given to ask, and says 503 while the answer is no.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Literal

from admitone.kernel.authority import Audience
from admitone.kernel.contracts.call import Call
from admitone.kernel.contracts.contract import Contract
from admitone.kernel.contracts.example import Example
from admitone.kernel.contracts.wire import Wire
from admitone.kernel.errors import Unavailable

PATIENCE_SECONDS: Final = 3


class Health(Wire):
    status: Literal["live", "ready"]


class NotReady(Unavailable):
    """The service is not ready yet."""

    code = "NOT_READY"


def health_contracts(ready: Callable[[], Awaitable[bool]]) -> tuple[Contract, Contract]:
    """`ready` may also raise or take too long: both mean no."""
    live = Contract(
        id="KERNEL.LIVE",
        version="1.0.0",
        owner="kernel",
        consumers=("operations",),
        summary="Whether the process answers.",
        get="/health/live",
        gives=Health,
        audience=Audience.PUBLIC,
        order_key="none",
        examples=(Example("live", gives=Health(status="live")),),
    )
    ready_ = Contract(
        id="KERNEL.READY",
        version="1.0.0",
        owner="kernel",
        consumers=("operations",),
        summary="Whether the process can do its work.",
        get="/health/ready",
        gives=Health,
        refuses=(NotReady,),
        audience=Audience.PUBLIC,
        order_key="none",
        examples=(Example("ready", gives=Health(status="ready")), Example("starting", refuses=NotReady())),
    )

    @live.serves
    async def say_live(call: Call) -> Health:  # noqa: ARG001
        return Health(status="live")

    @ready_.serves
    async def say_ready(call: Call) -> Health:  # noqa: ARG001
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                is_ready = await ready()
        except Exception:  # noqa: BLE001  Whatever hinders it, it is not ready.
            is_ready = False
        if not is_ready:
            raise NotReady()
        return Health(status="ready")

    return live, ready_

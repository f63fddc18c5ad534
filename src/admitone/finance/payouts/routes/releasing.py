"""The hourly release, for whoever calls it from outside (FIN-090): a read model, which changes nothing at any
provider."""

from typing import Any

from admitone.finance.payouts.releasing import Run
from admitone.kernel.contracts import Audience, Call, Contract, Example, Wire


class ReleaseAnswer(Wire):
    released: int
    failed: int
    """Of these, payouts of the provider's own that failed."""
    held: int
    """Not shown as released, because the organisation's payouts are blocked."""


release = Contract(
    id="C14",
    version="1.0.0",
    owner="payouts",
    consumers=("operations",),
    summary="Show what providers paid out themselves as released; nothing is asked of them.",
    post="/api/cron/payouts/release",
    gives=ReleaseAnswer,
    audience=Audience.INTERNAL,
    repeats="a payout is released once, by its own id",
    order_key="none",
    examples=(Example("some", gives=ReleaseAnswer(released=12, failed=0, held=0)),),
)


@release.serves
async def release_all(call: Call) -> ReleaseAnswer:
    done = await Run(call.read, call.batch).release(call.caller)
    return ReleaseAnswer(released=done.paid + done.failed, failed=done.failed, held=done.held)


CONTRACTS: tuple[Any, ...] = (release,)

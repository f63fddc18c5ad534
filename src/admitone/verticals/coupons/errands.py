"""What is seen to by the clock, over all organisations: weeks that are earned, days that are over, and whether money
and campaigns agree.

Promise: the relay finds what must be seen to, by an index and without locking anything; each organisation's is then
done in a transaction of its own that looks again. Running twice, late or half is harmless, and what one organisation
cannot do keeps no other waiting.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final

from admitone.kernel.db import Tx
from admitone.kernel.ids import OrganizationId
from admitone.kernel.jobs import Delivered, Desk, Lane, Schedule, errand
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.scope import Scope
from admitone.kernel.telemetry import logger
from admitone.verticals.coupons.commands.earning import see_to
from admitone.verticals.coupons.comparing import compare
from admitone.verticals.coupons.model import CampaignId
from admitone.verticals.coupons.store import sweeping
from admitone.verticals.coupons.store.sweeping import FORGETTING, SWEEPING, After, Left

SWEEPS: Final = Lane("coupon_sweeps", places=2)
PAGE: Final = 500
AT_A_TIME: Final = 100
"""Campaigns in one transaction."""
AT_ONCE: Final = 1_000
"""Tokens that are forgotten."""

Page = Callable[[After], Awaitable[list[Left]]]
Work = Callable[[Tx, Sequence[CampaignId]], Awaitable[None]]


@errand("coupons.see_to", lane=SWEEPS, seconds=600)
async def see_to_campaigns(desk: Desk, firing: Delivered[Firing]) -> None:
    """Those whose week, or last day, is over."""

    async def page(after: After) -> list[Left]:
        return await desk.database.read(SWEEPING, sweeping.list_due, after, PAGE)

    async def work(tx: Tx, ids: Sequence[CampaignId]) -> None:
        await see_to(tx, ids, firing.caller)

    await _sweep(desk, page, work)


@errand("coupons.compare", lane=SWEEPS, seconds=600)
async def compare_with_money(desk: Desk, firing: Delivered[Firing]) -> None:  # noqa: ARG001
    """Every campaign that its money may still change (CPN-050). It writes down what differs, and activates nothing."""

    async def page(after: After) -> list[Left]:
        return await desk.database.read(SWEEPING, sweeping.list_watched, after, PAGE)

    await _sweep(desk, page, compare)


@errand("coupons.forget", lane=SWEEPS, seconds=600)
async def forget_tokens(desk: Desk, firing: Delivered[Firing]) -> None:  # noqa: ARG001
    """In small transactions; what one run leaves, the next one takes."""
    while await desk.database.run(FORGETTING, partial(sweeping.forget, most=AT_ONCE)) == AT_ONCE:
        pass


async def _sweep(desk: Desk, page: Page, work: Work) -> None:
    after, failed = After(), list[Exception]()
    while lefts := await page(after):
        for organization, ids in _by_organization(lefts):
            try:
                await desk.database.run(Scope(organization, SWEEPING.reason), partial(_do, work, ids), patient=True)
            except Exception as error:  # noqa: BLE001  It is raised when all had their turn.
                logger().exception("coupons.not_seen_to", orgId=str(organization), campaigns=len(ids))
                failed.append(error)
        after = After(lefts[-1].at, lefts[-1].id.uuid)
    if failed:
        raise ExceptionGroup(f"{len(failed)} transactions could not be done", failed)


async def _do(work: Work, ids: Sequence[CampaignId], tx: Tx) -> None:
    await work(tx, ids)


def _by_organization(lefts: Sequence[Left]) -> list[tuple[OrganizationId, list[CampaignId]]]:
    ids: dict[OrganizationId, list[CampaignId]] = {}
    for each in lefts:
        ids.setdefault(each.organization, []).append(each.id)
    return [(org, own[at : at + AT_A_TIME]) for org, own in ids.items() for at in range(0, len(own), AT_A_TIME)]


JOBS: Final = (see_to_campaigns, compare_with_money, forget_tokens)
SCHEDULES: Final = (
    Schedule("coupons.see_to", "* * * * *", see_to_campaigns),
    Schedule("coupons.compare", "*/5 * * * *", compare_with_money),
    Schedule("coupons.forget", "37 3 * * *", forget_tokens),
)

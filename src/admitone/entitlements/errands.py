"""What is seen to later, over all organisations: the next codes, what is over, and what guests had who are users now.

Promise: the relay finds what must be seen to, by an index and without locking anything; each organisation's is then
done in a transaction of its own that looks again. So running twice, late or half is harmless, and what one organisation
cannot do keeps no other waiting: the next run finds it again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Final

from admitone.entitlements.commands.changing import Claim, claim, expire
from admitone.entitlements.commands.renewing import AHEAD, Renewal, renew
from admitone.entitlements.model import EntitlementId
from admitone.entitlements.store import sweeping
from admitone.entitlements.store.sweeping import SWEEPING, After, Left
from admitone.foundation.identity.facts import GuestClaimed
from admitone.kernel.db import Tx
from admitone.kernel.ids import OrganizationId
from admitone.kernel.jobs import Delivered, Desk, Job, Lane, Priority, Schedule, Subscription, enqueue, errand
from admitone.kernel.jobs.model import Finish
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.scope import Scope
from admitone.kernel.telemetry import logger

SWEEPS: Final = Lane("entitlement_sweeps", places=3)
NEAR: Final = timedelta(hours=36)
"""How long before a right can be used its codes are renewed without anybody asking."""
PAGE: Final = 1_000
AT_A_TIME: Final = 200
"""In one transaction: doors wait for none of them for long."""
AT_ONCE: Final = 4
STRAGGLING: Final = timedelta(minutes=2)
"""Longer than any transaction of ours is left open."""
LONGEST_RUN: Final = timedelta(seconds=480)
"""How long a sweep begins new pages; the last of them is over before its time is."""

Page = Callable[[After], Awaitable[list[Left]]]
SeeTo = Callable[[Tx, Sequence[EntitlementId]], Awaitable[object]]


@errand("entitlements.renew_codes", lane=SWEEPS, seconds=600)
async def renew_codes(desk: Desk, firing: Delivered[Firing]) -> None:  # noqa: ARG001
    """Whatever can be used, or can be soon, has its next code before any wallet shows it, and so before any device
    without a network must know it. What is for later is renewed when its wallet asks."""

    async def page(after: After) -> list[Left]:
        return await desk.database.read(SWEEPING, sweeping.list_uncoded, NEAR, AHEAD, after, PAGE)

    async def see_to(tx: Tx, ids: Sequence[EntitlementId]) -> None:
        await renew(tx, [Renewal(own, AHEAD) for own in ids])

    await _sweep(desk, page, see_to)


@errand("entitlements.expire", lane=SWEEPS, seconds=600)
async def expire_rights(desk: Desk, firing: Delivered[Firing]) -> None:
    """Whose time is over (ENT-018)."""

    async def page(after: After) -> list[Left]:
        return await desk.database.read(SWEEPING, sweeping.list_over, after, PAGE)

    async def see_to(tx: Tx, ids: Sequence[EntitlementId]) -> None:
        await expire(tx, ids, firing.caller)

    await _sweep(desk, page, see_to)


# -- Guests who are somebody


@errand("entitlements.claim", lane=SWEEPS, priority=Priority.CRITICAL, seconds=600)
async def claim_rights(desk: Desk, told: Delivered[GuestClaimed]) -> Finish:
    """First it is written down who the guest is, so that whatever is granted from now on is the user's; then what was
    granted before is moved; and once more for what somebody was granting at that very time, and committed after."""
    guest, user = told.payload.guest_id, told.payload.user_id
    await desk.database.run(SWEEPING, lambda tx: sweeping.insert_claimed(tx, guest, user))
    await _claim(desk, told)

    async def again(tx: Tx) -> None:
        key, when = f"entitlements.claim_rest:{told.key}", tx.now + STRAGGLING
        await enqueue(tx, [Job.of(claim_rest, told.payload, told.caller, key=key, run_at=when)])

    return again


@errand("entitlements.claim_rest", lane=SWEEPS, priority=Priority.CRITICAL, seconds=600)
async def claim_rest(desk: Desk, told: Delivered[GuestClaimed]) -> None:
    await _claim(desk, told)


async def _claim(desk: Desk, told: Delivered[GuestClaimed]) -> None:
    guest, user = told.payload.guest_id, told.payload.user_id

    async def page(after: After) -> list[Left]:
        return await desk.database.read(SWEEPING, sweeping.list_of_owner, guest, after, PAGE)

    async def see_to(tx: Tx, ids: Sequence[EntitlementId]) -> None:
        await claim(tx, [Claim(told.caller, own, guest, user) for own in ids])

    await _sweep(desk, page, see_to)


# -- Page after page


async def _sweep(desk: Desk, page: Page, see_to: SeeTo) -> None:
    """Page after page to the end, or as far as the time of a run goes."""
    clock = asyncio.get_running_loop().time
    ends, after, failed = clock() + LONGEST_RUN.total_seconds(), After(), []
    while clock() < ends and (lefts := await page(after)):
        failed += await _each(desk, lefts, see_to)
        after = After(lefts[-1].at, lefts[-1].id.uuid)
    if failed:
        raise ExceptionGroup(f"{len(failed)} transactions could not be done", failed)


async def _each(desk: Desk, lefts: Sequence[Left], see_to: SeeTo) -> list[Exception]:
    """Some transactions at once, each of one organisation; what became of those that failed."""
    places, failed = asyncio.Semaphore(AT_ONCE), list[Exception]()

    async def one(organization: OrganizationId, ids: Sequence[EntitlementId]) -> None:
        async with places:
            try:
                await desk.database.run(Scope(organization, SWEEPING.reason), lambda tx: see_to(tx, ids), patient=True)
            except Exception as error:  # noqa: BLE001  It is raised when all had their turn.
                logger().exception("entitlements.not_seen_to", orgId=str(organization), rights=len(ids))
                failed.append(error)

    await asyncio.gather(*(one(organization, ids) for organization, ids in _by_organization(lefts)))
    return failed


def _by_organization(lefts: Sequence[Left]) -> list[tuple[OrganizationId, list[EntitlementId]]]:
    ids: dict[OrganizationId, list[EntitlementId]] = {}
    for each in lefts:
        ids.setdefault(each.organization, []).append(each.id)
    return [(org, own[at : at + AT_A_TIME]) for org, own in ids.items() for at in range(0, len(own), AT_A_TIME)]


JOBS: Final = (renew_codes, expire_rights, claim_rights, claim_rest)
SUBSCRIPTIONS: Final = (Subscription(GuestClaimed, claim_rights),)
SCHEDULES: Final = (
    Schedule("entitlements.renew_codes", "*/15 * * * *", renew_codes),
    Schedule("entitlements.expire", "*/5 * * * *", expire_rights),
)

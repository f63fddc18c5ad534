"""Keys change, addresses stay: every night whatever stands under an older key is written under the newest (GAP-18).

Promise: after a night with both keys in the ring addresses and authenticators need the older one no more: nobody loses
an account, an address that is taken stays taken. What no live key opens is left as it is and told of, so a key that
went too early is put back and nothing is lost. A walk that is broken off begins again and does only what is left.

What was sent is not written anew, because it soon ends: an older key opens codes and links for 14 days (a guest's link
lasts so long), and letters that wait for 7. An invitation is emptied when it is over. docs/runbooks/key-rotation.md has
the days of everything.

It is an errand and no bulk work (`kernel.bulk`): that runs as an organisation, which reaches no person's rows.
"""

from functools import partial
from typing import Final
from uuid import UUID

import msgspec

from admitone.foundation.identity.store import factors, people, rotation
from admitone.kernel.crypto import KEYRING, CannotOpen
from admitone.kernel.db import PeopleTx
from admitone.kernel.ids import IdentityId
from admitone.kernel.jobs import Delivered, Desk, Lane, errand
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.scope import PeopleScope
from admitone.kernel.telemetry import logger

PAGE: Final = 200
SCOPE: Final = PeopleScope("write addresses under the newest key")


class KeyGone(Exception):
    """Something is sealed under a key that is not in the ring any more. Put the key back."""


class Walked(msgspec.Struct, frozen=True):
    """One page: where it ended, and what was done."""

    last: UUID | None = None
    changed: int = 0
    unreadable: int = 0


@errand("identity.rotate_keys", lane=Lane("keys", places=1), seconds=3600)
async def rotate_keys(desk: Desk, firing: Delivered[Firing]) -> None:  # noqa: ARG001
    after, changed, unreadable = UUID(int=0), 0, 0
    while True:
        page = await desk.database.run(SCOPE, partial(rotate_page, after=after), patient=True)
        changed, unreadable = changed + page.changed, unreadable + page.unreadable
        if page.last is None:
            break
        after = page.last
    logger().info("identity.keys_rotated", changed=changed, unreadable=unreadable, versions=KEYRING().versions)
    if unreadable:
        raise KeyGone(f"{unreadable} addresses or authenticators are sealed under keys that are gone")


async def rotate_page(tx: PeopleTx, after: UUID, most: int = PAGE) -> Walked:
    page = await rotation.list_page(tx, after, most)
    if not page:
        return Walked()
    # Whoever changes an address, erases a person or claims a guest holds these rows, too.
    await people.lock_identities(tx, page)
    standings = await rotation.find_standings(tx, page)
    live = frozenset(KEYRING().versions)
    readable = [each for each in standings if each.email is not None]
    sealed = {each.identity: each.email for each in readable if each.email and not each.is_sealed_anew}
    hashed = [each for each in readable if each.versions != live]
    await rotation.reseal(tx, sealed)
    await rotation.rehash(tx, hashed)
    renewed, lost = await _reseal_factors(tx, page)
    changed = len(sealed.keys() | {each.identity for each in hashed}) + renewed
    return Walked(page[-1].uuid, changed, len(standings) - len(readable) + lost)


async def _reseal_factors(tx: PeopleTx, page: list[IdentityId]) -> tuple[int, int]:
    renewed = lost = 0
    for row in (await factors.lock_totp(tx, page)).values():
        try:
            renewed += await factors.reseal(tx, [row])
        except CannotOpen:
            lost += 1
    return renewed, lost

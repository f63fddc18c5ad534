"""Keys change, addresses stay: every night whatever stands under an older key is written under the newest (GAP-18).

Promise: what `kernel.rotation` promises, of addresses and authenticators: nobody loses an account, an address that is
taken stays taken.

What was sent is not written anew, because it soon ends: an older key opens codes and links for 14 days (a guest's link
lasts so long), and letters that wait for 7. An invitation is emptied when it is over. docs/runbooks/key-rotation.md has
the days of everything.

It is no bulk work (`kernel.bulk`): that runs as an organisation, which reaches no person's rows.
"""

from functools import partial
from typing import Final
from uuid import UUID

from admitone.foundation.identity.store import factors, people, rotation
from admitone.kernel.crypto import KEYRING, CannotOpen
from admitone.kernel.db import PeopleTx
from admitone.kernel.ids import IdentityId
from admitone.kernel.jobs import Delivered, Desk, errand
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.rotation import KEYS, Walked, walk
from admitone.kernel.scope import PeopleScope

PAGE: Final = 200
SCOPE: Final = PeopleScope("write addresses under the newest key")


@errand("identity.rotate_keys", lane=KEYS, seconds=3600)
async def rotate_keys(desk: Desk, firing: Delivered[Firing]) -> None:  # noqa: ARG001
    async def page(after: UUID) -> Walked[UUID]:
        return await desk.database.run(SCOPE, partial(rotate_page, after=after), patient=True)

    await walk("identity", "addresses or authenticators", UUID(int=0), page)


async def rotate_page(tx: PeopleTx, after: UUID, most: int = PAGE) -> Walked[UUID]:
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

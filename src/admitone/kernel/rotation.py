"""Keys change, what they sealed stays: how a package writes what it keeps for long under the newest key (GAP-18).

Promise: after a night with both keys in the ring, what is walked needs the older one no more. What no live key opens is
left as it is, keeps nothing else from being written, and is told of: a key that went too early is put back, and nothing
is lost. A walk that is broken off begins again and does only what is left.

    @errand("crm.rotate_keys", lane=KEYS, seconds=3600)
    async def rotate_keys(desk, firing):
        await walk("crm", "notes", UUID(int=0), partial(_page, desk))

A page finds what stands under an older key behind a cursor and writes it anew (`renew`), in transactions of its own.
docs/runbooks/key-rotation.md has the days of everything that is not walked.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, Generic, TypeVar

import msgspec

from admitone.kernel.crypto import KEYRING, CannotOpen, Place
from admitone.kernel.jobs import Lane
from admitone.kernel.telemetry import logger

Cursor = TypeVar("Cursor")
Row = TypeVar("Row")
KEYS: Final = Lane("keys", places=1)


class KeyGone(Exception):
    """Something is sealed under a key that is not in the ring any more. Put the key back."""


class Walked(msgspec.Struct, Generic[Cursor], frozen=True):
    """One page: where it ended, and what was done."""

    last: Cursor | None = None
    changed: int = 0
    unreadable: int = 0


class Renewed(msgspec.Struct, Generic[Row], frozen=True):
    """What is to be written, and how much of it nobody can read."""

    sealed: dict[Row, bytes]
    unreadable: int


async def walk(package: str, what: str, first: Cursor, page: Callable[[Cursor], Awaitable[Walked[Cursor]]]) -> None:
    """Page after page to the end; whatever cannot be opened is told when all had their turn."""
    after, changed, unreadable = first, 0, 0
    while (done := await page(after)).last is not None:
        after, changed, unreadable = done.last, changed + done.changed, unreadable + done.unreadable
    logger().info(f"{package}.keys_rotated", changed=changed, unreadable=unreadable, versions=KEYRING().versions)
    if unreadable:
        raise KeyGone(f"{unreadable} {what} are sealed under keys that are gone")


def renew(sealed: Mapping[Row, bytes], place: Callable[[Row], Place]) -> Renewed[Row]:
    """The same under the newest key, of all that stands under an older one."""
    ring, fresh, unreadable = KEYRING(), dict[Row, bytes](), 0
    for row, value in sealed.items():
        if ring.is_current(value):
            continue
        try:
            fresh[row] = ring.seal(ring.open(value, place(row)), place(row))
        except CannotOpen:
            unreadable += 1
    return Renewed(fresh, unreadable)

"""Whose right it is: staff find somebody who stands at the door by name, or by the address that they give.

Promise: names and addresses stay where people's own rows are; they are compared there and then, and stand in no row, no
log and no fact of a door. Nobody is found who holds no right of this event. An address finds whoever has it and is
never shown; of names, no more are read at once than a page allows, and whoever asks goes on from there.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final
from uuid import UUID

import msgspec

from admitone.entitlements.model import Entitlement, EntitlementId
from admitone.entitlements.store import lists
from admitone.entitlements.store.entitlements import find_entitlements
from admitone.foundation.identity.api import IdentityType, find_by_email, list_names, normalise_email
from admitone.kernel.db import PeopleTx
from admitone.kernel.ids import IdentityId
from admitone.kernel.scope import PeopleScope
from admitone.kernel.texts import is_called, parts_of

PEOPLE: Final = PeopleScope("who stands at the door")
STEP: Final = 1_000
FARTHEST: Final = 20_000
"""Rights whose holders are looked at in one search."""
FEWEST_LETTERS: Final = 2
"""Of some word."""
Read = Callable[..., Awaitable[Any]]


class Holder(msgspec.Struct, frozen=True):
    right: Entitlement
    name: str | None


class Found(msgspec.Struct, frozen=True):
    holders: tuple[Holder, ...]
    looked_until: UUID | None = None
    """Where to go on, if there is more to look at."""


async def search(read: Read, event: str, words: str, after: UUID, most: int) -> Found:
    """What has an @ in it is an address; raises `InvalidEmail` for one that is none."""
    if "@" in words:
        return await _by_email(read, event, words, most)
    parts = parts_of(words)
    if max(map(len, parts), default=0) < FEWEST_LETTERS:  # An accent alone would be in everybody's name.
        return Found(())
    return await _by_name(read, event, parts, after, most)


async def _by_email(read: Read, event: str, text: str, most: int) -> Found:
    owners = await read(_owners_of, normalise_email(text), scope=PEOPLE)
    rights = await read(lists.list_of_owners, event, owners, most)
    names = await read(list_names, owners, scope=PEOPLE)
    return Found(tuple(Holder(right, names.get(right.owner)) for right in rights))


async def _owners_of(tx: PeopleTx, email: str) -> list[IdentityId]:
    """The user, and the guest, with that address."""
    found = [await find_by_email(tx, [email], kind) for kind in IdentityType]
    return [owner for each in found for owner in each.values()]


async def _by_name(read: Read, event: str, words: Sequence[str], after: UUID, most: int) -> Found:
    hits: dict[EntitlementId, str] = {}
    looked = 0
    while looked < FARTHEST:
        owners: list[tuple[UUID, IdentityId]] = await read(lists.list_owners, event, after, STEP)
        names: dict[IdentityId, str] = await read(list_names, sorted({own for _, own in owners}), scope=PEOPLE)
        for right, owner in owners:
            name = names.get(owner)
            after, looked = right, looked + 1
            if name and is_called(name, words):
                hits[EntitlementId(right)] = name
                if len(hits) == most:
                    return await _found(read, hits, after)
        if len(owners) < STEP:
            return await _found(read, hits, None)
    return await _found(read, hits, after)


async def _found(read: Read, hits: dict[EntitlementId, str], looked_until: UUID | None) -> Found:
    rights = await read(find_entitlements, [*hits])
    return Found(tuple(Holder(rights[own], name) for own, name in hits.items()), looked_until)

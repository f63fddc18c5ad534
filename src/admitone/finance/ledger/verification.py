"""Whether the ledger is still what was sealed, page by page.

Promise: `verify_chain` checks seals against each other and against the transfers under them, `verify_tail` finds
transfers that are under no seal: some will be sealed in a moment, and one that nobody is about to seal is a fault,
as is a delta that names what is not there, or does not fit what is.
Together they see every transfer there is and every one there was.
"""

from collections import defaultdict
from itertools import accumulate
from typing import Final
from uuid import UUID

import msgspec

from admitone.finance.ledger import policy, sealing
from admitone.finance.ledger.model import TransferId
from admitone.finance.ledger.sealing import GENESIS, SEAL_SIZE, Fault, FaultKind, Seal, SealMember
from admitone.finance.ledger.store import seals as store
from admitone.finance.ledger.store.rolling import list_deltas
from admitone.kernel.db import Tx

SEALS: Final = 1_000
SEALED: Final = 20_000
"""Transfers in one page of seals: many small ones, or a few large ones."""
OPEN: Final = 1_000
"""Deltas that are looked at: those that nobody can roll are the oldest."""
LAST: Final = UUID(int=2**128 - 1)
TRANSFERS: Final = 10_000
FIRST: Final = UUID(int=0)


class ChainPage(msgspec.Struct, frozen=True):
    """Some seals, checked."""

    seals: int
    transfers: int
    faults: tuple[Fault, ...]
    last: int
    """The last seal that was checked: the next page begins after it. The one with which we began: there is none."""
    head: bytes
    """Its hash. Who keeps it can show later that nothing before it was rewritten."""


class TailPage(msgspec.Struct, frozen=True):
    """Some transfers, looked up under the seals."""

    looked_at: int
    unsealed: tuple[TransferId, ...]
    """Posted, and not sealed yet."""
    faults: tuple[Fault, ...]
    last: UUID


async def verify_chain(tx: Tx, after: int = 0, most: int = SEALS) -> ChainPage:
    """The next seals after that one, each against the one before it."""
    if tx.scope.cities is not None:
        raise AssertionError("a chain has transfers of every city, and this scope does not see them")
    listed = await store.list_seals(tx, max(after, 1), most + 1 if after else most)
    before, seals = (listed[0], listed[1:]) if after and listed and listed[0].number == after else (None, listed)
    seals = _a_page_of(seals)
    if not seals:
        return ChainPage(0, 0, (), after, before.hash if before else GENESIS)
    under: dict[int, list[SealMember]] = defaultdict(list)
    # More than there can be: what was added under a seal is seen.
    most_members = sum(min(seal.transfers, SEAL_SIZE) for seal in seals) + SEAL_SIZE
    members = await store.list_members(tx, [seal.number for seal in seals], most_members)
    for member in members:
        under[member.seal].append(member)
    transfers = await store.find_transfers(tx, [member.transfer_id for member in members])
    faults = sealing.faults_of(tx.scope.organization.uuid, before, seals, under, transfers)
    return ChainPage(len(seals), len(members), tuple(faults), seals[-1].number, seals[-1].hash)


def _a_page_of(seals: list[Seal]) -> list[Seal]:
    counted = accumulate(seal.transfers for seal in seals)
    return seals[: max(1, sum(transfers <= SEALED for transfers in counted))]


async def verify_tail(tx: Tx, after: UUID = FIRST, most: int = TRANSFERS) -> TailPage:
    """The transfers after that one, by their ids; a page that is not full is the last."""
    page = await store.list_whether_sealed(tx, after, most)
    unsealed = tuple(TransferId(which) for which, sealed, open_ in page if not sealed and open_)
    strays = tuple(
        Fault(FaultKind.STRAY, None, TransferId(which)) for which, sealed, open_ in page if not sealed and not open_
    )
    last = page[-1][0] if page else after
    absent = await store.list_absent(tx, after, last if len(page) == most else LAST, most)
    missing = tuple(Fault(FaultKind.MISSING, None, TransferId(which)) for which in absent)
    misfits = await _misfits(tx) if after == FIRST else 0
    return TailPage(len(page), unsealed, (*strays, *missing, *[Fault(FaultKind.MISFIT, None)] * misfits), last)


async def _misfits(tx: Tx) -> int:
    """How many of the oldest open deltas nobody can roll. One that is rolled meanwhile is gone at the second look."""
    open_ = await list_deltas(tx, FIRST, OPEN)
    named = [transfer for delta in open_ for transfer in delta.transfers]
    found, sealed = await store.find_transfers(tx, named), await store.find_sealed(tx, named)
    sound = {delta.id for delta in policy.sound_of(open_, found, sealed)}
    if len(sound) == len(open_):
        return 0
    still = {delta.id for delta in await list_deltas(tx, FIRST, OPEN)}
    return sum(delta.id in still for delta in open_ if delta.id not in sound)

"""Counting again: what the balances would be if they were folded from the transfers today, page by page.

Promise: one moment is compared with itself, without a transaction that lasts. The folded balances are read with the
last seal, in one statement; what is folded again is what is under that seal and those before it, which nobody changes;
open deltas are compared with the very transfers that they say they consist of. What is rolled meanwhile is counted the
next time. A transfer that is in no seal and in no delta counts as folded: so the balances lack it, and it shows.
"""

from collections.abc import Iterator, Sequence
from typing import Final
from uuid import UUID

import msgspec

from admitone.finance.ledger.model import Account, Holding, Transfer
from admitone.finance.ledger.policy import Delta, movements_of
from admitone.finance.ledger.store import recounting as store
from admitone.finance.ledger.store import seals
from admitone.kernel.db import Record, Tx

FIRST: Final = UUID(int=0)
PAGE: Final = 5_000
DELTAS: Final = 20
"""Each may be of a full batch, a thousand transfers."""
MOST_FOLDED: Final = 1_000_000


class Heap(msgspec.Struct, frozen=True, order=True):
    """Of what one balance row is kept."""

    account: Account
    payee: UUID
    currency: str
    city_code: str

    def __str__(self) -> str:
        return f"{self.account} {self.currency} {self.city_code} {self.payee}"


Sides = tuple[int, int]
"""Debits and credits."""


class Folded(msgspec.Struct, frozen=True):
    """The balances that were rolled, and up to which seal."""

    seal: int
    heaps: dict[Heap, Sides]
    days: dict[Heap, Sides]
    """The same, added up from what is kept of each day."""


class FoldPage(msgspec.Struct, frozen=True):
    """What some transfers moved."""

    looked_at: int
    moved: dict[Heap, Sides]
    last: UUID


class DeltaFault(msgspec.Struct, frozen=True):
    """A delta that does not say what its transfers say."""

    delta: UUID
    heap: Heap
    says: Sides
    should: Sides


class DeltaPage(msgspec.Struct, frozen=True):
    deltas: int
    transfers: int
    faults: tuple[DeltaFault, ...]
    last: UUID


async def folded_balances(tx: Tx) -> Folded:
    if tx.scope.cities is not None:
        raise AssertionError("seals are of every city, and this scope does not see them")
    rows = await store.list_folded(tx, MOST_FOLDED + 1)
    if len(rows) > MOST_FOLDED:
        raise AssertionError(f"more than {MOST_FOLDED} balances do not fit into one look")
    heaps, days = {}, {}
    for row in rows:
        if row["account"]:
            heap = _heap(row["account"], row)
            heaps[heap] = row["debits_minor"], row["credits_minor"]
            days[heap] = row["days_debits_minor"], row["days_credits_minor"]
    return Folded(rows[0]["seal"], heaps, days)


async def fold_again(tx: Tx, until: int, after: UUID = FIRST, most: int = PAGE) -> FoldPage:
    """The transfers after that one, by their ids, as far as they are under the seal or will never be under any."""
    rows = await store.sum_foldable(tx, after, most, until)
    moved: dict[Heap, Sides] = {}
    for row in rows:
        if row["minor"] is not None:
            add(moved, _heap(row["debit_account"], row), (row["minor"], 0))
            add(moved, _heap(row["credit_account"], row), (0, row["minor"]))
    return FoldPage(rows[0]["looked_at"], moved, rows[0]["last"] or after)


async def check_deltas(tx: Tx, after: UUID = FIRST, most: int = DELTAS) -> DeltaPage:
    """The open deltas after that one; a page without any is the last."""
    deltas = await store.list_deltas(tx, after, most)
    found = await seals.find_transfers(tx, [each for delta in deltas for each in delta.transfers])
    faults = [
        fault
        for delta in deltas
        for fault in _faults_of(delta, [found[each] for each in delta.transfers if each in found])
    ]
    return DeltaPage(len(deltas), len(found), tuple(faults), deltas[-1].id if deltas else after)


def add(sums: dict[Heap, Sides], heap: Heap, moved: Sides) -> None:
    debits, credits_ = sums.get(heap, (0, 0))
    sums[heap] = debits + moved[0], credits_ + moved[1]


def _faults_of(delta: Delta, transfers: Sequence[Transfer]) -> Iterator[DeltaFault]:
    said: dict[Heap, Sides] = {}
    for account, payee, currency, debit, credit in zip(
        delta.accounts, delta.payees, delta.currencies, delta.debits, delta.credits, strict=True
    ):
        add(said, Heap(account, payee, currency, delta.city_code), (debit, credit))
    should: dict[Heap, Sides] = {}
    for city in {each.city_code for each in transfers}:
        for holding, moved in movements_of(each for each in transfers if each.city_code == city).items():
            add(should, _of(holding, city), moved)
    for heap in sorted(said.keys() | should.keys()):
        if said.get(heap, (0, 0)) != should.get(heap, (0, 0)):
            yield DeltaFault(delta.id, heap, said.get(heap, (0, 0)), should.get(heap, (0, 0)))


def _of(holding: Holding, city: str) -> Heap:
    return Heap(holding.account, holding.payee, holding.currency, city)


def _heap(account: str, row: Record) -> Heap:
    return Heap(Account(account), row["payee_id"], row["currency"], row["city_code"])

"""The provider's journal says what the ledger says, row for row.

Two streams are compared that are ordered differently and may have millions of rows. What is known of an object (its
kind, reference and currency) is added up on both sides; each stream is summed into a fixed number of *buckets*, an
amount weighed by a secret hash of its object, so that a bucket is nothing exactly if every object in it is the same on
both sides. Only where a bucket is not nothing are the streams read once more, and the objects in it named. What moved a
moment ago may be known on one side only: it is in flight.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Final, NamedTuple, cast
from uuid import UUID

from admitone.finance.gateways.api import Movement, MovementKind, MovementPage
from admitone.finance.gateways.port import GATEWAYS, Gateway
from admitone.finance.ledger import api as ledger
from admitone.finance.ledger.api import Account, EntryType
from admitone.finance.proof.looking import Look
from admitone.finance.proof.model import Both, Check, Difference, Differences, Figures, Finding, Word
from admitone.finance.webhooks import api as webhooks
from admitone.kernel.db import Tx
from admitone.kernel.ids import OrganizationId
from admitone.kernel.ports import Unwired

BUCKETS: Final = 4_096
WIDTH: Final = 1 << 64
IN_FLIGHT: Final = timedelta(minutes=15)
"""Longer than a webhook, or the sweep that makes up for a lost one, takes."""
LONGEST_WAIT: Final = timedelta(days=1)
"""However long an event of ours waits in the queue: what is older is not waiting for it."""
WAITING: Final = 1_000
TRIES: Final = 5
PAUSE: Final = timedelta(milliseconds=200)

E, K = EntryType, MovementKind
KINDS: Final[dict[EntryType, MovementKind]] = {
    E.GROSS: K.CHARGE,
    E.CAMPAIGN_PREPAYMENT: K.CHARGE,
    E.UNAPPLIED_RECEIPT: K.CHARGE,
    E.UNAPPLIED_APPLIED: K.CHARGE,
    E.PROCESSOR_FEES_FINAL: K.FEE,
    E.PROCESSOR_FEES_SETTLED: K.FEE,
    E.PROCESSOR_FEES_ADJUSTMENT: K.FEE,
    E.REFUND_PROCESSOR_FEES_REVERSAL: K.FEE,
    E.REFUND_SETTLED: K.REFUND,
    E.DISPUTE_FUNDS_WITHDRAWN: K.DISPUTE,
    E.DISPUTE_FUNDS_REINSTATED: K.DISPUTE_RETURNED,
    E.DISPUTE_FEE: K.DISPUTE_FEE,
    E.DISPUTE_FEE_REVERSAL: K.DISPUTE_FEE_RETURNED,
    E.PAYOUT_INITIATED: K.PAYOUT,
    E.PAYOUT_FAILED: K.PAYOUT_RETURNED,
}
"""What a transfer says that the provider moved. Other types are between us and the organisation."""
COMES_IN: Final = frozenset({K.CHARGE, K.DISPUTE_RETURNED, K.DISPUTE_FEE_RETURNED, K.PAYOUT_RETURNED})
PROVIDERS_SIDE: Final = frozenset({Account.MA, Account.CASH, Account.TRN})


class Object(NamedTuple):
    """What a movement and a transfer have in common."""

    kind: MovementKind
    reference: str
    currency: str

    @property
    def where(self) -> str:
        return f"{self.kind} {self.reference or 'without a reference'}"


class Row(NamedTuple):
    """One row of either side: positive if the provider moved so much of the kind."""

    about: Object
    minor: int
    at: datetime


@dataclass
class Seen:
    """An object of a bucket that is not nothing."""

    there: int = 0
    here: int = 0
    at: datetime | None = None

    def see(self, row: Row, *, there: bool) -> None:
        if there:
            self.there += row.minor
        else:
            self.here += row.minor
        self.at = max(self.at, row.at) if self.at else row.at


@dataclass
class Sums:
    """Both streams, summed up."""

    since: datetime
    until: datetime
    secret: bytes = field(default_factory=lambda: os.urandom(16))
    buckets: list[int] = field(default_factory=lambda: [0] * BUCKETS)
    young: dict[Object, int] = field(default_factory=dict)
    """What moved a moment ago, there less here."""
    moved: dict[str, list[int]] = field(default_factory=dict)
    movements: int = 0
    transfers: int = 0

    def add(self, row: Row, *, there: bool) -> None:
        minor = row.minor if there else -row.minor
        bucket, weight = self._place(row.about)
        self.buckets[bucket] = (self.buckets[bucket] + minor * weight) % WIDTH
        if self.is_young(row.at):
            self.young[row.about] = self.young.get(row.about, 0) + minor
        inward = row.minor if row.about.kind in COMES_IN else -row.minor
        self.moved.setdefault(row.about.currency, [0, 0])[0 if there else 1] += inward

    def is_young(self, at: datetime) -> bool:
        """A moment ago; what says that it will be is not believed."""
        return self.since < at < self.until

    @property
    def flying(self) -> set[Object]:
        """What is young and not the same on both sides, unless the other side was told long ago."""
        return {about for about, minor in self.young.items() if minor and self.buckets[self.bucket_of(about)]}

    def unexplained(self) -> set[int]:
        """The buckets that are not nothing, also without what is in flight."""
        left = [*self.buckets]
        for about in self.flying:
            bucket, weight = self._place(about)
            left[bucket] = (left[bucket] - self.young[about] * weight) % WIDTH
        return {bucket for bucket, sum_ in enumerate(left) if sum_}

    def bucket_of(self, about: Object) -> int:
        return self._place(about)[0]

    def _place(self, about: Object) -> tuple[int, int]:
        """In which bucket, and how it weighs there: odd, so that no amount is weighed away, and by a secret, so that
        nobody finds amounts that cancel each other out."""
        digest = blake2b("\0".join(about).encode(), digest_size=10, key=self.secret).digest()
        return int.from_bytes(digest[:2]) % BUCKETS, int.from_bytes(digest[2:]) | 1


class NotTold(Exception):
    """A provider did not show its journal."""


async def check_provider(look: Look) -> Finding:
    now: datetime = await look.read(_now)
    oldest: datetime | None = await look.read(_oldest_waiting, look.organization, scope=webhooks.PLATFORM)
    since = max(min(now, oldest or now) - IN_FLIGHT, now - LONGEST_WAIT)
    sums = Sums(since, now + IN_FLIGHT)
    try:
        gateways = GATEWAYS().all()
        await _each(look, gateways, lambda row, there: sums.add(row, there=there), sums)
        suspects = sums.unexplained()
        seen: dict[Object, Seen] = {}
        if suspects:

            def see(row: Row, there: bool) -> None:
                if sums.bucket_of(row.about) in suspects:
                    seen.setdefault(row.about, Seen()).see(row, there=there)

            await _each(look, gateways, see)
    except (NotTold, Unwired) as untold:
        counts = {"movements": sums.movements, "transfers": sums.transfers}
        return Finding.unknown(Check.PROVIDER, str(untold), counts)
    return _finding(sums, suspects, seen)


async def _each(
    look: Look, gateways: Sequence[Gateway], take: Callable[[Row, bool], None], counted: Sums | None = None
) -> None:
    """Every row of either side: the provider's first, so that what comes meanwhile is young."""
    for gateway in gateways:
        async for movement in _movements(look, gateway):
            take(_row_there(movement), True)
            if counted:
                counted.movements += 1
    async for transfer in _transfers(look):
        take(_row_here(transfer), False)
        if counted:
            counted.transfers += 1


async def _movements(look: Look, gateway: Gateway) -> AsyncIterator[Movement]:
    cursor: str | None = None
    while True:
        page = await _page(look, gateway, cursor)
        for movement in page.movements:
            yield movement
        look.tell(Check.PROVIDER, len(page.movements))
        if page.next_cursor is None:
            return
        cursor = page.next_cursor


async def _page(look: Look, gateway: Gateway, cursor: str | None) -> MovementPage:
    for attempt in range(1, TRIES + 1):
        said = await gateway.list_movements(look.caller, look.organization, cursor)
        if isinstance(said, MovementPage):
            return said
        await asyncio.sleep((PAUSE * attempt).total_seconds())
    raise NotTold(f"{gateway.provider} does not show its journal.")


async def _transfers(look: Look) -> AsyncIterator[ledger.Transfer]:
    after = UUID(int=0)
    while page := await look.read(ledger.transfers_of_types, sorted(KINDS), after):
        for transfer in page:
            yield transfer
        after = page[-1].id.uuid
        look.tell(Check.PROVIDER, len(page))


def _row_there(movement: Movement) -> Row:
    return Row(Object(movement.kind, movement.reference, movement.currency), movement.amount_minor, movement.at)


def _row_here(transfer: ledger.Transfer) -> Row:
    kind = KINDS[transfer.entry_type]
    came_in = (transfer.debit_account in PROVIDERS_SIDE) - (transfer.credit_account in PROVIDERS_SIDE)
    minor = transfer.amount_minor * (came_in if kind in COMES_IN else -came_in)
    return Row(Object(kind, transfer.reference or "", transfer.currency), minor, transfer.posted_at)


def _finding(sums: Sums, suspects: set[int], seen: dict[Object, Seen]) -> Finding:
    differing = {about: each for about, each in seen.items() if each.there != each.here}
    old = {about: each for about, each in differing.items() if not (each.at and sums.is_young(each.at))}
    flying = {about for about in sums.flying if sums.bucket_of(about) not in suspects}
    flying |= differing.keys() - old.keys()
    named = [*_named(old)]
    differences = Differences()
    differences.add(named)
    counts = {"movements": sums.movements, "transfers": sums.transfers, "inFlight": len(flying)}
    for word in (Word.MISSING_HERE, Word.MISSING_THERE, Word.AMOUNT, Word.CURRENCY):
        counts[_COUNTED[word]] = sum(each.word is word for each in named)
    sides = {currency: Both(here, there) for currency, (there, here) in sorted(sums.moved.items())}
    return Finding.of(Check.PROVIDER, differences, Figures(counts, sides))


_COUNTED: Final = {
    Word.MISSING_HERE: "missingHere",
    Word.MISSING_THERE: "missingThere",
    Word.AMOUNT: "otherAmount",
    Word.CURRENCY: "otherCurrency",
}


def _named(differing: dict[Object, Seen]) -> Iterator[Difference]:
    """One for each object; of one that is there in one currency and here in another, one for both."""
    by_reference: dict[tuple[MovementKind, str], list[Object]] = {}
    for about in sorted(differing):
        by_reference.setdefault((about.kind, about.reference), []).append(about)
    for objects in by_reference.values():
        if len(objects) == 2 and len({bool(differing[each].there) for each in objects}) == 2:
            there = next(each for each in objects if differing[each].there)
            here = next(each for each in objects if each != there)
            where = f"{there.where}: {here.currency} here, {there.currency} there"
            yield Difference(Word.CURRENCY, where, differing[here].here, differing[there].there, there.currency)
            continue
        for each in objects:
            yield _of(each, differing[each])


def _of(about: Object, seen: Seen) -> Difference:
    word = Word.AMOUNT if seen.there and seen.here else Word.MISSING_HERE if seen.there else Word.MISSING_THERE
    return Difference(word, about.where, seen.here, seen.there, about.currency)


async def _oldest_waiting(tx: Tx, organization: OrganizationId) -> datetime | None:
    """When the first event came that is this organisation's, or may be, and has had no effect yet."""
    waiting = await webhooks.list_receipts(tx, webhooks.ReceiptState.RECEIVED, None, WAITING)
    ours = [row["received_at"] for row in waiting if row["organization_id"] in (None, organization.uuid)]
    if not ours and len(waiting) == WAITING:
        return cast("datetime", waiting[-1]["received_at"])  # The queue is longer: ours may begin after these.
    return min(ours, default=None)


async def _now(tx: Tx) -> datetime:
    return tx.now

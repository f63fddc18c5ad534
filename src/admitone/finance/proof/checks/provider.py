"""The provider's journal says what the ledger says, row for row.

Two streams are compared that are ordered differently and may have millions of rows. What is known of an object (its
kind, reference and currency) is added up on both sides; each stream is summed into a fixed number of *buckets*, an
amount weighed by a secret hash of its object, so that a bucket is nothing exactly if every object in it is the same on
both sides. Only where a bucket is not nothing are the streams read once more, and the objects in it named, as many as
fit. What moved a moment ago may be known on one side only: it is in flight. What moved after the look began is left for
the next one, on both sides, so that a long look is about the same moment as a short one. What was paid through a
provider that shows no journal is compared with nothing, and counted.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Final, NamedTuple
from uuid import UUID

from admitone.finance.gateways.api import Ability, Movement, MovementKind, MovementPage, Provider
from admitone.finance.gateways.port import GATEWAYS, Gateway
from admitone.finance.ledger import api as ledger
from admitone.finance.ledger.api import Account, EntryType, Event
from admitone.finance.payments import api as payments
from admitone.finance.proof.looking import Look
from admitone.finance.proof.model import Both, Check, Difference, Differences, Figures, Finding, Word
from admitone.finance.sources.api import PaymentId
from admitone.finance.webhooks import api as webhooks
from admitone.kernel.db import Tx
from admitone.kernel.ids import OrganizationId
from admitone.kernel.ports import Unwired

BUCKETS: Final = 4_096
WIDTH: Final = 1 << 64
MOST_SEEN: Final = 100_000
"""Objects that are held to be named. Of more, buckets are left out, and each of these counts as one difference."""
IN_FLIGHT: Final = timedelta(minutes=15)
"""Longer than a webhook, or the sweep that makes up for a lost one, takes."""
LONGEST_WAIT: Final = timedelta(days=1)
"""However long an event of ours waits in the queue: what is older is not waiting for it. And however long a look lasts:
what says that it will move later than that is not believed."""
LONGEST_UNRESOLVED: Final = timedelta(hours=1)
"""However long an event waits of which nobody knows whose it is: it excuses every organisation, and so not for long."""
WAITING: Final = 1_000
TRIES: Final = 5
PAUSE: Final = timedelta(milliseconds=200)

E, K = EntryType, MovementKind
KINDS: Final[dict[EntryType, MovementKind]] = {
    E.GROSS: K.CHARGE,
    E.CAMPAIGN_PREPAYMENT: K.CHARGE,
    E.UNAPPLIED_RECEIPT: K.CHARGE,
    E.UNAPPLIED_APPLIED: K.CHARGE,
    E.TRANSFER_TO_ORG: K.TRANSFER,
    E.PROCESSOR_FEES_FINAL: K.FEE,
    E.PROCESSOR_FEES_SETTLED: K.FEE,
    E.PROCESSOR_FEES_ADJUSTMENT: K.FEE,
    E.REFUND_PROCESSOR_FEES_REVERSAL: K.FEE,
    E.REFUND_SETTLED: K.REFUND,
    E.REFUND_SETTLED_MIRROR: K.REFUND_RETURNED,
    E.DISPUTE_FUNDS_WITHDRAWN: K.DISPUTE,
    E.DISPUTE_FUNDS_REINSTATED: K.DISPUTE_RETURNED,
    E.DISPUTE_FEE: K.DISPUTE_FEE,
    E.DISPUTE_FEE_REVERSAL: K.DISPUTE_FEE_RETURNED,
    E.PAYOUT_INITIATED: K.PAYOUT,
    E.PAYOUT_FAILED: K.PAYOUT_RETURNED,
}
"""What a transfer says that the provider moved. Other types are between us and the organisation, or stand below."""
TAKEN_BACK: Final = (E.TRANSFER_REVERSAL, Event.UNAPPLIED_APPLIED)
"""Says that what was posted for money that paid for nothing was for something: the provider moved nothing again."""
NOT_COMPARED: Final[dict[EntryType | MovementKind, str]] = {
    E.TRANSFER_REVERSAL: "posted for what is refunded or lost, whether or not the order took it from the account",
    E.TRANSFER_REVERSAL_MIRROR: "as the reversal that it takes back",
    K.TRANSFER_REVERSED: "as the reversal in the ledger",
    K.APPLICATION_FEE_REFUNDED: "as the reversal in the ledger",
    E.SELLER_PAID: "no provider pays sellers yet: there is no movement for it",
    E.TAX_REMITTED: "paid to an authority by a bank, and not by the provider",
    E.PAYOUT_PAID: "both sides of it are the provider's: the payout moved when it was begun",
    E.COMMISSION_SWEEP: "both sides of it are the provider's: from one of our accounts there to another",
    E.RECON_ROUNDING: "what a comparison with the provider found: it would prove itself",
}
"""What touches the provider's side, or is in its journal, and is in no comparison; and why."""
COMES_IN: Final = frozenset(
    {K.CHARGE, K.REFUND_RETURNED, K.DISPUTE_RETURNED, K.DISPUTE_FEE_RETURNED, K.PAYOUT_RETURNED}
)
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

    bucket: int
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
    """What is younger may be in flight."""
    began: datetime
    secret: bytes = field(default_factory=lambda: os.urandom(16))
    buckets: list[int] = field(default_factory=lambda: [0] * BUCKETS)
    young: list[int] = field(default_factory=lambda: [0] * BUCKETS)
    """The part of it that moved a moment ago."""
    moved: dict[str, list[int]] = field(default_factory=dict)
    movements: int = 0
    transfers: int = 0
    not_compared: int = 0
    """Transfers of payments whose provider shows no journal."""

    def add(self, row: Row, *, there: bool) -> None:
        bucket, weight = self._place(row.about)
        weighed = weight * (row.minor if there else -row.minor)
        self.buckets[bucket] = (self.buckets[bucket] + weighed) % WIDTH
        if self.is_young(row.at):
            self.young[bucket] = (self.young[bucket] + weighed) % WIDTH
        inward = row.minor if row.about.kind in COMES_IN else -row.minor
        self.moved.setdefault(row.about.currency, [0, 0])[0 if there else 1] += inward
        if there:
            self.movements += 1
        else:
            self.transfers += 1

    def is_young(self, at: datetime) -> bool:
        return self.since < at <= self.began

    def is_later(self, at: datetime) -> bool:
        """After the look began; what says that it will be tomorrow is not believed, and compared."""
        return self.began < at <= self.began + LONGEST_WAIT

    def unexplained(self) -> set[int]:
        """The buckets that are not nothing, also without what is in flight."""
        return {
            bucket
            for bucket, (all_, young) in enumerate(zip(self.buckets, self.young, strict=True))
            if all_ and all_ != young
        }

    @property
    def flying(self) -> int:
        """In how many buckets everything that differs is young."""
        return sum(all_ != 0 and all_ == young for all_, young in zip(self.buckets, self.young, strict=True))

    def bucket_of(self, about: Object) -> int:
        return self._place(about)[0]

    def _place(self, about: Object) -> tuple[int, int]:
        """In which bucket, and how it weighs there: odd, so that no amount is weighed away, and by a secret, so that
        nobody finds amounts that cancel each other out."""
        digest = blake2b("\0".join(about).encode(), digest_size=10, key=self.secret).digest()
        return int.from_bytes(digest[:2]) % BUCKETS, int.from_bytes(digest[2:]) | 1


@dataclass
class Suspects:
    """The objects of the buckets that are not nothing, as far as they fit."""

    buckets: set[int]
    seen: dict[Object, Seen] = field(default_factory=dict)
    left_out: int = 0
    """Buckets that were not looked into."""

    def see(self, row: Row, bucket: int, *, there: bool) -> None:
        if bucket not in self.buckets:
            return
        self.seen.setdefault(row.about, Seen(bucket)).see(row, there=there)
        while len(self.seen) > MOST_SEEN:
            last = max(self.buckets)
            self.buckets.discard(last)
            self.left_out += 1
            self.seen = {about: each for about, each in self.seen.items() if each.bucket != last}


class NotTold(Exception):
    """A provider did not show its journal."""


async def check_provider(look: Look) -> Finding:
    now: datetime = await look.read(_now)
    excused: datetime = await look.read(_excused_since, look.organization, scope=webhooks.PLATFORM)
    sums = Sums(max(min(now, excused) - IN_FLIGHT, now - LONGEST_WAIT), now)
    try:
        gateways = GATEWAYS().all()
        async for row, there in _rows(look, gateways, sums):
            sums.add(row, there=there)
        suspects = Suspects(sums.unexplained())
        if suspects.buckets:
            async for row, there in _rows(look, gateways, sums):
                suspects.see(row, sums.bucket_of(row.about), there=there)
    except (NotTold, Unwired) as untold:
        counts = {"movements": sums.movements, "transfers": sums.transfers}
        return Finding.unknown(Check.PROVIDER, str(untold), counts)
    return _finding(sums, suspects)


async def _rows(look: Look, gateways: Sequence[Gateway], sums: Sums) -> AsyncIterator[tuple[Row, bool]]:
    """Every row of either side up to when the look began, and whether it is the provider's: these come first."""
    showing = [gateway for gateway in gateways if Ability.MOVEMENTS in gateway.abilities]
    silent = {gateway.provider for gateway in gateways} - {gateway.provider for gateway in showing}
    for gateway in showing:
        async for movement in _movements(look, gateway):
            if movement.kind not in NOT_COMPARED and not sums.is_later(movement.at):
                yield _row_there(movement), True
    sums.not_compared = 0
    async for transfer, is_shown in _transfers(look, silent):
        if not is_shown:
            sums.not_compared += 1
        elif not sums.is_later(transfer.posted_at):
            yield _row_here(transfer), False


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


async def _transfers(look: Look, silent: Set[Provider]) -> AsyncIterator[tuple[ledger.Transfer, bool]]:
    """Those that say what a provider moved, and whether that provider shows what it did."""
    after = UUID(int=0)
    while page := await look.read(ledger.transfers_of_types, sorted({*KINDS, TAKEN_BACK[0]}), after):
        unseen = await _paid_through(look, silent, page) if silent else set()
        for transfer in page:
            if transfer.entry_type in KINDS or (transfer.entry_type, transfer.event) == TAKEN_BACK:
                yield transfer, transfer.payment_id not in unseen
        after = page[-1].id.uuid
        look.tell(Check.PROVIDER, len(page))


async def _paid_through(look: Look, silent: Set[Provider], page: Sequence[ledger.Transfer]) -> set[PaymentId | None]:
    named = {transfer.payment_id for transfer in page if transfer.payment_id}
    found = await look.read(payments.find_payments, sorted(named)) if named else {}
    return {own for own, payment in found.items() if payment.provider in silent}


def _row_there(movement: Movement) -> Row:
    """Of a charge for an organisation all goes to its account, and our fee comes back: what the ledger has is left."""
    kind, minor = movement.kind, movement.amount_minor
    if kind is K.APPLICATION_FEE:
        kind, minor = K.TRANSFER, -minor
    return Row(Object(kind, movement.reference, movement.currency), minor, movement.at)


def _row_here(transfer: ledger.Transfer) -> Row:
    kind = KINDS.get(transfer.entry_type, K.TRANSFER)
    came_in = (transfer.debit_account in PROVIDERS_SIDE) - (transfer.credit_account in PROVIDERS_SIDE)
    minor = transfer.amount_minor * (came_in if kind in COMES_IN else -came_in)
    return Row(Object(kind, transfer.reference or "", transfer.currency), minor, transfer.posted_at)


def _finding(sums: Sums, suspects: Suspects) -> Finding:
    differing = {about: each for about, each in suspects.seen.items() if each.there != each.here}
    old = {about: each for about, each in differing.items() if not (each.at and sums.is_young(each.at))}
    named = [*_named(old)]
    differences = Differences()
    differences.add(named)
    differences.add(Difference(Word.MORE, f"group {number + 1}") for number in range(suspects.left_out))
    flying = sums.flying + len(differing) - len(old)
    counts = {"movements": sums.movements, "transfers": sums.transfers, "inFlight": flying}
    if sums.not_compared:
        counts["notCompared"] = sums.not_compared
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


async def _excused_since(tx: Tx, organization: OrganizationId) -> datetime:
    """When the first event came that is this organisation's, or may be, and has had no effect yet; else now."""
    since: datetime = tx.now
    after: UUID | None = None
    while page := await webhooks.list_receipts(tx, webhooks.ReceiptState.RECEIVED, after, WAITING):
        for row in page:
            if row["organization_id"] == organization.uuid:
                ours: datetime = row["received_at"]
                return min(since, ours)
            if row["organization_id"] is None:
                since = min(since, max(row["received_at"], tx.now - LONGEST_UNRESOLVED))
        after = page[-1]["id"]
    return since


async def _now(tx: Tx) -> datetime:
    return tx.now

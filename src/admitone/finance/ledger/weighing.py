"""Weighing: the ledger's half of a comparison with somebody else's books.

Promise: a page gives sums, however many transfers it is of, so that a comparison costs this side one short read for
many thousands of them; the transfers themselves are given only of buckets that are named. A transfer is placed and
weighed by what the other calls it (its kind, its currency and its reference, hashed with a secret), so whoever does the
same with the other books has the same sums exactly if all of it is the same.
"""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from admitone.finance.ledger.model import Account, EntryType, Event
from admitone.finance.ledger.store import weighing as store
from admitone.finance.sources.api import PaymentId
from admitone.kernel.db import Tx

FIRST: Final = UUID(int=0)
LAST: Final = UUID(int=2**128 - 1)
PAGE: Final = 50_000
EARLIEST: Final = datetime(1900, 1, 1, tzinfo=UTC)
NEVER: Final = datetime(9000, 1, 1, tzinfo=UTC)
CLOCKS_DIFFER: Final = timedelta(days=1)
"""An id is made by another clock than the one by which a transfer is posted: by no more than this."""


class Span(msgspec.Struct, frozen=True):
    """Which instants are looked at: from the first to the last, both among them; and what is said to lie beyond."""

    first: datetime = EARLIEST
    last: datetime = NEVER
    beyond: datetime = NEVER

    def __contains__(self, at: datetime) -> bool:
        return self.first <= at <= self.last or at > self.beyond

    @property
    def since(self) -> datetime | None:
        """From when on; None: from the beginning."""
        return self.first if self.first > EARLIEST else None

    @property
    def until(self) -> datetime | None:
        """After when nothing is of it; None: anything may be."""
        return self.last if self.last < NEVER == self.beyond else None

    @property
    def ids(self) -> tuple[UUID, UUID]:
        """Transfers of these instants have ids between."""
        after = _id_at(self.since - CLOCKS_DIFFER) if self.since else FIRST
        return after, _id_at(self.until + CLOCKS_DIFFER) if self.until else LAST


def _id_at(instant: datetime) -> UUID:
    """The least that is made then."""
    return UUID(int=max(int(instant.timestamp() * 1_000), 0) << 80)


class Name(msgspec.Struct, frozen=True):
    """How another calls what transfers of a type tell."""

    entry_type: EntryType
    kind: str | None
    """None: the transfer says so itself, in its metadata."""
    event: Event | None = None
    """Only of this one; else of all."""


class Likeness(msgspec.Struct, frozen=True):
    """What transfers are to another who has books of his own."""

    names: tuple[Name, ...]
    inward: tuple[str, ...]
    """The kinds by which money comes to him."""
    accounts: tuple[Account, ...]
    """Those that stand for what he has."""


class Weighing(msgspec.Struct, frozen=True):
    """One comparison's way to weigh."""

    likeness: Likeness
    secret: bytes
    buckets: int
    span: Span
    young: datetime
    """What was posted later is weighed by itself, too."""


class Weighed(NamedTuple):
    """What some transfers amount to, of one bucket and one currency."""

    bucket: int
    currency: str
    weighed: int
    young: int
    inward_minor: int
    transfers: int


class Placed(NamedTuple):
    """A transfer as the other would have it: positive if he moved so much of the kind."""

    bucket: int
    kind: str
    reference: str
    currency: str
    minor: int
    entry_type: EntryType
    payment: PaymentId | None
    at: datetime
    weight: int
    inward_minor: int


class WeighedPage(msgspec.Struct, frozen=True):
    looked_at: int
    """Transfers of whatever type; none: there are no more."""
    sums: tuple[Weighed, ...]
    last: UUID


class PlacedPage(msgspec.Struct, frozen=True):
    looked_at: int
    transfers: tuple[Placed, ...]
    last: UUID


async def weigh(tx: Tx, weighing: Weighing, after: UUID, most: int = PAGE) -> WeighedPage:
    """The transfers after that one, by their ids, summed up."""
    rows = await store.sum_weighed(tx, after, most, weighing.likeness.names, *_said(weighing), None, weighing.young)
    sums = tuple(
        Weighed(bucket, currency, int(weighed), int(young), inward, transfers)
        for _, _, bucket, currency, weighed, young, inward, transfers in rows
        if bucket is not None
    )
    return WeighedPage(rows[0]["looked_at"], sums, rows[0]["last"] or after)


async def list_placed(
    tx: Tx, weighing: Weighing, buckets: Collection[int] | None, after: UUID, most: int = PAGE
) -> PlacedPage:
    """The transfers after that one which fall into these buckets; into any, if none are named."""
    chosen = None if buckets is None else sorted(buckets)
    rows = await store.list_placed(tx, after, most, weighing.likeness.names, *_said(weighing), chosen)
    transfers = tuple(
        Placed(
            row["bucket"],
            row["kind"],
            row["reference"],
            row["currency"],
            row["minor"],
            EntryType(row["entry_type"]),
            PaymentId(row["payment_id"]) if row["payment_id"] else None,
            row["posted_at"],
            row["weight"],
            row["inward_minor"],
        )
        for row in rows
        if row["bucket"] is not None
    )
    return PlacedPage(rows[0]["looked_at"], transfers, rows[0]["last"] or after)


def _said(weighing: Weighing) -> tuple[object, ...]:
    likeness, span = weighing.likeness, weighing.span
    accounts = [account.value for account in likeness.accounts]
    place = (weighing.secret, weighing.buckets)
    return ([*likeness.inward], accounts, *place, span.first, span.last, span.beyond)

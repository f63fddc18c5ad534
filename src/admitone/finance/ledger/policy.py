"""What a posting is in transfers, and what transfers are in movements. Pure."""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Final
from uuid import UUID, uuid5

import msgspec

from admitone.finance.ledger.model import Account, Holding, Leg, PlannedTransfer, Posting, Transfer, TransferId
from admitone.finance.ledger.templates import TEMPLATES
from admitone.finance.sources.api import LARGEST_AMOUNT
from admitone.kernel.ids import uuid7

AMOUNTS: Final = {key: {leg.amount for leg in legs} for key, legs in TEMPLATES.items()}
"""By which names a template knows what it moves."""


class NoSuchTemplate(Exception):
    """An event was posted along a flow for which no template says what it means. That is a bug."""


class WrongAmounts(Exception):
    """A posting's amounts are not those that its template moves. That is a bug."""


class PostedOtherwise(Exception):
    """The same cause was posted before with other amounts. That is a bug: what is corrected has a cause of its own."""


class Fold(msgspec.Struct, frozen=True, order=True):
    """What is added to a balance."""

    account: Account
    payee_id: UUID
    currency: str
    day: date
    city_code: str
    debits_minor: int
    credits_minor: int


class Delta(msgspec.Struct, frozen=True):
    """What one transaction moved in one city."""

    id: UUID
    city_code: str
    day: date
    accounts: list[Account]
    payees: list[UUID]
    currencies: list[str]
    debits: list[int]
    credits: list[int]
    transfers: list[UUID]
    posted_at: datetime


def transaction_of(organization: UUID, posting: Posting) -> UUID:
    """The same whenever the same is posted, so that a replay names what the first run made."""
    payment = posting.payment.uuid.hex if posting.payment else ""
    return uuid5(organization, f"{payment}:{posting.event}:{posting.line}:{posting.cause}")


def transfers_of(organization: UUID, posting: Posting, transaction: UUID, at: datetime) -> list[Transfer]:
    """The legs of its template, also those that move nothing: they are not made, and say what was not moved."""
    return [
        Transfer(
            TransferId.new(),
            transaction,
            posting.city_code,
            posting.payee or organization,
            leg.entry,
            posting.event,
            posting.flow,
            posting.line,
            leg.debit,
            leg.credit,
            posting.amounts[leg.amount],
            posting.currency,
            posting.payment,
            posting.source.type if posting.source else None,
            posting.source.id if posting.source else None,
            posting.cause,
            posting.caller.correlation_id,
            posting.reference,
            dict(posting.metadata) if posting.metadata else None,
            at,
        )
        for leg in _legs_of(posting)
    ]


def preview(postings: Iterable[Posting]) -> tuple[PlannedTransfer, ...]:
    """The lines that these would add."""
    return tuple(
        PlannedTransfer(
            entry_type=leg.entry,
            debit=leg.debit,
            credit=leg.credit,
            amount_minor=posting.amounts[leg.amount],
            currency=posting.currency,
        )
        for posting in postings
        for leg in _legs_of(posting)
        if posting.amounts[leg.amount]
    )


def _legs_of(posting: Posting) -> Sequence[Leg]:
    legs = TEMPLATES.get((posting.event, posting.flow))
    if legs is None:
        raise NoSuchTemplate(f"{posting.event} along {posting.flow}")
    if posting.amounts.keys() != AMOUNTS[posting.event, posting.flow]:
        raise WrongAmounts(f"{posting.event} along {posting.flow} was given {sorted(posting.amounts)}")
    for name, minor in posting.amounts.items():
        if type(minor) is not int or not 0 <= minor <= LARGEST_AMOUNT:
            raise WrongAmounts(f"{posting.event} along {posting.flow}: {name} is {minor!r}")
    return legs


def once(transfer: Transfer) -> tuple[str, str, str, int]:
    """By what a transfer is made only once (CF-38)."""
    payment = transfer.payment_id.uuid.hex if transfer.payment_id else ""
    return payment, transfer.entry_type, transfer.causation_id, transfer.line


def is_replay(asked: Sequence[Transfer], added: Container[TransferId]) -> bool:
    """Whether it was posted before, or might have been: of nothing, nothing can be added. What is there only in part
    was posted with other amounts."""
    moving = [each for each in asked if each.amount_minor]
    fresh = [each for each in moving if each.id in added]
    if fresh and len(fresh) < len(moving):
        raise PostedOtherwise(f"{fresh[0].entry_type} of {fresh[0].causation_id!r}")
    return not fresh


def check_replays(asked: Iterable[Transfer], known: Mapping[tuple[str, str, str, int], Transfer]) -> None:
    """What is there already must be what is asked for: the accounts may differ, because a guest who left meanwhile has
    turned a flow into another; the event and the amounts may not, and what moves nothing now moved nothing then."""
    for each in asked:
        there = known.get(once(each))
        if there is None or (not each.amount_minor and there.event is not each.event):
            continue
        if (there.event, there.amount_minor, there.currency) != (each.event, each.amount_minor, each.currency):
            raise PostedOtherwise(f"{each.entry_type} of {each.causation_id!r}")


def deltas_of(transfers: Sequence[Transfer]) -> Iterator[Delta]:
    """One for each city."""
    for city in sorted({each.city_code for each in transfers}):
        yield _delta(city, [each for each in transfers if each.city_code == city])


def _delta(city: str, transfers: Sequence[Transfer]) -> Delta:
    moved = movements_of(transfers)
    at = transfers[0].posted_at
    return Delta(
        uuid7(),
        city,
        day_of(at),
        [holding.account for holding in moved],
        [holding.payee for holding in moved],
        [holding.currency for holding in moved],
        [debit for debit, _ in moved.values()],
        [credit for _, credit in moved.values()],
        [each.id.uuid for each in transfers],
        at,
    )


def movements_of(transfers: Iterable[Transfer]) -> dict[Holding, tuple[int, int]]:
    """Debits and credits of each account that they touch."""
    moved: dict[Holding, tuple[int, int]] = {}
    for each in transfers:
        for account, debit, credit in (
            (each.debit_account, each.amount_minor, 0),
            (each.credit_account, 0, each.amount_minor),
        ):
            holding = Holding(account, each.payee_id, each.currency)
            debits, credits_ = moved.get(holding, (0, 0))
            moved[holding] = debits + debit, credits_ + credit
    return moved


def sound_of(deltas: Iterable[Delta], found: Mapping[UUID, Transfer], sealed: Collection[UUID]) -> list[Delta]:
    """Those whose transfers are there, are under no seal and in no delta before, and moved what the delta says. So what
    was changed before anybody sealed it is seen."""
    sound, taken = [], {*sealed}
    for delta in deltas:
        transfers = [found[each] for each in {*delta.transfers} - taken if each in found]
        if len(transfers) == len(delta.transfers) and _fits(delta, transfers):
            sound.append(delta)
            taken.update(delta.transfers)
    return sound


def _fits(delta: Delta, transfers: Sequence[Transfer]) -> bool:
    holdings = map(Holding, delta.accounts, delta.payees, delta.currencies)
    said = dict(zip(holdings, zip(delta.debits, delta.credits, strict=True), strict=True))
    places = {(each.city_code, day_of(each.posted_at)) for each in transfers}
    return said == movements_of(transfers) and places == {(delta.city_code, delta.day)}


def day_of(at: datetime) -> date:
    return at.astimezone(UTC).date()


def folds_of(deltas: Iterable[Delta], *, by_day: bool) -> list[Fold]:
    """What they add to each balance, or to each day's, in the order in which rows are locked."""
    sums: dict[tuple[Account, UUID, str, date, str], tuple[int, int]] = {}
    for delta in deltas:
        day = delta.day if by_day else date.min
        moved = zip(delta.accounts, delta.payees, delta.currencies, delta.debits, delta.credits, strict=True)
        for account, payee, currency, debit, credit in moved:
            key = account, payee, currency, day, delta.city_code
            debits, credits_ = sums.get(key, (0, 0))
            sums[key] = debits + debit, credits_ + credit
    return [Fold(*key, *moved) for key, moved in sorted(sums.items())]

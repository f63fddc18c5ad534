"""When owners are paid, and how much: pure decisions.

Promise: every instant is a midnight in UTC, so no daylight-saving change moves, doubles or drops one. A schedule has
one latest instant and one next one at every moment. A payout is what is owed and may be paid, less what its owner
owes; it is never more than the ledger owes the owner, and what one payout recovers no other recovers again.
"""

from calendar import monthrange
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from uuid import UUID

import msgspec

from admitone.finance.payouts.model import SYSTEM, Frequency, KnownSchedule, Obligation, Payout, Schedule
from admitone.kernel.scope import GLOBAL

GRACE: Final = timedelta(hours=24)
"""What everything waits before it may be paid (MOR-030)."""
FIRST_MONDAY: Final = date(1970, 1, 5)
"""From which weeks are counted: payouts every other week go in the even ones."""
WEEK: Final = timedelta(days=7)

OWNER_DEFAULT: Final = ""
"""The property key of an owner's own schedule."""


# -- When


def eligible_at(checked_out_at: datetime, hold_days: int) -> datetime:
    return checked_out_at + GRACE + timedelta(days=hold_days)


def latest(schedule: Schedule, now: datetime) -> datetime:
    """The last payout day that has begun."""
    return _midnight(_latest_day(schedule, now.astimezone(UTC).date()))


def following(schedule: Schedule, now: datetime) -> datetime:
    """The first one that has not begun."""
    day = _latest_day(schedule, now.astimezone(UTC).date())
    match schedule.frequency:
        case Frequency.WEEKLY:
            return _midnight(day + WEEK)
        case Frequency.BIWEEKLY:
            return _midnight(day + 2 * WEEK)
        case Frequency.ON_CHECKOUT:
            return _midnight(day + timedelta(days=1))
        case Frequency.MONTHLY:
            return _midnight(_day_in(schedule, _first_of_next_month(day)))


def paid_at(schedule: Schedule, eligible: datetime) -> datetime:
    """On which day something is paid that may be paid from then on."""
    day = latest(schedule, eligible)
    return day if day == eligible else following(schedule, eligible)


def _latest_day(schedule: Schedule, today: date) -> date:
    match schedule.frequency:
        case Frequency.ON_CHECKOUT:
            return today
        case Frequency.MONTHLY:
            day = _day_in(schedule, today)
            return day if day <= today else _day_in(schedule, today.replace(day=1) - timedelta(days=1))
        case Frequency.WEEKLY | Frequency.BIWEEKLY:
            assert schedule.day_of_week is not None
            day = today - timedelta(days=(today.weekday() - schedule.day_of_week) % 7)
            is_odd = (day - FIRST_MONDAY) // WEEK % 2 == 1
            return day - WEEK if is_odd and schedule.frequency is Frequency.BIWEEKLY else day


def _day_in(schedule: Schedule, month: date) -> date:
    """The payout day of a month; of a short one, its last (MOR-031)."""
    assert schedule.day_of_month is not None
    return month.replace(day=min(schedule.day_of_month, monthrange(month.year, month.month)[1]))


def _first_of_next_month(day: date) -> date:
    return (day.replace(day=28) + timedelta(days=4)).replace(day=1)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


class Schedules:
    """Who is paid when: the property's own schedule, else the owner's, else the system's (MOR-032)."""

    def __init__(self, known: Iterable[KnownSchedule]) -> None:
        self._known = {(each.owner, each.property_key): each.schedule for each in known}

    def of(self, owner: UUID, property_key: str) -> Schedule:
        own = self._known.get((owner, property_key))
        return own or self._known.get((owner, OWNER_DEFAULT)) or SYSTEM


# -- How much


class Position(msgspec.Struct, frozen=True):
    """How an owner stands in one currency."""

    owed_minor: int
    """By the ledger: what is payable, less what was settled. Negative if the owner owes."""
    open_minor: int
    """What is owed of payments and is in no payout, also what may not be paid yet and what is frozen."""
    committed_minor: int
    """In payouts of which the ledger does not know yet."""

    @property
    def available_minor(self) -> int:
        return self.owed_minor - self.committed_minor

    @property
    def debt_minor(self) -> int:
        """By how much less is owed than all that is open: what was lost or refunded after it had been paid."""
        return max(self.open_minor - self.available_minor, 0)

    @property
    def credit_minor(self) -> int:
        """By how much more is owed than all that is open: what was recovered, and came back."""
        return max(self.available_minor - self.open_minor, 0)

    def payable(self, gross_minor: int) -> int:
        """What is paid of so much; nothing while the debt is larger."""
        return max(gross_minor - self.debt_minor, 0)

    def after(self, gross_minor: int, amount_minor: int) -> "Position":
        """How the owner stands once so much of what is open is in a payout of that amount."""
        return Position(self.owed_minor, self.open_minor - gross_minor, self.committed_minor + amount_minor)


class Draft(msgspec.Struct, frozen=True):
    """A payout that would be made."""

    owner: UUID
    currency: str
    period: date
    obligations: tuple[Obligation, ...]
    amount_minor: int

    @property
    def gross_minor(self) -> int:
        return sum(each.amount_minor for each in self.obligations)

    @property
    def recovered_minor(self) -> int:
        return self.gross_minor - self.amount_minor

    @property
    def city_code(self) -> str:
        """Where all of it comes from, if that is one place (CITY-007)."""
        cities = {each.city_code for each in self.obligations}
        return cities.pop() if len(cities) == 1 else GLOBAL


def drafts_of(
    due: Sequence[Obligation], schedules: Schedules, position: Position, made: Collection[date], now: datetime
) -> list[Draft]:
    """The payouts of one owner in one currency: one for each payout day that has begun and for which none was made."""
    by_day: dict[datetime, list[Obligation]] = {}
    for each in sorted(due, key=lambda each: (each.eligible_at, each.id)):
        day = latest(schedules.of(each.owner, each.property_key), now)
        if each.eligible_at <= day and day.date() not in made:
            by_day.setdefault(day, []).append(each)
    drafts: list[Draft] = []
    for day, ripe in sorted(by_day.items()):
        draft = _draft(ripe, schedules, position, day.date())
        if draft is not None:
            drafts.append(draft)
            position = position.after(draft.gross_minor, draft.amount_minor)
    return drafts


def _draft(ripe: Sequence[Obligation], schedules: Schedules, position: Position, period: date) -> Draft | None:
    """What of one day is enough for its schedules, if what is left of it after the debt is."""
    under: dict[Schedule, list[Obligation]] = {}
    for each in ripe:
        under.setdefault(schedules.of(each.owner, each.property_key), []).append(each)
    enough = {
        schedule: some
        for schedule, some in under.items()
        if sum(each.amount_minor for each in some) >= schedule.min_threshold_minor
    }
    taken = tuple(each for each in ripe if schedules.of(each.owner, each.property_key) in enough)
    amount = position.payable(sum(each.amount_minor for each in taken))
    lowest = min((schedule.min_threshold_minor for schedule in enough), default=0)
    if amount < max(lowest, 1):
        return None
    return Draft(ripe[0].owner, ripe[0].currency, period, taken, amount)


# -- What is kept, and comes back


def kept_of(payout: Payout, items: Sequence[Obligation]) -> dict[Obligation, int]:
    """Of which obligations a payout kept what it recovered; what each has kept by now."""
    left, kept = payout.recovered_minor, {}
    for each in items:
        share = min(left, each.amount_minor)
        kept[each] = each.kept_minor + share
        left -= share
    return kept


def returned_of(kept: Sequence[Obligation], credits_minor: Mapping[tuple[UUID, str], int]) -> dict[Obligation, int]:
    """What of each is owed once more, of what its owner is owed beyond everything else; the oldest first."""
    left, returned = dict(credits_minor), {}
    for each in kept:
        own = each.owner, each.currency
        share = min(left.get(own, 0), each.kept_minor)
        if share > 0:
            returned[each] = share
            left[own] -= share
    return returned


# -- What is left


def left_of(due_minor: int, net_minor: int) -> int:
    """What of an obligation is still owed: no more than became due, and no more than the ledger has for its payment."""
    return max(min(due_minor, net_minor), 0)


def weighed(gross_minor: int, position: Position) -> tuple[int, int]:
    """What a payout that nobody was asked for yet comes to now: what it pays, and what it recovers."""
    amount = position.payable(gross_minor)
    return amount, gross_minor - amount


def swept(cash_minor: int, tax_minor: int, share_minor: int) -> int:
    """What of a payment's money is the platform's own once its owner and the authority have their shares."""
    return max(cash_minor - tax_minor - share_minor, 0)


def grouped(obligations: Iterable[Obligation]) -> Mapping[tuple[UUID, str], list[Obligation]]:
    """By owner and currency."""
    found: dict[tuple[UUID, str], list[Obligation]] = {}
    for each in obligations:
        found.setdefault((each.owner, each.currency), []).append(each)
    return found

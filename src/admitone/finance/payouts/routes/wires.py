"""What several of our operations take and give."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Annotated, Any, Final
from uuid import UUID

from msgspec import Meta

from admitone.finance.payouts.model import (
    MOST_HOLD_DAYS,
    Frequency,
    Payout,
    PayoutId,
    PayoutState,
    Reported,
    Schedule,
)
from admitone.kernel.contracts import Call, Contract, Instant, Minor, Wire

FINANCE_PAYOUTS_R: Final = "FINANCE_PAYOUTS_R"
FINANCE_PAYOUTS_RW: Final = "FINANCE_PAYOUTS_RW"
PLATFORM_PAYOUTS_R: Final = "PLATFORM_PAYOUTS_R"
PLATFORM_PAYOUTS_RW: Final = "PLATFORM_PAYOUTS_RW"

SOMEBODY: Final = UUID("0198c9a4-0000-7000-8000-0000000000aa")
SOME_PAYOUT: Final = PayoutId.parse("pyo_0198c9a40000700080000000000000bb")
THEN: Final = datetime(2026, 2, 23, tzinfo=UTC)

OURS: Final = "/api/org/{organizationId}/payouts"
LEGACY: Final = "/api/organizacao/payouts"
"""The same, for whoever names the organisation in a header (OPS-010)."""


def both(contract: Callable[[str, str], Contract], serves: Callable[..., Any], own: str, path: str) -> tuple[Any, ...]:
    """One operation under its two addresses."""
    contracts = (contract(own, f"{OURS}{path}"), contract(f"{own}.LEGACY", f"{LEGACY}{path or '/list'}"))
    for each in contracts:
        each.serves(serves)
    return contracts


def owner_of(call: Call, owner: UUID | None) -> UUID:
    """Left out: the organisation itself."""
    assert call.organization is not None
    return owner or call.organization.uuid


class ScheduleWire(Wire):
    """When somebody is paid (MOR-031)."""

    frequency: Frequency
    day_of_week: Annotated[int, Meta(ge=0, le=6)] | None = None
    """From Monday, which is 0; of what is weekly or biweekly."""
    day_of_month: Annotated[int, Meta(ge=1, le=31)] | None = None
    """Of what is monthly; in a month that has no such day, its last one."""
    min_threshold_minor: Minor = 0
    hold_days: Annotated[int, Meta(ge=0, le=MOST_HOLD_DAYS)] = 0

    @classmethod
    def of(cls, schedule: Schedule) -> "ScheduleWire":
        return cls(
            frequency=schedule.frequency,
            day_of_week=schedule.day_of_week,
            day_of_month=schedule.day_of_month,
            min_threshold_minor=schedule.min_threshold_minor,
            hold_days=schedule.hold_days,
        )

    def schedule(self) -> Schedule:
        return Schedule(self.frequency, self.day_of_week, self.day_of_month, self.min_threshold_minor, self.hold_days)


EVERY_MONDAY: Final = ScheduleWire(frequency=Frequency.WEEKLY, day_of_week=0)


class PayoutAnswer(Wire):
    """A payout of ours, or one that the provider made itself."""

    id: PayoutId | None
    """None: the provider's own."""
    owner: UUID | None
    period: date | None
    state: str
    """As MOR-033 has it; of the provider's own, in its word."""
    amount_minor: int
    recovered_minor: int
    currency: str
    reference: str | None
    code: str
    at: Instant
    released_at: Instant | None

    @classmethod
    def of(cls, payout: Payout) -> "PayoutAnswer":
        return cls(
            id=payout.id,
            owner=payout.owner,
            period=payout.period,
            state=payout.state,
            amount_minor=payout.amount_minor,
            recovered_minor=payout.recovered_minor,
            currency=payout.currency,
            reference=payout.reference,
            code=payout.code,
            at=payout.created_at,
            released_at=None,
        )

    @classmethod
    def of_provider(cls, reported: Reported) -> "PayoutAnswer":
        return cls(
            id=None,
            owner=None,
            period=None,
            state=reported.status.value,
            amount_minor=reported.amount_minor,
            recovered_minor=0,
            currency=reported.currency,
            reference=reported.reference,
            code=reported.code,
            at=reported.at,
            released_at=reported.released_at,
        )


A_PAYOUT: Final = PayoutAnswer(
    id=SOME_PAYOUT,
    owner=SOMEBODY,
    period=THEN.date(),
    state=PayoutState.COMPLETED,
    amount_minor=85_000,
    recovered_minor=0,
    currency="EUR",
    reference="po_1",
    code="",
    at=THEN,
    released_at=None,
)

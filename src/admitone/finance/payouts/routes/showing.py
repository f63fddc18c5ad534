"""What an organisation sees of its payouts: whether it is paid, what was paid, and what is owed."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from admitone.finance.payouts import queries
from admitone.finance.payouts.model import PayoutState
from admitone.finance.payouts.routes.wires import (
    A_PAYOUT,
    EVERY_MONDAY,
    FINANCE_PAYOUTS_R,
    THEN,
    PayoutAnswer,
    ScheduleWire,
    both,
    owner_of,
)
from admitone.finance.payouts.store import payouts as store
from admitone.finance.sources.api import SettlementModel
from admitone.kernel.contracts import Audience, Call, Contract, Example, Instant, Page, PageRequest, Wire
from admitone.kernel.statements import ListOrder

LAST = UUID(int=2**128 - 1)
END = (datetime(9000, 1, 1, tzinfo=UTC), "")


class OwnerRequest(Wire):
    owner: UUID | None = None
    """Left out: the organisation itself."""


class AccountAnswer(Wire):
    provider: str
    status: str
    payouts_enabled: bool
    requirements_due: list[str]


class StatusAnswer(Wire):
    payouts_blocked: bool
    """Something that the organisation sold itself is disputed. Nothing is kept from it by that (FIN-091)."""
    blocked_since: Instant | None
    can_be_paid: bool
    """Whether there is an account to which we can pay what we hold."""
    accounts: list[AccountAnswer]
    schedule: ScheduleWire
    next_payout_at: Instant


def _status(own: str, path: str) -> Contract:
    return Contract(
        id=own,
        version="1.0.0",
        owner="payouts",
        consumers=("web",),
        summary="Whether an owner can be paid, when next, and whether anything blocks it.",
        get=path,
        takes=OwnerRequest,
        gives=StatusAnswer,
        audience=Audience.ORGANIZATION,
        permission=FINANCE_PAYOUTS_R,
        order_key="none",
        examples=(
            Example(
                "every Monday",
                takes=OwnerRequest(),
                gives=StatusAnswer(
                    payouts_blocked=False,
                    blocked_since=None,
                    can_be_paid=True,
                    accounts=[
                        AccountAnswer(provider="stripe", status="COMPLETE", payouts_enabled=True, requirements_due=[])
                    ],
                    schedule=EVERY_MONDAY,
                    next_payout_at=THEN,
                ),
            ),
        ),
    )


async def show_status(call: Call, request: OwnerRequest) -> StatusAnswer:
    found = await call.read(queries.find_standing, owner_of(call, request.owner))
    return StatusAnswer(
        payouts_blocked=found.blocked_since is not None,
        blocked_since=found.blocked_since,
        can_be_paid=found.destination is not None,
        accounts=[
            AccountAnswer(
                provider=each.provider,
                status=each.onboarding_status,
                payouts_enabled=each.payouts_enabled,
                requirements_due=list(each.requirements_due),
            )
            for each in found.accounts
        ],
        schedule=ScheduleWire.of(found.schedule),
        next_payout_at=found.next_payout_at,
    )


class PayoutsRequest(PageRequest):
    settlement_model: SettlementModel = SettlementModel.PLATFORM_MOR
    """Ours, of what we hold; or the provider's own, of what the organisation sells itself."""
    owner: UUID | None = None
    state: PayoutState | None = None
    """Of ours."""
    order: ListOrder = ListOrder.NEWEST
    """Of ours."""


def _payouts(own: str, path: str) -> Contract:
    return Contract(
        id=own,
        version="1.0.0",
        owner="payouts",
        consumers=("web",),
        summary="Payouts, the newest first.",
        get=path,
        takes=PayoutsRequest,
        gives=Page[PayoutAnswer],
        audience=Audience.ORGANIZATION,
        permission=FINANCE_PAYOUTS_R,
        order_key="none",
        examples=(Example("one", takes=PayoutsRequest(limit=1), gives=Page(items=[A_PAYOUT], next_cursor=None)),),
    )


async def show_payouts(call: Call, request: PayoutsRequest) -> Page[PayoutAnswer]:
    if request.settlement_model is SettlementModel.ORG_MOR:
        start = request.after(tuple[datetime, str]) or END
        reported = await call.read(store.list_reported, start, request.limit + 1)
        theirs = [PayoutAnswer.of_provider(each) for each in reported]
        return request.page(theirs, key=lambda each: (each.at, each.reference))
    (place,) = request.after(tuple[UUID]) or (None,)
    found = await call.read(store.list_payouts, place, request.owner, request.state, request.limit + 1, request.order)
    ours = [PayoutAnswer.of(each) for each in found]
    return request.page(ours, key=lambda each: (each.id.uuid if each.id else LAST,))


class SummaryRequest(Wire):
    owner: UUID | None = None
    """Left out: all of the organisation's."""


class SummaryLine(Wire):
    currency: str
    waiting_minor: int
    """May not be paid yet: a day after it was over, and the days that the schedule holds it."""
    eligible_minor: int
    frozen_minor: int
    processing_minor: int
    in_transit_minor: int
    completed_minor: int
    recovered_minor: int
    ledger_minor: int
    """What the ledger owes; negative: what is owed to the platform, and kept from the next payouts."""

    @classmethod
    def of(cls, summary: queries.Summary) -> "SummaryLine":
        return cls(
            currency=summary.currency,
            waiting_minor=summary.waiting_minor,
            eligible_minor=summary.eligible_minor,
            frozen_minor=summary.frozen_minor,
            processing_minor=summary.processing_minor,
            in_transit_minor=summary.in_transit_minor,
            completed_minor=summary.completed_minor,
            recovered_minor=summary.recovered_minor,
            ledger_minor=summary.ledger_minor,
        )


class SummaryAnswer(Wire):
    currencies: list[SummaryLine]


def _summary(own: str, path: str) -> Contract:
    return Contract(
        id=own,
        version="1.0.0",
        owner="payouts",
        consumers=("web",),
        summary="What is owed, frozen, on its way and paid, by currency.",
        get=path,
        takes=SummaryRequest,
        gives=SummaryAnswer,
        audience=Audience.ORGANIZATION,
        permission=FINANCE_PAYOUTS_R,
        order_key="none",
        examples=(
            Example(
                "some in the next batch",
                takes=SummaryRequest(),
                gives=SummaryAnswer(
                    currencies=[
                        SummaryLine(
                            currency="EUR",
                            waiting_minor=0,
                            eligible_minor=85_000,
                            frozen_minor=0,
                            processing_minor=0,
                            in_transit_minor=0,
                            completed_minor=0,
                            recovered_minor=0,
                            ledger_minor=85_000,
                        )
                    ]
                ),
            ),
        ),
    )


async def show_summary(call: Call, request: SummaryRequest) -> SummaryAnswer:
    found = await call.read(queries.summarise, request.owner)
    return SummaryAnswer(currencies=[SummaryLine.of(each) for each in found])


status, status_too = both(_status, show_status, "C14.STATUS", "/status")
payouts, payouts_too = both(_payouts, show_payouts, "C14.LIST", "")
summary, summary_too = both(_summary, show_summary, "C14.SUMMARY", "/summary")

CONTRACTS: tuple[Any, ...] = (status, status_too, payouts, payouts_too, summary, summary_too)

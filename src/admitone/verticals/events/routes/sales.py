"""How an event sells: day by day, what of it is left for the organiser, and what is left to sell."""

from datetime import date
from typing import Annotated, Final

from msgspec import Meta

from admitone.kernel.contracts import (
    Call,
    Count,
    Example,
    Instant,
    Minor,
    SignedMinor,
    ValidationFailed,
    Wire,
)
from admitone.kernel.db import Tx
from admitone.verticals.events.errors import EventNotFound
from admitone.verticals.events.model import EventId, TicketTypeId, TypeStatus
from admitone.verticals.events.queries import find_plan
from admitone.verticals.events.reporting import (
    sum_nets,
    sum_sales,
)
from admitone.verticals.events.routes.answers import PoolAnswer, SharedPoolAnswer
from admitone.verticals.events.routes.wires import (
    EVENTS_R,
    FINANCE_SALES_R,
    SOME_EVENT,
    SOME_POOL,
    SOME_TYPE,
    SOONER,
    THEN,
    EventRequest,
    organisers,
)

MOST_DAYS: Final = 366
USUAL_DAYS: Final = 30
FIRST_DAY, LAST_DAY = date(1970, 1, 2), date(8999, 12, 30)


class DayAnswer(Wire):
    """What was sold of a type on one day of the event's own calendar; what went back since counts on that day, too."""

    day: date
    ticket_type_id: TicketTypeId
    orders: Count
    tickets: Count
    gross_minor: Minor
    """At their prices: before discounts, taxes and fees."""
    refunded_tickets: Count
    refunded_minor: Minor
    """At their prices."""


class SalesAnswer(Wire):
    since: date
    until: date
    time_zone: str
    currency: str
    days: list[DayAnswer]
    """Those on which something was sold, by day and type."""


class SalesRequest(Wire):
    event_id: EventId
    since: Annotated[date | None, Meta(description="The first day, there. Left out, a month before the last.")] = None
    until: Annotated[date | None, Meta(description="The last day, there. Left out, today.")] = None


sales = organisers(
    "REPORT.SALES",
    "What was sold on each day, as the clocks at the event count days.",
    permission=EVENTS_R,
    get="/api/org/{organizationId}/events/{eventId}/sales",
    takes=SalesRequest,
    gives=SalesAnswer,
    refuses=(EventNotFound,),
    examples=(
        Example(
            "A good day",
            takes=SalesRequest(event_id=SOME_EVENT, since=SOONER.date(), until=SOONER.date()),
            gives=SalesAnswer(
                since=SOONER.date(),
                until=SOONER.date(),
                time_zone="Europe/Lisbon",
                currency="EUR",
                days=[
                    DayAnswer(
                        day=SOONER.date(),
                        ticket_type_id=SOME_TYPE,
                        orders=1,
                        tickets=2,
                        gross_minor=5000,
                        refunded_tickets=0,
                        refunded_minor=0,
                    )
                ],
            ),
        ),
        Example("No such event", takes=SalesRequest(event_id=SOME_EVENT), refuses=EventNotFound()),
    ),
)


@sales.serves
async def see_sales(call: Call, request: SalesRequest) -> SalesAnswer:
    _require_days(request)
    found = await call.read(sum_sales, request.event_id, request.since, request.until, USUAL_DAYS, MOST_DAYS)
    if found is None:
        raise EventNotFound
    return SalesAnswer(
        since=found.days[0],
        until=found.days[-1],
        time_zone=found.event.time_zone,
        currency=found.event.currency,
        days=[
            DayAnswer(
                day=found.days[each.day - 1],
                ticket_type_id=each.ticket_type,
                orders=each.orders,
                tickets=each.tickets,
                gross_minor=each.gross_minor,
                refunded_tickets=each.gone,
                refunded_minor=each.refunded_minor,
            )
            for each in found.sold
        ],
    )


def _require_days(request: SalesRequest) -> None:
    given = [each for each in (request.since, request.until) if each]
    is_in_order = given == sorted(given) and (len(given) < 2 or (given[1] - given[0]).days < MOST_DAYS)
    if not is_in_order or not all(FIRST_DAY <= each <= LAST_DAY for each in given):
        raise ValidationFailed.at("$.until", f"Days are in order, and {MOST_DAYS} at the most")


# -- What was brought


class NetDayAnswer(Wire):
    """What became, until now, of the money of all who began to pay on one day of the event's own calendar."""

    day: date
    payments: Count
    charged_minor: Minor
    refunded_minor: Minor
    platform_fee_minor: SignedMinor
    processor_fee_minor: SignedMinor
    net_minor: SignedMinor


class NetsAnswer(Wire):
    since: date
    until: date
    time_zone: str
    currency: str
    days: list[NetDayAnswer]
    """Those on which somebody paid."""
    is_complete: bool
    """Whether it is of all payments: of very many, those that began last are left out."""


nets = organisers(
    "REPORT.NET",
    "What each day brought after fees and refunds, as the ledger says.",
    permission=FINANCE_SALES_R,
    get="/api/org/{organizationId}/events/{eventId}/net",
    takes=SalesRequest,
    gives=NetsAnswer,
    refuses=(EventNotFound,),
    examples=(
        Example(
            "A good day",
            takes=SalesRequest(event_id=SOME_EVENT, since=SOONER.date(), until=SOONER.date()),
            gives=NetsAnswer(
                since=SOONER.date(),
                until=SOONER.date(),
                time_zone="Europe/Lisbon",
                currency="EUR",
                days=[
                    NetDayAnswer(
                        day=SOONER.date(),
                        payments=1,
                        charged_minor=5000,
                        refunded_minor=0,
                        platform_fee_minor=300,
                        processor_fee_minor=100,
                        net_minor=4600,
                    )
                ],
                is_complete=True,
            ),
        ),
        Example("No such event", takes=SalesRequest(event_id=SOME_EVENT), refuses=EventNotFound()),
    ),
)


@nets.serves
async def see_nets(call: Call, request: SalesRequest) -> NetsAnswer:
    _require_days(request)
    found = await call.read(sum_nets, request.event_id, request.since, request.until, USUAL_DAYS, MOST_DAYS)
    if found is None:
        raise EventNotFound
    return NetsAnswer(
        since=found.days[0],
        until=found.days[-1],
        time_zone=found.event.time_zone,
        currency=found.event.currency,
        days=[
            NetDayAnswer(
                day=each.day,
                payments=each.payments,
                charged_minor=each.moved.charged,
                refunded_minor=each.moved.refunded,
                platform_fee_minor=each.moved.platform_fee,
                processor_fee_minor=each.moved.processor_fee,
                net_minor=each.moved.net,
            )
            for each in found.brought
        ],
        is_complete=found.is_complete,
    )


# -- What is left


class TotalAnswer(Wire):
    ticket_type_id: TicketTypeId
    name: str
    status: TypeStatus
    pool: PoolAnswer
    free: Count
    """What can still be had, with regard to what it shares with others."""


class TotalsAnswer(Wire):
    ticket_types: list[TotalAnswer]
    shared_pools: list[SharedPoolAnswer]
    at: Instant


totals = organisers(
    "REPORT.TOTALS",
    "How many there are of each ticket, kept for whoever is paying, sold, and left.",
    permission=EVENTS_R,
    get="/api/org/{organizationId}/events/{eventId}/totals",
    takes=EventRequest,
    gives=TotalsAnswer,
    refuses=(EventNotFound,),
    examples=(
        Example(
            "A night",
            takes=EventRequest(event_id=SOME_EVENT),
            gives=TotalsAnswer(
                ticket_types=[
                    TotalAnswer(
                        ticket_type_id=SOME_TYPE,
                        name="Standing",
                        status=TypeStatus.ON_SALE,
                        pool=PoolAnswer(pool_id=SOME_POOL, capacity=500, held=2, sold=40),
                        free=458,
                    )
                ],
                shared_pools=[],
                at=THEN,
            ),
        ),
        Example("No such event", takes=EventRequest(event_id=SOME_EVENT), refuses=EventNotFound()),
    ),
)


@totals.serves
async def see_totals(call: Call, request: EventRequest) -> TotalsAnswer:
    async def look(tx: Tx) -> TotalsAnswer:
        plan = await find_plan(tx, request.event_id)
        if plan is None:
            raise EventNotFound
        return TotalsAnswer(
            ticket_types=[
                TotalAnswer(
                    ticket_type_id=each.id,
                    name=each.name,
                    status=each.status,
                    pool=PoolAnswer.of(each.pool_id, plan.pools.get(each.pool_id)),
                    free=max(plan.free(each), 0),
                )
                for each in plan.types
            ],
            shared_pools=[
                SharedPoolAnswer(label=each.label, pool=PoolAnswer.of(each.id, plan.pools.get(each.id)))
                for each in plan.shared
            ],
            at=tx.now,
        )

    return await call.read(look)


CONTRACTS: Final = (sales, nets, totals)

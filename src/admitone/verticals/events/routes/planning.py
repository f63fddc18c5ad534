"""Planning events: what their organisers decide, and see."""

from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from admitone.kernel.clock import zone
from admitone.kernel.contracts import (
    Call,
    Example,
    IdempotencyKey,
    Instant,
    Page,
    PageRequest,
    ReasonCode,
    ShortText,
    ValidationFailed,
    Wire,
)
from admitone.kernel.money import digits
from admitone.kernel.statements import ListOrder
from admitone.verticals.events.commands import planning
from admitone.verticals.events.commands.planning import Cancelling, Describing, Draft, Publishing, Rescheduling
from admitone.verticals.events.errors import (
    EventIsCancelled,
    EventIsOver,
    EventNotFound,
    EventOvertaken,
    LegacyPayload,
    OnlyFreeTickets,
    PolicyInvalid,
    SessionInUse,
    SessionNotFound,
    TimesInvalid,
    TooManyParts,
)
from admitone.verticals.events.model import (
    EventId,
    EventStatus,
    Schedule,
    SessionId,
)
from admitone.verticals.events.policy import first_policy
from admitone.verticals.events.queries import EARLIEST, FIRST, LATEST
from admitone.verticals.events.routes.answers import A_LINE, AN_EVENT, EventAnswer, EventLine, shown
from admitone.verticals.events.routes.legacy import LegacyFields, policy_in
from admitone.verticals.events.routes.wires import (
    EVENTS_R,
    LATER,
    SOME_EVENT,
    THEN,
    AboutWire,
    Currency,
    EventRequest,
    PolicyWire,
    Sessions,
    Version,
    ZoneName,
    organisers,
    sessions_of,
)
from admitone.verticals.events.store.planning import OwnWanted, list_own
from admitone.verticals.events.store.reports import LAST


class ScheduleWire(Wire):
    starts_at: Instant
    ends_at: Instant
    """There is no end that nobody said."""
    time_zone: ZoneName
    sessions: Sessions = []  # noqa: RUF012, msgspec copies it


def scheduled(wire: ScheduleWire) -> tuple[Schedule, frozenset[SessionId]]:
    zone(wire.time_zone)
    sessions, fresh = sessions_of(wire.sessions)
    return Schedule(wire.starts_at, wire.ends_at, wire.time_zone, sessions), fresh


class CreateRequest(LegacyFields, kw_only=True):
    about: AboutWire
    schedule: ScheduleWire
    currency: Currency
    """Of everything that is sold for it, for ever."""
    idempotency_key: IdempotencyKey
    access_policy: PolicyWire | None = None


create = organisers(
    "01",
    "Draft an event.",
    post="/api/org/{organizationId}/events",
    takes=CreateRequest,
    gives=EventAnswer,
    refuses=(
        EventNotFound,
        TimesInvalid,
        SessionNotFound,
        TooManyParts,
        PolicyInvalid,
        LegacyPayload,
    ),
    status=201,
    stoppable=True,
    idempotent_by="idempotencyKey",
    order_key="none",
    examples=(
        Example(
            "A night",
            takes=CreateRequest(
                about=AboutWire(title="Summer night"),
                schedule=ScheduleWire(starts_at=THEN, ends_at=LATER, time_zone="Europe/Lisbon"),
                currency="EUR",
                idempotency_key="summer-night",
            ),
            gives=AN_EVENT,
        ),
    ),
)


@create.serves
async def draft(call: Call, request: CreateRequest) -> EventAnswer:
    schedule, fresh = scheduled(request.schedule)
    if strange := next((each.id for each in schedule.sessions if each.id not in fresh), None):
        raise SessionNotFound(session=str(strange))
    try:
        digits(request.currency)
    except ValueError as unknown:
        raise ValidationFailed.at("$.currency", str(unknown)) from None
    policy = policy_in(request, request.access_policy, first_policy())
    wanted = Draft(call.caller, EventId.new(), request.about.about(), schedule, request.currency, policy)
    event = await call.batch(planning.draft, wanted)
    return await shown(call, event.id)


class EventsOrder(StrEnum):
    SOONEST = "SOONEST"
    LATEST = "LATEST"

    @property
    def way(self) -> ListOrder:
        return ListOrder.OLDEST if self is EventsOrder.SOONEST else ListOrder.NEWEST


class EventsRequest(PageRequest, kw_only=True):
    status: EventStatus | None = None
    since: Instant | None = None
    """Only what begins after it."""
    text: ShortText | None = None
    """In the title, the venue or the city."""
    order: EventsOrder = EventsOrder.SOONEST
    """By their beginning."""

    @property
    def wanted(self) -> OwnWanted:
        return OwnWanted(self.status, self.text)


mine = organisers(
    "02",
    "The events of an organisation, by their beginning.",
    permission=EVENTS_R,
    get="/api/org/{organizationId}/events",
    takes=EventsRequest,
    gives=Page[EventLine],
    order_key="startsAt",
    examples=(
        Example(
            "One",
            takes=EventsRequest(status=EventStatus.PUBLISHED),
            gives=Page(items=[A_LINE], next_cursor=None),
        ),
    ),
)


@mine.serves
async def list_mine(call: Call, request: EventsRequest) -> Page[EventLine]:
    way, first = request.order.way, (request.since or EARLIEST, FIRST)
    stretch = way.between(request.after(tuple[datetime, UUID]), first, (LATEST, LAST))
    events = await call.read(list_own, request.wanted, *stretch, request.limit + 1, way)
    return request.page([EventLine.of(each) for each in events], key=lambda each: (each.starts_at, each.event_id.uuid))


show = organisers(
    "03",
    "One event, with all that belongs to it.",
    permission=EVENTS_R,
    get="/api/org/{organizationId}/events/{eventId}",
    takes=EventRequest,
    gives=EventAnswer,
    refuses=(EventNotFound,),
    examples=(Example("A night", takes=EventRequest(event_id=SOME_EVENT), gives=AN_EVENT),),
)


@show.serves
async def see(call: Call, request: EventRequest) -> EventAnswer:
    return await shown(call, request.event_id)


class DescribeRequest(Wire):
    event_id: EventId
    about: AboutWire
    version: Version
    """As it was seen: who changed it meanwhile is not overwritten."""


OVERTAKEN: Final = "the version is another after the first time, and the second is refused"

describe = organisers(
    "04",
    "Change what an event says of itself.",
    put="/api/org/{organizationId}/events/{eventId}",
    takes=DescribeRequest,
    gives=EventAnswer,
    refuses=(EventNotFound, EventOvertaken, EventIsCancelled, OnlyFreeTickets),
    repeats=OVERTAKEN,
    examples=(
        Example(
            "Another title",
            takes=DescribeRequest(event_id=SOME_EVENT, about=AboutWire(title="Summer night"), version=2),
            gives=AN_EVENT,
        ),
    ),
)


@describe.serves
async def say(call: Call, request: DescribeRequest) -> EventAnswer:
    wanted = Describing(call.caller, request.event_id, request.version, request.about.about())
    await call.batch(planning.describe, wanted)
    return await shown(call, request.event_id)


class ScheduleRequest(ScheduleWire, kw_only=True):
    event_id: EventId
    version: Version


reschedule = organisers(
    "05",
    "Say when an event takes place, with all its sessions; what was sold is good at its new time.",
    put="/api/org/{organizationId}/events/{eventId}/schedule",
    takes=ScheduleRequest,
    gives=EventAnswer,
    refuses=(
        EventNotFound,
        EventOvertaken,
        EventIsCancelled,
        EventIsOver,
        TimesInvalid,
        SessionInUse,
        SessionNotFound,
        TooManyParts,
    ),
    repeats=OVERTAKEN,
    examples=(
        Example(
            "Put off",
            takes=ScheduleRequest(
                event_id=SOME_EVENT, starts_at=THEN, ends_at=LATER, time_zone="Europe/Lisbon", version=2
            ),
            gives=AN_EVENT,
        ),
    ),
)


@reschedule.serves
async def put_off(call: Call, request: ScheduleRequest) -> EventAnswer:
    schedule, fresh = scheduled(request)
    wanted = Rescheduling(call.caller, request.event_id, request.version, schedule, fresh)
    await call.batch(planning.reschedule, wanted)
    return await shown(call, request.event_id)


publish = organisers(
    "06",
    "Publish an event, for good.",
    post="/api/org/{organizationId}/events/{eventId}/publish",
    takes=EventRequest,
    gives=EventAnswer,
    refuses=(EventNotFound, EventIsCancelled, EventIsOver),
    stoppable=True,
    repeats="it is published the second time already",
    examples=(Example("A night", takes=EventRequest(event_id=SOME_EVENT), gives=AN_EVENT),),
)


@publish.serves
async def announce(call: Call, request: EventRequest) -> EventAnswer:
    await call.batch(planning.publish, Publishing(call.caller, request.event_id))
    return await shown(call, request.event_id)


class CancelRequest(Wire):
    event_id: EventId
    reason_code: ReasonCode


cancel = organisers(
    "07",
    "Cancel an event, for good: whoever paid for it gets their money back.",
    post="/api/org/{organizationId}/events/{eventId}/cancel",
    takes=CancelRequest,
    gives=EventAnswer,
    refuses=(EventNotFound,),
    step_up=True,
    repeats="it is cancelled the second time already",
    examples=(Example("Rain", takes=CancelRequest(event_id=SOME_EVENT, reason_code="WEATHER"), gives=AN_EVENT),),
)


@cancel.serves
async def call_off(call: Call, request: CancelRequest) -> EventAnswer:
    await call.batch(planning.cancel, Cancelling(call.caller, request.event_id, request.reason_code))
    return await shown(call, request.event_id)


CONTRACTS: Final = (create, mine, show, describe, reschedule, publish, cancel)

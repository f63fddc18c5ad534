"""What is sold for an event, on what terms, and how much of it there is."""

from typing import Annotated, Final

from msgspec import Meta

from admitone.finance.sources.api import LARGEST_AMOUNT
from admitone.kernel.contracts import Call, Example, IdempotencyKey, Instant, Wire
from admitone.selling.stock.api import CapacityTaken, PoolId, SeatedPool, SeatTaken
from admitone.verticals.events.commands import offering
from admitone.verticals.events.commands.offering import Arranging, Offering, Revising, Sharing, Supply, Terms
from admitone.verticals.events.errors import (
    EventIsCancelled,
    EventNotFound,
    EventOvertaken,
    FrozenBySale,
    NotSeated,
    OnlyFreeTickets,
    SalesWindowInvalid,
    SessionNotFound,
    SharedPoolNotFound,
    TicketTypeNotFound,
    TooManyParts,
    ZeroPriceNotAllowed,
)
from admitone.verticals.events.model import EventId, SessionId, TicketTypeId, TypeStatus
from admitone.verticals.events.routes.answers import AN_EVENT, EventAnswer, shown
from admitone.verticals.events.routes.planning import OVERTAKEN
from admitone.verticals.events.routes.wires import (
    SOME_EVENT,
    SOME_POOL,
    SOME_TYPE,
    Capacity,
    Label,
    Seat,
    Version,
    organisers,
)

Price = Annotated[int, Meta(ge=0, le=min(LARGEST_AMOUNT, 10**12))]
Some = Annotated[int, Meta(ge=1, le=100)]
Seats = Annotated[list[Seat], Meta(max_length=10_000)]
LARGE_BODY: Final = 1024 * 1024
"""Room for the seats of a hall."""


class TermsWire(Wire):
    """On what terms a ticket is sold."""

    name: Label
    price_minor: Price
    description: Annotated[str, Meta(max_length=1000)] = ""
    allow_zero_price: bool = False
    """That it may cost nothing is somebody's decision."""
    free_per_person: Some = 1
    shared_pools: Annotated[list[PoolId], Meta(max_length=5)] = []  # noqa: RUF012, msgspec copies it
    sales_from: Instant | None = None
    sales_until: Instant | None = None
    most_per_order: Some = 10
    most_per_buyer: Annotated[int, Meta(ge=1, le=10_000)] | None = None
    status: TypeStatus = TypeStatus.ON_SALE
    sessions: Annotated[list[SessionId], Meta(max_length=100)] = []  # noqa: RUF012, msgspec copies it

    def terms(self) -> Terms:
        return Terms(
            name=self.name,
            price_minor=self.price_minor,
            description=self.description,
            allows_zero=self.allow_zero_price,
            free_per_person=self.free_per_person,
            shared_pools=tuple(dict.fromkeys(each.uuid for each in self.shared_pools)),
            sales_from=self.sales_from,
            sales_until=self.sales_until,
            most_per_order=self.most_per_order,
            most_per_buyer=self.most_per_buyer,
            status=self.status,
            sessions=tuple(sorted(set(self.sessions))),
        )


class SupplyWire(Wire):
    """How many there are: so many, or these seats, the best first."""

    capacity: Capacity = 0
    seats: Seats | None = None

    def supply(self) -> Supply:
        return Supply(self.capacity, None if self.seats is None else tuple(dict.fromkeys(self.seats)))


REFUSES: Final = (
    EventNotFound,
    EventIsCancelled,
    ZeroPriceNotAllowed,
    OnlyFreeTickets,
    SalesWindowInvalid,
    SessionNotFound,
    SharedPoolNotFound,
)


class OfferRequest(TermsWire, kw_only=True):
    event_id: EventId
    supply: SupplyWire
    idempotency_key: IdempotencyKey


offer = organisers(
    "08",
    "Put a ticket on sale.",
    post="/api/org/{organizationId}/events/{eventId}/ticket-types",
    takes=OfferRequest,
    gives=EventAnswer,
    refuses=(*REFUSES, TooManyParts),
    status=201,
    max_body_bytes=LARGE_BODY,
    idempotent_by="idempotencyKey",
    examples=(
        Example(
            "Standing",
            takes=OfferRequest(
                event_id=SOME_EVENT,
                name="Standing",
                price_minor=2500,
                supply=SupplyWire(capacity=500),
                idempotency_key="standing",
            ),
            gives=AN_EVENT,
        ),
    ),
)


@offer.serves
async def put_on_sale(call: Call, request: OfferRequest) -> EventAnswer:
    new = TicketTypeId.new()
    wanted = Offering(call.caller, request.event_id, new, request.terms(), request.supply.supply())
    await call.batch(offering.offer, wanted)
    return await shown(call, request.event_id)


class ReviseRequest(TermsWire, kw_only=True):
    event_id: EventId
    ticket_type_id: TicketTypeId
    version: Version
    supply: SupplyWire | None = None
    """Left out: as many as there are."""


revise = organisers(
    "09",
    "Sell a ticket on other terms, or no more; whoever ordered it keeps their price.",
    put="/api/org/{organizationId}/events/{eventId}/ticket-types/{ticketTypeId}",
    takes=ReviseRequest,
    gives=EventAnswer,
    refuses=(
        *REFUSES,
        TicketTypeNotFound,
        EventOvertaken,
        FrozenBySale,
        NotSeated,
        CapacityTaken,
        SeatedPool,
        SeatTaken,
    ),
    max_body_bytes=LARGE_BODY,
    repeats=OVERTAKEN,
    examples=(
        Example(
            "Dearer",
            takes=ReviseRequest(
                event_id=SOME_EVENT, ticket_type_id=SOME_TYPE, name="Standing", price_minor=3000, version=1
            ),
            gives=AN_EVENT,
        ),
    ),
)


@revise.serves
async def sell_otherwise(call: Call, request: ReviseRequest) -> EventAnswer:
    supply = request.supply.supply() if request.supply else None
    wanted = Revising(call.caller, request.event_id, request.ticket_type_id, request.version, request.terms(), supply)
    await call.batch(offering.revise, wanted)
    return await shown(call, request.event_id)


class ArrangeRequest(Wire):
    event_id: EventId
    ticket_type_ids: Annotated[list[TicketTypeId], Meta(min_length=1, max_length=100)]


arrange = organisers(
    "10",
    "Say in which order people see the tickets.",
    put="/api/org/{organizationId}/events/{eventId}/ticket-order",
    takes=ArrangeRequest,
    gives=EventAnswer,
    refuses=(EventNotFound, TicketTypeNotFound),
    repeats="they are in that order the second time already",
    examples=(Example("One", takes=ArrangeRequest(event_id=SOME_EVENT, ticket_type_ids=[SOME_TYPE]), gives=AN_EVENT),),
)


@arrange.serves
async def put_in_order(call: Call, request: ArrangeRequest) -> EventAnswer:
    await call.batch(offering.arrange, Arranging(call.caller, request.event_id, tuple(request.ticket_type_ids)))
    return await shown(call, request.event_id)


class ShareRequest(Wire):
    event_id: EventId
    label: Label
    capacity: Capacity
    idempotency_key: IdempotencyKey


share = organisers(
    "11",
    "Make a pool that several tickets of an event draw from, beside their own.",
    post="/api/org/{organizationId}/events/{eventId}/pools",
    takes=ShareRequest,
    gives=EventAnswer,
    refuses=(EventNotFound, EventIsCancelled, TooManyParts),
    status=201,
    idempotent_by="idempotencyKey",
    examples=(
        Example(
            "The hall",
            takes=ShareRequest(event_id=SOME_EVENT, label="The hall", capacity=500, idempotency_key="hall"),
            gives=AN_EVENT,
        ),
    ),
)


@share.serves
async def make_pool(call: Call, request: ShareRequest) -> EventAnswer:
    wanted = Sharing(call.caller, request.event_id, PoolId.new(), request.label, request.capacity, is_new=True)
    await call.batch(offering.share, wanted)
    return await shown(call, request.event_id)


class ResizeRequest(Wire):
    event_id: EventId
    pool_id: PoolId
    label: Label
    capacity: Capacity


resize = organisers(
    "12",
    "Say how much is in a shared pool: never less than is kept for somebody, or sold.",
    put="/api/org/{organizationId}/events/{eventId}/pools/{poolId}",
    takes=ResizeRequest,
    gives=EventAnswer,
    refuses=(EventNotFound, EventIsCancelled, SharedPoolNotFound, CapacityTaken),
    repeats="it is that large the second time already",
    examples=(
        Example(
            "The hall",
            takes=ResizeRequest(event_id=SOME_EVENT, pool_id=SOME_POOL, label="The hall", capacity=600),
            gives=AN_EVENT,
        ),
    ),
)


@resize.serves
async def make_as_large(call: Call, request: ResizeRequest) -> EventAnswer:
    wanted = Sharing(call.caller, request.event_id, request.pool_id, request.label, request.capacity, is_new=False)
    await call.batch(offering.share, wanted)
    return await shown(call, request.event_id)


CONTRACTS: Final = (offer, revise, arrange, share, resize)

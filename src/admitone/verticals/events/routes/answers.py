"""Events as their organisers see them."""

from typing import Any, Final
from uuid import UUID

from admitone.kernel.contracts import Call, Count, Instant, Minor, Wire
from admitone.selling.stock.api import Pool, PoolId
from admitone.verticals.events.errors import EventNotFound
from admitone.verticals.events.model import (
    Event,
    EventId,
    EventStatus,
    PricingMode,
    SessionId,
    TicketType,
    TicketTypeId,
    TypeStatus,
)
from admitone.verticals.events.policy import Caution, cautions_of
from admitone.verticals.events.queries import Plan, find_plan
from admitone.verticals.events.routes.wires import (
    LATER,
    SOME_EVENT,
    SOME_POOL,
    SOME_SESSION,
    SOME_TYPE,
    SOONER,
    THEN,
    PolicyWire,
    SessionWire,
    VenueWire,
)


class PoolAnswer(Wire):
    """How many there are, kept for whoever is paying, and sold."""

    pool_id: PoolId
    capacity: Count
    held: Count
    sold: Count

    @classmethod
    def of(cls, own: UUID, pool: Pool | None) -> "PoolAnswer":
        stood = pool or Pool(PoolId(own), 0)
        return cls(pool_id=stood.id, capacity=stood.capacity, held=stood.held, sold=stood.sold)


class SharedPoolAnswer(Wire):
    label: str
    pool: PoolAnswer


class TypeAnswer(Wire):
    ticket_type_id: TicketTypeId
    name: str
    description: str
    price_minor: Minor
    allow_zero_price: bool
    free_per_person: Count
    pool: PoolAnswer
    shared_pools: list[PoolId]
    seated: bool
    sales_from: Instant | None
    sales_until: Instant | None
    most_per_order: Count
    most_per_buyer: Count | None
    status: TypeStatus
    sessions: list[SessionId]
    version: Count

    @classmethod
    def of(cls, kind: TicketType, pool: Pool | None) -> "TypeAnswer":
        return cls(
            ticket_type_id=kind.id,
            name=kind.name,
            description=kind.description,
            price_minor=kind.price_minor,
            allow_zero_price=kind.allows_zero,
            free_per_person=kind.free_per_person,
            pool=PoolAnswer.of(kind.pool_id, pool),
            shared_pools=[PoolId(each) for each in kind.shared_pools],
            seated=kind.seated,
            sales_from=kind.sales_from,
            sales_until=kind.sales_until,
            most_per_order=kind.most_per_order,
            most_per_buyer=kind.most_per_buyer,
            status=kind.status,
            sessions=list(kind.sessions),
            version=kind.version,
        )


class EventLine(Wire):
    """An event in the list of its organisation."""

    event_id: EventId
    title: str
    status: EventStatus
    starts_at: Instant
    ends_at: Instant
    time_zone: str
    currency: str
    venue: VenueWire
    version: Count

    @staticmethod
    def told(event: Event) -> dict[str, Any]:
        names = ("title", "status", "starts_at", "ends_at", "time_zone", "currency", "version")
        return {name: getattr(event, name) for name in names} | {
            "event_id": event.id,
            "venue": VenueWire.of(event.venue),
        }

    @classmethod
    def of(cls, event: Event) -> "EventLine":
        return cls(**cls.told(event))


class EventAnswer(EventLine, kw_only=True):
    description: str
    least_age: Count | None
    hold_minutes: Count
    allow_zero_price_tickets: bool
    pricing_mode: PricingMode
    first_sold_at: Instant | None
    published_at: Instant | None
    cancelled_at: Instant | None
    created_at: Instant
    access_policy: PolicyWire
    policy_version: Count
    warnings: list[Caution]
    """Allowed, and perhaps not meant."""
    sessions: list[SessionWire]
    ticket_types: list[TypeAnswer]
    shared_pools: list[SharedPoolAnswer]

    @classmethod
    def of_plan(cls, plan: Plan) -> "EventAnswer":
        event = plan.event
        return cls(
            **cls.told(event),
            description=event.description,
            least_age=event.least_age,
            hold_minutes=event.hold_minutes,
            allow_zero_price_tickets=event.allows_zero,
            pricing_mode=event.pricing_mode,
            first_sold_at=event.first_sold_at,
            published_at=event.published_at,
            cancelled_at=event.cancelled_at,
            created_at=event.created_at,
            access_policy=PolicyWire.of(plan.policy),
            policy_version=plan.policy.version,
            warnings=cautions_of(plan.policy),
            sessions=[SessionWire.of(each) for each in plan.sessions],
            ticket_types=[TypeAnswer.of(each, plan.pools.get(each.pool_id)) for each in plan.types],
            shared_pools=[
                SharedPoolAnswer(label=each.label, pool=PoolAnswer.of(each.id, plan.pools.get(each.id)))
                for each in plan.shared
            ],
        )


A_TYPE: Final = TypeAnswer(
    ticket_type_id=SOME_TYPE,
    name="Standing",
    description="",
    price_minor=2500,
    allow_zero_price=False,
    free_per_person=1,
    pool=PoolAnswer(pool_id=SOME_POOL, capacity=500, held=2, sold=40),
    shared_pools=[],
    seated=False,
    sales_from=None,
    sales_until=None,
    most_per_order=10,
    most_per_buyer=None,
    status=TypeStatus.ON_SALE,
    sessions=[],
    version=1,
)
A_LINE: Final = EventLine(
    event_id=SOME_EVENT,
    title="Summer night",
    status=EventStatus.PUBLISHED,
    starts_at=THEN,
    ends_at=LATER,
    time_zone="Europe/Lisbon",
    currency="EUR",
    venue=VenueWire(name="Coliseu", city="Porto", country="PT"),
    version=3,
)
AN_EVENT: Final = EventAnswer(
    event_id=SOME_EVENT,
    title="Summer night",
    status=EventStatus.PUBLISHED,
    starts_at=THEN,
    ends_at=LATER,
    time_zone="Europe/Lisbon",
    currency="EUR",
    venue=VenueWire(name="Coliseu", city="Porto", country="PT"),
    version=3,
    description="",
    least_age=None,
    hold_minutes=15,
    allow_zero_price_tickets=False,
    pricing_mode=PricingMode.STANDARD,
    first_sold_at=SOONER,
    published_at=SOONER,
    cancelled_at=None,
    created_at=SOONER,
    access_policy=PolicyWire(),
    policy_version=1,
    warnings=[],
    sessions=[SessionWire(session_id=SOME_SESSION, label="Friday", starts_at=THEN, ends_at=LATER)],
    ticket_types=[A_TYPE],
    shared_pools=[],
)


async def shown(call: Call, event: EventId) -> EventAnswer:
    """As it is now."""
    plan = await call.read(find_plan, event)
    if plan is None:
        raise EventNotFound
    return EventAnswer.of_plan(plan)

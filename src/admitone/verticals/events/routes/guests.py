"""The tickets of a guest, behind the link of their receipt.

Promise (EVT-025): whoever has the link has the tickets of that order, until its doors close, and nothing else of the
person. A link that is over, was taken back or never was is the same: not found. The code that is shown is the one that
is good now.
"""

from typing import Annotated, Any, Final

from msgspec import Meta

from admitone.entitlements import api as entitlements
from admitone.entitlements.api import Entitlement, EntitlementId, EntitlementNotActive
from admitone.finance.sources.api import SourceType
from admitone.foundation.organizations.api import get_organization
from admitone.kernel.contracts import Audience, Call, Contract, Example, File, Instant, Wire, Writes
from admitone.kernel.crypto import MalformedSecret, digest_of, read_secret
from admitone.kernel.db import Tx
from admitone.kernel.figures import MINUTE
from admitone.kernel.limits import Limit, Per
from admitone.kernel.scope import Scope
from admitone.verticals.events.errors import OrderNotFound
from admitone.verticals.events.model import EventId, Order, OrderId
from admitone.verticals.events.receipts import GUEST_KIND
from admitone.verticals.events.reporting import find_owners
from admitone.verticals.events.routes.public import OrganizerAnswer
from admitone.verticals.events.store import events, guest_links, orders

GUEST_LOOKS: Final = Limit("guest_tickets.per_link", 120, MINUTE, Per.REQUEST, lambda request: request.token)
"""A family in a queue with a bad net."""
STRANGERS_LOOKS: Final = Limit("guest_tickets.per_address", 6_000, MINUTE, Per.ADDRESS)
"""A whole queue may stand behind one address; whoever tries links there would need longer than there is."""
LIMITS: Final = (GUEST_LOOKS, STRANGERS_LOOKS)

Token = Annotated[str, Meta(min_length=1, max_length=120)]


class GuestRequest(Wire):
    token: Token


class GuestCodeRequest(GuestRequest):
    entitlement_id: EntitlementId


class GuestTicket(Wire):
    entitlement_id: EntitlementId
    label: str
    session_id: str | None
    status: entitlements.Status
    valid_from: Instant
    valid_until: Instant
    consumed_at: Instant | None


class GuestAnswer(Wire):
    order_id: OrderId
    event_id: EventId
    title: str
    starts_at: Instant
    ends_at: Instant
    time_zone: str
    venue: str
    city: str
    organizer: OrganizerAnswer
    tickets: list[GuestTicket]
    link_ends_at: Instant


class GuestCode(Wire):
    entitlement_id: EntitlementId
    payload: str
    refresh_at: Instant
    valid_until: Instant


A_TOKEN: Final = f"{GUEST_KIND}_0198c9a40000700080000000000000ad_{'5e' * 20}"
SOME_RIGHT: Final = EntitlementId.parse("ent_0198c9a40000700080000000000000c1")
NO_LINK: Final = Example("No such link", takes=GuestRequest(token=A_TOKEN), refuses=OrderNotFound())
NO_CODE: Final = Example(
    "No such link", takes=GuestCodeRequest(token=A_TOKEN, entitlement_id=SOME_RIGHT), refuses=OrderNotFound()
)


def contract(number: str, summary: str, **more: Any) -> Contract:
    usual: dict[str, Any] = {
        "version": "1.0.0",
        "owner": "events",
        "consumers": ("web",),
        "refuses": (OrderNotFound,),
        "audience": Audience.PUBLIC,
        "limits": LIMITS,
        "order_key": "none",
    }
    return Contract(id=f"EVT.GUEST{number}", summary=summary, **(usual | more))


tickets = contract(
    "",
    "The tickets behind a guest's link.",
    get="/api/guest/tickets/{token}",
    takes=GuestRequest,
    gives=GuestAnswer,
    examples=(NO_LINK,),
)


@tickets.serves
async def show_tickets(call: Call, request: GuestRequest) -> GuestAnswer:
    async def look(tx: Tx) -> GuestAnswer:
        found = await guest_links.find_link(tx, digest_of(request.token))
        if found is None:
            raise OrderNotFound
        order = (await orders.find_orders(tx, [found.order]))[found.order]
        event = (await events.find_events(tx, [order.event_id]))[order.event_id]
        rights = await _rights(tx, order)
        organizer = (await get_organization(tx)).settings
        return GuestAnswer(
            order_id=order.id,
            event_id=event.id,
            title=event.title,
            starts_at=event.starts_at,
            ends_at=event.ends_at,
            time_zone=event.time_zone,
            venue=event.venue.name,
            city=event.venue.city,
            organizer=OrganizerAnswer.of(event.organization, organizer),
            tickets=[_ticket(each, tx) for each in rights],
            link_ends_at=found.expires_at,
        )

    return await call.read(look, scope=_scope(request))


def _scope(request: GuestRequest) -> Scope:
    """The link says whose it is; whether it is one shows there."""
    try:
        secret = read_secret(request.token)
    except MalformedSecret:
        raise OrderNotFound from None
    if secret.kind != GUEST_KIND or secret.organization is None:
        raise OrderNotFound
    return Scope(secret.organization, "show a guest their tickets")


async def _rights(tx: Tx, order: Order) -> list[Entitlement]:
    """Those that are still whoever's they were, by whatever id: what was passed on is not shown any more."""
    owners = await find_owners(tx, order)
    rights = await entitlements.list_of_sources(tx, SourceType.TICKET_ORDER, [str(order.id)])
    return [each for each in rights if each.owner in owners]


def _ticket(right: Entitlement, tx: Tx) -> GuestTicket:
    return GuestTicket(
        entitlement_id=right.id,
        label=right.label,
        session_id=right.session_id,
        status=entitlements.seen_as(right, tx.now),
        valid_from=right.valid_from,
        valid_until=right.valid_until,
        consumed_at=right.consumed_at,
    )


code = contract(
    ".CODE",
    "The code of one ticket behind a guest's link.",
    get="/api/guest/tickets/{token}/{entitlementId}/code",
    takes=GuestCodeRequest,
    gives=GuestCode,
    refuses=(OrderNotFound, EntitlementNotActive),
    examples=(NO_CODE,),
)


@code.serves
async def show_code(call: Call, request: GuestCodeRequest) -> GuestCode:
    async def look(tx: Tx) -> Entitlement:
        found = await guest_links.find_link(tx, digest_of(request.token))
        order = (await orders.find_orders(tx, [found.order]))[found.order] if found else None
        rights = await _rights(tx, order) if order else []
        right = next((each for each in rights if each.id == request.entitlement_id), None)
        if right is None:
            raise OrderNotFound
        return right

    right = await call.read(look, scope=_scope(request))
    shown = await entitlements.show(call, right)
    return GuestCode(
        entitlement_id=right.id,
        payload=shown.payload,
        refresh_at=shown.refresh_at,
        valid_until=shown.valid_until,
    )


def picture(number: str, ending: str) -> Contract:
    return contract(
        number,
        f"The same code as a picture ({ending.upper()}).",
        get=f"/api/guest/tickets/{{token}}/{{entitlementId}}/code.{ending}",
        takes=GuestCodeRequest,
        writes=Writes.FILE,
        refuses=(OrderNotFound, EntitlementNotActive),
        examples=(NO_CODE,),
    )


code_svg, code_png = picture(".CODE.SVG", "svg"), picture(".CODE.PNG", "png")


@code_svg.serves
async def show_svg(call: Call, request: GuestCodeRequest) -> File:
    return File(entitlements.svg((await show_code(call, request)).payload), "image/svg+xml")


@code_png.serves
async def show_png(call: Call, request: GuestCodeRequest) -> File:
    return File(entitlements.png((await show_code(call, request)).payload), "image/png")


CONTRACTS: Final = (tickets, code, code_svg, code_png)

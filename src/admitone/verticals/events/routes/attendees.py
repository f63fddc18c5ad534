"""Tickets of an event and who came in on them; people by name; and what each ticket brought, to take away.

Promise: lists name nobody. Whoever looks for somebody by name or address is a person who signed in, looks for few at a
time, and it is written down before anything is shown; addresses are found by and never shown. A table to take away
is for whoever may see the accounts, needs a proof of a moment ago and a reason, is written down before its first line
leaves, and no cell of it is a formula. Its rows of one payment sum to the payment's net in the ledger (`netting`).
"""

from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Final
from uuid import UUID

from msgspec import Meta

from admitone.entitlements import api as entitlements
from admitone.entitlements.api import Found, Note, PeopleOnly, note
from admitone.foundation.identity.api import InvalidEmail, find_people
from admitone.kernel.contracts import (
    Call,
    Count,
    Example,
    Instant,
    Page,
    PageRequest,
    ReasonCode,
    Stream,
    Wire,
    Writes,
    cursor_of,
)
from admitone.kernel.ids import IdentityId
from admitone.kernel.limits import Limit, Per
from admitone.kernel.scope import PeopleScope
from admitone.kernel.statements import ListOrder
from admitone.kernel.tables import row_of
from admitone.verticals.events.errors import EventNotFound
from admitone.verticals.events.model import EventId, OrderId, Ticket, TicketId, TicketStatus, TicketType, TicketTypeId
from admitone.verticals.events.reporting import (
    NetRow,
    SeenTicket,
    TicketsWanted,
    find_of_rights,
    is_final,
    list_nets,
    list_tickets,
)
from admitone.verticals.events.routes.orders import SOME_ORDER
from admitone.verticals.events.routes.purchases import A_TICKET, TicketAnswer
from admitone.verticals.events.routes.reports import SOMEBODY
from admitone.verticals.events.routes.wires import EVENTS_R, EVENTS_RW, FINANCE_SALES_R, SOME_EVENT, organisers
from admitone.verticals.events.store import events
from admitone.verticals.events.store.reports import FIRST

PEOPLE: Final = PeopleScope("who bought a ticket")
SEARCHES: Final = Limit("attendees.searches_per_person", 60, 60, Per.IDENTITY)
"""As at the door."""
LIMITS: Final = (SEARCHES,)

Words = Annotated[str, Meta(min_length=2, max_length=254, pattern=r"^[^\x00-\x1f]*[^\x00-\x20][^\x00-\x1f]*$(?!\n)")]


class AttendeeAnswer(TicketAnswer):
    order_id: OrderId
    holder_id: IdentityId
    came_in: bool
    entries: Count
    first_entry_at: Instant | None

    @classmethod
    def seen(cls, seen: SeenTicket) -> "AttendeeAnswer":
        shown, came = TicketAnswer.of(seen), [each.consumed_at for each in seen.rights if each.consumed_at]
        return cls(
            **{name: getattr(shown, name) for name in TicketAnswer.__struct_fields__},
            order_id=seen.ticket.order_id,
            holder_id=seen.ticket.owner,
            came_in=seen.entries > 0,
            entries=seen.entries,
            first_entry_at=min(came, default=None),
        )


class AttendeesRequest(PageRequest, kw_only=True):
    event_id: EventId
    ticket_type_id: TicketTypeId | None = None
    status: TicketStatus | None = None
    order_id: OrderId | None = None
    came_in: bool | None = None
    order: ListOrder = ListOrder.OLDEST

    @property
    def wanted(self) -> TicketsWanted:
        which = self.ticket_type_id, self.status, self.order_id
        return TicketsWanted(self.event_id, *which, self.order, self.came_in)


AN_ATTENDEE: Final = AttendeeAnswer(
    **{name: getattr(A_TICKET, name) for name in TicketAnswer.__struct_fields__},
    order_id=SOME_ORDER,
    holder_id=SOMEBODY,
    came_in=False,
    entries=0,
    first_entry_at=None,
)

attendees = organisers(
    "REPORT.ATTENDEES",
    "The tickets of an event, and whether somebody came in on them, the first first unless the newest are asked for; "
    "nobody is named.",
    permission=EVENTS_R,
    get="/api/org/{organizationId}/events/{eventId}/attendees",
    takes=AttendeesRequest,
    gives=Page[AttendeeAnswer],
    examples=(
        Example(
            "Of one order",
            takes=AttendeesRequest(event_id=SOME_EVENT, order_id=SOME_ORDER),
            gives=Page(items=[AN_ATTENDEE], next_cursor=None),
        ),
    ),
)


@attendees.serves
async def see_attendees(call: Call, request: AttendeesRequest) -> Page[AttendeeAnswer]:
    (place,) = request.after(tuple[UUID]) or (None,)
    found = await call.read(list_tickets, request.wanted, place, request.limit)
    items = [AttendeeAnswer.seen(each) for each in found.items]
    return Page(items=items, next_cursor=request.cursor_at((found.looked_until,)) if found.looked_until else None)


# -- People


class SearchRequest(PageRequest, kw_only=True):
    event_id: EventId
    search: Words
    """A name or its beginnings, or an e-mail address. It stands in no address of a page, and in no log."""


class FoundAnswer(Wire):
    """One right of somebody, and the ticket that it came with."""

    holder_name: str | None
    holder_id: IdentityId
    entitlement_id: entitlements.EntitlementId
    status: entitlements.Status
    session_id: str | None
    came_in: bool
    ticket_id: TicketId | None
    """None, if it came otherwise."""
    order_id: OrderId | None
    ticket_type_id: TicketTypeId | None
    seat: str | None
    ticket_status: TicketStatus | None

    @classmethod
    def of(cls, holder: entitlements.Holder, ticket: Ticket | None) -> "FoundAnswer":
        right = holder.right
        return cls(
            holder_name=holder.name,
            holder_id=right.owner,
            entitlement_id=right.id,
            status=right.status,
            session_id=right.session_id,
            came_in=right.entries > 0,
            ticket_id=ticket.id if ticket else None,
            order_id=ticket.order_id if ticket else None,
            ticket_type_id=ticket.ticket_type if ticket else None,
            seat=ticket.seat if ticket else None,
            ticket_status=ticket.status if ticket else None,
        )


find_attendees = organisers(
    "REPORT.SEARCH",
    "Find somebody's tickets of an event, by name or by e-mail address.",
    permission=EVENTS_RW,
    post="/api/org/{organizationId}/events/{eventId}/attendees/search",
    takes=SearchRequest,
    gives=Page[FoundAnswer],
    refuses=(InvalidEmail, PeopleOnly),
    limits=LIMITS,
    repeats="it changes nothing; that somebody searched is written down",
    examples=(
        Example(
            "Somebody who lost their mail",
            takes=SearchRequest(event_id=SOME_EVENT, search="ana lim"),
            gives=Page(items=[], next_cursor=None),
        ),
    ),
)


@find_attendees.serves
async def search_attendees(call: Call, request: SearchRequest) -> Page[FoundAnswer]:
    await people_only(call)
    (after,) = request.after(tuple[UUID]) or (FIRST,)
    await call.batch(note, Note(call.caller, "events.search_attendees", str(request.event_id)))
    found: Found = await entitlements.search_holders(
        call.read, str(request.event_id), request.search, after, request.limit
    )
    tickets = await call.read(find_of_rights, [each.right for each in found.holders])
    items = [FoundAnswer.of(each, tickets.get(str(each.right.id))) for each in found.holders]
    return Page(items=items, next_cursor=cursor_of((found.looked_until,)) if found.looked_until else None)


async def people_only(call: Call) -> None:
    """A key may be lost with its device; names are for people, who sign in."""
    if call.identity is None or not await call.read(find_people, [call.identity], scope=PEOPLE):
        raise PeopleOnly


# -- What each brought

HEADINGS: Final = (
    "order_id",
    "ticket_id",
    "ticket_type_id",
    "ticket_type",
    "seat",
    "status",
    "sold_at",
    "payment_id",
    "payment_status",
    "currency",
    "price_minor",
    "discount_minor",
    "tax_minor",
    "charged_minor",
    "refunded_minor",
    "platform_fee_minor",
    "processor_fee_minor",
    "net_minor",
    "net_is",
)
FINAL, SO_FAR = "FINAL", "BEFORE_PROCESSOR_FEE"


class ExportRequest(Wire):
    event_id: EventId
    reason_code: ReasonCode


export = organisers(
    "REPORT.EXPORT",
    "The tickets of an event with what each brought after fees, as CSV; nobody is named. Amounts are in minor units, "
    "and the rows of a payment sum to its net in the ledger: BEFORE_PROCESSOR_FEE until the processor says its own.",
    permission=FINANCE_SALES_R,
    post="/api/org/{organizationId}/events/{eventId}/tickets/export",
    consumers=("web",),
    takes=ExportRequest,
    writes=Writes.STREAM,
    refuses=(EventNotFound,),
    verified_only=True,
    step_up=True,
    repeats="every export is written down",
    examples=(Example("For the accountant", takes=ExportRequest(event_id=SOME_EVENT, reason_code="MONTHLY_ACCOUNTS")),),
)


@export.serves
async def take_tickets(call: Call, request: ExportRequest) -> Stream:
    types = (await call.read(events.find_types_of_events, [request.event_id]))[request.event_id]
    if not types and not await call.read(events.find_events, [request.event_id]):
        raise EventNotFound
    await call.batch(note, Note(call.caller, "events.export_tickets", str(request.event_id), request.reason_code))
    rows = _tickets(call, request.event_id, {each.id: each for each in types})
    return Stream(rows, download_name=f"tickets-{request.event_id}.csv")


async def _tickets(call: Call, event: EventId, types: Mapping[TicketTypeId, TicketType]) -> AsyncIterator[str]:
    yield row_of(HEADINGS)
    after: UUID | None = FIRST
    while after is not None:
        page = await call.read(list_nets, event, after)
        after = page.last
        yield "".join(row_of(_row(each, types)) for each in page.rows)


def _row(row: NetRow, types: Mapping[TicketTypeId, TicketType]) -> tuple[str | int | None, ...]:
    ticket, payment, part = row.ticket, row.payment, row.brought
    kind = types.get(ticket.ticket_type)
    return (
        str(ticket.order_id),
        str(ticket.id),
        str(ticket.ticket_type),
        kind.name if kind else None,
        ticket.seat,
        ticket.status.value,
        ticket.created_at.isoformat(),
        str(payment.id),
        payment.status.value,
        payment.currency,
        ticket.price_minor,
        part.discount,
        part.tax,
        part.charged,
        part.refunded,
        part.platform_fee,
        part.processor_fee,
        part.net,
        FINAL if is_final(payment) else SO_FAR,
    )


CONTRACTS: Final = (attendees, find_attendees, export)

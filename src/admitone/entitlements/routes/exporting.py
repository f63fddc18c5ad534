"""Lists of an event to take away, as tables.

Promise: no cell of a table is a formula to whoever opens it. Tables that anybody may take who may look name nobody; the
one with names and addresses is for whoever may let in, proved a moment ago that it is them, and says why (PRV-023), and
it is written down before its first line leaves.
"""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Final

from admitone.entitlements.commands.noting import Note, note
from admitone.entitlements.holders import PEOPLE
from admitone.entitlements.model import Checkin, CheckinId, Entitlement, EntitlementId
from admitone.entitlements.routes.doors import CHECKIN_RW, DoorId, contract
from admitone.entitlements.routes.live import EventRequest, looking
from admitone.entitlements.store.lists import FIRST, LAST, Entries, Wanted, list_log, list_rights
from admitone.foundation.identity.api import Profile, list_profiles
from admitone.kernel.contracts import Call, Example, ReasonCode, Stream, Wire, Writes
from admitone.kernel.ids import IdentityId
from admitone.kernel.tables import row_of

ROWS: Final = 1_000

RIGHTS: Final = (
    "entitlement_id",
    "label",
    "session_id",
    "status",
    "source_type",
    "source_id",
    "holder_id",
    "entries",
    "max_entries",
    "duplicates",
    "first_entry_at",
    "last_entry_at",
)
PERSONAL: Final = ("name", "email")
LOG: Final = (
    "checkin_id",
    "at",
    "result",
    "reason_code",
    "entitlement_id",
    "session_id",
    "entry",
    "method",
    "gate",
    "device",
    "scanner_id",
    "recorded_at",
)


def row_of_right(right: Entitlement) -> Sequence[str | int | None]:
    return (
        str(right.id),
        right.label,
        right.session_id,
        right.status.value,
        right.source.type.value,
        right.source.id,
        str(right.owner),
        right.entries,
        right.max_entries,
        right.duplicates,
        _at(right.consumed_at),
        _at(right.last_entry_at),
    )


def row_of_entry(entry: Checkin) -> Sequence[str | int | None]:
    return (
        str(CheckinId(entry.id)),
        _at(entry.at),
        entry.counted_as,
        entry.reason_code,
        str(EntitlementId(entry.entitlement_id)) if entry.entitlement_id else None,
        entry.session_id,
        entry.entry,
        entry.method.value,
        entry.gate,
        entry.device,
        str(IdentityId(entry.scanner_id)) if entry.scanner_id else None,
        _at(entry.recorded_at),
    )


def _at(instant: datetime | None) -> str | None:
    return instant.isoformat() if instant else None


attendees = looking(
    "C03.ATTENDEES",
    "The rights of an event and who came in on them, as CSV; nobody is named.",
    get="/api/org/{organizationId}/checkin/events/{eventId}/attendees.csv",
    takes=EventRequest,
    writes=Writes.STREAM,
    examples=(Example("A festival", takes=EventRequest(event_id="evt-1")),),
)


@attendees.serves
async def take_attendees(call: Call, request: EventRequest) -> Stream:
    return Stream(_attendees(call, request.event_id), download_name=f"attendees-{request.event_id}.csv")


async def _attendees(call: Call, event: str) -> AsyncIterator[str]:
    yield row_of(RIGHTS)
    async for rights in _pages(call, event):
        yield "".join(row_of(row_of_right(each)) for each in rights)


async def _pages(call: Call, event: str) -> AsyncIterator[list[Entitlement]]:
    after = FIRST
    while rights := await call.read(list_rights, Wanted(event), after, ROWS):
        after = rights[-1].id.uuid
        yield rights


log = looking(
    "C03.LOGCSV",
    "What happened at the doors of an event, as CSV, the newest first.",
    get="/api/org/{organizationId}/checkin/events/{eventId}/log.csv",
    takes=EventRequest,
    writes=Writes.STREAM,
    examples=(Example("A festival", takes=EventRequest(event_id="evt-1")),),
)


@log.serves
async def take_log(call: Call, request: EventRequest) -> Stream:
    return Stream(_log(call, request.event_id), download_name=f"checkins-{request.event_id}.csv")


async def _log(call: Call, event: str) -> AsyncIterator[str]:
    yield row_of(LOG)
    before = LAST
    while entries := await call.read(list_log, Entries(event), before, ROWS):
        before = entries[-1].id
        yield "".join(row_of(row_of_entry(each)) for each in entries)


class ExportRequest(Wire):
    event_id: DoorId
    reason_code: ReasonCode


export = contract(
    "C03.EXPORT",
    "The rights of an event with the names and addresses of their holders, as CSV.",
    post="/api/org/{organizationId}/checkin/events/{eventId}/attendees/export",
    consumers=("web",),
    permission=CHECKIN_RW,
    takes=ExportRequest,
    writes=Writes.STREAM,
    verified_only=True,
    step_up=True,
    repeats="every export is written down",
    order_key="eventId",
    examples=(Example("For the door", takes=ExportRequest(event_id="evt-1", reason_code="GUEST_LIST")),),
)


@export.serves
async def take_people(call: Call, request: ExportRequest) -> Stream:
    await call.batch(note, Note(call.caller, "entitlements.export_attendees", request.event_id, request.reason_code))
    return Stream(_people(call, request.event_id), download_name=f"guests-{request.event_id}.csv")


async def _people(call: Call, event: str) -> AsyncIterator[str]:
    yield row_of((*RIGHTS, *PERSONAL))
    async for rights in _pages(call, event):
        owners = sorted({each.owner for each in rights})
        people: dict[IdentityId, Profile] = await call.read(list_profiles, owners, scope=PEOPLE)
        yield "".join(row_of((*row_of_right(each), *_person(people.get(each.owner)))) for each in rights)


def _person(profile: Profile | None) -> tuple[str | None, str | None]:
    return (profile.display_name, profile.email) if profile else (None, None)


CONTRACTS: Final = (attendees, log, export)

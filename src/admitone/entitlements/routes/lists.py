"""Lists of an event for whoever looks: its rights, its log of doors; and, for whoever may let in, people by name."""

import re
from enum import StrEnum
from typing import Annotated, Final
from uuid import UUID

from msgspec import Meta

from admitone.entitlements import holders
from admitone.entitlements.commands.noting import Note, note
from admitone.entitlements.errors import PeopleOnly
from admitone.entitlements.holders import PEOPLE, Found, Holder
from admitone.entitlements.model import Checkin, CheckinId, Entitlement, EntitlementId, Method, Status, Way
from admitone.entitlements.routes.doors import (
    CHECKIN_RW,
    SOME_CHECKIN,
    SOME_ENTITLEMENT,
    DoorId,
    Gate,
    Scanner,
    contract,
)
from admitone.entitlements.routes.live import BEGINNING, looking
from admitone.entitlements.store.lists import FIRST, LAST, Entries, Wanted, list_log, list_rights
from admitone.foundation.identity.api import InvalidEmail, find_people
from admitone.kernel.contracts import (
    Call,
    Count,
    Example,
    Instant,
    Page,
    PageRequest,
    Wire,
    cursor_of,
)
from admitone.kernel.ids import IdentityId
from admitone.kernel.limits import Limit, Per
from admitone.kernel.statements import ListOrder

SEARCHES_PER_PERSON: Final = Limit("checkin.searches_per_person", 60, 60, Per.IDENTITY)
"""Enough for a door, too few to carry the list away."""

Search = Annotated[str, Meta(max_length=120, pattern=r"^[^\x00-\x1f]*$(?!\n)")]
Words = Annotated[str, Meta(min_length=2, max_length=254, pattern=r"^[^\x00-\x1f]*[^\x00-\x20][^\x00-\x1f]*$(?!\n)")]


class RightAnswer(Wire):
    entitlement_id: EntitlementId
    label: str
    status: Status
    held_for: list[str]
    revoked_for: str | None
    session_id: str | None
    source_type: str
    source_id: str
    holder_id: IdentityId
    valid_from: Instant
    valid_until: Instant
    methods: list[Method]
    entries: Count
    max_entries: Count
    duplicates: Count
    consumed_at: Instant | None
    last_entry_at: Instant | None
    policy_version_applied: Count | None

    @classmethod
    def of(cls, right: Entitlement) -> "RightAnswer":
        return cls(
            entitlement_id=right.id,
            label=right.label,
            status=right.status,
            held_for=sorted(right.held_for),
            revoked_for=right.revoked_for,
            session_id=right.session_id,
            source_type=right.source.type,
            source_id=right.source.id,
            holder_id=right.owner,
            valid_from=right.valid_from,
            valid_until=right.valid_until,
            methods=sorted(right.methods),
            entries=right.entries,
            max_entries=right.max_entries,
            duplicates=right.duplicates,
            consumed_at=right.consumed_at,
            last_entry_at=right.last_entry_at,
            policy_version_applied=right.policy_version,
        )


A_RIGHT: Final = RightAnswer(
    entitlement_id=SOME_ENTITLEMENT,
    label="Standing",
    status=Status.ACTIVE,
    held_for=[],
    revoked_for=None,
    session_id=None,
    source_type="TICKET_ORDER",
    source_id="order-1",
    holder_id=IdentityId.parse("idn_0198c9a40000700080000000000000c4"),
    valid_from=BEGINNING,
    valid_until=BEGINNING,
    methods=[Method.QR_TICKET],
    entries=0,
    max_entries=1,
    duplicates=0,
    consumed_at=None,
    last_entry_at=None,
    policy_version_applied=1,
)


class RightsRequest(PageRequest, kw_only=True):
    event_id: DoorId
    status: Status | None = None
    session_id: DoorId | None = None
    used: bool | None = None
    search: Search = ""
    """The beginning of a right's id, the id of what it came from, or a part of the label."""
    order: ListOrder = ListOrder.OLDEST

    @property
    def wanted(self) -> Wanted:
        ids = ids_beginning_with(self.search)
        words = "" if ids else self.search
        return Wanted(self.event_id, self.status, self.session_id, self.used, ids or (FIRST, LAST), words)


def ids_beginning_with(text: str) -> tuple[UUID, UUID] | None:
    """The first and the last that could; none, if nothing of the sort begins like this."""
    begins = re.fullmatch(r"ent_([0-9a-f]{1,32})", text)
    return (UUID(begins[1].ljust(32, "0")), UUID(begins[1].ljust(32, "f"))) if begins else None


rights = looking(
    "C03.RIGHTS",
    "The rights of an event, and what was made of them.",
    get="/api/org/{organizationId}/checkin/events/{eventId}/entitlements",
    takes=RightsRequest,
    gives=Page[RightAnswer],
    examples=(
        Example(
            "Of one order",
            takes=RightsRequest(event_id="evt-1", search="order-1"),
            gives=Page(items=[A_RIGHT], next_cursor=None),
        ),
    ),
)


@rights.serves
async def see_rights(call: Call, request: RightsRequest) -> Page[RightAnswer]:
    (place,) = request.after(tuple[UUID]) or (None,)
    found = await call.read(list_rights, request.wanted, place, request.limit + 1, request.order)
    return request.page([RightAnswer.of(each) for each in found], key=lambda each: (each.entitlement_id.uuid,))


# -- The log


class Happened(StrEnum):
    """What came of it."""

    ADMITTED = "admitted"
    UNDONE = "undone"
    DUPLICATE = "duplicate"
    DENIED = "denied"


class LoggedAnswer(Wire):
    checkin_id: CheckinId
    result: Happened
    reason_code: str | None
    at: Instant
    recorded_at: Instant
    """Later than `at`, if the device had no network."""
    offline: bool
    entitlement_id: EntitlementId | None
    session_id: str | None
    entry: Count | None
    method: Way
    gate: str
    device: str
    scanner_id: IdentityId | None
    policy_version_applied: Count | None
    refers_to: CheckinId | None

    @classmethod
    def of(cls, row: Checkin) -> "LoggedAnswer":
        return cls(
            checkin_id=CheckinId(row.id),
            result=Happened(row.counted_as),
            reason_code=row.reason_code,
            at=row.at,
            recorded_at=row.recorded_at,
            offline=row.lease_id is not None,
            entitlement_id=EntitlementId(row.entitlement_id) if row.entitlement_id else None,
            session_id=row.session_id,
            entry=row.entry,
            method=row.method,
            gate=row.gate,
            device=row.device,
            scanner_id=IdentityId(row.scanner_id) if row.scanner_id else None,
            policy_version_applied=row.policy_version,
            refers_to=CheckinId(row.refers_to) if row.refers_to else None,
        )


AN_ENTRY: Final = LoggedAnswer(
    checkin_id=SOME_CHECKIN,
    result=Happened.ADMITTED,
    reason_code=None,
    at=BEGINNING,
    recorded_at=BEGINNING,
    offline=False,
    entitlement_id=SOME_ENTITLEMENT,
    session_id=None,
    entry=1,
    method=Way.QR,
    gate="North",
    device="north-1",
    scanner_id=None,
    policy_version_applied=1,
    refers_to=None,
)


class LogRequest(PageRequest, kw_only=True):
    event_id: DoorId
    result: Happened | None = None
    gate: Gate | None = None
    device: Scanner | None = None
    order: ListOrder = ListOrder.NEWEST

    @property
    def wanted(self) -> Entries:
        return Entries(self.event_id, self.result, self.gate, self.device)


log = looking(
    "C03.LOG",
    "What happened at the doors of an event, also what was refused, the newest first unless the oldest are asked for.",
    get="/api/org/{organizationId}/checkin/events/{eventId}/log",
    takes=LogRequest,
    gives=Page[LoggedAnswer],
    examples=(
        Example(
            "At one gate",
            takes=LogRequest(event_id="evt-1", gate="North"),
            gives=Page(items=[AN_ENTRY], next_cursor=None),
        ),
    ),
)


@log.serves
async def see_log(call: Call, request: LogRequest) -> Page[LoggedAnswer]:
    (place,) = request.after(tuple[UUID]) or (None,)
    found = await call.read(list_log, request.wanted, place, request.limit + 1, request.order)
    return request.page([LoggedAnswer.of(each) for each in found], key=lambda each: (each.checkin_id.uuid,))


# -- People


class HoldersRequest(PageRequest, kw_only=True):
    event_id: DoorId
    search: Words
    """A name or its beginnings, or an e-mail address. It stands in no address of a page, and in no log."""


class HolderAnswer(RightAnswer):
    holder_name: str | None
    """Addresses are for whoever exports them and says why."""

    @classmethod
    def named(cls, holder: Holder) -> "HolderAnswer":
        shown = RightAnswer.of(holder.right)
        fields = {name: getattr(shown, name) for name in RightAnswer.__struct_fields__}
        return cls(holder_name=holder.name, **fields)


find_holders = contract(
    "C03.HOLDERS",
    "Find the rights of somebody at the door, by name or by e-mail address.",
    post="/api/org/{organizationId}/checkin/events/{eventId}/holders",
    consumers=("web",),
    permission=CHECKIN_RW,
    takes=HoldersRequest,
    gives=Page[HolderAnswer],
    refuses=(InvalidEmail, PeopleOnly),
    limits=(SEARCHES_PER_PERSON,),
    repeats="it changes nothing; that somebody searched is written down",
    order_key="eventId",
    examples=(
        Example(
            "Somebody without a telephone",
            takes=HoldersRequest(event_id="evt-1", search="ana lim"),
            gives=Page(items=[], next_cursor=None),
        ),
    ),
)


@find_holders.serves
async def search_holders(call: Call, request: HoldersRequest) -> Page[HolderAnswer]:
    await refuse_devices(call)
    (after,) = request.after(tuple[UUID]) or (FIRST,)
    await call.batch(note, Note(call.caller, "entitlements.search_holders", request.event_id))
    found: Found = await holders.search(call.read, request.event_id, request.search, after, request.limit)
    shown = [HolderAnswer.named(each) for each in found.holders]
    return Page(items=shown, next_cursor=cursor_of((found.looked_until,)) if found.looked_until else None)


async def refuse_devices(call: Call) -> None:
    """A key may be lost with its device; names, and what led to a verdict, are for people, who sign in."""
    if call.identity is None or not await call.read(find_people, [call.identity], scope=PEOPLE):
        raise PeopleOnly


CONTRACTS: Final = (rights, log, find_holders)

"""Where each published event is kept, and what lists of them show. Whatever depends on it asks the event itself."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from admitone.kernel.db import PlatformTx, Record, Tx
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import PlatformScope, Role
from admitone.kernel.statements import Insert
from admitone.verticals.events.model import Event, EventId

LISTING: Final = PlatformScope("keep what lists of events show", Role.RELAY)
COLUMNS = "event_id, organization_id, title, starts_at, ends_at, time_zone, venue, city, country"


# What came late is older, and changes nothing.
PUT_LISTINGS = Insert(
    "events.listing",
    {
        "event_id": "uuid",
        "organization_id": "uuid",
        "event_version": "integer",
        "listed": "boolean",
        "title": "text",
        "starts_at": "timestamptz",
        "ends_at": "timestamptz",
        "time_zone": "text",
        "venue": "text",
        "city": "text",
        "country": "text",
        "changed_at": "timestamptz",
    },
    tenant=False,
    on_conflict="(event_id) DO UPDATE SET event_version = EXCLUDED.event_version, listed = EXCLUDED.listed,"
    " title = EXCLUDED.title, starts_at = EXCLUDED.starts_at, ends_at = EXCLUDED.ends_at,"
    " time_zone = EXCLUDED.time_zone, venue = EXCLUDED.venue, city = EXCLUDED.city, country = EXCLUDED.country,"
    " changed_at = EXCLUDED.changed_at WHERE events.listing.event_version <= EXCLUDED.event_version",
    attributes={
        "event_id": "event.id",
        "organization_id": "event.organization",
        "event_version": "event.version",
        "title": "event.title",
        "starts_at": "event.starts_at",
        "ends_at": "event.ends_at",
        "time_zone": "event.time_zone",
        "venue": "event.venue.name",
        "city": "event.venue.city",
        "country": "event.venue.country",
        "changed_at": "event.changed_at",
    },
)


# Who looked earlier never covers who looked later.
PUT_HOUSES = Insert(
    "events.house",
    {"organization_id": "uuid", "is_open": "boolean", "seen_at": "timestamptz"},
    tenant=False,
    on_conflict="(organization_id) DO UPDATE SET is_open = EXCLUDED.is_open, seen_at = EXCLUDED.seen_at"
    " WHERE events.house.seen_at <= EXCLUDED.seen_at",
)


UNLIST_OVER = """
    UPDATE events.listing
       SET listed = false
     WHERE event_id = ANY (ARRAY(SELECT l.event_id
                                   FROM events.listing AS l
                                  WHERE l.listed
                                    AND l.ends_at < $1
                                  ORDER BY l.ends_at
                                  LIMIT $2))
"""


# It belongs to everybody, and every organisation may ask it.
FIND_HOME = """
    SELECT organization_id
      FROM events.listing
     WHERE event_id = $2
       AND $1::uuid IS NOT NULL
"""


OPEN: Final = """
       AND (SELECT h.is_open
              FROM events.house AS h
             WHERE h.organization_id = {house}) IS NOT FALSE"""
OF_ITS_HOUSE: Final = OPEN.format(house="l.organization_id")


LIST_EVERYWHERE = f"""
    SELECT {COLUMNS}
      FROM events.listing AS l
     WHERE listed
       AND $1::uuid IS NOT NULL
       AND (starts_at, event_id) > ($2, $3)
       AND starts_at <= $4
       AND ends_at > $5{OF_ITS_HOUSE}
     ORDER BY starts_at, event_id
     LIMIT $6
"""  # noqa: S608, of constants


# By the three together, which one index alone has.
LIST_IN_CITY = f"""
    SELECT {COLUMNS}
      FROM events.listing AS l
     WHERE listed
       AND $1::uuid IS NOT NULL
       AND (lower(city), starts_at, event_id) > (lower($2), $3, $4)
       AND (lower(city), starts_at) <= (lower($2), $5)
       AND ends_at > $6{OF_ITS_HOUSE}
     ORDER BY lower(city), starts_at, event_id
     LIMIT $7
"""  # noqa: S608, of constants


LIST_OF_ORGANIZATION = f"""
    SELECT {COLUMNS}
      FROM events.listing
     WHERE listed
       AND organization_id = $1
       AND ($2 = '' OR lower(city) = lower($2))
       AND (starts_at, event_id) > ($3, $4)
       AND starts_at <= $5
       AND ends_at > $6{OPEN.format(house="$1")}
     ORDER BY starts_at, event_id
     LIMIT $7
"""  # noqa: S608, of constants


FIND_NEXT_HOUSE = """
    SELECT organization_id
      FROM events.listing
     WHERE listed
       AND organization_id > $1
     ORDER BY organization_id
     LIMIT 1
"""


class Listed(msgspec.Struct, frozen=True):
    """One line of a list."""

    event_id: EventId
    organization: OrganizationId
    title: str
    starts_at: datetime
    ends_at: datetime
    time_zone: str
    venue: str
    city: str
    country: str


class Wanted(msgspec.Struct, frozen=True):
    """Which of what is listed, from which line on."""

    after: tuple[datetime, UUID]
    until: datetime
    limit: int
    city: str = ""


class Entry(msgspec.Struct, frozen=True):
    """An event, and whether lists show it."""

    event: Event
    listed: bool


class House(msgspec.Struct, frozen=True):
    """An organisation, and whether it had events switched on when it was looked at."""

    organization_id: OrganizationId
    is_open: bool
    seen_at: datetime


async def put_houses(tx: PlatformTx, houses: Sequence[House]) -> None:
    await tx.insert_many(PUT_HOUSES, houses)


async def find_next_house(tx: PlatformTx, after: UUID) -> OrganizationId | None:
    """Of those of which lists show something."""
    row = await tx.find(FIND_NEXT_HOUSE, after)
    return OrganizationId(row["organization_id"]) if row else None


async def put_listings(tx: PlatformTx, entries: Sequence[Entry]) -> None:
    await tx.insert_many(PUT_LISTINGS, entries)


async def unlist_over(tx: PlatformTx, most: int) -> int:
    """Those that are over; how many there were."""
    return await tx.execute(UNLIST_OVER, tx.now, most)


async def find_home(tx: Tx, event: EventId) -> OrganizationId | None:
    """Of what was published; nobody learns of anything else whether it exists."""
    row = await tx.find(FIND_HOME, event.uuid)
    return OrganizationId(row["organization_id"]) if row else None


async def list_everywhere(tx: Tx, wanted: Wanted) -> list[Listed]:
    if wanted.city:
        return await _list(tx, LIST_IN_CITY, wanted.city, *wanted.after, wanted.until, tx.now, wanted.limit)
    return await _list(tx, LIST_EVERYWHERE, *wanted.after, wanted.until, tx.now, wanted.limit)


async def list_of_organization(tx: Tx, wanted: Wanted) -> list[Listed]:
    return await _list(tx, LIST_OF_ORGANIZATION, wanted.city, *wanted.after, wanted.until, tx.now, wanted.limit)


async def _list(tx: Tx, statement: str, *values: object) -> list[Listed]:
    return [_listed(row) for row in await tx.fetch(statement, *values)]


def _listed(row: Record) -> Listed:
    values = dict(row)
    return Listed(EventId(values.pop("event_id")), OrganizationId(values.pop("organization_id")), **values)

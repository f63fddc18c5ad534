"""Time: one instant per command, taken from the database, always in UTC.

Promise: the only source of "now" is the database; a clock can shift it, which is how tests travel. A time without a
zone is refused. Windows such as "24 hours before" are elapsed hours, whatever the clocks on the wall do that night
(PLT-040); zones serve to show a time to a person, never to calculate.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from admitone.kernel.errors import Invalid


class UnknownZone(Invalid):
    """This is not a time zone that we know."""

    code = "UNKNOWN_TIME_ZONE"


@dataclass(frozen=True, slots=True)
class Clock:
    """What stands between the database's time and ours: nothing, unless a test travels."""

    shift: timedelta = timedelta()

    def at(self, database_time: datetime) -> datetime:
        return utc(database_time) + self.shift

    def later(self, by: timedelta) -> "Clock":
        """A clock that is ahead of this one."""
        return Clock(self.shift + by)


def utc(instant: datetime) -> datetime:
    """The same instant in UTC. A time without a zone is no instant."""
    if instant.utcoffset() is None:
        raise ValueError("a time without a zone is not an instant")
    return instant.astimezone(UTC)


def before(instant: datetime, hours: int) -> datetime:
    """So many elapsed hours earlier, also across a change of summer time."""
    # In UTC, because Python subtracts wall time when both ends have the same zone.
    return utc(instant) - timedelta(hours=hours)


def after(instant: datetime, hours: int) -> datetime:
    """So many elapsed hours later, also across a change of summer time."""
    return utc(instant) + timedelta(hours=hours)


def local(instant: datetime, zone: ZoneInfo) -> datetime:
    """What the clock on the wall shows there: for people to read, never to calculate with."""
    return utc(instant).astimezone(zone)


@lru_cache(maxsize=1024)
def zone(name: str) -> ZoneInfo:
    """The IANA zone of that name, such as Europe/Lisbon."""
    # Only names shaped like a zone reach the file system; "America" alone is a folder there.
    if len(name) > 64 or not name.isascii() or not name.replace("/", "").replace("_", "").replace("-", "").isalnum():
        raise UnknownZone
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError) as unknown:
        raise UnknownZone from unknown

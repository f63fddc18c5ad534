"""Days that somebody typed, as the clocks of a place count them.

Promise: from the midnight with which the first begins to that with which the last is over; what is no day of our time
is said beside its field.
"""

from datetime import date, datetime, time, timedelta

from admitone.kernel.clock import zone
from admitone.kernel.contracts import ValidationFailed
from admitone.verticals.events.routes.sales import FIRST_DAY, LAST_DAY


def instants_of(since: str, until: str, zone_name: str) -> tuple[datetime | None, datetime | None]:
    """From which instant on, and before which; what is left out bounds nothing."""
    first, last, there = day_of(since, "since"), day_of(until, "until"), zone(zone_name)
    if first and last and last < first:
        raise ValidationFailed.at("$.until", "Expected a day that is not before the first")
    begins = datetime.combine(first, time(), there) if first else None
    ends = datetime.combine(last + timedelta(days=1), time(), there) if last else None
    return begins, ends


def day_of(text: str, name: str) -> date | None:
    """`name` is the field's, for whoever typed something else."""
    if not text:
        return None
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise ValidationFailed.at(f"$.{name}", "Expected a day") from None
    if not FIRST_DAY <= day <= LAST_DAY:
        raise ValidationFailed.at(f"$.{name}", "Expected a day of our time")
    return day

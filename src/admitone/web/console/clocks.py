"""Times as people type them: what the clock on the wall shows where the event takes place.

Promise: what is shown and sent back unchanged is the same instant, but for the hour that comes twice in a year, of
which the first is meant.
"""

from datetime import UTC, datetime

from admitone.kernel.clock import local, zone
from admitone.kernel.contracts import ValidationFailed


def typed_there(instant: datetime | None, zone_name: str) -> str:
    """For `<input type="datetime-local">`."""
    return local(instant, zone(zone_name)).strftime("%Y-%m-%dT%H:%M") if instant else ""


def instant_there(text: str, zone_name: str, name: str) -> datetime:
    """The instant that somebody typed; `name` is the field's, for whoever typed something else."""
    try:
        typed = datetime.fromisoformat(text)
    except ValueError:
        raise ValidationFailed.at(f"$.{name}", "Expected a date and a time") from None
    if typed.tzinfo is not None or typed.year < 1901:  # A browser sends neither; the zones of long ago are odd.
        raise ValidationFailed.at(f"$.{name}", "Expected a date and a time of today")
    return typed.replace(tzinfo=zone(zone_name)).astimezone(UTC)


def instant_if_any(text: str, zone_name: str, name: str) -> datetime | None:
    return instant_there(text, zone_name, name) if text else None

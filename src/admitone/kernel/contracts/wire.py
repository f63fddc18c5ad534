"""What travels: structs with camelCase names, and types that are bounded before anything inside sees them.

Promise: a value that was decoded is small enough for its column and safe for PostgreSQL (no text without a largest
length, no integer beyond 64 bits), and a typed id is an id of exactly that kind.
"""

from datetime import datetime
from typing import Annotated, Any, dataclass_transform

import msgspec
from msgspec import Meta

from admitone.kernel.ids import Id, InvalidId, to_text

SMALLEST_INTEGER = -(2**63)
LARGEST_INTEGER = 2**63 - 1
LARGEST_EXACT_IN_JAVASCRIPT = 2**53 - 1

ShortText = Annotated[str, Meta(min_length=1, max_length=200)]
Text = Annotated[str, Meta(max_length=4000)]
# Python's $ also matches before a line break at the end, which no column takes.
ReasonCode = Annotated[str, Meta(pattern=r"^[A-Z][A-Z0-9_]{2,63}$(?!\n)", max_length=64)]
"""Why somebody did it, for the audit trail."""
IdempotencyKey = Annotated[str, Meta(min_length=1, max_length=255)]
Count = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Minor = Annotated[int, Meta(ge=0, le=LARGEST_EXACT_IN_JAVASCRIPT)]
SignedMinor = Annotated[int, Meta(ge=-LARGEST_EXACT_IN_JAVASCRIPT, le=LARGEST_EXACT_IN_JAVASCRIPT)]
Instant = Annotated[datetime, Meta(tz=True)]
FIRST_YEAR, LAST_YEAR = 1900, 9000


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(msgspec.field,))
class Wire(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A request, an answer or a part of one. Unknown fields are tolerated (C-G03)."""


class Upload:
    """A file from a multipart form; as large as the contract's whole body at most."""

    __slots__ = ("content", "content_type", "name")

    def __init__(self, *, name: str, content_type: str, content: bytes) -> None:
        self.name = name
        self.content_type = content_type
        self.content = content


def is_sensible(instant: datetime) -> bool:
    """Whether every zone, column and driver can hold it: close to either end of time some cannot."""
    return FIRST_YEAR <= instant.year <= LAST_YEAR


def from_wire(kind: type, value: Any) -> Any:
    """Make what msgspec does not know: typed ids, and uploads, which come ready made."""
    if isinstance(value, kind):
        return value
    if issubclass(kind, Id):
        if not isinstance(value, str):
            raise ValueError(f"Expected `str`, got `{type(value).__name__}`")  # noqa: TRY004  msgspec adds the path to this one.
        try:
            return kind.parse(value)
        except InvalidId:
            raise ValueError(f"Expected an id that starts with `{kind.prefix}_`") from None
    raise ValueError("Expected a file")


def to_wire(value: Any) -> Any:
    """Write what msgspec does not know: an id is its text, a file its name, as curl has it."""
    return f"@{value.name}" if isinstance(value, Upload) else to_text(value)


to_json = msgspec.json.Encoder(enc_hook=to_wire).encode
"""For answers: as fast as it gets."""


def _whole(value: Any) -> Any:
    """For hashes a file is all of it, not its name."""
    return [value.name, value.content_type, value.content] if isinstance(value, Upload) else to_text(value)


to_canonical = msgspec.msgpack.Encoder(enc_hook=_whole, order="deterministic").encode
"""For hashes: equal values have equal bytes, whatever order a set or a mapping has."""

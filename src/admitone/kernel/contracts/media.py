"""In which form bodies come in and go out."""

from enum import Enum


class Reads(Enum):
    """How the body comes in."""

    NOTHING = "nothing"
    JSON = "application/json"
    FORM = "application/x-www-form-urlencoded"
    MULTIPART = "multipart/form-data"
    RAW = "raw bytes"
    """The handler finds them in `call.body`, untouched: a signature covers bytes, not what they mean."""


class Writes(Enum):
    """How the answer goes out."""

    JSON = "application/json"
    PAGE = "text/html"
    FILE = "a file"
    STREAM = "a stream"
    EVENTS = "text/event-stream"


BODY_LIMITS = {
    Reads.NOTHING: 0,
    Reads.JSON: 64 * 1024,
    Reads.FORM: 64 * 1024,
    Reads.RAW: 1024 * 1024,
    Reads.MULTIPART: 10 * 1024 * 1024,
}
"""How many bytes a contract takes that says nothing else."""

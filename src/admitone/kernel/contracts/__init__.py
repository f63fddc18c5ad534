"""Contracts: every HTTP operation declared once, as a value, and everything at the edge derived from it.

contract.py    the declaration               edge.py          the ASGI application: the order of a request
wire.py        structs and bounded types     incoming.py      what came, before it is believed
bounds.py      what is too open to take      routing.py       method and path to contract
media.py       how bodies travel             reading.py       bytes to request
example.py     requests with their answers   organization.py  for which organisation
call.py        what a handler sees           credentials.py   with which proof
paging.py      lists                         admission.py     who may come in
schemas.py     structs as JSON schemas       answering.py     answers and security headers
openapi.py     the document                  streaming.py     streams and events
reference.py   the page at /docs             refusals.py      statuses, envelope, error page
health.py      live and ready                refusing.py      refusals as answers
texts.py       names and values              observing.py     figures and log lines
"""

from admitone.kernel.authority import Audience
from admitone.kernel.contracts.answering import File, Html, Packed, Redirect, Stream
from admitone.kernel.contracts.call import Call, Cookie, Rehearsal
from admitone.kernel.contracts.contract import Contract
from admitone.kernel.contracts.edge import Edge, UndeclaredRefusal
from admitone.kernel.contracts.example import Example
from admitone.kernel.contracts.health import health_contracts
from admitone.kernel.contracts.incoming import Headers
from admitone.kernel.contracts.media import Reads, Writes
from admitone.kernel.contracts.openapi import openapi
from admitone.kernel.contracts.paging import Cursor, Page, PageRequest, cursor_of, page_of
from admitone.kernel.contracts.refusals import FieldError, NotDoneYet, ValidationFailed, status_of
from admitone.kernel.contracts.refusing import Looking, Reception, Sent
from admitone.kernel.contracts.streaming import Event
from admitone.kernel.contracts.wire import (
    Count,
    IdempotencyKey,
    Instant,
    Minor,
    ReasonCode,
    ShortText,
    SignedMinor,
    Text,
    Upload,
    Wire,
)

__all__ = [
    "Audience",
    "Call",
    "Contract",
    "Cookie",
    "Count",
    "Cursor",
    "Edge",
    "Event",
    "Example",
    "FieldError",
    "File",
    "Headers",
    "Html",
    "IdempotencyKey",
    "Instant",
    "Looking",
    "Minor",
    "NotDoneYet",
    "Packed",
    "Page",
    "PageRequest",
    "Reads",
    "ReasonCode",
    "Reception",
    "Redirect",
    "Rehearsal",
    "Sent",
    "ShortText",
    "SignedMinor",
    "Stream",
    "Text",
    "UndeclaredRefusal",
    "Upload",
    "ValidationFailed",
    "Wire",
    "Writes",
    "cursor_of",
    "health_contracts",
    "openapi",
    "page_of",
    "status_of",
]

"""Signatures of notices: `x-signature: ts=…,v1=hex`, HMAC-SHA256 over `id:…;request-id:…;ts:…;`.

Promise: what is accepted was signed with our secret for this id, which stands in the query, and this request, within
five minutes of now in either direction. The body is no part of it. Their papers speak of milliseconds, their software
of seconds: a number that could only be a moment thousands of years from now is taken for milliseconds.
"""

import hashlib
import hmac
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import parse_qsl

import msgspec

from admitone.finance.gateways.signature import LONGEST_HEADER, TOLERANCE

HEADER: Final = "x-signature"
REQUEST_HEADER: Final = "x-request-id"
SIGNED_NAME: Final = "data.id"
LONGEST_QUERY: Final = 2_048
MILLISECONDS_FROM: Final = 10**11
MILLISECOND: Final = timedelta(milliseconds=1)

_MOMENT: Final = re.compile(r"[0-9]{1,14}", re.ASCII)
_SIGNATURE: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


class Signed(msgspec.Struct, frozen=True):
    """What the signature is about."""

    about: str
    request_id: str | None
    moment: str
    at: datetime

    @property
    def id(self) -> str:
        """Of the notice: made of what is signed and nothing else, so that nobody gives it another one."""
        return ":".join(each for each in (self.about, self.request_id, self.moment) if each)


def sign(about: str, request_id: str | None, moment: str, secret: str) -> str:
    """The header that goes with a notice."""
    return f"ts={moment},v1={_digest(about, request_id, moment, secret)}"


def verify(headers: Mapping[str, str], query: str, secret: str, now: datetime) -> Signed | None:
    given = {name.lower(): value for name, value in headers.items() if name.lower() in (HEADER, REQUEST_HEADER)}
    about, parts, request_id = _about(query), _read(given.get(HEADER, "")), given.get(REQUEST_HEADER)
    if about is None or parts is None or (request_id is not None and not _NAME.fullmatch(request_id)):
        return None
    moment, signature = parts
    if not hmac.compare_digest(_digest(about, request_id, moment, secret), signature):
        return None
    at = _instant(moment)
    return Signed(about, request_id, moment, at) if abs(at - now) <= TOLERANCE else None


def _digest(about: str, request_id: str | None, moment: str, secret: str) -> str:
    request = f"request-id:{request_id};" if request_id else ""
    return hmac.new(secret.encode(), f"id:{about};{request}ts:{moment};".encode(), hashlib.sha256).hexdigest()


def _instant(moment: str) -> datetime:
    number = int(moment)
    milliseconds = number if number >= MILLISECONDS_FROM else number * 1000
    return datetime.fromtimestamp(0, UTC) + milliseconds * MILLISECOND


def _about(query: str) -> str | None:
    """The one thing that the query names; of two, none."""
    if len(query) > LONGEST_QUERY:
        return None
    named = [value for name, value in parse_qsl(query, keep_blank_values=True) if name == SIGNED_NAME]
    return named[0] if len(named) == 1 and _NAME.fullmatch(named[0]) else None


def _read(header: str) -> tuple[str, str] | None:
    """The moment and the signature of the scheme that we know, if it is such a header."""
    if len(header) > LONGEST_HEADER or not header.isascii():
        return None
    pairs = [pair.strip().partition("=") for pair in header.split(",")]
    moments = [value for name, _, value in pairs if name == "ts"]
    signatures = [value for name, _, value in pairs if name == "v1"]
    if len(moments) != 1 or len(signatures) != 1:
        return None
    is_one = _MOMENT.fullmatch(moments[0]) and _SIGNATURE.fullmatch(signatures[0])
    return (moments[0], signatures[0]) if is_one else None

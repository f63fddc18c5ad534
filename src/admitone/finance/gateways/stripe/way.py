"""The way to Stripe: its SDK writes the requests; we send them, and read what comes back.

Promise: every call passes `kernel.outbound`: its breaker, its time-outs, and never while a transaction is open. The SDK
does not repeat anything by itself. What came of a call is one of four:

    Seen      Stripe answered; with the moment at which it did, by its own clock
    Refused   4xx: it said no and did nothing
    NotSent   nothing arrived there, or it was turned away before anybody looked at it (429, and 401: our key is not
              right, which is nobody's fault whose order this is, and will be mended)
    Unknown   it was sent and not answered, or answered with what says neither (`UNSAID`, 5xx), or cannot be read

Nothing about this machine, and nothing that is sent or answered, is logged or told by the SDK.
"""

import logging
from collections.abc import Awaitable, Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final, Generic, NoReturn, TypeVar

import msgspec
import stripe

from admitone.finance.gateways import model
from admitone.finance.gateways.model import TURNED_AWAY, UNSAID, Refused, Trouble
from admitone.finance.gateways.stripe.keys import Keys
from admitone.kernel.breaker import Dependency, DependencyUnavailable
from admitone.kernel.outbound import Answer, NotSent, Outbound, Outcome, Request, Unknown
from admitone.kernel.scope import Caller

VERSION: Final = "2026-08-26.dahlia"
"""Of Stripe's API: of every request, and to be chosen for its webhook endpoints, too."""
API_URL: Final = "https://api.stripe.com"
STRIPE: Final = Dependency("stripe")
MISSING: Final = "resource_missing"
TOO_MANY: Final = 429
"""Here it was certainly not looked at."""
SHORTEST_WAIT: Final = 1
LONGEST_WAIT: Final = 300
LARGEST_ANSWER: Final = 8_000_000
"""A hundred rows of its books, each with what it is about."""
TOLD: Final = frozenset({"authorization", "content-type", "idempotency-key", "stripe-version"})
"""The headers of the SDK that are for Stripe. The others describe this machine."""

Read = TypeVar("Read")

stripe.enable_telemetry = False  # It would write to a person's home.
# It would tell whole requests, to the log or to whoever sets its variable.
logging.getLogger("stripe").setLevel(logging.CRITICAL)
stripe._util.STRIPE_LOG = None  # noqa: SLF001
_caller: ContextVar[Caller] = ContextVar("stripe_caller")


class Seen(msgspec.Struct, Generic[Read], frozen=True):
    it: Read
    at: datetime


class Returned(stripe.APIConnectionError):
    """What came of a request, on its way past the SDK: it would make objects of every answer, and stumble over some."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__("returned")  # type: ignore[no-untyped-call]
        self.outcome = outcome


class Wire(stripe.HTTPClient):
    """What the SDK sends with."""

    name = "admitone"

    def __init__(self, outbound: Outbound) -> None:
        super().__init__()
        self._outbound = outbound

    async def request_async(
        self, method: str, url: str, headers: Mapping[str, str], post_data: str | None = None
    ) -> NoReturn:
        request = Request(
            method=method.upper(),
            url=url,
            user_given=False,
            headers={name: value for name, value in headers.items() if name.lower() in TOLD},
            body=(post_data or "").encode(),
            connect_seconds=5,
            read_seconds=20,
            deadline_seconds=30,
            limit_bytes=LARGEST_ANSWER,
        )
        raise Returned(await self._outbound.call(STRIPE, request, _caller.get()))


class Way:
    """Calls of one account's, as outcomes."""

    def __init__(self, keys: Keys, url: str, outbound: Outbound) -> None:
        client = stripe.StripeClient(
            keys.api,
            stripe_version=VERSION,
            base_addresses={"api": url.rstrip("/")},
            max_network_retries=0,
            http_client=Wire(outbound),
        )
        self.v1 = client.v1

    async def hear(self, caller: Caller, call: Awaitable[object], kind: type[Read]) -> Seen[Read] | Trouble:
        token = _caller.set(caller)
        try:
            await call
        except Returned as returned:
            return _read(returned.outcome, kind)
        finally:
            _caller.reset(token)
        raise AssertionError("the SDK answered by itself")


def is_missing(said: object) -> bool:
    return isinstance(said, Refused) and said.code == MISSING


# -- What an outcome means


class Fault(msgspec.Struct, frozen=True):
    type: str = "refused"
    code: str | None = None
    param: str | None = None


class Failure(msgspec.Struct, frozen=True):
    error: Fault


def _read(outcome: Outcome, kind: type[Read]) -> Seen[Read] | Trouble:
    match outcome:
        case NotSent(refusal=refusal):
            return model.NotSent(refusal)
        case Unknown(reason=reason):
            return model.Unknown(reason)
        case Answer(status=status) if status < 300:
            it = _decoded(outcome.body, kind)
            return it if isinstance(it, model.Unknown) else Seen(it, _moment(outcome.headers))
        case _:
            return _refused(outcome, _decoded(outcome.body, Failure))


def _refused(answer: Answer, failure: Failure | model.Unknown) -> Trouble:
    status = answer.status
    if status in (TURNED_AWAY, TOO_MANY):
        later = _wait_of(answer.headers)
        return model.NotSent(DependencyUnavailable(dependency=STRIPE.name, retry_after_seconds=later))
    if status in UNSAID or not 400 <= status < 500 or isinstance(failure, model.Unknown):
        return model.Unknown(f"answered {status}")
    said = failure.error
    # Which of our words it did not like, and not its sentence: that repeats what people wrote.
    return Refused(said.code or (MISSING if status == 404 else said.type), said.param or "")


def _decoded(body: bytes, kind: type[Read]) -> Read | model.Unknown:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return model.Unknown("answered what cannot be read")


def _wait_of(headers: Mapping[str, str]) -> int:
    """How long it wants to be left alone, in seconds or until a date: a second at least, and no longer than we believe
    anybody."""
    said = headers.get("retry-after", "").strip()
    try:
        wait = int(said) if said.isdecimal() else _until(said, _moment(headers))
    except (ValueError, OverflowError):
        wait = SHORTEST_WAIT
    return min(max(wait, SHORTEST_WAIT), LONGEST_WAIT)


def _until(date: str, now: datetime) -> int:
    return int((parsedate_to_datetime(date).astimezone(UTC) - now).total_seconds())


def _moment(headers: Mapping[str, str]) -> datetime:
    try:
        return parsedate_to_datetime(headers["date"]).astimezone(UTC)
    except (KeyError, ValueError):
        return datetime.now(UTC).replace(microsecond=0)

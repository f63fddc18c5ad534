"""A contract: everything the edge needs to know about one HTTP operation, said once.

Promise: a contract that exists is complete. It has one owner and known consumers, a version, a request that is
bounded, an idempotency key or the reason why repeating is harmless, an ordering key or the word that there is none,
and examples that decode. A wrong declaration raises `TypeError`, naming the contract, when its module is imported.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar, get_type_hints

import msgspec
from msgspec import inspect

from admitone.kernel.authority import Audience
from admitone.kernel.contracts.bounds import complaints_about
from admitone.kernel.contracts.example import Example
from admitone.kernel.contracts.media import BODY_LIMITS, Reads, Writes
from admitone.kernel.errors import Refusal
from admitone.kernel.limits import Limit

Handler = TypeVar("Handler", bound=Callable[..., Any])

ORGANIZATION_NAME = "organizationId"
REASON_NAME = "reasonCode"
METHODS = ("get", "post", "put", "patch", "delete")
SAFE = frozenset({"GET"})
NO_STORE = "no-store"
NOTHING_WRITTEN = "nothing is written"
_ID = re.compile(r"[A-Z][A-Z0-9]*(\.[A-Z0-9]+)*")
_VERSION = re.compile(r"\d+\.\d+\.\d+")
_PATH = re.compile(r"(/|(/([A-Za-z0-9._~-]+|\{[A-Za-z][A-Za-z0-9]*\}))+)")


@dataclass(frozen=True, kw_only=True, eq=False)
class Contract:
    id: str
    version: str
    owner: str
    consumers: tuple[str, ...]
    summary: str

    get: str | None = None
    post: str | None = None
    put: str | None = None
    patch: str | None = None
    delete: str | None = None

    takes: type[msgspec.Struct] | None = None
    gives: Any = None
    refuses: tuple[type[Refusal], ...] = ()
    reads: Reads | None = None
    """Left out: JSON when the body has fields, nothing otherwise."""
    writes: Writes = Writes.JSON
    status: int = 0
    """Left out: 200, or 204 when nothing is given."""
    max_body_bytes: int = 0

    audience: Audience
    permission: str | None = None
    gate: str | None = None
    limits: tuple[Limit, ...] = ()
    stoppable: bool = False
    """New business: kill switches stop it (SAF-020 to SAF-024)."""
    guards: Callable[[Any], tuple[str, ...]] | None = None
    """What else in the request has a kill switch, such as `event:evt_…`."""
    verified_only: bool = False
    """For people whose e-mail address is confirmed (IDN-016)."""
    step_up: bool = False
    """For people who proved a moment ago that it is them, and who say why (ORG-024)."""
    device: Callable[[Any], str | None] | None = None
    """Where the request says from which device it comes, if no header did."""
    recognizes: bool = False
    """A public contract that wants to know who is signed in; others never look at credentials."""

    idempotent_by: str | None = None
    repeats: str | None = None
    order_key: str
    wait_seconds: float = 30
    sets_cookies: tuple[str, ...] = ()
    cache: str = NO_STORE
    conditional: bool = False
    """Its answers carry a tag of their bytes (`ETag`); who has the same already is told so, and not sent them again."""
    packs: bool = False
    """Its answers are long, and go out packed to whoever takes that. They hold nothing that whoever asks could have put
    there: nobody learns a secret from how long they are."""
    examples: tuple[Example, ...] = ()

    method: str = field(init=False)
    path: str = field(init=False)
    path_names: tuple[str, ...] = field(init=False)
    fields: dict[str, msgspec.structs.FieldInfo] = field(init=False)
    """The request's fields by their names on the wire."""
    handler: Callable[..., Any] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        routes = [(name.upper(), getattr(self, name)) for name in METHODS if getattr(self, name) is not None]
        if len(routes) != 1:
            raise TypeError(f"{self.id}: name exactly one of {', '.join(METHODS)}")
        [(method, path)] = routes
        self._settle("method", method)
        self._settle("path", path)
        self._settle("path_names", tuple(re.findall(r"\{(\w+)\}", path)))
        taken = msgspec.structs.fields(self.takes) if self.takes else ()
        self._settle("fields", {each.encode_name: each for each in taken})
        self._settle("reads", self.reads or self._usual_reading())
        self._settle("status", self.status or (204 if self.gives is None and self.writes is Writes.JSON else 200))
        self._settle("max_body_bytes", self.max_body_bytes or BODY_LIMITS[self.reading])
        complaints = [*_complaints(self)]
        if complaints:
            raise TypeError(f"{self.id}: {'; '.join(complaints)}")

    def _settle(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _usual_reading(self) -> Reads:
        in_body = self.fields.keys() - set(self.path_names)
        return Reads.JSON if self.method in {"POST", "PUT", "PATCH"} and in_body else Reads.NOTHING

    @property
    def reading(self) -> Reads:
        assert self.reads is not None
        return self.reads

    @property
    def is_safe(self) -> bool:
        return self.method in SAFE

    @property
    def only_reads(self) -> bool:
        """Whether a page that only shows something may ask it."""
        return self.is_safe or self.repeats == NOTHING_WRITTEN

    @property
    def needs_organization(self) -> bool:
        return self.audience is Audience.ORGANIZATION

    @property
    def is_open(self) -> bool:
        """Whether its callers are let in unasked: nobody has to be known, nothing is counted, nothing is gated."""
        anonymous = self.audience in (Audience.PUBLIC, Audience.INTERNAL) and not self.recognizes
        return anonymous and not self.limits and self.gate is None and not self.stoppable

    def serves(self, handler: Handler) -> Handler:
        """Say who does the work: `async def (call, request) -> answer`, without `request` where nothing is taken."""
        if self.handler is not None:
            raise TypeError(f"{self.id}: already served by {self.handler.__qualname__}")
        hints = get_type_hints(handler)
        given = hints.pop("return", None)
        taken = [kind for name, kind in hints.items() if name != "call"]
        if taken != ([self.takes] if self.takes else []):
            raise TypeError(f"{self.id}: {handler.__qualname__} takes {taken}, the contract {self.takes}")
        if self.writes is Writes.JSON and given not in (self.gives, type(self.gives)):
            raise TypeError(f"{self.id}: {handler.__qualname__} gives {given}, the contract {self.gives}")
        self._settle("handler", handler)
        return handler


def _complaints(contract: Contract) -> Iterator[str]:
    yield from _about_its_papers(contract)
    yield from _about_its_address(contract)
    yield from _about_who_may_call(contract)
    yield from _about_repeating(contract)
    yield from _about_its_body(contract)
    too_open = [*complaints_about(contract.takes)] if contract.takes else []
    yield from too_open or _about_its_examples(contract)


def _about_its_papers(contract: Contract) -> Iterator[str]:
    if not _ID.fullmatch(contract.id):
        yield "the id looks like C03 or C02.X01"
    if not _VERSION.fullmatch(contract.version):
        yield f"version {contract.version!r} is not MAJOR.MINOR.PATCH"
    if not contract.owner:
        yield "needs an owner"
    if type(contract.consumers) is not tuple or not all(contract.consumers) or not contract.consumers:
        yield "needs at least one known consumer"
    if not contract.summary:
        yield "needs a summary"
    if not contract.order_key:
        yield "needs an order key, or the word 'none'"
    for kind in contract.refuses:
        if not _is_refusal(kind):
            yield f"refuses {kind!r}, which is no Refusal class"


def _is_refusal(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Refusal)


def _about_its_address(contract: Contract) -> Iterator[str]:
    if not _PATH.fullmatch(contract.path):
        yield f"path {contract.path!r} is not made of literal and {{variable}} segments"
    if len(set(contract.path_names)) != len(contract.path_names):
        yield "a path variable stands twice"
    known = set(contract.fields) | ({ORGANIZATION_NAME} if contract.needs_organization else set())
    for name in contract.path_names:
        if name not in known:
            yield f"path variable {name!r} is no field of what it takes"


def _about_who_may_call(contract: Contract) -> Iterator[str]:
    needs_permission = contract.audience in (Audience.ORGANIZATION, Audience.ADMIN)
    if needs_permission and not contract.permission:
        yield f"audience {contract.audience.name} needs a permission"
    if contract.permission and not needs_permission:
        yield f"audience {contract.audience.name} has no permissions"
    if contract.recognizes and contract.audience is not Audience.PUBLIC:
        yield "only a public contract may leave open who calls"
    if (contract.verified_only or contract.step_up) and contract.audience in (Audience.PUBLIC, Audience.INTERNAL):
        yield f"audience {contract.audience.name} proves nothing about anybody"
    if contract.step_up and REASON_NAME not in contract.fields:
        yield f"a step-up needs a {REASON_NAME} in what it takes"
    if contract.guards and not contract.stoppable:
        yield "has guards, and nothing stops it"
    for limit in contract.limits:
        if limit.per.is_in_request and limit.subject is None:
            yield f"limit {limit.name} counts something in the request; say what with `on`"


def _about_repeating(contract: Contract) -> Iterator[str]:
    if contract.is_safe and contract.idempotent_by:
        yield "a GET has no effect, so it needs no idempotency key"
    if not contract.is_safe and bool(contract.idempotent_by) == bool(contract.repeats):
        yield f"a {contract.method} says either idempotent_by or why it repeats harmlessly"
    if contract.idempotent_by:
        key = contract.fields.get(contract.idempotent_by)
        if key is None or not isinstance(inspect.type_info(key.type), inspect.StrType):
            yield f"idempotent_by {contract.idempotent_by!r} is no text field of what it takes"


def _about_its_body(contract: Contract) -> Iterator[str]:
    in_body = contract.fields.keys() - set(contract.path_names)
    reads = contract.reading
    if reads in (Reads.JSON, Reads.FORM, Reads.MULTIPART) and (contract.method in ("GET", "DELETE") or not in_body):
        yield f"reads {reads.name}, but has no field to read from a body"
    if contract.takes is None and contract.path_names not in ((), (ORGANIZATION_NAME,)):
        yield "has path variables, but takes nothing"
    if contract.gives is not None and contract.writes is not Writes.JSON:
        yield f"writes {contract.writes.name}, so it cannot give {contract.gives}"
    if contract.conditional:
        yield from _about_conditions(contract)
    if contract.packs and not (contract.is_safe and contract.writes is Writes.JSON):
        yield "only what a GET gives as JSON is packed here"
    if contract.max_body_bytes < 0 or contract.wait_seconds <= 0:
        yield "has a limit that nothing can meet"


def _about_conditions(contract: Contract) -> Iterator[str]:
    if not contract.is_safe or contract.writes in (Writes.STREAM, Writes.EVENTS):
        yield "only what a GET gives as a whole has a tag"
    if contract.cache == NO_STORE:
        yield "says that nobody may keep its answers, so nobody has them"


def _about_its_examples(contract: Contract) -> Iterator[str]:
    told = contract.takes is not None or contract.gives is not None
    if told and contract.writes is Writes.JSON and not contract.examples:
        yield "needs an example"
    for example in contract.examples:
        yield from example.complaints(contract.takes, contract.gives, contract.refuses)

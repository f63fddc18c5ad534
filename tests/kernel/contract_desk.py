"""A small desk behind the edge: contracts of every kind, a doorkeeper who knows two keys, and no database."""

import asyncio
import io
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Annotated, Any, Literal

import httpx
from msgspec import Meta

from admitone.kernel.authority import Ask, Granted, PermissionDenied
from admitone.kernel.contracts import (
    Audience,
    Call,
    Contract,
    Cookie,
    Count,
    Edge,
    Event,
    Example,
    File,
    Instant,
    Page,
    PageRequest,
    Reads,
    Redirect,
    ShortText,
    Stream,
    Upload,
    Wire,
    Writes,
    health_contracts,
    page_of,
)
from admitone.kernel.errors import Conflict, NotFound, Refusal, Unauthenticated
from admitone.kernel.ids import Id, IdentityId, OrganizationId
from admitone.kernel.limits import Hit, Limit, Per
from admitone.kernel.telemetry import Metrics

# Fixed, because they stand in the names of tests, which must be the same in every worker.
OURS = OrganizationId.parse("org_0198c9a4000070008000000000000001")
THEIRS = OrganizationId.parse("org_0198c9a4000070008000000000000002")
ANA = IdentityId.parse("idn_0198c9a4000070008000000000000003")
KEY = "key-of-ana"
SESSION = "session-of-ana"
SECRET = "a secret of our own processes"
OPEN_STREAMS: set[str] = set()


class ParcelId(Id, prefix="prc"):
    """One parcel."""


class ParcelLost(NotFound):
    """The parcel is lost."""

    code = "PARCEL_LOST"
    next_step = "Ask at the counter."
    seen_at_depot: str


class DeskClosed(Conflict):
    """The desk is closed."""

    code = "DESK_CLOSED"


class Piece(Wire):
    label: ShortText
    weight: Count = 0


class Parcel(Wire):
    to: ShortText
    weight: Count
    kind: Literal["box", "letter"] = "box"
    pieces: Annotated[tuple[Piece, ...], Meta(max_length=10)] = ()
    parcel: ParcelId | None = None
    due: Instant | None = None


class Receipt(Wire):
    to: str
    weight: int
    organization: OrganizationId
    by: IdentityId | None
    address: str | None
    device: str | None
    pieces: int


def contract(**said: Any) -> Contract:
    usual: dict[str, Any] = {
        "version": "1.0.0",
        "owner": "desk",
        "consumers": ("tests",),
        "summary": "Something at the desk.",
        "audience": Audience.PUBLIC,
        "order_key": "none",
    }
    if not {"get", "idempotent_by", "repeats"} & said.keys():
        usual["repeats"] = "none (no side effects)"
    return Contract(**(usual | said))


A_PARCEL = Parcel(to="Rui", weight=3)
A_RECEIPT = Receipt(to="Rui", weight=3, organization=OURS, by=None, address=None, device=None, pieces=0)

accept = contract(
    id="DESK.01",
    post="/api/parcels",
    takes=Parcel,
    gives=Receipt,
    refuses=(ParcelLost,),
    audience=Audience.ORGANIZATION,
    permission="parcels.write",
    limits=(
        Limit("desk.per_device", count=5, seconds=60, per=Per.DEVICE),
        Limit("desk.per_name", count=5, seconds=60, per=Per.REQUEST, subject=lambda parcel: parcel.to),
    ),
    max_body_bytes=2000,
    examples=(Example("a box", takes=A_PARCEL, gives=A_RECEIPT),),
)


@accept.serves
async def take_in(call: Call, request: Parcel) -> Receipt:
    match request.to:
        case "lost":
            raise ParcelLost(seen_at_depot="Beja")
        case "closed":
            raise DeskClosed
        case "bug":
            raise ZeroDivisionError("secret detail")
    return Receipt(
        to=request.to,
        weight=request.weight,
        organization=call.organization,
        by=call.identity,
        address=call.caller.address,
        device=call.caller.device,
        pieces=len(request.pieces),
    )


class Thing(Wire):
    to: ShortText


A_THING = Example("one", takes=Thing(to="Rui"))


class Move(Wire):
    parcel: ParcelId
    shelf: Annotated[int, Meta(ge=1, le=99)]
    note: ShortText = "none"


class Moved(Wire):
    parcel: ParcelId
    shelf: int
    note: str


move = contract(
    id="DESK.02",
    put="/org/{organizationId}/parcels/{parcel}/shelf/{shelf}",
    takes=Move,
    gives=Moved,
    audience=Audience.ORGANIZATION,
    permission="parcels.write",
    examples=(
        Example(
            "up",
            takes=Move(parcel=ParcelId.parse("prc_0198c9a4000070008000000000000004"), shelf=3, note="high"),
            gives=Moved(parcel=ParcelId.parse("prc_0198c9a4000070008000000000000004"), shelf=3, note="high"),
        ),
    ),
)


@move.serves
async def put_away(call: Call, request: Move) -> Moved:
    return Moved(parcel=request.parcel, shelf=request.shelf, note=request.note)


class Search(PageRequest):
    words: Annotated[tuple[ShortText, ...], Meta(max_length=3)] = ()
    at_least: Count = 0
    since: Instant | None = None


class Shown(Wire):
    number: int
    words: tuple[str, ...]
    since: datetime | None


search = contract(
    id="DESK.03",
    get="/api/parcels",
    takes=Search,
    gives=Page[Shown],
    examples=(Example("all", takes=Search(), gives=Page(items=[], next_cursor=None)),),
)


@search.serves
async def find(call: Call, request: Search) -> Page[Shown]:
    (after,) = request.after(tuple[int]) or (-1,)
    numbers = [n for n in range(7) if n > after and n >= request.at_least][: request.limit + 1]
    rows = [Shown(number=n, words=request.words, since=request.since) for n in numbers]
    return page_of(rows, request.limit, key=lambda row: (row.number,))


class SignIn(Wire):
    name: ShortText
    stay: bool = False
    age: Count | None = None


sign_in = contract(
    id="DESK.05",
    post="/desk/sign-in",
    takes=SignIn,
    reads=Reads.FORM,
    writes=Writes.PAGE,
    refuses=(DeskClosed,),
    sets_cookies=("session",),
    examples=(Example("Ana", takes=SignIn(name="Ana")),),
)


@sign_in.serves
async def let_in(call: Call, request: SignIn) -> str | Redirect:
    if request.name == "closed":
        raise DeskClosed
    call.set_cookie(Cookie("session", SESSION, max_age_seconds=60))
    return Redirect("/desk") if request.stay else f"<p>{request.name} {request.age}"


class Letter(Wire):
    subject: ShortText
    scan: Upload


class Scanned(Wire):
    subject: str
    name: str
    size: int


scan = contract(
    id="DESK.06",
    post="/api/letters",
    takes=Letter,
    gives=Scanned,
    reads=Reads.MULTIPART,
    max_body_bytes=200_000,
    examples=(
        Example(
            "letter",
            takes=Letter(subject="hi", scan=Upload(name="a.png", content_type="image/png", content=b"x")),
            gives=Scanned(subject="hi", name="a.png", size=1),
        ),
    ),
)


@scan.serves
async def look_at(call: Call, request: Letter) -> Scanned:
    return Scanned(subject=request.subject, name=request.scan.name, size=len(request.scan.content))


class Size(Wire):
    size: int
    person: IdentityId | None = None


hook = contract(
    id="DESK.07",
    post="/api/hook",
    reads=Reads.RAW,
    gives=Size,
    max_body_bytes=1000,
    examples=(Example("two", gives=Size(size=2)),),
)


@hook.serves
async def weigh(call: Call) -> Size:
    return Size(size=len(call.body))


class Kinds(Wire):
    kind: Literal["endless", "short", "breaking"] = "short"


table = contract(id="DESK.08", get="/api/table.csv", takes=Kinds, writes=Writes.STREAM)


@table.serves
async def read_out(call: Call, request: Kinds) -> Stream:
    return Stream(lines(request.kind, str(call.correlation_id)), download_name="parcels (ã).csv")


async def lines(kind: str, name: str) -> AsyncIterator[str]:
    OPEN_STREAMS.add(name)
    try:
        yield "to,weight\r\n"
        yield "Rui,3\r\n"
        while kind == "endless":
            await asyncio.sleep(0.01)
            yield "Rui,3\r\n"
        if kind == "breaking":
            raise ZeroDivisionError
    finally:
        OPEN_STREAMS.discard(name)


news = contract(id="DESK.09", get="/api/news", takes=Kinds, writes=Writes.EVENTS)


@news.serves
async def tell(call: Call, request: Kinds) -> AsyncIterator[Event]:
    return happenings(request.kind, str(call.correlation_id))


async def happenings(kind: str, name: str) -> AsyncIterator[Event]:
    OPEN_STREAMS.add(name)
    try:
        yield Event("arrived", Size(size=1), id="1")
        yield Event("left", {"note": "line\nbreak"})
        if kind == "endless":
            await asyncio.Event().wait()
    finally:
        OPEN_STREAMS.discard(name)


internal = contract(
    id="DESK.10",
    post="/api/internal/sweep",
    audience=Audience.INTERNAL,
)


@internal.serves
async def sweep(call: Call) -> None:
    return None


logo = contract(id="DESK.11", get="/desk/logo", writes=Writes.FILE, cache="public, max-age=60")


@logo.serves
async def show_logo(call: Call) -> File:
    return File(b"\x89PNG", "image/png")


me = contract(
    id="DESK.12",
    post="/api/me",
    gives=Size,
    audience=Audience.PERSON,
    examples=(Example("me", gives=Size(size=0, person=ANA)),),
)


@me.serves
async def who_am_i(call: Call) -> Size:
    return Size(size=0, person=call.identity)


CONTRACTS = (accept, move, search, sign_in, scan, hook, table, news, internal, logo, me)


class Doorkeeper:
    """The authority of this desk: Ana's key and session, in our organisation."""

    def __init__(self) -> None:
        self.asked: list[Ask] = []

    async def count(self, *hits: Hit) -> None:
        """Nobody comes too often here."""

    async def ask(self, ask: Ask) -> Granted:
        self.asked.append(ask)
        if ask.audience is Audience.PUBLIC:
            return Granted()
        if ask.credential not in (KEY, SESSION):
            raise Unauthenticated
        if ask.organization not in (OURS, None):
            raise PermissionDenied(permission=ask.permission)
        return Granted(ANA, ask.organization)


class Notebook:
    """Remembers which refusals were audited."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, str]] = []

    async def refused(self, refusal: Refusal, *, contract: str, **_: Any) -> None:
        self.entries.append((contract, refusal.code))


class Desk:
    def __init__(self, *contracts: Contract, **options: Any) -> None:
        self.doorkeeper = Doorkeeper()
        self.notebook = Notebook()
        self.metrics = Metrics()
        self.lines = io.BytesIO()
        self.is_ready = True
        self.edge = Edge(
            (*(contracts or CONTRACTS), *health_contracts(self._ready)),
            **{
                "authority": self.doorkeeper,
                "database": None,
                "batcher": None,
                "audit": self.notebook,
                "metrics": self.metrics,
                "internal_secret": SECRET,
                "request_log": self.lines,
                **options,
            },
        )

    async def _ready(self) -> bool:
        return self.is_ready

    def client(self, address: str = "203.0.113.9") -> httpx.AsyncClient:
        transport = httpx.ASGITransport(self.edge, client=(address, 5555))
        return httpx.AsyncClient(transport=transport, base_url="http://desk.test")


def as_ana(**headers: str) -> dict[str, str]:
    return {"authorization": f"Bearer {KEY}", "x-orya-org-id": str(OURS)} | headers


def assert_envelope(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """Exactly the four words of CON-005, whatever else the refusal states."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    body = response.json()
    assert body["errorCode"] == code
    assert isinstance(body["message"], str) and body["message"]
    assert isinstance(body["retryable"], bool)
    assert body["correlationId"] == response.headers["x-correlation-id"]
    assert "error" not in body
    return body

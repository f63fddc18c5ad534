"""The toy at the edge: one contract of each kind."""

import asyncio
import csv
import hashlib
import hmac
import io
from collections.abc import AsyncIterator
from typing import Annotated

from msgspec import Meta

from admitone.kernel.contracts import (
    Audience,
    Call,
    Contract,
    Cookie,
    Event,
    Example,
    IdempotencyKey,
    Minor,
    Page,
    PageRequest,
    Reads,
    Redirect,
    ShortText,
    Stream,
    Upload,
    ValidationFailed,
    Wire,
    Writes,
    page_of,
)
from admitone.kernel.errors import Forbidden
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.limits import Limit, Per
from admitone.kernel.money import AmountTooLarge, Money
from admitone.kernel.scope import Scope
from tests.toy import commands, store
from tests.toy.errors import CounterExists, CounterFull, CounterNotFound, CounterNotOpen
from tests.toy.model import Counter, Increment, IncrementId

INCREMENT, READ = "toy.increment", "toy.read"
PER_DEVICE = Limit("toy.increments_per_device", count=120, seconds=60, per=Per.DEVICE)
WEBHOOK_SECRET = b"toy webhook secret"

Name = Annotated[str, Meta(min_length=1, max_length=100)]
Amount = Annotated[int, Meta(ge=1, le=2**53 - 1)]
SOME_ID = IncrementId.parse("inc_0198c9a40000700080000000000000aa")


class ForeignBody(Forbidden):
    """The signature does not belong to this body."""

    code = "TOY_FOREIGN_BODY"


class IncrementRequest(Wire):
    counter: Name
    amount: Amount
    idempotency_key: IdempotencyKey


class IncrementAnswer(Wire):
    id: IncrementId
    counter: str
    value: int


increment = Contract(
    id="TOY.01",
    version="1.0.0",
    owner="toy",
    consumers=("tests", "bench"),
    summary="Add to a counter, never above its ceiling.",
    post="/api/toy/increments",
    takes=IncrementRequest,
    gives=IncrementAnswer,
    refuses=(CounterNotFound, CounterNotOpen, CounterFull),
    audience=Audience.ORGANIZATION,
    permission=INCREMENT,
    limits=(PER_DEVICE,),
    idempotent_by="idempotencyKey",
    order_key="none",
    examples=(
        Example(
            "counted",
            takes=IncrementRequest(counter="visits", amount=2, idempotency_key="visit-7781"),
            gives=IncrementAnswer(id=SOME_ID, counter="visits", value=2),
        ),
        Example(
            "full",
            takes=IncrementRequest(counter="visits", amount=9_000_000_000, idempotency_key="visit-7782"),
            refuses=CounterFull(left=999_999_998),
        ),
    ),
)


@increment.serves
async def add(call: Call, request: IncrementRequest) -> IncrementAnswer:
    counted = await call.batch(commands.increment, Increment(call.caller, request.counter, request.amount))
    return IncrementAnswer(id=counted.id, counter=counted.counter, value=counted.value)


class Price(Money, frozen=True):
    """Money from outside: bounded, and nobody is paid for coming."""

    minor: Minor
    currency: Annotated[str, Meta(pattern="^[A-Z]{3}$", max_length=3)]


class CounterRequest(Wire):
    name: Name
    ceiling: Amount
    price: Price | None = None


class CounterAnswer(Wire):
    name: str
    value: int
    ceiling: int


create = Contract(
    id="TOY.02",
    version="1.0.0",
    owner="toy",
    consumers=("tests",),
    summary="Make a counter.",
    put="/org/{organizationId}/counters/{name}",
    takes=CounterRequest,
    gives=CounterAnswer,
    refuses=(CounterExists, AmountTooLarge),
    audience=Audience.ORGANIZATION,
    permission=INCREMENT,
    repeats="the name is unique: the second attempt is refused",
    order_key="none",
    examples=(
        Example(
            "made",
            takes=CounterRequest(name="guests", ceiling=10),
            gives=CounterAnswer(name="guests", value=0, ceiling=10),
        ),
    ),
)


@create.serves
async def make(call: Call, request: CounterRequest) -> CounterAnswer:
    price = Money(request.price.minor, request.price.currency) if request.price else None
    made = await call.run(commands.create, Counter(request.name, 0, request.ceiling, price=price))
    return CounterAnswer(name=made.name, value=made.value, ceiling=made.ceiling)


list_counters = Contract(
    id="TOY.03",
    version="1.0.0",
    owner="toy",
    consumers=("tests",),
    summary="List the counters, by name.",
    get="/org/{organizationId}/counters",
    takes=PageRequest,
    gives=Page[CounterAnswer],
    audience=Audience.ORGANIZATION,
    permission=READ,
    order_key="name",
    examples=(
        Example(
            "one",
            takes=PageRequest(limit=1),
            gives=Page(items=[CounterAnswer(name="visits", value=0, ceiling=10)], next_cursor=None),
        ),
    ),
)


@list_counters.serves
async def show(call: Call, request: PageRequest) -> Page[CounterAnswer]:
    (after,) = request.after(tuple[str]) or ("",)
    counters = await call.read(store.list_counters, after, request.limit + 1)
    answers = [CounterAnswer(name=c.name, value=c.value, ceiling=c.ceiling) for c in counters]
    return page_of(answers, request.limit, key=lambda answer: (answer.name,))


export = Contract(
    id="TOY.04",
    version="1.0.0",
    owner="toy",
    consumers=("tests",),
    summary="All counters as a table.",
    get="/org/{organizationId}/counters.csv",
    writes=Writes.STREAM,
    audience=Audience.ORGANIZATION,
    permission=READ,
    order_key="name",
)


@export.serves
async def download(call: Call) -> Stream:
    return Stream(lines(call), download_name="counters.csv")


async def lines(call: Call) -> AsyncIterator[str]:
    yield "name,value\r\n"
    after = ""
    while counters := await call.read(store.list_counters, after, 100):
        for counter in counters:
            line = io.StringIO()
            csv.writer(line).writerow([counter.name, counter.value])
            yield line.getvalue()
        after = counters[-1].name


live = Contract(
    id="TOY.05",
    version="1.0.0",
    owner="toy",
    consumers=("tests",),
    summary="The counters as they change.",
    get="/org/{organizationId}/counters/live",
    writes=Writes.EVENTS,
    audience=Audience.ORGANIZATION,
    permission=READ,
    order_key="none",
)


@live.serves
async def follow(call: Call) -> AsyncIterator[Event]:
    return changes(call)


async def changes(call: Call) -> AsyncIterator[Event]:
    before: list[Counter] = []
    while True:
        now = await call.read(store.list_counters, "", 100)
        for counter in now:
            if counter not in before:
                yield Event("counter", {"name": counter.name, "value": counter.value})
        before = now
        await asyncio.sleep(0.05)


page = Contract(
    id="TOY.06",
    version="1.0.0",
    owner="toy",
    consumers=("tests",),
    summary="A page for people.",
    get="/toy",
    writes=Writes.PAGE,
    audience=Audience.PUBLIC,
    order_key="none",
)


@page.serves
async def welcome(call: Call) -> str:
    return f"<!doctype html><title>Toy</title><p>{call.cookies.get('toy_name', 'nobody')}"


class Received(Wire):
    size: int


webhook = Contract(
    id="TOY.07",
    version="1.0.0",
    owner="toy",
    consumers=("tests",),
    summary="Take signed bytes, as they are.",
    post="/api/toy/webhook",
    reads=Reads.RAW,
    gives=Received,
    refuses=(ForeignBody,),
    audience=Audience.PUBLIC,
    repeats="none (no side effects)",
    order_key="none",
    examples=(Example("taken", gives=Received(size=2)),),
)


@webhook.serves
async def receive(call: Call) -> Received:
    expected = hmac.new(WEBHOOK_SECRET, call.body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected, call.headers.get("x-signature", "")):
        raise ForeignBody
    return Received(size=len(call.body))


class NameForm(Wire):
    name: Annotated[str, Meta(min_length=1, max_length=40, pattern="^[a-z]+$")]


name_form = Contract(
    id="TOY.08",
    version="1.0.0",
    owner="toy",
    consumers=("tests",),
    summary="Remember a name in a cookie.",
    post="/toy/name",
    takes=NameForm,
    reads=Reads.FORM,
    writes=Writes.PAGE,
    audience=Audience.PUBLIC,
    repeats="the last name wins",
    order_key="none",
    sets_cookies=("toy_name",),
)


@name_form.serves
async def remember(call: Call, request: NameForm) -> Redirect:
    call.set_cookie(Cookie("toy_name", request.name, max_age_seconds=60))
    return Redirect("/toy")


class ImportForm(Wire):
    ceiling: Amount
    names: Upload


class Imported(Wire):
    made: int


import_counters = Contract(
    id="TOY.09",
    version="1.0.0",
    owner="toy",
    consumers=("tests",),
    summary="Make counters from a file of names, one per line.",
    post="/org/{organizationId}/counters/import",
    takes=ImportForm,
    reads=Reads.MULTIPART,
    gives=Imported,
    refuses=(CounterExists,),
    audience=Audience.ORGANIZATION,
    permission=INCREMENT,
    repeats="names are unique: the second attempt is refused",
    order_key="none",
    examples=(
        Example(
            "two",
            takes=ImportForm(ceiling=5, names=Upload(name="n.txt", content_type="text/plain", content=b"a\nb\n")),
            gives=Imported(made=2),
        ),
    ),
)


@import_counters.serves
async def upload(call: Call, request: ImportForm) -> Imported:
    names = request.names.content.decode("utf-8", "replace").replace("\0", "").splitlines()
    if not names or any(not 1 <= len(name) <= 100 for name in names):
        raise ValidationFailed.at("$.names", "One name of 1 to 100 characters per line")
    for name in names:
        await call.run(commands.create, Counter(name, 0, request.ceiling))
    return Imported(made=len(names))


class OwnIncrement(Wire):
    organization: OrganizationId
    counter: ShortText
    amount: int


mine = Contract(
    id="TOY.10",
    version="1.0.0",
    owner="toy",
    consumers=("tests",),
    summary="My own increments, in all organisations.",
    get="/api/toy/mine",
    gives=list[OwnIncrement],
    audience=Audience.PERSON,
    order_key="time, newest first",
    examples=(Example("none", gives=[]),),
)


@mine.serves
async def show_mine(call: Call) -> list[OwnIncrement]:
    rows = await call.read(store.list_own_increments)
    return [
        OwnIncrement(organization=OrganizationId(row["organization_id"]), counter=row["counter"], amount=row["amount"])
        for row in rows
    ]


class PeekRequest(Wire):
    organization: OrganizationId


peek = Contract(
    id="TOY.11",
    version="1.0.0",
    owner="toy",
    consumers=("operations",),
    summary="How many counters an organisation has.",
    get="/api/internal/toy/peek",
    takes=PeekRequest,
    gives=Received,
    audience=Audience.INTERNAL,
    order_key="none",
    examples=(Example("none", takes=PeekRequest(organization=OrganizationId(SOME_ID.uuid)), gives=Received(size=0)),),
)


@peek.serves
async def count(call: Call, request: PeekRequest) -> Received:
    scope = Scope(request.organization, "internal peek")
    return Received(size=len(await call.read(store.list_counters, "", 100, scope=scope)))


class Person(Wire):
    identity: IdentityId | None


later = Contract(
    id="TOY.12",
    version="1.0.0",
    owner="toy",
    consumers=("tests",),
    summary="A feature that is not switched on.",
    get="/api/toy/later",
    gives=Person,
    audience=Audience.PUBLIC,
    gate="toy.later",
    recognizes=True,
    order_key="none",
    examples=(Example("on", gives=Person(identity=None)),),
)


@later.serves
async def show_later(call: Call) -> Person:
    return Person(identity=call.identity)


CONTRACTS = (
    increment, create, list_counters, export, live, page, webhook, name_form, import_counters, mine, peek, later
)  # fmt: skip

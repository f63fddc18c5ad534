"""For those who manage counters: see one with its price and its secret, write the secret, move it to another state."""

from typing import Annotated

from msgspec import Meta

from admitone.kernel.contracts import Audience, Call, Contract, Example, IdempotencyKey, ShortText, Wire
from admitone.kernel.money import Money
from admitone.kernel.states import IllegalMove
from tests.toy import commands, store
from tests.toy.errors import CounterNotFound
from tests.toy.model import CounterStatus, Move, Note
from tests.toy.routes import Name

MANAGE = "toy.manage"

ReasonCode = Annotated[str, Meta(pattern="^[A-Z][A-Z_]*$", max_length=40)]


class OneRequest(Wire):
    name: Name


class OneAnswer(Wire):
    name: str
    status: CounterStatus
    value: int
    price: Money | None
    total: Money | None
    secret_note: str | None


one = Contract(
    id="TOY.13",
    version="1.0.0",
    owner="toy",
    consumers=("tests",),
    summary="One counter, with what it is worth and its secret note.",
    get="/org/{organizationId}/counters/{name}",
    takes=OneRequest,
    gives=OneAnswer,
    refuses=(CounterNotFound,),
    audience=Audience.ORGANIZATION,
    permission=MANAGE,
    order_key="none",
    examples=(
        Example(
            "priced",
            takes=OneRequest(name="guests"),
            gives=OneAnswer(
                name="guests",
                status=CounterStatus.OPEN,
                value=3,
                price=Money(1250, "EUR"),
                total=Money(3750, "EUR"),
                secret_note=None,
            ),
        ),
    ),
)


@one.serves
async def show(call: Call, request: OneRequest) -> OneAnswer:
    counter = await call.read(store.get_counter, request.name)
    return OneAnswer(
        name=counter.name,
        status=counter.status,
        value=counter.value,
        price=counter.price,
        total=counter.total,
        secret_note=counter.secret_note,
    )


class NoteRequest(Wire):
    name: Name
    text: ShortText


write_note = Contract(
    id="TOY.14",
    version="1.0.0",
    owner="toy",
    consumers=("tests",),
    summary="Keep a secret note with a counter.",
    put="/org/{organizationId}/counters/{name}/note",
    takes=NoteRequest,
    refuses=(CounterNotFound,),
    audience=Audience.ORGANIZATION,
    permission=MANAGE,
    repeats="the last note stays",
    order_key="none",
    examples=(Example("written", takes=NoteRequest(name="guests", text="Ask for Ana at the back door.")),),
)


@write_note.serves
async def write(call: Call, request: NoteRequest) -> None:
    await call.run(commands.write_note, Note(request.name, request.text))


class MoveRequest(Wire):
    name: Name
    to: CounterStatus
    reason_code: ReasonCode
    idempotency_key: IdempotencyKey


class MoveAnswer(Wire):
    name: str
    status: CounterStatus


move = Contract(
    id="TOY.15",
    version="1.0.0",
    owner="toy",
    consumers=("tests",),
    summary="Pause a counter, open it again, or close it for good.",
    post="/org/{organizationId}/counters/{name}/moves",
    takes=MoveRequest,
    gives=MoveAnswer,
    refuses=(CounterNotFound, IllegalMove),
    audience=Audience.ORGANIZATION,
    permission=MANAGE,
    idempotent_by="idempotencyKey",
    order_key="name",
    examples=(
        Example(
            "paused",
            takes=MoveRequest(
                name="guests", to=CounterStatus.PAUSED, reason_code="RAIN", idempotency_key="pause-guests-1"
            ),
            gives=MoveAnswer(name="guests", status=CounterStatus.PAUSED),
        ),
    ),
)


@move.serves
async def go(call: Call, request: MoveRequest) -> MoveAnswer:
    wanted = Move(call.caller, request.name, request.to, request.reason_code)
    moved = await call.batch(commands.move, wanted)
    return MoveAnswer(name=moved.counter, status=moved.after)


CONTRACTS = (one, write_note, move)

"""The server under load: the toy package behind the real edge, as a process of its own.

usage: python -m bench.serve PORT [--one-by-one]
"""

import os
import sys

from tests.toy import commands
from tests.toy.authority import ToyAuthority
from tests.toy.model import Counted, Increment
from tests.toy.routes import INCREMENT, PER_DEVICE, IncrementAnswer, IncrementRequest
from tests.toy.routes import increment as coalesced

from admitone.entrypoints.http import assemble
from admitone.entrypoints.serve import serve
from admitone.kernel.config import Config
from admitone.kernel.contracts import Audience, Call, Contract
from admitone.kernel.db import Tx
from admitone.kernel.idempotency import Keyed, find_answers, keep_answers
from admitone.kernel.manifest import Module
from admitone.kernel.scope import Scope

direct = Contract(
    id="TOY.DIRECT",
    version="1.0.0",
    owner="toy",
    consumers=("bench",),
    summary="The same as TOY.01 without a queue: the handler opens its own transaction.",
    post="/api/toy/direct",
    takes=IncrementRequest,
    gives=IncrementAnswer,
    refuses=coalesced.refuses,
    audience=Audience.ORGANIZATION,
    permission=INCREMENT,
    limits=(PER_DEVICE,),
    idempotent_by="idempotencyKey",
    order_key="none",
    examples=coalesced.examples,
)


@direct.serves
async def add_directly(call: Call, request: IncrementRequest) -> IncrementAnswer:
    assert call.organization is not None
    each = Increment(call.caller, request.counter, request.amount)
    keyed = Keyed.of(contract="direct", caller=call.caller.key, key=request.idempotency_key, request=b"")

    async def work(tx: Tx) -> Counted:
        await find_answers(tx, [keyed])
        [counted] = await commands.increment(tx, [each])
        assert isinstance(counted, Counted)
        await keep_answers(tx, [(keyed, commands.increment.encode(counted))])
        return counted

    counted = await call._ground.database.run(Scope(call.organization), work)
    return IncrementAnswer(id=counted.id, counter=counted.counter, value=counted.value)


unlimited = Contract(
    id="TOY.UNLIMITED",
    version="1.0.0",
    owner="toy",
    consumers=("bench",),
    summary="The same as TOY.01 without its limit.",
    post="/api/toy/unlimited",
    takes=IncrementRequest,
    gives=IncrementAnswer,
    refuses=coalesced.refuses,
    audience=Audience.ORGANIZATION,
    permission=INCREMENT,
    idempotent_by="idempotencyKey",
    order_key="none",
    examples=coalesced.examples,
)


@unlimited.serves
async def add_without_limit(call: Call, request: IncrementRequest) -> IncrementAnswer:
    counted = await call.batch(commands.increment, Increment(call.caller, request.counter, request.amount))
    return IncrementAnswer(id=counted.id, counter=counted.counter, value=counted.value)


trivial = Contract(
    id="TOY.TRIVIAL",
    version="1.0.0",
    owner="toy",
    consumers=("bench",),
    summary="Read a request and answer it: what HTTP alone costs.",
    post="/api/toy/trivial",
    takes=IncrementRequest,
    gives=IncrementAnswer,
    audience=Audience.PUBLIC,
    repeats="none (no side effects)",
    order_key="none",
    examples=coalesced.examples[:1],
)


@trivial.serves
async def answer(call: Call, request: IncrementRequest) -> IncrementAnswer:  # noqa: ARG001
    example: IncrementAnswer = coalesced.examples[0].gives
    return IncrementAnswer(id=example.id, counter=request.counter, value=request.amount)


if __name__ == "__main__":
    toy = Module(
        "toy", contracts=(coalesced, direct, unlimited, trivial), permissions=(INCREMENT,), limits=(PER_DEVICE,)
    )
    application = assemble(Config.load(os.environ), [toy], ToyAuthority(), coalesce="--one-by-one" not in sys.argv)
    serve(application, "127.0.0.1", int(sys.argv[1]))

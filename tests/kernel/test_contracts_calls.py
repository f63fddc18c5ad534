"""Calls: what a handler does runs in its scope, under its key, and is waited for only so long."""

import asyncio
from collections.abc import Sequence
from typing import Annotated

import pytest
from msgspec import Meta

from admitone.kernel.authority import Audience, Granted
from admitone.kernel.commands import command
from admitone.kernel.contracts import Call, Contract, Example, IdempotencyKey, Reads, Upload, Wire
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from tests.builders import an_organization, value_of
from tests.kernel.contract_desk import ANA, Desk, Size, assert_envelope, contract
from tests.toy import commands, store
from tests.toy.errors import CounterFull
from tests.toy.model import Increment


class AddRequest(Wire):
    amount: Annotated[int, Meta(ge=1, le=1000)]
    idempotency_key: IdempotencyKey
    tags: Annotated[tuple[Annotated[str, Meta(max_length=5)], ...], Meta(max_length=5)] = ()


class Everybody:
    """Lets anybody in, as Ana."""

    async def ask(self, ask):
        return Granted(ANA, ask.organization)

    async def count(self, *hits):
        """As often as they like."""


@command()
async def dawdle(tx: Tx, increments: Sequence[Increment]) -> list[int]:
    """Add, slowly."""
    await asyncio.sleep(0.3)
    return [counted.value for counted in await commands.increment(tx, increments)]


def an_adding_contract(work=commands.increment, **said) -> Contract:
    adding = contract(
        **{
            "id": "ADD.01",
            "post": "/api/add",
            "takes": AddRequest,
            "gives": Size,
            "refuses": (CounterFull,),
            "audience": Audience.ORGANIZATION,
            "permission": "add",
            "idempotent_by": "idempotencyKey",
            "examples": (Example("one", takes=AddRequest(amount=1, idempotency_key="k"), gives=Size(size=1)),),
            **said,
        }
    )

    @adding.serves
    async def add(call: Call, request: AddRequest) -> Size:
        outcome = await call.batch(work, Increment(call.caller, "visits", request.amount))
        return Size(size=getattr(outcome, "value", outcome), person=call.identity)

    return adding


@pytest.fixture
async def scope(database):
    return await an_organization(database, ceiling=1000)


@pytest.fixture
def a_client(database, batcher, scope):
    def make(*contracts):
        desk = Desk(*contracts, authority=Everybody(), database=database, batcher=batcher)
        client = desk.client()
        client.headers["x-orya-org-id"] = str(scope.organization)
        return client

    return make


@pytest.mark.covers("CON-004", "INV-I06")
async def test_the_same_request_under_the_same_key_gets_the_same_answer_and_counts_once(a_client, database, scope):
    async with a_client(an_adding_contract()) as client:
        first = await client.post("/api/add", json={"amount": 2, "idempotencyKey": "a"})
        again = await client.post("/api/add", json={"idempotencyKey": "a", "unknown": 1, "amount": 2})
        other = await client.post("/api/add", json={"amount": 2, "idempotencyKey": "b"})
    assert first.json() == again.json() == {"size": 2, "person": str(ANA)}
    assert "idempotency-replayed" not in first.headers and again.headers["idempotency-replayed"] == "true"
    assert other.json()["size"] == 4 and "idempotency-replayed" not in other.headers
    assert await value_of(database, scope) == 4


@pytest.mark.covers("CON-004")
async def test_another_request_under_the_same_key_is_a_conflict(a_client, database, scope):
    async with a_client(an_adding_contract()) as client:
        await client.post("/api/add", json={"amount": 2, "idempotencyKey": "a"})
        for changed in ({"amount": 3}, {"amount": 2, "tags": ["x"]}):
            response = await client.post("/api/add", json=changed | {"idempotencyKey": "a"})
            assert assert_envelope(response, 409, "IDEMPOTENCY_KEY_REUSED")["nextStep"]
    assert await value_of(database, scope) == 2


async def test_a_contract_without_a_key_does_it_again(a_client, database, scope):
    async with a_client(an_adding_contract(idempotent_by=None, repeats="every call counts")) as client:
        for _ in range(2):
            await client.post("/api/add", json={"amount": 2, "idempotencyKey": "a"})
    assert await value_of(database, scope) == 4


async def test_a_refusal_of_the_command_reaches_the_caller_with_its_facts(a_client, database, scope):
    async with a_client(an_adding_contract()) as client:
        await client.post("/api/add", json={"amount": 999, "idempotencyKey": "a"})
        response = await client.post("/api/add", json={"amount": 2, "idempotencyKey": "b"})
    assert assert_envelope(response, 409, "COUNTER_FULL")["left"] == 1


@pytest.mark.covers("CON-010")
async def test_who_cannot_wait_is_told_that_it_may_have_happened_and_it_does_happen(a_client, database, scope, batcher):
    async with a_client(an_adding_contract(dawdle, wait_seconds=0.05)) as client:
        response = await client.post("/api/add", json={"amount": 2, "idempotencyKey": "a"})
        assert assert_envelope(response, 503, "OUTCOME_UNKNOWN")["retryable"] is True
        assert response.headers["retry-after"]
        await batcher.drain()
        assert await value_of(database, scope) == 2
        again = await client.post("/api/add", json={"amount": 2, "idempotencyKey": "a"})
    assert again.json()["size"] == 2 and again.headers["idempotency-replayed"] == "true"


async def test_a_question_is_asked_in_the_callers_organisation(a_client):
    asking = contract(
        id="ADD.02",
        get="/api/count",
        gives=Size,
        audience=Audience.ORGANIZATION,
        permission="count",
        examples=(Example("one", gives=Size(size=1)),),
    )

    @asking.serves
    async def count(call: Call) -> Size:
        return Size(size=len(await call.read(store.list_counters, "", 100)))

    async with a_client(asking) as client:
        assert (await client.get("/api/count")).json()["size"] == 1


async def test_who_cannot_wait_for_a_shared_answer_is_told_to_ask_again(a_client, batcher):
    """And not that something may have happened."""
    asking = contract(
        id="ADD.03",
        get="/api/slow",
        gives=Size,
        audience=Audience.ORGANIZATION,
        permission="count",
        wait_seconds=0.05,
        examples=(Example("one", gives=Size(size=1)),),
    )

    @command(only_reads=True)
    async def look_slowly(tx: Tx, asked: Sequence[int]) -> list[int | Refusal]:
        await tx.fetch("SELECT pg_sleep(0.3) WHERE $1::uuid IS NOT NULL")
        return list(asked)

    @asking.serves
    async def count(call: Call) -> Size:
        return Size(size=await call.batch(look_slowly, 1))

    async with a_client(asking) as client:
        assert_envelope(await client.get("/api/slow"), 503, "SERVICE_UNAVAILABLE")
    await batcher.drain()


async def test_a_public_contract_has_no_scope_of_its_own(a_client):
    careless = contract(id="ADD.03", post="/api/careless")

    @careless.serves
    async def forget(call: Call) -> None:
        await call.batch(commands.increment, Increment(call.caller, "visits", 1))

    async with a_client(careless) as client:
        assert_envelope(await client.post("/api/careless"), 500, "SERVER_ERROR")


async def test_a_command_cannot_run_twice_under_one_key(database, batcher):
    """The second would be answered with the first's outcome, and its effect be lost."""
    twice = an_adding_contract()
    object.__setattr__(twice, "handler", None)

    @twice.serves
    async def add_twice(call: Call, request: AddRequest) -> Size:
        await call.batch(commands.increment, Increment(call.caller, "visits", request.amount))
        await call.batch(commands.increment, Increment(call.caller, "other", request.amount))
        return Size(size=2)

    scope = await an_organization(database, "visits", "other")
    desk = Desk(twice, authority=Everybody(), database=database, batcher=batcher)
    async with desk.client() as client:
        headers = {"x-orya-org-id": str(scope.organization)}
        response = await client.post("/api/add", json={"amount": 1, "idempotencyKey": "k"}, headers=headers)
    assert_envelope(response, 500, "SERVER_ERROR")


class FileRequest(Wire):
    file: Upload
    idempotency_key: IdempotencyKey


async def test_another_file_under_the_same_name_and_key_is_another_request(database, batcher):
    example = FileRequest(file=Upload(name="a", content_type="text/plain", content=b"1"), idempotency_key="k")
    taking = contract(
        id="FILE.01",
        post="/api/file",
        takes=FileRequest,
        gives=Size,
        reads=Reads.MULTIPART,
        audience=Audience.ORGANIZATION,
        permission="add",
        idempotent_by="idempotencyKey",
        examples=(Example("one", takes=example, gives=Size(size=1)),),
    )

    @taking.serves
    async def take(call: Call, request: FileRequest) -> Size:
        counted = await call.batch(commands.increment, Increment(call.caller, "visits", len(request.file.content)))
        return Size(size=counted.value)

    scope = await an_organization(database)
    desk = Desk(taking, authority=Everybody(), database=database, batcher=batcher)
    async with desk.client() as client:

        async def send(content: bytes):
            return await client.post(
                "/api/file",
                data={"idempotencyKey": "k"},
                files={"file": ("a", content, "text/plain")},
                headers={"x-orya-org-id": str(scope.organization)},
            )

        assert (await send(b"1")).status_code == 200
        assert (await send(b"1")).headers["idempotency-replayed"] == "true"
        assert_envelope(await send(b"2"), 409, "IDEMPOTENCY_KEY_REUSED")

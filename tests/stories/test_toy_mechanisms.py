"""What a package may lean on besides contracts and commands: lifecycles, the audit trail, ports, sealed columns, money."""

import asyncio
import json
from collections import Counter
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.entrypoints.http import assemble
from admitone.kernel.batch import Answered, Batcher
from admitone.kernel.config import Config
from admitone.kernel.crypto import KEYRING, CannotOpen, KeyRing
from admitone.kernel.db import Database, Tx, WrongCount
from admitone.kernel.manifest import Module
from admitone.kernel.ports import Port, Unwired
from admitone.kernel.scope import Scope
from admitone.kernel.states import IllegalMove
from tests.builders import a_caller, a_credential, an_increment, an_organization, rows_of, value_of
from tests.conftest import TOY_SCHEMA
from tests.stories.test_toy_over_http import Member, assert_refused
from tests.toy import commands, store
from tests.toy.authority import ToyAuthority
from tests.toy.errors import CounterNotFound, CounterNotOpen
from tests.toy.managing import MANAGE
from tests.toy.model import COUNTER, Counted, CounterStatus, Move, Moved, Note
from tests.toy.module import MODULE
from tests.toy.routes import INCREMENT, READ
from tests.toy.wiring import TOY_KEY

OPEN, PAUSED, CLOSED = CounterStatus


@pytest.fixture
async def manager(http: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection) -> Member:
    scope = await an_organization(database)
    return Member(http, scope, await a_credential(superuser, scope, INCREMENT, READ, MANAGE))


def a_move(to: CounterStatus, counter: str = "visits", reason: str = "RAIN") -> Move:
    return Move(a_caller(), counter, to, reason)


async def moved(member: Member, to: str, counter: str = "visits", key: str = "k") -> httpx.Response:
    body = {"to": to, "reasonCode": "RAIN", "idempotencyKey": f"{to} {key}"}
    return await member.http.post(member.path(f"counters/{counter}/moves"), json=body, headers=member.headers)


async def seen(member: Member, counter: str = "visits") -> dict[str, Any]:
    answer: dict[str, Any] = (await member.http.get(member.path(f"counters/{counter}"), headers=member.headers)).json()
    return answer


async def move_all(database: Database, scope: Scope, *moves: Move) -> list[Any]:
    return list(await database.run(scope, lambda tx: commands.move(tx, moves)))


async def trail_of(superuser: asyncpg.Connection, scope: Scope) -> list[tuple[Any, ...]]:
    rows = await superuser.fetch(
        "SELECT actor_id, action, subject, reason_code, before, after FROM kernel.audit_entry"
        " WHERE organization_id = $1 ORDER BY id",
        scope.organization.uuid,
    )
    return [(*row[:4], json.loads(row["before"])["status"], json.loads(row["after"])["status"]) for row in rows]


# -- A lifecycle


async def test_a_paused_counter_does_not_count_until_it_is_open_again(manager: Member, database: Database) -> None:
    assert (await moved(manager, "PAUSED")).json() == {"name": "visits", "status": "PAUSED"}
    refused = await manager.increment()
    assert_refused(refused, 409, "COUNTER_NOT_OPEN")
    assert refused.json()["status"] == "PAUSED"
    assert (await moved(manager, "OPEN")).status_code == 200
    assert (await manager.increment()).json()["value"] == 1
    assert await value_of(database, manager.scope) == 1


async def test_what_is_closed_stays_closed(manager: Member) -> None:
    assert (await moved(manager, "CLOSED")).status_code == 200
    for to in ("OPEN", "PAUSED"):
        refused = await moved(manager, to)
        assert_refused(refused, 409, "ILLEGAL_MOVE")
        assert (refused.json()["fromState"], refused.json()["toState"]) == ("CLOSED", to)
    assert (await seen(manager))["status"] == "CLOSED"


async def test_who_may_count_may_not_close(manager: Member, superuser: asyncpg.Connection) -> None:
    counting = Member(manager.http, manager.scope, await a_credential(superuser, manager.scope, INCREMENT, READ))
    assert_refused(await moved(counting, "CLOSED"), 403, "PERMISSION_DENIED")
    assert_refused(await moved(manager, "CLOSED", "nowhere"), 404, "COUNTER_NOT_FOUND")


async def test_of_twenty_who_pause_at_once_one_does(manager: Member, superuser: asyncpg.Connection) -> None:
    answers = await asyncio.gather(*(moved(manager, "PAUSED", key=str(number)) for number in range(20)))
    assert Counter(answer.status_code for answer in answers) == {200: 1, 409: 19}
    assert len(await trail_of(superuser, manager.scope)) == 1


async def test_a_move_that_is_repeated_under_its_key_is_made_once(
    manager: Member, superuser: asyncpg.Connection
) -> None:
    first, again = await moved(manager, "PAUSED"), await moved(manager, "PAUSED")
    assert first.json() == again.json()
    assert again.headers["idempotency-replayed"] == "true"
    assert len(await trail_of(superuser, manager.scope)) == 1


async def test_every_move_of_a_batch_begins_where_the_one_before_it_ended(
    database: Database, superuser: asyncpg.Connection
) -> None:
    scope = await an_organization(database, "a", "b")
    moves = [a_move(PAUSED, "a"), a_move(PAUSED, "a"), a_move(CLOSED, "b"), a_move(OPEN, "a"), a_move(OPEN, "b")]
    assert await move_all(database, scope, *moves, a_move(OPEN, "c")) == [
        Moved("a", OPEN, PAUSED),
        IllegalMove(lifecycle="counter", from_state="PAUSED", to_state="PAUSED"),
        Moved("b", OPEN, CLOSED),
        Moved("a", PAUSED, OPEN),
        IllegalMove(lifecycle="counter", from_state="CLOSED", to_state="OPEN"),
        CounterNotFound(),
    ]
    assert [(await database.read(scope, store.get_counter, name)).status for name in ("a", "b")] == [OPEN, CLOSED]
    assert [line[2:] for line in await trail_of(superuser, scope)] == [
        ("a", "RAIN", "OPEN", "PAUSED"),
        ("b", "RAIN", "OPEN", "CLOSED"),
        ("a", "RAIN", "PAUSED", "OPEN"),
    ]


async def test_refusals_of_a_batch_hurt_nobody_else_in_it(database: Database) -> None:
    scope = await an_organization(database, "open", "paused", ceiling=1)
    await move_all(database, scope, a_move(PAUSED, "paused"))
    increments = [an_increment("paused", 5), an_increment("open")]
    outcomes = await database.run(scope, lambda tx: commands.increment(tx, increments))
    assert outcomes[0] == CounterNotOpen(status=PAUSED), "said before that it would be too much"
    assert isinstance(outcomes[1], Counted)


@pytest.mark.parametrize("to", CounterStatus)
async def test_the_database_refuses_a_move_that_policy_let_through(database: Database, to: CounterStatus) -> None:
    scope = await an_organization(database)
    await move_all(database, scope, a_move(CLOSED))
    with pytest.raises(WrongCount):
        await database.run(scope, lambda tx: store.move(tx, ["visits"], to))


async def test_the_database_refuses_an_increment_that_policy_let_through(database: Database) -> None:
    scope = await an_organization(database)
    await move_all(database, scope, a_move(PAUSED))
    with pytest.raises(WrongCount):
        await database.run(scope, lambda tx: store.add(tx, [("visits", 1)]))


async def test_the_column_takes_the_words_of_the_lifecycle_only(superuser: asyncpg.Connection) -> None:
    assert f"CHECK ({COUNTER.constraint()})" in TOY_SCHEMA.read_text()
    [row] = await superuser.fetch(
        "SELECT pg_get_constraintdef(oid) AS said FROM pg_constraint WHERE conname = 'counter_status_check'"
    )
    assert all(f"'{status}'" in row["said"] for status in CounterStatus)


class Flown:
    """Notes how many flew together."""

    def __init__(self) -> None:
        self.sizes: list[tuple[str, int]] = []

    def flew(self, command: str, size: int, waited_seconds: float) -> None:
        self.sizes.append((command, size))


async def test_moves_of_one_counter_fly_together_and_apart_from_others(database: Database) -> None:
    scope = await an_organization(database, "a", "b")
    flown = Flown()
    batcher = Batcher(database, observed=flown)
    moves = [a_move(PAUSED, counter) for counter in ("a", "b") * 10]
    outcomes = await asyncio.gather(
        *(batcher.submit(commands.move, scope, move) for move in moves), return_exceptions=True
    )
    assert flown.sizes == [("tests.toy.move", 10)] * 2
    assert sum(isinstance(outcome, Answered) for outcome in outcomes) == 2


# -- The audit trail


async def test_a_move_stands_in_the_audit_trail(manager: Member, superuser: asyncpg.Connection) -> None:
    await moved(manager, "PAUSED")
    assert await trail_of(superuser, manager.scope) == [
        (manager.key.identity.uuid, "toy.move", "visits", "RAIN", "OPEN", "PAUSED")
    ]


async def test_a_move_and_its_entry_are_committed_together_or_not_at_all(
    database: Database, superuser: asyncpg.Connection
) -> None:
    scope = await an_organization(database)

    async def move_and_fail(tx: Tx) -> None:
        await commands.move(tx, [a_move(PAUSED)])
        raise RuntimeError("after all was written")

    with pytest.raises(RuntimeError):
        await database.run(scope, move_and_fail)
    assert (await database.read(scope, store.get_counter, "visits")).status is OPEN
    assert await trail_of(superuser, scope) == []


# -- A port


async def test_an_application_with_an_unwired_port_does_not_start(database_url: str, tmp_path) -> None:
    config = Config.load({"DATABASE_URL": database_url, "ADMITONE_DATA": str(tmp_path)})
    needy = Module("needy", ports=(Port[object]("needy.safe"),))
    application = assemble(config, [MODULE, needy], ToyAuthority())
    try:
        with pytest.raises(Unwired, match=r"^not wired: needy\.safe$"):
            await application.start()
    finally:
        await application.close()


# -- A sealed column


async def test_a_secret_note_is_read_by_those_who_may_and_by_nobody_in_the_database(
    manager: Member, superuser: asyncpg.Connection
) -> None:
    path = manager.path("counters/visits/note")
    written = await manager.http.put(path, json={"text": "the back door: 1234 é"}, headers=manager.headers)
    assert written.status_code == 204
    assert (await seen(manager))["secretNote"] == "the back door: 1234 é"
    kept = await superuser.fetchval(
        "SELECT secret_note FROM toy.counter WHERE organization_id = $1", manager.scope.organization.uuid
    )
    assert b"door" not in kept
    missing = manager.path("counters/nowhere/note")
    refused = await manager.http.put(missing, json={"text": "x"}, headers=manager.headers)
    assert_refused(refused, 404, "COUNTER_NOT_FOUND")


async def test_the_last_note_of_a_batch_stays(database: Database) -> None:
    scope = await an_organization(database, "a", "b")
    notes = [Note("a", "first"), Note("b", "other"), Note("a", "last")]
    assert await database.run(scope, lambda tx: commands.write_note(tx, notes)) == ["a", "b", "a"]
    assert [(await database.read(scope, store.get_counter, name)).secret_note for name in "ab"] == ["last", "other"]


@pytest.mark.parametrize("whose", ["of another row", "of another organisation"])
async def test_a_note_that_was_copied_does_not_open(
    database: Database, superuser: asyncpg.Connection, whose: str
) -> None:
    scope, stranger = await an_organization(database, "a", "b"), await an_organization(database, "a", "b")
    await database.run(scope, lambda tx: commands.write_note(tx, [Note("a", "secret")]))
    thief, name = (scope, "b") if whose == "of another row" else (stranger, "a")
    await superuser.execute(
        "UPDATE toy.counter SET secret_note = (SELECT secret_note FROM toy.counter WHERE organization_id = $1"
        " AND name = 'a') WHERE organization_id = $2 AND name = $3",
        scope.organization.uuid,
        thief.organization.uuid,
        name,
    )
    with pytest.raises(CannotOpen, match="not written for"):
        await database.read(thief, store.get_counter, name)
    assert (await database.read(scope, store.get_counter, "a")).secret_note == "secret"


async def test_a_note_outlives_the_rotation_of_its_key(database: Database) -> None:
    scope = await an_organization(database)
    await database.run(scope, lambda tx: commands.write_note(tx, [Note("visits", "secret")]))
    with KEYRING.wired(KeyRing({1: TOY_KEY, 2: bytes(32)})):
        assert (await database.read(scope, store.get_counter, "visits")).secret_note == "secret"
    with KEYRING.wired(KeyRing({2: bytes(32)})), pytest.raises(CannotOpen, match="no live key"):
        await database.read(scope, store.get_counter, "visits")


# -- Money


async def test_a_counter_with_a_price_says_what_it_is_worth(manager: Member) -> None:
    body = {"ceiling": 10, "price": {"minor": 1999, "currency": "EUR"}}
    await manager.http.put(manager.path("counters/guests"), json=body, headers=manager.headers)
    await manager.increment("guests", 3)
    priced, free = await seen(manager, "guests"), await seen(manager)
    assert priced["price"] == {"minor": 1999, "currency": "EUR"}
    assert priced["total"] == {"minor": 5997, "currency": "EUR"}
    assert (free["price"], free["total"]) == (None, None)


@pytest.mark.parametrize(
    ("price", "code"),
    [
        ({"minor": -1, "currency": "EUR"}, "VALIDATION_FAILED"),
        ({"minor": 1.5, "currency": "EUR"}, "VALIDATION_FAILED"),
        ({"minor": 1, "currency": "eur"}, "VALIDATION_FAILED"),
        ({"minor": 1, "currency": "XXQ"}, "VALIDATION_FAILED"),
        ({"minor": 2**53 - 1, "currency": "EUR"}, "AMOUNT_TOO_LARGE"),
    ],
)
async def test_a_price_that_cannot_be_is_refused_before_it_is_kept(
    manager: Member, database: Database, price: dict[str, Any], code: str
) -> None:
    body = {"ceiling": 2**53 - 1, "price": price}
    response = await manager.http.put(manager.path("counters/guests"), json=body, headers=manager.headers)
    assert_refused(response, 422, code)
    assert await rows_of(database, manager.scope, "toy.counter") == 1


@pytest.mark.parametrize(
    "change", ["price_minor = 1", "price_minor = -1, price_currency = 'EUR'", "price_currency = 'euro'"]
)
async def test_the_database_keeps_no_half_price(database: Database, superuser: asyncpg.Connection, change: str) -> None:
    scope = await an_organization(database)
    with pytest.raises(asyncpg.CheckViolationError):
        await superuser.execute(f"UPDATE toy.counter SET {change} WHERE organization_id = $1", scope.organization.uuid)


# -- The manifest


def test_the_manifest_names_every_permission_and_limit_that_contracts_use() -> None:
    assert {each.permission for each in MODULE.contracts if each.permission} == set(MODULE.permissions)
    assert {limit for each in MODULE.contracts for limit in each.limits} == set(MODULE.limits)

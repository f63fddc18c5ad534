"""Every statement that can be sent is understood by the database it is sent to."""

import importlib
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from admitone.kernel import db
from admitone.kernel.driver import session_of
from admitone.kernel.scope import Role
from tests.architecture.planning import Sessions, a_session_of_every_role, careless, careless_references, unplannable
from tests.architecture.source_tree import SOURCE, TESTS, sources
from tests.architecture.sql_places import is_store
from tests.architecture.statements import (
    PLATFORM,
    TENANT,
    Statement,
    all_statements,
    constants_that_hide_statements,
    statements_of,
)
from tests.architecture.test_doors import plant

FAULTY_STORE = """
from admitone.kernel.db import IdentityTx, PlatformTx, Tx
from admitone.kernel.statements import Insert, Lock

RIGHT = "SELECT value FROM toy.counter WHERE organization_id = $1"
TYPO = "SELECT vlaue FROM toy.counter WHERE organization_id = $1"
SYNTAX = "SELECT value, FROM toy.counter WHERE organization_id = $1"
KEYWORD = "SELCT value FROM toy.counter WHERE organization_id = $1"
NO_TABLE = "DELETE FROM toy.basket WHERE organization_id = $1"
NO_SCHEMA = "SELECT value FROM counter WHERE organization_id = $1"
NO_GRANT = "DELETE FROM toy.counter WHERE organization_id = $1"
OTHER_ROLE = "SELECT nickname FROM toy.profile WHERE identity_id = $1"
NO_ROLE = "SELECT nickname FROM toy.nickname WHERE nickname = $1"
NO_FUNCTION_GRANT = "SELECT toy.claim_nickname($2, $1::uuid)"
FIRST_IS_TEXT = "SELECT value FROM toy.counter WHERE organization_id = $2 AND name = $1"
FIRST_IS_UNUSED = "SELECT value FROM toy.counter WHERE organization_id = $2"
LOCK = Lock("SELECT name FROM toy.counter WHERE organization_id = $1 AND nmae = ANY($2) ORDER BY 1", key="name")
INSERT = Insert("toy.counter", {"name": "text", "ceiling": "bigint", "sides": "integer"})
UNKNOWN = "SELECT a.nothing FROM toy.counter AS a"


async def touch(tx: Tx) -> None:
    for statement in (RIGHT, TYPO, SYNTAX, NO_TABLE, NO_SCHEMA, NO_GRANT, OTHER_ROLE, NO_FUNCTION_GRANT):
        await tx.fetch(statement)
    for statement in (FIRST_IS_TEXT, FIRST_IS_UNUSED, LOCK, INSERT):
        await tx.fetch(statement)


async def touch_platform(tx: PlatformTx) -> None:
    await tx.fetch(NO_ROLE)
"""


@pytest.fixture(scope="module")
async def sessions(database_url: str) -> AsyncIterator[Sessions]:
    async with a_session_of_every_role(database_url) as sessions:
        yield sessions


async def test_every_statement_plans(sessions: Sessions):
    statements = all_statements()
    assert {"tests.toy.store.ADD", "admitone.kernel.idempotency.FIND_ANSWERS"} <= {str(each) for each in statements}
    assert await unplannable(sessions, statements) == []


TENANT_TABLES = {"idempotency_key", "counter", "increment"}

CARELESS_STORE = """
from admitone.kernel.db import Tx

BY_KEY = "SELECT value FROM toy.counter WHERE organization_id = $1 AND name = ANY($2::text[])"
BY_NOTE = "SELECT value FROM toy.counter WHERE organization_id = $1 AND note = $2"
ALL = "SELECT value FROM toy.counter WHERE organization_id = $1 LIMIT 10"
LIST_ALL = "SELECT value FROM toy.counter WHERE organization_id = $1 LIMIT 10"


async def touch(tx: Tx) -> None:
    for statement in (BY_KEY, BY_NOTE, ALL, LIST_ALL):
        await tx.fetch(statement)
"""


async def test_every_statement_of_a_tenant_goes_by_more_than_its_organisation(sessions: Sessions):
    assert await careless(sessions, all_statements(), TENANT_TABLES) == []


async def test_whatever_is_referred_to_is_found_by_its_whole_key(superuser: asyncpg.Connection):
    async with superuser.transaction():
        for setting, value in session_of(Role.APP).items():
            if setting not in ("role", "search_path"):
                await superuser.execute("SELECT set_config($1, $2, true)", setting, value)
        assert await careless_references(superuser) == []


async def test_a_careless_statement_is_seen(sessions: Sessions, tmp_path: Path, monkeypatch):
    monkeypatch.syspath_prepend(plant(tmp_path, {"careless/store.py": CARELESS_STORE}))
    planted = statements_of(importlib.import_module("careless.store"))
    seen = [
        line.split()[0].removeprefix("careless.store.") for line in await careless(sessions, planted, TENANT_TABLES)
    ]
    assert seen == ["BY_NOTE", "ALL"]


async def test_every_role_can_open_a_scope(sessions: Sessions):
    plain = [each for each in statements_of(db) if each.name in ("SET_SCOPE", "TRANSACTION_STATUS", "PING")]
    assert len(plain) == 3
    for role in Role:
        assert await unplannable(dict.fromkeys(Role, sessions[role]), plain) == []


def test_no_constant_hides_a_statement():
    stores = [each.name for each in (*sources(SOURCE), *sources(TESTS.parent, "tests/toy")) if is_store(each.name)]
    hidden = [problem for name in stores for problem in constants_that_hide_statements(importlib.import_module(name))]
    assert hidden == []


async def test_a_statement_that_does_not_plan_is_seen(sessions: Sessions, tmp_path: Path, monkeypatch):
    monkeypatch.syspath_prepend(plant(tmp_path, {"faulty/store.py": FAULTY_STORE}))
    planted = statements_of(importlib.import_module("faulty.store"))

    unplanned = [line.split()[0].removeprefix("faulty.store.") for line in await unplannable(sessions, planted)]

    names = [each.name for each in planted]
    assert sorted(set(names) - set(unplanned)) == ["RIGHT"]
    assert unplanned.count("LOCK") == 3, "each form of a lock is planned"


async def test_the_annotation_says_who_sends_a_statement():
    kinds = {str(each): each.kinds for each in all_statements()}
    assert kinds["tests.toy.store.ADD"] == {TENANT}
    assert kinds["tests.toy.store.FIND_GATES"] == {PLATFORM}
    assert kinds["admitone.kernel.limits.COUNT_HITS"] == {PLATFORM}
    assert Statement("a", "B", "SELECT 1", frozenset()).choices == [tuple(Role)], "not said: anybody who can"


def test_a_hidden_statement_is_seen(tmp_path: Path, monkeypatch):
    code = 'BY_NAME = {"all": "SELECT value FROM toy.counter"}\nFINE = "SELECT 1"\nNAMES = ("a", "b")'
    monkeypatch.syspath_prepend(plant(tmp_path, {"hiding/store.py": code}))
    [hidden] = constants_that_hide_statements(importlib.import_module("hiding.store"))
    assert hidden.startswith("hiding.store.BY_NAME")

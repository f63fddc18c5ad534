"""Where SQL may stand."""

from pathlib import Path

import pytest

from tests.architecture.source_tree import SOURCE, TESTS, sources
from tests.architecture.sql_places import is_sql, sql_outside_stores, sql_without_a_name
from tests.architecture.test_doors import plant


def test_sql_stands_in_stores_and_migrations_only():
    assert sql_outside_stores(sources(SOURCE)) == []
    assert list(SOURCE.rglob("*.sql")) == []


def test_every_statement_of_a_store_has_a_name():
    assert sql_without_a_name([*sources(SOURCE), *sources(TESTS.parent, "tests/toy")]) == []


@pytest.mark.parametrize(
    "line",
    [
        'rows = tx.fetch("SELECT id FROM events.ticket WHERE organization_id = $1")',
        'rows = tx.fetch("select id from events.ticket")',
        'rows = tx.fetch("  \\n -- why\\n DELETE FROM events.ticket")',
        'tx.execute(f"UPDATE {table} SET sold = sold + 1")',
        'tx.execute(f"SELECT id FROM events.ticket ORDER BY id {direction}")',
        'tx.execute("SELECT id FROM events.ticket WHERE " + condition)',
        'tx.execute("INSERT INTO %s VALUES (%s)" % (table, values))',
        'tx.execute("""WITH sold AS (\\n    SELECT 1)""" + rest)',
        'tx.execute("TRUNCATE events.ticket")',
        'tx.execute("SELECT pg_sleep(1)")',
        'tx.execute("SET LOCAL lock_timeout = 1")',
        'tx.execute("COMMIT")',
        'QUERIES = {"all": "SELECT id FROM events.ticket"}',
        "tx.execute(f\"{prefix} {f'DELETE FROM events.ticket'}\")",
    ],
)
def test_sql_outside_a_store_is_seen(tmp_path: Path, line: str):
    file = "admitone/verticals/events/commands.py"
    violations = sql_outside_stores(sources(plant(tmp_path, {file: line})))
    assert violations and violations[0].startswith(f"{file}:1 ")


@pytest.mark.parametrize(
    "words",
    [
        "Update the counter",
        "update the counter",
        "Select an organisation",
        "select an organisation",
        "Delete from basket",
        "With love",
        "Lock counters",
        "Reset password",
        "UPDATE",
        "SELECT",
        "SET",
        "commit.before",
        "INSERT COIN",
    ],
)
def test_prose_is_no_sql(words: str):
    assert not is_sql(words)


@pytest.mark.parametrize(
    "code",
    [
        'async def find(tx):\n    return await tx.fetch("SELECT 1")',
        'def find(tx, sql="SELECT 1"): ...',
        'statements = ["SELECT 1"]',
        'class Find:\n    SQL = "SELECT 1"',
    ],
)
@pytest.mark.parametrize("file", ["admitone/verticals/events/store.py", "admitone/finance/ledger/store/transfers.py"])
def test_a_statement_without_a_name_is_seen(tmp_path: Path, file: str, code: str):
    tree = plant(tmp_path, {file: code})
    assert len(sql_without_a_name(sources(tree))) == 1
    assert sql_outside_stores(sources(tree)) == []
